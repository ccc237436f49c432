//! A change of the voters, as an application or an operator asks for it.

use bellwether_core::{Command, NodeId};

/// A change of the voters of a group: one voter more, one less, or one instead of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// The member that votes from now on, if there is one.
    pub fn added(self) -> Option<NodeId> {
        match self {
            Self::Add(new) | Self::Replace { new, .. } => Some(new),
            Self::Remove(_) => None,
        }
    }

    /// The member that votes no longer, if there is one.
    pub fn removed(self) -> Option<NodeId> {
        match self {
            Self::Remove(old) | Self::Replace { old, .. } => Some(old),
            Self::Add(_) => None,
        }
    }

    /// The same as a command for the protocol.
    pub(crate) fn command(self) -> Command {
        match self {
            Self::Add(new) => Command::Add(new),
            Self::Remove(old) => Command::Remove(old),
            Self::Replace { old, new } => Command::Replace(old, new),
        }
    }
}
