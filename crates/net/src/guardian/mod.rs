//! The guardian: a command runs only while its permission lasts.
//!
//! **Source.** Our own. A lease bounds what its holder may believe; it does not bound what a
//! process that the holder once started goes on doing. So the command belongs to a small process
//! of its own, the *guardian*, between the *member* and the command.
//!
//! ```text
//! member ──permission until U──▶ guardian ──▶ command ──▶ whatever it starts
//!        ◀──held until U, ended──
//! ```
//!
//! | what happens | who acts |
//! |---|---|
//! | no extension arrives: the member is stopped, hangs, has lost its lease | the guardian: SIGTERM to all at U − margin − grace, SIGKILL at U − margin |
//! | the member is killed | the guardian, at once: nobody is left to extend |
//! | the guardian is killed | the member, at once: what the guardian had falls to it |
//! | the guardian is stopped or hangs | the member, when half the margin is left of what the guardian last said it holds: it kills it |
//! | both are killed in the same moment | the kernel ends the command itself; what it started in other processes may stay |
//!
//! **Assumptions.** Linux 5.3 or later, with `/proc`. Whoever may be scheduled gets its turn
//! within half the margin. The command and what it starts may be signalled by us: one that
//! becomes another user's cannot be ended. A fork bomb takes longer to find and reap than a
//! margin lasts; limit the number of its processes. A member has one guardian at a time, and no
//! children that it wants to keep other than those that it had before it started the guardian.
//!
//! **Promise.** At U nothing runs that the command started: not what ignores SIGTERM, left the
//! session, was forked twice or forks as it goes (both processes are child subreapers, so
//! orphans fall to them). Time is `CLOCK_BOOTTIME`: a machine that slept through U ends the
//! command as soon as it wakes.

mod alarm;
mod child;
mod fits;
mod kin;
mod member;
mod signals;
mod watch;
mod wire;

pub use fits::{DoesNotFit, default_share, fits};
pub use member::Guardian;
pub use watch::guard;

use bellwether_core::Duration;
use std::ffi::OsString;
use std::fmt;

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
    /// What its environment has beyond that of the member.
    pub env: Vec<(OsString, OsString)>,
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
