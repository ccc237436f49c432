//! The records of a live member's guardian: when the leader's command runs.
//!
//! **Source.** Our own. A lease says until when a member may lead, but users care whether the
//! command ran in two places. Only the guardian knows that, because the member may be killed first.
//!
//! **Promise.** From [`Work::Starts`] to [`Work::Ended`] is at least the time that the command
//! really ran: the first is written before the command is started, the second when no process of it
//! is left. Between `from` and `to` it certainly ran.

use crate::time::SimTime;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What a guardian started with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Watcher {
    /// Identifies the boot of the machine that its clock counts from, as in
    /// [`LifeHeader`](crate::LifeHeader).
    pub boot: String,
    /// The group.
    pub group: String,
    /// When the member's process began. A later guardian of the same process begins when no process
    /// of the earlier one's command is left.
    pub since: SimTime,
}

/// An event of the command. Every start of it is a run with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "phase")]
pub enum Work {
    /// It is about to be started.
    Starts {
        /// The number of the run.
        run: u64,
    },
    /// No process of it is left, or it could not be started.
    Ended {
        /// The number of the run.
        run: u64,
        /// Its first process; absent if it was never seen to run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// When it was first seen to run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<SimTime>,
        /// When a process of it was last seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<SimTime>,
    },
    /// The guardian ends: the member no longer needs it, and nothing runs.
    Done,
}
