//! The five processes: starts them, makes them fail, reads what they print, and ends them.
//!
//! **Promise.** Every process that was started is killed and waited for when its owner is dropped;
//! if this process is killed itself, the kernel ends them (`leash`).

use super::cannot;
use super::place::Place;
use crate::cli::failure::Failure;
use bellwether::core::{Duration, Event, Instant, NodeId, Record, SimTime};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::{Change, ClientError, find};
use bellwether::net::status::Role;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

/// Who is in the group.
pub(in crate::cli) const MEMBERS: [u64; 5] = [1, 2, 3, 4, 5];
const GROUP: &str = "demo";
/// How long to wait for anything that usually takes a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(5);
/// When the story must be over, so that there is time to end everybody and to judge.
const STORY_MAX: Duration = Duration::from_secs(14);
/// How long they may take to end.
const ENDING_MAX: Duration = Duration::from_secs(4);
/// How often signals are looked for.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(20);
/// Where members may listen; the first that is free will do.
const PORTS: std::ops::Range<u16> = 7400..7432;
/// What is shown of a member's complaints, in bytes.
const COMPLAINTS_MAX: usize = 2000;

/// One life of one process.
#[derive(Debug)]
struct Actor {
    child: Child,
    life: usize,
    /// Whether it was told to end.
    leaving: bool,
}

impl Drop for Actor {
    fn drop(&mut self) {
        // It may have ended already. Until it is waited for, nobody else has its pid.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line that a member printed.
struct News {
    id: u64,
    life: usize,
    change: Change,
}

/// All of them.
#[derive(Debug)]
pub(in crate::cli) struct Cast<'a> {
    place: &'a Place,
    program: PathBuf,
    preset: &'static str,
    peers: String,
    actors: BTreeMap<u64, Actor>,
    pids: Vec<u32>,
    news: Receiver<News>,
    teller: Sender<News>,
    /// All changes that members printed.
    changes: Vec<Change>,
    /// The last change of each in its present life.
    beliefs: BTreeMap<u64, Change>,
    faults: Vec<Record>,
    interrupted: Arc<AtomicBool>,
    deadline: Instant,
}

impl<'a> Cast<'a> {
    /// Finds ports for them, and from now on ends them if this process is told to end.
    pub(in crate::cli) fn new(place: &'a Place, preset: &'static str) -> Result<Self, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .map_err(|error| cannot("catch signals", &error))?;
        }
        let (teller, news) = channel();
        Ok(Self {
            place,
            program: std::env::current_exe().map_err(|error| cannot("find itself", &error))?,
            preset,
            peers: free_peers()?,
            actors: BTreeMap::new(),
            pids: Vec::new(),
            news,
            teller,
            changes: Vec::new(),
            beliefs: BTreeMap::new(),
            faults: Vec::new(),
            interrupted,
            deadline: BootTime.now() + STORY_MAX,
        })
    }

    /// There is no end to the story: somebody else says when it is over.
    pub(in crate::cli) fn go_on(&mut self) {
        self.deadline = Instant::NEVER;
    }

    /// Whether it was started, and not killed since.
    pub(in crate::cli) fn is_there(&self, id: u64) -> bool {
        self.actors.contains_key(&id)
    }

    /// The number of its process, if it is there.
    pub(in crate::cli) fn pid(&self, id: u64) -> Option<u32> {
        self.actors.get(&id).map(|actor| actor.child.id())
    }

    /// Every process that was ever started.
    pub(super) fn pids(&self) -> &[u32] {
        &self.pids
    }

    /// The faults, one record a line. Members record new lives themselves.
    pub(in crate::cli) fn faults(&self) -> String {
        let mut text = String::new();
        bellwether::sim::trace::to_json_lines(&self.faults, &mut text);
        text
    }

    fn record_fault(&mut self, id: u64, event: Event) {
        let t = SimTime::from_nanos(BootTime.now().as_nanos());
        self.faults.push(Record { t, node: NodeId(id), event });
    }
}

