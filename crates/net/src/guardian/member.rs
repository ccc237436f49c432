//! The member's side: it permits, and watches the one who watches.
//!
//! **Source.** The table in [the module above](super).
//!
//! **Assumptions.** [`Guardian::poll`] is called whenever [`Guardian::fd`] can be read, and at
//! [`Guardian::poll_timeout`] at the latest.
//!
//! **Promise.** What the guardian does not end in time the member does, when half the margin is
//! left. Whoever drops a [`Guardian`] may be sure that nothing of the command is left.

use super::alarm::now;
use super::kin::{Kin, Left};
use super::wire::{self, Answer, Received, Request, Sent};
use super::{Lost, Plan, Report};
use bellwether_core::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::process::{Pid, getpid, set_child_subreaper};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// How soon to look again for what did not end.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(1);

/// The guardian, as the member sees it.
#[derive(Debug)]
pub struct Guardian {
    process: Child,
    socket: OwnedFd,
    kin: Kin,
    margin: Duration,
    grace: Duration,
    /// The present run, or the one to come.
    run: u64,
    /// The command, once it has started.
    leader: Option<Pid>,
    /// What the guardian last said how long the run lasts; before it says anything, what it was
    /// first asked. Nothing if no run is under way.
    held: Option<Instant>,
    presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    Gone,
    GoneAndTold,
}

impl Guardian {
    /// Starts a guardian: `guardian_command` is a program that calls [`guard`](super::guard).
    ///
    /// This process becomes a child subreaper. If the guardian is ever killed, all children of
    /// this process are ended but those that it has now.
    ///
    /// # Errors
    /// If the guardian cannot be started, or the plan cannot be handed over.
    pub fn spawn(mut guardian_command: Command, plan: &Plan) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let kin = Kin::from_now_on()?;
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // A group of its own: what a terminal says to the member is for the member to pass on.
        let process = guardian_command.stdin(theirs).process_group(0).spawn()?;
        drop(guardian_command); // and with it our copy of their end
        let guardian = Self {
            process,
            socket,
            kin,
            margin: plan.margin,
            grace: plan.grace,
            run: 1,
            leader: None,
            held: None,
            presence: Presence::Here,
        };
        wire::hand_over(&guardian.socket, &plan.asked_now(), io::stdin().as_fd())?;
        Ok(guardian)
    }

    /// The command may run until then: starts it, or extends a run. To be repeated with every
    /// renewal of the lease.
    ///
    /// After the report that a run is over, the next call starts another. Nothing is started if
    /// there is only time left to end it.
    ///
    /// # Errors
    /// [`Lost`] if the guardian is gone.
    pub fn permit(&mut self, until: Instant) -> Result<(), Lost> {
        if self.held.is_none() && now() >= until - self.margin - self.grace {
            return if self.presence == Presence::Here { Ok(()) } else { Err(Lost) };
        }
        self.held.get_or_insert(until);
        self.ask(Request::Permit { run: self.run, until })
    }

    /// Ends the command now: SIGTERM, and SIGKILL when the grace is over, or earlier if the
    /// permission is. [`Report::Ended`] follows, unless the command ends by itself at this very
    /// time; also if none runs.
    ///
    /// # Errors
    /// [`Lost`] if the guardian is gone.
    pub fn stop(&mut self) -> Result<(), Lost> {
        self.ask(Request::Stop { run: self.run })
    }

    /// Passes a signal on to the command, to its first process alone. Nothing happens if none
    /// runs or the signal has no name (real-time signals).
    ///
    /// # Errors
    /// [`Lost`] if the guardian is gone.
    pub fn signal(&mut self, signal: i32) -> Result<(), Lost> {
        self.ask(Request::Signal { run: self.run, signal })
    }

    /// The next report. To be called until there is none.
    pub fn poll(&mut self, now: Instant) -> Option<Report> {
        while self.presence == Presence::Here {
            match wire::fetch(self.socket.as_fd()) {
                Received::Packet(bytes) => match Answer::decode(&bytes) {
                    Ok(Answer::Held { run, until }) if run == self.run => self.held = Some(until),
                    Ok(Answer::Held { .. }) => (),
                    Ok(Answer::News { report, .. }) => return Some(self.note(report)),
                    Err(_) => self.lose(),
                },
                Received::Closed => self.lose(),
                Received::Nothing if now >= self.poll_timeout() => self.lose(),
                Received::Nothing => return None,
            }
        }
        let told = std::mem::replace(&mut self.presence, Presence::GoneAndTold);
        (told == Presence::Gone).then_some(Report::Lost)
    }

    /// Ends the command, if it runs, and the guardian; waits until nothing of them is left.
    pub fn end(self) {
        drop(self);
    }

    /// Can be read when there may be a report.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// When [`Self::poll`] must be called at the latest.
    pub fn poll_timeout(&self) -> Instant {
        let half_margin = Duration::from_nanos(self.margin.as_nanos() / 2);
        match self.presence {
            Presence::Here => self.held.map_or(Instant::NEVER, |until| until - half_margin),
            Presence::Gone => Instant::ZERO,
            Presence::GoneAndTold => Instant::NEVER,
        }
    }

    /// The guardian's process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    fn ask(&mut self, request: Request) -> Result<(), Lost> {
        if self.presence == Presence::Here {
            match wire::post(self.socket.as_fd(), &request.encode()) {
                // No room means that it does not read, and will not answer in time.
                Sent::Yes | Sent::Full => return Ok(()),
                Sent::Closed => self.lose(),
            }
        }
        Err(Lost)
    }

    fn note(&mut self, report: Report) -> Report {
        if let Report::Started { pid } = report {
            self.leader = Pid::from_raw(pid.cast_signed());
        } else {
            self.run += 1;
            self.leader = None;
            self.held = None;
        }
        report
    }

    /// Kills the guardian and all that falls to us by it.
    fn lose(&mut self) {
        let _ = self.process.kill(); // it may be dead already
        let _ = self.process.wait();
        while !self.kin.kill(self.leader).is_ok_and(|left| left == Left::Nobody) {
            std::thread::sleep(AGAIN);
        }
        self.presence = Presence::Gone;
        self.held = None;
    }

    /// Waits until the guardian closes its end, for as long as it may take; whether it did.
    fn closes_in_time(&self) -> bool {
        let limit = self.poll_timeout().min(now() + self.grace + self.margin);
        loop {
            let left = limit.since(now());
            match wire::fetch(self.socket.as_fd()) {
                Received::Packet(_) => continue,
                Received::Nothing if left > Duration::ZERO => (),
                Received::Nothing => return false,
                Received::Closed => return true,
            }
            let left = std::time::Duration::from_nanos(left.as_nanos());
            let timeout = Timespec::try_from(left).ok();
            let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], timeout.as_ref());
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        if self.presence != Presence::Here {
            return;
        }
        let _ = shutdown(&self.socket, Shutdown::Write); // it ends the command, and goes
        // One that goes by itself leaves nothing behind, and nothing of ours is ended with it.
        let well = self.closes_in_time() && self.process.wait().is_ok_and(|how| how.success());
        if !well {
            self.lose();
        }
    }
}
