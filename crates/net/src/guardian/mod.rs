//! The guardian: a process that lets a command run only while it is permitted.
//!
//! **Source.** Our own. A lease bounds what its holder may believe; it does not bound what a
//! process that the holder started goes on doing. So the command belongs to a small process of its
//! own, the *guardian*, and that one to another, the *watchdog*, which only waits for the
//! guardian's deadline.
//!
//! ```text
//! member ──▶ watchdog ──▶ guardian ──▶ command ──▶ its processes      (who starts whom)
//! member ──permission until U──▶ guardian ──deadline──▶ watchdog
//!        ◀──held until U, ended──
//! ```
//!
//! | what happens | who acts |
//! |---|---|
//! | no extension arrives: the member is stopped, hangs, has lost its lease | the guardian: the stop signal to all at U − margin − grace, SIGKILL at U − margin |
//! | the member asks for the end of the command, within a time | the guardian: the stop signal to all at once, SIGKILL when that time is over; the member goes on extending the permission, and if no extension arrives, SIGKILL comes at U − margin |
//! | the member is killed | the guardian, at once: no extension can come. Then it sends the member's last will (`will.rs`), so that others need not wait for the lease |
//! | the guardian is killed | the watchdog and the member, at once |
//! | the guardian is stopped or hangs | the watchdog and the member, when half the margin is left |
//! | member and guardian are killed, or one killed and one stopped | the watchdog, at once or when half the margin is left |
//! | member and guardian are stopped | the watchdog, when half the margin is left |
//! | the watchdog is killed, or has not read for hundreds of extensions | the guardian, at once; the member starts others |
//! | all three are killed in the same moment | the kernel ends the command itself; what it started in other processes stays until the next watchdog is started below the same cgroup, which ends it |
//! | all three are stopped | nobody |
//!
//! Each of the three can end the command: any two may be stopped or killed at once. Guardian and
//! watchdog block all signals that can be blocked, run in real time and in locked memory where that
//! is permitted ([`priority`](crate::priority)), and the guardian ends the command earlier by its
//! recent scheduling delay.
//!
//! Where a cgroup can be made, the command and all that it starts are in one: it is killed in one
//! step, whatever users its processes have and however fast they fork. Where none can be made, the
//! descendants are killed: all three processes are child subreapers, so orphans become their
//! children.
//!
//! An [address](crate::address) of the leader is work of the same kind. It is set before the
//! command starts and removed when the command has ended, or when it is killed; without a command,
//! at U − margin. Each of the three can remove it, and does so when it would end the command. The
//! guardian then says that it gave the address up, so that the next leader need not ask first. If
//! all three are killed, the kernel removes it one to three and a half seconds after U; until then
//! it answers for the address, so that the next leader's guardian does not take it.
//!
//! **Assumptions.** Linux 5.3 or later, with `/proc`. A runnable process is scheduled within half
//! the margin. Without a cgroup, we may signal the command and its descendants, and a fork bomb
//! does not fork faster than we kill. A member has one guardian at a time, and no other children
//! that must survive than those it had before it started the guardian.
//!
//! **Promise.** At U the machine has none of the addresses, and no process that the command started
//! runs: also not one that ignores SIGTERM,
//! left the session, was forked twice or forks quickly. Time is `CLOCK_BOOTTIME`: a machine that
//! slept through U ends the command as soon as it wakes.

mod alarm;
mod cgroup;
mod child;
mod claim;
mod descendants;
mod end;
mod fits;
mod handover;
mod member;
mod run_addresses;
mod run_recorder;
mod signals;
mod starter;
mod watch;
mod watchdog;
mod will;
mod wire;
mod without_command;

pub use fits::{DoesNotFit, default_share, fits};
pub use member::Guardian;
pub use run_recorder::Recording;
pub use without_command::WithoutCommand;

use crate::address::{Address, Addresses};
use crate::privileges;
use bellwether_core::Duration;
use handover::{HandOver, Role};
use rustix::fd::AsFd;
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fmt, io};

/// No lease is longer: lockTime is a day at most.
const LEASE_MAX: Duration = Duration::from_secs(86_400);