/// The faults.
impl Cast<'_> {
    /// Starts it, for the first time or again.
    pub(in crate::cli) fn start(&mut self, id: u64) -> Result<(), Failure> {
        let complaints = self.place.complaints(id);
        let errors = File::options().create(true).append(true).open(&complaints);
        let errors = errors.map_err(|error| Failure::io("write", &complaints, &error))?;
        let mut command = Command::new(&self.program);
        command.args(["leash", &std::process::id().to_string(), "--", "run", GROUP]);
        command.args(["--id", &id.to_string(), "--peers", &self.peers]);
        command.arg("--key").arg(self.place.key()).arg("--dir").arg(self.place.dir());
        command.arg("--record").arg(self.place.record(id));
        command.args(["--preset", self.preset, "--format", "json"]);
        // Variables for members of other groups are not meant for these.
        let ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("BELLWETHER_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        // In a group of its own, so that Ctrl-C reaches this process alone, which then ends it.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        let started = command.spawn();
        let mut child = started.map_err(|error| Failure::io("start", &self.program, &error))?;
        let life = self.pids.len();
        self.pids.push(child.id());
        if let Some(output) = child.stdout.take() {
            let teller = self.teller.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    let Ok(change) = serde_json::from_str(&line) else { continue };
                    if teller.send(News { id, life, change }).is_err() {
                        break; // nobody reads them any more
                    }
                }
            });
        }
        self.beliefs.remove(&id);
        self.actors.insert(id, Actor { child, life, leaving: false });
        Ok(())
    }

    /// Kills it.
    pub(in crate::cli) fn kill(&mut self, id: u64) {
        drop(self.actors.remove(&id));
        self.beliefs.remove(&id);
        self.record_fault(id, Event::Crash);
    }

    /// Pauses it.
    pub(in crate::cli) fn pause(&mut self, id: u64) -> Result<(), Failure> {
        self.signal(id, Signal::STOP)?;
        self.record_fault(id, Event::Pause);
        Ok(())
    }

    /// Resumes it.
    pub(in crate::cli) fn resume(&mut self, id: u64) -> Result<(), Failure> {
        self.record_fault(id, Event::Resume);
        self.signal(id, Signal::CONT)
    }

    /// Asks it to resign, as `bellwether resign` does.
    pub(in crate::cli) fn resign(&mut self, id: u64) -> Result<(), Failure> {
        let (done, answer) = channel();
        let dir = self.place.dir().to_owned();
        // From a thread of its own: our patience is shorter than the client's.
        thread::spawn(move || {
            let asked = find(&dir, Some(GROUP), Some(id)).and_then(|mut client| client.resign());
            let _ = done.send(asked); // or nobody waits for it any more
        });
        let or_else = format!("member {id} did not answer");
        match self.wait(&or_else, |_| answer.try_recv().ok())? {
            Err(ClientError::Refused(_)) => Ok(()), // it leads no more, as the others will report
            done => Ok(done?),
        }
    }

    /// Tells it to end; it hands over first.
    pub(super) fn terminate(&mut self, id: u64) -> Result<(), Failure> {
        if let Some(actor) = self.actors.get_mut(&id) {
            actor.leaving = true;
        }
        self.signal(id, Signal::TERM)
    }

    /// Waits until one that was told to end has ended.
    pub(super) fn wait_for_end(&mut self, id: u64) -> Result<(), Failure> {
        self.wait(&format!("member {id} did not end"), |cast| {
            let ended = |actor: &mut Actor| actor.child.try_wait().ok().flatten();
            cast.actors.get_mut(&id).is_none_or(|actor| ended(actor).is_some()).then_some(())
        })?;
        self.actors.remove(&id);
        self.beliefs.remove(&id);
        Ok(())
    }

    /// Tells all to end, the leader last, and waits for them.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        self.deadline = BootTime.now() + ENDING_MAX;
        let leader = self.agreed(None);
        let ids: Vec<u64> = self.actors.keys().copied().collect();
        let (last, first): (Vec<u64>, Vec<u64>) =
            ids.into_iter().partition(|id| Some(*id) == leader);
        for id in first.iter().chain(&last) {
            self.terminate(*id)?;
        }
        first.into_iter().chain(last).try_for_each(|id| self.wait_for_end(id))
    }

    fn signal(&self, id: u64, signal: Signal) -> Result<(), Failure> {
        let actor = self.actors.get(&id);
        let pid = actor.and_then(|actor| Pid::from_raw(i32::try_from(actor.child.id()).ok()?));
        let Some(pid) = pid else { return Err(Failure::Io(format!("member {id} is gone"))) };
        // Until it is waited for, nobody else has its pid.
        kill_process(pid, signal).map_err(|error| cannot("send a signal", &error.into()))
    }
}

