//! Tells the service manager how the member is, as systemd expects it.
//!
//! **Source.** `sd_notify(3)` and `sd_watchdog_enabled(3)`: datagrams to the Unix socket that
//! `NOTIFY_SOCKET` names.
//!
//! | message | when |
//! |---|---|
//! | `READY=1` | the member has joined, or has read its settings again |
//! | `STATUS=` | who leads has changed. Renewals of a lease are not told, and so no end of a lease is: it would be over before somebody reads it |
//! | `RELOADING=1` | it reads its settings again |
//! | `STOPPING=1` | it is to end; with the time that this may take |
//! | `WATCHDOG=1` | four times in `WATCHDOG_USEC`, as long as the member's thread answers |
//!
//! **Assumptions.** The service manager reads its socket sooner or later.
//!
//! **Promise.** Nobody waits for the service manager: a thread of its own sends. That thread feeds
//! the watchdog only after an answer of the member's thread that it has not counted before, so a
//! member whose thread hangs is not fed, and one whose hooks, readers or HTTP clients hang is.

use super::printer::Printer;
use bellwether::core::{Duration, Instant};
use bellwether::net::Election;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::Change;
use bellwether::net::status::Role;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::Command;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What systemd sets for this process alone.
const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];
/// The most messages that wait to be sent.
const WAITING_MAX: usize = 64;
/// How often the watchdog is fed in the time that it allows for.
const FED: u64 = 4;
/// How long the end may take, beyond the time that a command and hooks have: a member that hangs.
const ENDING: Duration = Duration::from_secs(30);
/// How long the end of this process waits until all is sent.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// Keeps a program that this process starts from speaking for it.
pub(super) fn hide(command: &mut Command) -> &mut Command {
    VARIABLES.iter().fold(command, |command, name| command.env_remove(name))
}

/// The thread that sends; none if there is no service manager to tell. Clones are the same one.
#[derive(Clone, Debug)]
pub(super) struct Notifier(Option<Arc<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Notified when there is something to send, when it is over, and when all is sent.
    news: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<String>,
    /// The member, once it has joined: its thread is asked whether it runs.
    election: Option<Election>,
    over: bool,
    sent: bool,
}

/// What the thread does next.
enum Task {
    Send(String),
    /// Ask the member's thread, and feed the watchdog if it has answered.
    Feed(Election),
    End,
}