/// Runs as the watchdog or the guardian, as the start message says, until no process of the command
/// is left.
///
/// # Errors
/// If the standard input is not a member's socket, or the system refuses. Then nothing was started.
pub fn guard() -> io::Result<()> {
    // What the member entrusts to it is no business of others. If this is refused, it was refused
    // to the member too, which reported it.
    let _ = crate::secrecy::hide_memory();
    // A signal to all processes of a service reaches the member too, and the member decides.
    let mask = signals::block()?;
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let (mut given, files) = HandOver::receive(&socket)?;
    if !given.plan.addresses.is_empty() {
        let extent = match given.role {
            Role::Guardian => privileges::Extent::InEffect,
            Role::Watchdog | Role::WithoutCommand => privileges::Extent::ForGood,
        };
        if let Err(error) = privileges::restrict(extent) {
            given.notes.push(format!("a guardian keeps all its privileges: {error}"));
        }
    }
    // Both are started as `/proc/self/exe`; without this `ps` would show them as `exe`.
    let _ = rustix::thread::set_name(given.role.name());
    match given.role {
        Role::Watchdog => {
            given.mask = mask;
            watchdog::keep(given, files)
        }
        Role::Guardian => {
            watch::Watch::begin(socket, given, files)?.keep();
            Ok(())
        }
        Role::WithoutCommand => without_command::keep(&socket, files),
    }
}

/// The command of a guardian, and how it is ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The program, looked up in the `PATH`, without a shell. Empty if there is no command, but
    /// addresses or a file.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How long before the end of the permission no process may be left.
    pub margin: Duration,
    /// How long the command has between the stop signal and SIGKILL if its permission ends, or
    /// nobody is there to extend it.
    pub grace: Duration,
    /// The signal that asks the command to end; SIGTERM if no signal has this number.
    pub stop_signal: i32,
    /// Its nice value: the member's before its priority was raised.
    pub nice: i32,
    /// Environment variables in addition to the member's. `BELLWETHER_TERM` is added: the term of
    /// the permission that started it, empty if it had none.
    pub env: Vec<(OsString, OsString)>,
    /// Addresses that the machine has while the command may run: set before it starts, removed
    /// after it has ended, and at the end of the permission less the margin at the latest.
    pub addresses: Vec<Address>,
    /// How long to wait for an answer of somebody who has one of them.
    pub probe: Duration,
    /// For how long it is believed that a member of the group gave them up: no longer than a lease
    /// less `probe`.
    pub believed: Duration,
    /// A file that is there while the command may run, as the addresses are, if one is wanted. It
    /// must be in memory: see [`leader_file`](crate::leader_file).
    pub leader_file: Option<PathBuf>,
    /// Whether the command has the member's standard input. If not, it reads nothing.
    pub pass_stdin: bool,
    /// The trace of the guardian, if one is wanted.
    pub recording: Option<Recording>,
}

impl Plan {
    /// What comes and goes with the command: the addresses and the file.
    fn open_addresses(&self) -> io::Result<Addresses> {
        Ok(Addresses::open(&self.addresses)?.with_file(self.leader_file.as_deref()))
    }
}

/// A report of the guardian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The command runs.
    Started {
        /// Its process.
        pid: u32,
    },
    /// The command exited by itself; processes that it left behind were killed.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// The command died of a signal that was not ours; processes that it left behind were killed.
    Signalled {
        /// The signal.
        signal: i32,
    },
    /// The guardian ended the command, or did not start it because too little of its permission was
    /// left.
    Ended,
    /// The command cannot be started.
    NotStarted {
        /// Why.
        error: String,
    },
    /// The addresses are set. If there is a command, it is started next, unless somebody else turns
    /// out to have one of them.
    AddressTaken,
    /// Somebody had removed addresses; they are set again.
    AddressRestored {
        /// Which.
        which: String,
    },
    /// Somebody else has an address. None is set, or none any more: if they were set before the
    /// neighbours were asked, they are removed again. The guardian asks again for some seconds
    /// before it gives up.
    AddressInUse {
        /// Which address, and who.
        who: String,
    },
    /// Something of a run that is to end cannot be ended: a process that cannot be killed, an
    /// address or a file that cannot be removed. It is tried again, and the report that the run is
    /// over follows if that succeeds.
    Unended {
        /// What.
        what: String,
    },
    /// The addresses cannot be set, or not be kept; none is left, and the command has ended.
    AddressFailed {
        /// Why.
        error: String,
    },
    /// The guardian has ended, and all processes of the command were killed. Another guardian may
    /// be started.
    Lost,
}

