//! What the application asks of the member's thread.

use crate::frame::Keyring;
use crate::resignation::{Answer, Resigning};
use crate::status::Status;
use crate::voter_change::VoterChange;
use bellwether_core::{Command, NodeId};
use std::sync::mpsc::SyncSender;
use zeroize::Zeroizing;

/// A request of the application to the member's thread.
pub(crate) enum Request {
    /// Pass this command on to the protocol, and send its answer.
    Command(Command, Option<Answer>),
    /// Change the voters, if the list that the member holds has this number, and send whether that
    /// has begun.
    Change(VoterChange, Option<u64>, Answer),
    /// Resign, once no guard of the reign holds the lease.
    Resign(Resigning),
    /// Send whether the protocol would refuse this command now.
    Refusal(Command, Answer),
    /// Forget this member, which joined and has ended for good, and send whether that is done.
    Forget(NodeId, Answer),
    /// Send the status.
    Status(SyncSender<Box<Status>>),
    /// Show that the member's thread runs.
    Pulse(SyncSender<()>),
    /// Use these keys from now on.
    Keyring(Keyring),
    /// Send this member a frame about keys.
    SendKeys(NodeId, Zeroizing<Vec<u8>>),
    /// Lead no longer, for this reason, and let the lease run out.
    Lapse(String),
    /// Names were looked up.
    Resolved,
    /// Leave the group and end.
    Stop,
}
