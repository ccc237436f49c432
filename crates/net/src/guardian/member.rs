//! The member's side: it permits the command to run, and monitors guardian and watchdog.
//!
//! **Source.** The table in [the module above](super).
//!
//! **Assumptions.** [`Guardian::poll`] is called whenever [`Guardian::fd`] is readable, and at
//! [`Guardian::poll_timeout`] at the latest.
//!
//! **Promise.** If the guardian does not end the command and remove the addresses in time, the
//! member does, when half the margin is left. When a [`Guardian`] has been dropped, no address and
//! no process of the command is left, except one that cannot be killed: then the drop returns after
//! five seconds.

use super::alarm::now;
use super::cgroup::Cgroup;
use super::descendants::{Descendants, Left};
use super::handover::{HandOver, Role};
use super::signals::Mask;
use super::wire::{self, Answer, Received, Request, Sent};
use super::{Lost, Plan, Report, end};
use crate::address::Addresses;
use crate::last_will::LastWill;
use bellwether_core::{Duration, Instant, Term};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// How long a guardian may take to get ready, on a machine under load.
const READY: Duration = Duration::from_secs(20);
/// How long a watchdog may take to end after its guardian, if no command runs.
const GOING: Duration = Duration::from_secs(1);

/// How soon to look again for processes that did not end.
const AGAIN: Duration = Duration::from_millis(1);
/// How long the drop waits for processes that do not end.
const LAST_ROUNDS: Duration = Duration::from_secs(5);

/// The guardian, as the member sees it.
#[derive(Debug)]
pub struct Guardian {
    /// The parent of the guardian.
    watchdog: Child,
    /// The guardian's process.
    pid: u32,
    socket: OwnedFd,
    descendants: Descendants,
    cgroup: Option<Cgroup>,
    addresses: Addresses,
    notes: Vec<String>,
    delay: Duration,
    margin: Duration,
    grace: Duration,
    /// The present run, or the one to come.
    run: u64,
    /// The command, once it has started.
    leader: Option<Pid>,
    /// The end of the run that the guardian last confirmed; before the first answer, the end that
    /// was requested. `None` if no run is under way.
    held: Option<Instant>,
    presence: Presence,
    /// Whether it was lost because it did not answer in time.
    silent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    /// The guardian has ended and some of its processes have not: when the next round is due.
    Losing {
        since: Instant,
        again: Instant,
    },
    Gone,
    GoneAndTold,
}