/// The guardian has ended, and all processes of the command were killed. Another guardian may be
/// started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the guardian has ended, and the command with it; start another guardian")
    }
}

impl std::error::Error for Lost {}

/// What member, guardian and watchdog say to each other, for fuzzers.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    use super::handover::{HandOver, Role};
    use super::signals::Mask;
    use super::wire::{Answer, Deadline, Request};
    use super::{Plan, Recording, Report};
    use bellwether_core::{Duration, Instant, NodeId, Term};

    /// Whether these bytes are a message of any of them.
    pub fn read(bytes: &[u8]) -> bool {
        let request = Request::decode(bytes);
        if let Ok(request) = &request {
            assert_eq!(Request::decode(&request.encode()).as_ref(), Ok(request));
        }
        let answer = Answer::decode(bytes);
        if let Ok(answer) = &answer {
            assert_eq!(Answer::decode(&answer.encode()).as_ref(), Ok(answer));
        }
        let deadline = Deadline::decode(bytes);
        if let Ok(deadline) = deadline {
            assert_eq!(Deadline::decode(&deadline.encode()), Ok(deadline));
        }
        let plan = HandOver::decode(bytes);
        if let Ok(plan) = &plan {
            let again = plan.encode().map(|bytes| HandOver::decode(&bytes));
            assert!(again.is_ok_and(|again| again.as_ref() == Ok(plan)), "a plan comes back");
        }
        request.is_ok() || answer.is_ok() || deadline.is_ok() || plan.is_ok()
    }

    /// What they write.
    pub fn seeds() -> Vec<Vec<u8>> {
        let (run, until) = (3, Instant::from_nanos(9));
        let error = "no such file".to_owned();
        let (cgroup, notes) = (Some("/sys/fs/cgroup/x".into()), vec!["refused".to_owned()]);
        let plan = Plan {
            program: "sleep".into(),
            args: vec!["9".into()],
            margin: Duration::from_millis(3),
            grace: Duration::from_millis(15),
            stop_signal: 15,
            nice: -5,
            env: vec![("BELLWETHER_ID".into(), "1".into())],
            addresses: "10.0.0.7/24@eth0".parse().into_iter().collect(),
            probe: Duration::from_millis(20),
            believed: Duration::from_millis(40),
            leader_file: Some("/run/web.leader".into()),
            pass_stdin: true,
            recording: Some(Recording::beside("a.jsonl".as_ref(), "g", NodeId(7), until)),
        };
        let start = HandOver {
            role: Role::Guardian,
            plan,
            mask: Mask(7),
            cgroup: cgroup.clone(),
            notes: notes.clone(),
            will: true,
        };
        vec![
            Request::Permit { run, until, term: Term::new(7) }.encode(),
            Request::Stop { run, within: Duration::from_millis(15) }.encode(),
            Request::Signal { run, signal: 15 }.encode(),
            Request::StopSignal { signal: 2 }.encode(),
            Request::Look { within: Duration::from_millis(30) }.encode(),
            Answer::Held { run, until }.encode(),
            Answer::News { run, report: Report::Exited { code: 1 } }.encode(),
            Answer::News { run, report: Report::NotStarted { error } }.encode(),
            Answer::News { run, report: Report::AddressTaken }.encode(),
            Answer::News { run, report: Report::AddressRestored { which: "x".to_owned() } }
                .encode(),
            Answer::News { run, report: Report::AddressInUse { who: "x".to_owned() } }.encode(),
            Answer::Ready { pid: 7, cgroup, notes }.encode(),
            Answer::Late { delay: Duration::from_millis(1) }.encode(),
            Deadline(until).encode(),
            start.encode().unwrap_or_default(),
        ]
    }
}