impl Notifier {
    /// Starts it as the environment says. A socket that cannot be used is reported, and is no
    /// reason not to start.
    pub(super) fn start(errors: &Printer) -> io::Result<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let Some(place) = variable("NOTIFY_SOCKET") else { return Ok(Self(None)) };
        let (socket, to) = match connection(&place) {
            Ok(connection) => connection,
            Err(error) => {
                let place = place.to_string_lossy();
                errors.say(&format!(
                    "NOTIFY_SOCKET={place} cannot be used ({error}): the service manager is told \
                     nothing"
                ));
                return Ok(Self(None));
            }
        };
        let watchdog = Watchdog::new(&variable, std::process::id());
        let shared = Arc::new(Shared::default());
        let (own, errors) = (Arc::clone(&shared), errors.clone());
        let send = move |message: &str| socket.send_to_addr(message.as_bytes(), &to).map(drop);
        let work = move || own.work(watchdog, send, &errors);
        thread::Builder::new().name("notifier".to_owned()).spawn(work)?;
        Ok(Self(Some(shared)))
    }

    /// The member is joining this group.
    pub(super) fn joining(&self, group: &str) {
        self.put(format!("STATUS=joins {}", one_line(group)));
    }

    /// The member has joined. From now on the watchdog is fed as long as its thread answers.
    pub(super) fn joined(&self, election: &Election) {
        if let Some(shared) = &self.0 {
            shared.lock().election = Some(election.clone());
        }
        self.ready();
    }

    /// The member runs, and has read its settings: to be called at the end of a reload, whether it
    /// changed anything or not.
    pub(super) fn ready(&self) {
        self.put("READY=1".to_owned());
    }

    /// The member begins to read its settings again.
    pub(super) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let now = std::time::Duration::try_from(now).unwrap_or_default();
        self.put(format!("RELOADING=1\nMONOTONIC_USEC={}", now.as_micros()));
    }

    /// What the member believes has changed.
    pub(super) fn changed(&self, change: &Change) {
        self.put(format!("STATUS={}", one_line(&status(change))));
    }

    /// The member is to end, and its command and hooks have this time for that.
    pub(super) fn stopping(&self, within: Duration) {
        let micros = (within + ENDING).as_nanos() / 1_000;
        self.put(format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={micros}\nSTATUS=is ending"));
    }

    /// Waits until all is sent, for a second at most.
    pub(super) fn end(&self) {
        let Some(shared) = &self.0 else { return };
        let mut waiting = shared.lock();
        waiting.over = true;
        waiting.election = None;
        shared.news.notify_all();
        let unsent = |waiting: &mut Waiting| !waiting.sent;
        drop(shared.news.wait_timeout_while(waiting, PATIENCE, unsent)); // or it is left unsent
    }

    /// A status that was not sent yet gives way to a newer one. If too many messages wait, nobody
    /// reads them, and this one is left out.
    fn put(&self, message: String) {
        let Some(shared) = &self.0 else { return };
        let mut waiting = shared.lock();
        if message.starts_with("STATUS=")
            && waiting.messages.back().is_some_and(|last| last.starts_with("STATUS="))
        {
            waiting.messages.pop_back();
        }
        if waiting.messages.len() < WAITING_MAX {
            waiting.messages.push_back(message);
        }
        drop(waiting);
        shared.news.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(
        &self,
        mut watchdog: Option<Watchdog>,
        send: impl Fn(&str) -> io::Result<()>,
        errors: &Printer,
    ) {
        let mut failed = false;
        let mut tell = |message: &str| {
            if let Err(error) = send(message)
                && !std::mem::replace(&mut failed, true)
            {
                errors.say(&format!("the service manager cannot be told: {error}"));
            }
        };
        loop {
            let due = watchdog.as_ref().map_or(Instant::NEVER, |watchdog| watchdog.due);
            match self.next(due) {
                Task::Send(message) => tell(&message),
                Task::Feed(election) => {
                    let Some(watchdog) = &mut watchdog else { continue };
                    if watchdog.beat(|| election.pulse().ok(), BootTime.now()) {
                        tell("WATCHDOG=1");
                    }
                }
                Task::End => break,
            }
        }
        self.lock().sent = true;
        self.news.notify_all();
    }

    /// Waits for something to do; the watchdog is due at this time.
    fn next(&self, due: Instant) -> Task {
        let mut waiting = self.lock();
        loop {
            if let Some(message) = waiting.messages.pop_front() {
                return Task::Send(message);
            }
            if waiting.over {
                return Task::End;
            }
            let due = if waiting.election.is_some() { due } else { Instant::NEVER };
            let now = BootTime.now();
            if let Some(election) = waiting.election.as_ref().filter(|_| now >= due) {
                return Task::Feed(election.clone());
            }
            waiting = if due == Instant::NEVER {
                self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner)
            } else {
                let left = std::time::Duration::from_nanos(due.since(now).as_nanos());
                let woken = self.news.wait_timeout(waiting, left);
                woken.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

/// When the watchdog is fed, and what the member's thread was asked last.
#[derive(Debug)]
struct Watchdog {
    every: Duration,
    due: Instant,
    asked: Option<Receiver<()>>,
}

impl Watchdog {
    /// The watchdog of the process with this number, if it has one.
    fn new(variable: &dyn Fn(&str) -> Option<OsString>, me: u32) -> Option<Self> {
        let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
        let micros = number("WATCHDOG_USEC").filter(|micros| *micros > 0)?;
        let whose = variable("WATCHDOG_PID");
        if whose.is_some() && number("WATCHDOG_PID") != Some(u64::from(me)) {
            return None;
        }
        let every = Duration::from_nanos(micros.saturating_mul(1_000 / FED).max(1));
        Some(Self { every, due: Instant::ZERO, asked: None })
    }

    /// Whether the member's thread has answered since it was asked; then it is asked again.
    fn beat(&mut self, ask: impl FnOnce() -> Option<Receiver<()>>, now: Instant) -> bool {
        self.due = now + self.every;
        let answer = self.asked.as_ref().map(Receiver::try_recv);
        if answer == Some(Err(TryRecvError::Empty)) {
            return false; // it is yet to answer
        }
        self.asked = ask();
        answer == Some(Ok(()))
    }
}

/// A socket, and where its messages go.
fn connection(place: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
    let to = match place.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        [b'/', ..] => SocketAddr::from_pathname(place)?,
        _ => return Err(io::Error::other("it is neither a path nor a name that begins with @")),
    };
    Ok((UnixDatagram::unbound()?, to))
}

/// What the member believes, in words.
fn status(change: &Change) -> String {
    let Change { group, role, leaders, term, why, wall, .. } = change;
    match role {
        Role::Leader => {
            let token = term.map_or_else(String::new, |term| format!("; token {term}"));
            format!("leads {group} since {wall}{token}")
        }
        Role::Follower => {
            let names: Vec<String> = leaders.iter().map(u64::to_string).collect();
            format!("follows {}", names.join(", "))
        }
        Role::Looking => "looks for a leader".to_owned(),
        Role::Withdrawn => {
            format!("takes no part: {}", why.as_deref().unwrap_or("something is wrong"))
        }
    }
}

/// A message is a list of lines, so a text has none.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    fn watchdog(variables: &[(&str, &str)]) -> Option<Watchdog> {
        let value = |name: &str| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Watchdog::new(&value, 7)
    }

    #[test]
    fn a_watchdog_is_that_of_this_process() {
        let half = ("WATCHDOG_USEC", "500000");
        let every = |found: Option<Watchdog>| found.map(|found| found.every);
        let quarter = Some(Duration::from_millis(125));
        assert_eq!(every(watchdog(&[half])), quarter);
        assert_eq!(every(watchdog(&[half, ("WATCHDOG_PID", "7")])), quarter);
        assert_eq!(every(watchdog(&[half, ("WATCHDOG_PID", "8")])), None);
        assert_eq!(every(watchdog(&[half, ("WATCHDOG_PID", "x")])), None);
        for wrong in ["0", "-1", "", "1s", "99999999999999999999"] {
            assert_eq!(every(watchdog(&[("WATCHDOG_USEC", wrong)])), None, "{wrong}");
        }
        assert!(watchdog(&[("WATCHDOG_USEC", &u64::MAX.to_string())]).is_some());
    }

    #[test]
    fn a_thread_that_does_not_answer_is_not_fed_until_it_does() {
        let mut watchdog = watchdog(&[("WATCHDOG_USEC", "4000000")]).unwrap();
        let second = |number| Instant::ZERO + Duration::from_secs(number);
        let (answers, asked) = sync_channel(1);
        assert!(!watchdog.beat(|| Some(asked), second(0)), "it was not asked before");
        assert_eq!(watchdog.due, second(1));
        let twice = || -> Option<Receiver<()>> { panic!("it is asked once at a time") };
        assert!(!watchdog.beat(twice, second(1)));
        assert!(!watchdog.beat(twice, second(2)));
        answers.try_send(()).unwrap();
        assert!(watchdog.beat(|| None, second(3)), "it answers again");
        assert!(!watchdog.beat(|| None, second(4)), "there is no member to ask");
    }

    #[test]
    fn a_place_is_a_path_or_an_abstract_name() {
        for good in ["/run/systemd/notify", "@/org/notify"] {
            assert!(connection(OsStr::new(good)).is_ok(), "{good}");
        }
        let long = format!("/{}", "x".repeat(200));
        for bad in ["notify", "vsock:2:1234", long.as_str()] {
            assert!(connection(OsStr::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_status_that_waits_gives_way_to_a_newer_one_and_nothing_grows() {
        let notifier = Notifier(Some(Arc::default()));
        let waiting = || -> Vec<String> {
            notifier.0.as_ref().unwrap().lock().messages.iter().cloned().collect()
        };
        notifier.ready();
        notifier.joining("web\nREADY=1");
        notifier.joining("web");
        assert_eq!(waiting(), ["READY=1", "STATUS=joins web"]);
        (0..100).for_each(|_| notifier.reloading());
        assert_eq!(waiting().len(), WAITING_MAX);
        notifier.0.as_ref().unwrap().lock().messages.clear();
        notifier.joining("web\nREADY=1");
        assert_eq!(waiting(), ["STATUS=joins web READY=1"], "one line");
    }
}
