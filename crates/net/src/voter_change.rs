//! A change of the list of voters, as an application or an operator asks for it.

use bellwether_core::{Command, Duration, NodeId};
use std::fmt;

/// A change of the list of voters: one voter more, one less, or one instead of another; or another
/// lockTime or drift, which are part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VoterChange {
    /// This member votes, too.
    Add(NodeId),
    /// This member votes no longer.
    Remove(NodeId),
    /// One member votes instead of another.
    Replace {
        /// The voter that votes no longer.
        old: NodeId,
        /// The member that votes in its place.
        new: NodeId,
    },
    /// Locks last for another time, or clocks may drift by more or less.
    Lengths {
        /// The new lockTime, if it is to change.
        lock: Option<Duration>,
        /// The new drift in parts per 10⁶, if it is to change.
        drift_ppm: Option<u32>,
    },
}

/// What is the case once it is made.
impl fmt::Display for VoterChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(new) => write!(f, "member {new} votes"),
            Self::Remove(old) => write!(f, "member {old} votes no longer"),
            Self::Replace { old, new } => write!(f, "member {new} votes instead of {old}"),
            Self::Lengths { lock, drift_ppm } => {
                let lock = lock.map(|lock| format!("locks last {lock}"));
                let drift = drift_ppm.map(|ppm| format!("clocks may drift by {ppm} ppm"));
                f.write_str(&lock.into_iter().chain(drift).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl VoterChange {
    /// The change with this new voter and that former one; `None` if it would change nothing.
    pub(crate) fn of(add: Option<u64>, remove: Option<u64>) -> Option<Self> {
        match (add.map(NodeId), remove.map(NodeId)) {
            (Some(new), Some(old)) => Some(Self::Replace { old, new }),
            (Some(new), None) => Some(Self::Add(new)),
            (None, Some(old)) => Some(Self::Remove(old)),
            (None, None) => None,
        }
    }

    /// The change to this lockTime and this drift; `None` if it would change nothing.
    pub(crate) fn of_lengths(lock: Option<Duration>, drift_ppm: Option<u32>) -> Option<Self> {
        (lock.is_some() || drift_ppm.is_some()).then_some(Self::Lengths { lock, drift_ppm })
    }

    /// The new lockTime and the new drift, of those that are to change.
    pub fn lengths(self) -> (Option<Duration>, Option<u32>) {
        match self {
            Self::Lengths { lock, drift_ppm } => (lock, drift_ppm),
            _ => (None, None),
        }
    }

    /// The member that votes from now on, if there is one.
    pub fn added(self) -> Option<NodeId> {
        match self {
            Self::Add(new) | Self::Replace { new, .. } => Some(new),
            Self::Remove(_) | Self::Lengths { .. } => None,
        }
    }

    /// The member that votes no longer, if there is one.
    pub fn removed(self) -> Option<NodeId> {
        match self {
            Self::Remove(old) | Self::Replace { old, .. } => Some(old),
            Self::Add(_) | Self::Lengths { .. } => None,
        }
    }

    /// The same as a command for the protocol.
    pub(crate) fn command(self) -> Command {
        match self {
            Self::Add(new) => Command::Add(new),
            Self::Remove(old) => Command::Remove(old),
            Self::Replace { old, new } => Command::Replace(old, new),
            Self::Lengths { lock, drift_ppm } => Command::Lengths(lock, drift_ppm),
        }
    }
}
