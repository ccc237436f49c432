//! The guardian: a command runs only while its permission lasts.
//!
//! **Source.** Our own. A lease bounds what its holder may believe; it does not bound what a
//! process that the holder once started goes on doing. So the command belongs to a small process
//! of its own, the *guardian*, and that one to another, the *watchdog*, which does nothing but
//! wait for the guardian's deadline.
//!
//! ```text
//! member ──▶ watchdog ──▶ guardian ──▶ command ──▶ whatever it starts      (who starts whom)
//! member ──permission until U──▶ guardian ──deadline──▶ watchdog
//!        ◀──held until U, ended──
//! ```
//!
//! | what happens | who acts |
//! |---|---|
//! | no extension arrives: the member is stopped, hangs, has lost its lease | the guardian: SIGTERM to all at U − margin − grace, SIGKILL at U − margin |
//! | the member is killed | the guardian, at once: nobody is left to extend |
//! | the guardian is killed | the watchdog and the member, at once |
//! | the guardian is stopped or hangs | the watchdog and the member, when half the margin is left |
//! | member and guardian are killed, or one killed and one stopped | the watchdog, at once or when half the margin is left |
//! | member and guardian are stopped | the watchdog, when half the margin is left |
//! | the watchdog is killed, or has not read for hundreds of extensions | the guardian, at once; the member starts others |
//! | all three are killed in the same moment | the kernel ends the command itself; what it started in other processes stays until the next watchdog is started below the same cgroup, which ends it |
//! | all three are stopped | nobody |
//!
//! Each of the three is enough to end the command: any two may be stopped or killed at once.
//! Guardian and watchdog block all signals that can be blocked, run in real time and in locked
//! memory where that is permitted ([`priority`](crate::priority)), and the guardian ends the
//! command earlier by as much as it has lately been late.
//!
//! Where a cgroup can be made, the command and all that it starts are in one: it is ended in one
//! step, whoever its processes belong to and however fast they fork. Where none can be made, they
//! are found by their descent: all three processes are child subreapers, so orphans fall to them.
//!
//! **Assumptions.** Linux 5.3 or later, with `/proc`. Whoever may be scheduled gets its turn
//! within half the margin. Without a cgroup: the command and what it starts may be signalled by
//! us, and a fork bomb does not fork faster than we kill. A member has one guardian at a time, and
//! no children that it wants to keep other than those that it had before it started the guardian.
//!
//! **Promise.** At U nothing runs that the command started: not what ignores SIGTERM, left the
//! session, was forked twice or forks as it goes. Time is `CLOCK_BOOTTIME`: a machine that slept
//! through U ends the command as soon as it wakes.

mod alarm;
mod cgroup;
mod child;
mod diary;
mod end;
mod fits;
mod handover;
mod kin;
mod lateness;
mod member;
mod signals;
mod starter;
mod watch;
mod watchdog;
mod wire;

pub use diary::Recording;
pub use fits::{DoesNotFit, default_share, fits};
pub use member::Guardian;

use bellwether_core::Duration;
use handover::{HandOver, Role};
use rustix::fd::AsFd;
use std::ffi::OsString;
use std::{fmt, io};

/// Is the watchdog or the guardian, whatever the one who started this asks for, until nothing of
/// the command is left.
///
/// # Errors
/// If the standard input is no member, or the system refuses what is needed. Nothing was started
/// then.
pub fn guard() -> io::Result<()> {
    // Whoever asks all processes of a service to end asks the member too, and the member decides.
    let mask = signals::block()?;
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let (mut given, files) = HandOver::receive(&socket)?;
    // Both are started by way of `/proc/self/exe`, by whose last part `ps` would name them.
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
    }
}

/// What the guardian is to run, and how it ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The program, looked for in the `PATH`. No shell is asked.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How long before the end of the permission nothing may be left.
    pub margin: Duration,
    /// How long the command has between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Its nice value: what the member had before it was given a higher priority.
    pub nice: i32,
    /// What its environment has beyond that of the member.
    pub env: Vec<(OsString, OsString)>,
    /// Where it records when the command runs, if it does.
    pub recording: Option<Recording>,
}

/// What the guardian has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The command runs.
    Started {
        /// Its process.
        pid: u32,
    },
    /// The command exited by itself; whatever it left behind was ended.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// The command died of a signal that was not ours; whatever it left behind was ended.
    Signalled {
        /// The signal.
        signal: i32,
    },
    /// We ended the command, or it did not even start: too little was left of its permission.
    Ended,
    /// The command cannot be started.
    NotStarted {
        /// Why.
        error: String,
    },
    /// The guardian is gone, and all that it guarded was ended. Another one may be started.
    Lost,
}

/// The guardian is gone, and all that it guarded was ended. Another one may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the guardian is gone, and the command with it; start another one")
    }
}

impl std::error::Error for Lost {}
