//! The interface of a member to the control server: an implementation of [`ControlHandler`] answers
//! the clients.

use super::{Change, ChangedSetting, NotReloaded};
use crate::keys::{BadKeyStep, KeyReport, KeyStep};
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

    /// Reads the settings again, and changes all of them that differ, or none; returns what
    /// changed. A member whose program has the settings has none to read.
    ///
    /// # Errors
    /// [`NotReloaded`], with the reason; nothing changed.
    fn reload(&self) -> Result<Vec<ChangedSetting>, NotReloaded> {
        Err("this member is part of a program that is not this command: that program has \
             its settings"
            .to_owned()
            .into())
    }

    /// Lists the keys of all members of the group, or takes a step of a rotation with them; returns
    /// once all have answered or a few seconds have passed.
    ///
    /// # Errors
    /// [`BadKeyStep`], with the reason.
    fn keys(&self, step: KeyStep, force: bool) -> Result<KeyReport, BadKeyStep> {
        let _ = (step, force);
        Err("this member does not look after keys: the program that it is part of has them".into())
    }

    /// What happened to the member in the last time of this length, or all that it remembers. If a
    /// guardian keeps its last will, ends of leases must be noted there: [`Past::noting`].
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
