//! The interface of a member to the control server: an implementation of [`ControlHandler`] answers
//! the clients.

use super::Change;
use crate::past::Past;
use crate::status::Status;
use crate::voter_change::VoterChange;
use bellwether_core::{Duration, NodeId};

/// Answers the requests of clients. Every method may block for a moment, and may be called by
/// several threads at once.
pub trait ControlHandler: Send + Sync + 'static {
    /// The status of the member.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    fn status(&self) -> Result<Status, String>;

    /// Resigns; returns once the member has.
    ///
    /// # Errors
    /// Why it does not resign, in a sentence.
    fn resign(&self) -> Result<(), String>;

    /// Resigns in favour of this member; returns once it has.
    ///
    /// # Errors
    /// Why it does not, in a sentence.
    fn transfer(&self, to: NodeId) -> Result<(), String>;

    /// Changes the voters, if the present list has this number; returns once the change has begun.
    ///
    /// # Errors
    /// Why it does not, in a sentence.
    fn change_voters(&self, change: VoterChange, list: Option<u64>) -> Result<(), String>;

    /// Forgets a member that joined and has ended for good; returns once it has.
    ///
    /// # Errors
    /// Why it does not, in a sentence.
    fn forget(&self, id: NodeId) -> Result<(), String>;

    /// What happened to the member in the last time of this length, or all that it remembers.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    fn past(&self, _last: Option<Duration>) -> Result<Past, String> {
        Err("this member does not tell its past".to_owned())
    }

    /// The present state and all changes.
    fn watch(&self) -> Box<dyn ChangeStream>;
}

/// A stream of changes.
pub trait ChangeStream: Send {
    /// Waits for the next change, or for this long. The first call returns the present state at
    /// once.
    fn next(&mut self, within: std::time::Duration) -> WatchEvent;
}

/// The result of [`ChangeStream::next`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Something changed.
    Change(Change),
    /// Nothing changed.
    Nothing,
    /// The member has ended.
    Ended,
}
