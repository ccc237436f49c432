//! What the guardian of a live member records: when the command runs that belongs to a leader.
//!
//! **Source.** Our own. A lease says until when a member may lead; what users care about is whether
//! the command ran in two places. Only the guardian knows, since the member may be killed first.
//!
//! **Promise.** From [`Work::Starts`] to [`Work::Ended`] is at least as long as the command really
//! ran: the first is written before the command is started, the second when nothing of it is left.
//! Between `from` and `to` it certainly ran.

use crate::time::SimTime;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What a guardian begins with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Watcher {
    /// Which start of which machine its clock counts from, as in [`Head`](crate::Head).
    pub boot: String,
    /// The group.
    pub group: String,
    /// When the member's process began. A guardian that follows another one of the same process
    /// began when nothing was left of what the other one guarded.
    pub since: SimTime,
}

/// What becomes of the command. Every start of it is a run with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "phase")]
pub enum Work {
    /// It will be started now.
    Starts {
        /// Which run.
        run: u64,
    },
    /// Nothing of it is left, or it could not be started.
    Ended {
        /// Which run.
        run: u64,
        /// Its first process; absent if it was never seen to run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// When it was first seen to run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<SimTime>,
        /// When something of it was last seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<SimTime>,
    },
    /// The guardian goes: the member needs it no more, and nothing runs.
    Done,
}