impl Guardian {
    /// Starts a watchdog and a guardian, and waits until they are ready. From then on a permitted
    /// command is started at once. `guardian_command` is a program that calls
    /// [`guard`](super::guard), and does so again if it is started with the same arguments.
    ///
    /// With a last will, the guardian sends it if this process is killed, once nothing of the
    /// command is left ([`Prepared::last_will`](crate::Prepared::last_will)).
    ///
    /// This process becomes a child subreaper. If the guardian is killed, all children of this
    /// process are killed, except those that it has now.
    ///
    /// # Errors
    /// If they cannot be started, or do not get ready within 20 seconds.
    pub fn spawn(
        mut guardian_command: Command,
        plan: &Plan,
        will: Option<&LastWill>,
    ) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let mut descendants = Descendants::from_now_on()?;
        let addresses = plan.open_addresses()?;
        let pair =
            || socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let ((start, theirs), (socket, guardians)) = (pair()?, pair()?);
        // A process group of its own: the member itself passes on the signals of a terminal.
        let watchdog = guardian_command.stdin(theirs).process_group(0).spawn()?;
        drop(guardian_command); // closes our copy of their end of the socket
        descendants.kill_last(Pid::from_child(&watchdog));
        let mut guardian = Self {
            pid: watchdog.id(),
            watchdog,
            socket,
            descendants,
            cgroup: None,
            addresses,
            notes: Vec::new(),
            delay: Duration::ZERO,
            margin: plan.margin,
            grace: plan.grace,
            run: 1,
            leader: None,
            held: None,
            presence: Presence::Here,
            silent: false,
        };
        let plan = plan.asked_now();
        let (role, mask) = (Role::Watchdog, Mask(0));
        let (cgroup, notes) = (None, Vec::new());
        let given = HandOver { role, plan, mask, cgroup, notes, will: will.is_some() };
        let (stdin, nothing) = (io::stdin(), File::open("/dev/null")?);
        let input = if given.plan.pass_stdin { stdin.as_fd() } else { nothing.as_fd() };
        let mut files = vec![input, guardians.as_fd()];
        files.extend(will.iter().flat_map(|will| will.files()));
        given.send(&start, &files)?;
        drop(guardians);
        guardian.get_ready()?;
        Ok(guardian)
    }

    /// Waits until the guardian says that it is ready.
    fn get_ready(&mut self) -> io::Result<()> {
        let limit = now() + READY;
        loop {
            match wire::fetch(self.socket.as_fd()) {
                Received::Packet(bytes) => match Answer::decode(&bytes) {
                    Ok(Answer::Ready { pid, cgroup, notes }) => {
                        (self.pid, self.notes) = (pid, notes);
                        self.cgroup = cgroup.as_deref().map(Cgroup::open).transpose()?;
                        return Ok(());
                    }
                    _ => {
                        return Err(io::Error::other(
                            "the first message of the guardian is not that it is ready",
                        ));
                    }
                },
                Received::Closed => {
                    return Err(io::Error::other("the guardian ended before it was ready"));
                }
                Received::Nothing if now() >= limit => {
                    return Err(io::Error::other(format!(
                        "the guardian was not ready within {READY}"
                    )));
                }
                Received::Nothing => wait(&self.socket, limit),
            }
        }
    }

    /// Notes on what the system did not permit: a cgroup, a priority, locked memory.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How late the guardian is scheduled, once that was more than half the margin. A command is
    /// ended earlier by this, but by half the margin at most: on a slower machine it may run for a
    /// moment after its permission.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Permits the command to run until then: starts it, or extends the run. Call it with every
    /// renewal of the lease.
    ///
    /// After the report that a run is over, the next call starts another, with this term as its
    /// fencing token; a run keeps the one that it was started with. Nothing is started if there is
    /// only time left to end it.
    ///
    /// # Errors
    /// [`Lost`] if the guardian has ended.
    pub fn permit(&mut self, until: Instant, term: Option<Term>) -> Result<(), Lost> {
        if self.held.is_none() && now() >= until - self.margin - self.grace {
            return if self.presence == Presence::Here { Ok(()) } else { Err(Lost) };
        }
        self.held.get_or_insert(until);
        self.ask(&Request::Permit { run: self.run, until, term })
    }

    /// Asks the neighbours for so long who has the addresses, so that less of that is left if a
    /// permission follows. Nothing happens while a run is under way.
    ///
    /// # Errors
    /// [`Lost`] if the guardian has ended.
    pub fn look(&mut self, within: Duration) -> Result<(), Lost> {
        self.ask(&Request::Look { within })
    }

    /// Ends the command now: the stop signal, and SIGKILL after this time, or earlier if the
    /// permission ends before. So go on calling [`Self::permit`] with every renewal, if the command
    /// is to have its time; that does not keep it from ending. Further calls can shorten the time,
    /// and not prolong it. [`Report::Ended`] follows, unless the command ends by itself at this
    /// very time; also if none runs.
    ///
    /// # Errors
    /// [`Lost`] if the guardian has ended.
    pub fn stop(&mut self, within: Duration) -> Result<(), Lost> {
        self.ask(&Request::Stop { run: self.run, within })
    }

    /// Passes a signal on to the command, to its first process alone. Nothing happens if none
    /// runs or the signal has no name (real-time signals).
    ///
    /// # Errors
    /// [`Lost`] if the guardian has ended.
    pub fn signal(&mut self, signal: i32) -> Result<(), Lost> {
        self.ask(&Request::Signal { run: self.run, signal })
    }

    /// From now on this signal asks the command to end.
    ///
    /// # Errors
    /// [`Lost`] if the guardian has ended.
    pub fn set_stop_signal(&mut self, signal: i32) -> Result<(), Lost> {
        self.ask(&Request::StopSignal { signal })
    }

    /// The next report. Call it until there is none.
    pub fn poll(&mut self, now: Instant) -> Option<Report> {
        while self.presence == Presence::Here {
            match wire::fetch(self.socket.as_fd()) {
                Received::Packet(bytes) => match Answer::decode(&bytes) {
                    Ok(Answer::Held { run, until }) if run == self.run => self.held = Some(until),
                    Ok(Answer::Held { .. }) => (),
                    Ok(Answer::News { report, .. }) => return Some(self.note(report)),
                    Ok(Answer::Late { delay }) => self.delay = delay,
                    Ok(Answer::Ready { .. }) | Err(_) => self.lose(),
                },
                Received::Closed => self.lose(),
                Received::Nothing if now >= self.poll_timeout() => {
                    self.silent = true;
                    self.lose();
                }
                Received::Nothing => return None,
            }
        }
        if matches!(self.presence, Presence::Losing { again, .. } if now >= again) {
            self.go_on_losing();
        }
        if matches!(self.presence, Presence::Losing { .. }) {
            return None;
        }
        let told = std::mem::replace(&mut self.presence, Presence::GoneAndTold);
        (told == Presence::Gone).then_some(Report::Lost)
    }

    /// Ends the command, if it runs, and the guardian; waits until nothing of them is left.
    pub fn end(self) {
        drop(self);
    }

    /// A descriptor that is readable when there may be a report.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// When [`Self::poll`] must be called at the latest.
    pub fn poll_timeout(&self) -> Instant {
        let half_margin = self.margin / 2;
        match self.presence {
            Presence::Here => self.held.map_or(Instant::NEVER, |until| until - half_margin),
            Presence::Losing { again, .. } => again,
            Presence::Gone => Instant::ZERO,
            Presence::GoneAndTold => Instant::NEVER,
        }
    }

    /// Whether it was lost because it had not answered when half the margin was left, and not
    /// because it had ended: it was stopped, or this machine stood still.
    pub fn fell_silent(&self) -> bool {
        self.silent
    }

    /// Since when the guardian has ended, and something that it guarded cannot be ended.
    pub fn losing(&self) -> Option<Instant> {
        match self.presence {
            Presence::Losing { since, .. } => Some(since),
            _ => None,
        }
    }

    /// The guardian's process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The watchdog's process: the parent of the guardian.
    pub fn watchdog_pid(&self) -> u32 {
        self.watchdog.id()
    }

    fn ask(&mut self, request: &Request) -> Result<(), Lost> {
        if self.presence == Presence::Here {
            match wire::post(self.socket.as_fd(), &request.encode()) {
                // A full socket means that the guardian does not read, and will not answer in time.
                Sent::Yes | Sent::Full => return Ok(()),
                Sent::Closed => self.lose(),
            }
        }
        Err(Lost)
    }

    fn note(&mut self, report: Report) -> Report {
        match report {
            Report::Started { pid } => self.leader = Pid::from_raw(pid.cast_signed()),
            Report::AddressInUse { .. }
            | Report::AddressTaken
            | Report::AddressRestored { .. }
            | Report::Unended { .. } => (),
            _ => {
                self.run += 1;
                self.leader = None;
                self.held = None;
            }
        }
        report
    }

    /// Begins to kill the guardian and all that it started; the watchdog last, which does the same
    /// if this process is stopped meanwhile.
    fn lose(&mut self) {
        self.presence = Presence::Losing { since: now(), again: Instant::ZERO };
        self.held = None;
        self.go_on_losing();
    }

    /// One more round. A process that cannot be killed, such as another user's or one that hangs in
    /// the kernel, is tried again for ever, without waiting for it.
    fn go_on_losing(&mut self) {
        let (cgroup, addresses) = (self.cgroup.as_ref(), &self.addresses);
        if end::round(&self.descendants, self.leader, cgroup, addresses) == Left::Somebody {
            let again = now() + AGAIN;
            self.presence = match self.presence {
                Presence::Losing { since, .. } => Presence::Losing { since, again },
                _ => Presence::Losing { since: again, again },
            };
        } else {
            self.cgroup.as_ref().map(Cgroup::remove);
            self.presence = Presence::Gone;
        }
    }

    /// Waits until guardian and watchdog have ended, with a time limit; returns whether they did.
    fn go_in_time(&mut self) -> bool {
        let limit = self.poll_timeout().min(now() + self.grace + self.margin);
        loop {
            match wire::fetch(self.socket.as_fd()) {
                Received::Packet(_) => (),
                Received::Nothing if now() >= limit => return false,
                Received::Nothing => wait(&self.socket, limit),
                Received::Closed => break,
            }
        }
        let limit = self.poll_timeout().min(now() + GOING);
        let Ok(process) = pidfd_open(Pid::from_child(&self.watchdog), PidfdFlags::empty()) else {
            return false;
        };
        loop {
            match self.watchdog.try_wait() {
                Ok(Some(how)) => return how.success(),
                Ok(None) if now() < limit => wait(&process, limit),
                Ok(None) | Err(_) => return false,
            }
        }
    }
}

/// Waits until a file is readable, or until then; it may return earlier.
fn wait(file: &OwnedFd, until: Instant) {
    let left = std::time::Duration::from_nanos(until.since(now()).as_nanos());
    let timeout = Timespec::try_from(left).ok();
    let _ = poll(&mut [PollFd::new(file, PollFlags::IN)], timeout.as_ref());
}

impl Drop for Guardian {
    fn drop(&mut self) {
        if self.presence == Presence::Here {
            // It ends the command, then itself, and sends no last will: this process goes on.
            let _ = wire::post(self.socket.as_fd(), &Request::Dismiss.encode());
            let _ = shutdown(&self.socket, Shutdown::Write);
            // If they end by themselves they leave no process, and our other children are not
            // killed.
            if !self.go_in_time() {
                self.lose();
            }
        }
        let limit = now() + LAST_ROUNDS;
        while matches!(self.presence, Presence::Losing { .. }) && now() < limit {
            std::thread::sleep(std::time::Duration::from_nanos(AGAIN.as_nanos()));
            self.go_on_losing();
        }
    }
}