/// What they print.
impl Cast<'_> {
    /// Whom all five name as their leader, if they do; or all but one, who is not asked.
    pub(in crate::cli) fn agreed(&self, except: Option<u64>) -> Option<u64> {
        let asked = || MEMBERS.into_iter().filter(|id| Some(*id) != except);
        let mut beliefs = asked().filter_map(|id| self.beliefs.get(&id));
        let leader = beliefs.find(|belief| belief.role == Role::Leader)?.id;
        let agrees = |id| self.beliefs.get(&id).is_some_and(|seen| seen.leaders == [leader]);
        asked().all(agrees).then_some(leader)
    }

    /// Who says that it leads, if just one does; those that stand still are not asked.
    pub(in crate::cli) fn leading(&self, still: &[u64]) -> Option<u64> {
        let asked = self.beliefs.iter().filter(|(id, _)| !still.contains(id));
        let mut leaders = asked.filter(|(_, belief)| belief.role == Role::Leader);
        let (first, others) = (leaders.next(), leaders.next());
        first.filter(|_| others.is_none()).map(|(id, _)| *id)
    }

    /// The first other than `old` that said, at `since` or later, that it leads; and when that was.
    pub(in crate::cli) fn successor(
        &self,
        old: Option<u64>,
        since: Instant,
    ) -> Option<(u64, Instant)> {
        let changes = self.changes.iter().filter(|change| change.role == Role::Leader);
        let later = changes.filter(|change| Some(change.id) != old && change.t >= since.as_nanos());
        let first = later.min_by_key(|change| change.t)?;
        Some((first.id, Instant::from_nanos(first.t)))
    }

    /// Waits until all five agree on a leader.
    pub(super) fn wait_for_agreement(&mut self) -> Result<u64, Failure> {
        self.wait("the five did not agree on a leader", |cast| cast.agreed(None))
    }

    /// Lets time pass.
    pub(super) fn rest(&mut self, length: Duration) -> Result<(), Failure> {
        let until = BootTime.now() + length;
        while BootTime.now() < until {
            self.listen(until)?;
        }
        Ok(())
    }

    /// Waits until there is an answer; otherwise it fails as `or_else` says, and with all that may
    /// explain it.
    pub(super) fn wait<T>(
        &mut self,
        or_else: &str,
        mut answer: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T, Failure> {
        let until = (BootTime.now() + PATIENCE).min(self.deadline);
        loop {
            if let Some(answer) = answer(self) {
                return Ok(answer);
            }
            if BootTime.now() >= until {
                return Err(Failure::Io(format!("{or_else} in time; {}", self.beliefs_as_text())));
            }
            self.listen(until)?;
        }
    }

    /// Reads what members print until this time, for a moment at most.
    fn listen(&mut self, until: Instant) -> Result<(), Failure> {
        self.hear_until(until);
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted(None));
        }
        let lost = self.lost().into_iter().next();
        match lost {
            None => Ok(()),
            Some((id, status)) => Err(Failure::Io(format!(
                "member {id} ended by itself, {status}{}",
                self.complaints(id)
            ))),
        }
    }

    /// Reads what members print, for a moment; returns those that ended by themselves, with all
    /// that may explain it.
    pub(in crate::cli) fn glance(&mut self) -> Vec<(u64, String)> {
        self.hear_until(Instant::NEVER);
        let lost = self.lost();
        let told = |(id, status): (u64, ExitStatus)| {
            let complaints = self.complaints(id).replace('\n', " ");
            (id, format!("member {id} ended by itself, {status}{complaints}"))
        };
        lost.into_iter().map(told).collect()
    }

    fn hear_until(&mut self, until: Instant) {
        let left = until.since(BootTime.now()).as_nanos();
        match self.news.recv_timeout(GLANCE.min(std::time::Duration::from_nanos(left))) {
            Ok(news) => self.hear(news),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        while let Ok(news) = self.news.try_recv() {
            self.hear(news);
        }
    }

    /// Those that ended although nobody told them to.
    fn lost(&mut self) -> Vec<(u64, ExitStatus)> {
        let mut lost = Vec::new();
        for (id, actor) in self.actors.iter_mut().filter(|(_, actor)| !actor.leaving) {
            if let Ok(Some(status)) = actor.child.try_wait() {
                lost.push((*id, status));
            }
        }
        lost
    }

    fn hear(&mut self, News { id, life, change }: News) {
        self.changes.push(change.clone());
        if self.actors.get(&id).is_some_and(|actor| actor.life == life) {
            self.beliefs.insert(id, change);
        }
    }

    /// What each believes, and what it complained about.
    fn beliefs_as_text(&self) -> String {
        let beliefs = MEMBERS.map(|id| {
            let said = match self.beliefs.get(&id) {
                Some(belief) => crate::cli::output::change::text(belief),
                None => format!("member {id} has said nothing"),
            };
            format!("\n  {said}{}", self.complaints(id))
        });
        format!("last they said:{}", beliefs.concat())
    }

    fn complaints(&self, id: u64) -> String {
        let bytes = fs::read(self.place.complaints(id)).unwrap_or_default();
        let last = &bytes[bytes.len().saturating_sub(COMPLAINTS_MAX)..];
        let text = String::from_utf8_lossy(last);
        text.lines().map(|line| format!("\n    {id}: {line}")).collect()
    }
}

/// The list of members, at loopback addresses made from this process's pid. Nobody else takes
/// these, while a free port may be given to anybody.
fn free_peers() -> Result<String, Failure> {
    let pid = std::process::id();
    let [a, b] = [1 + pid % 250, pid / 250 % 250].map(|part| part as u8);
    let mut last = None;
    for port in PORTS {
        let place = |id: u64| SocketAddr::from((Ipv4Addr::new(127, a, b, id as u8), port));
        let taken = MEMBERS.iter().find_map(|id| UdpSocket::bind(place(*id)).err());
        let Some(error) = taken else {
            return Ok(MEMBERS.map(|id| format!("{id}={}", place(id))).join(","));
        };
        last = Some(error);
    }
    let error = last.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into());
    Err(cannot("find a free port", &error))
}
