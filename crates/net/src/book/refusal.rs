//! Why a member does not accept a process that asks to join.

use super::MEMBERS_MAX;
use bellwether_core::NodeId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;

/// Why a process that asks to join a running group is not taken up. It travels from the member that
/// refuses to the process that asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum JoinRefused {
    /// The group accepts nobody while it runs.
    Closed {
        /// The member that was asked.
        by: NodeId,
    },
    /// The member that was asked takes no part now.
    NoPart {
        /// That member.
        by: NodeId,
    },
    /// The member that was asked has answered as many as it may for now.
    Busy {
        /// That member.
        by: NodeId,
    },
    /// The member that was asked does not know a committed list of voters.
    VotersUnknown {
        /// That member.
        by: NodeId,
    },
    /// The member that was asked cannot store its book.
    NotStored {
        /// That member.
        by: NodeId,
        /// What its system says.
        error: String,
    },
    /// The datagrams of the process come from another address than it names.
    Elsewhere {
        /// The address that it names.
        said: Option<SocketAddr>,
        /// Where its datagrams come from.
        from: SocketAddr,
    },
    /// The id is that of a founding member.
    Founder {
        /// The id.
        id: NodeId,
    },
    /// The id is in use.
    InUse {
        /// The id.
        id: NodeId,
        /// Where the member with this id is.
        at: SocketAddr,
    },
    /// Another member has this address.
    SameAddress {
        /// That member.
        id: NodeId,
        /// The address.
        at: SocketAddr,
    },
    /// The member was forgotten, and this process began before that.
    Forgotten {
        /// Its id.
        id: NodeId,
    },
    /// There is no room.
    Full,
    /// A reason that this version does not know.
    #[serde(other)]
    Unknown,
}

impl JoinRefused {
    /// Whether it is in vain to ask again.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::Closed { .. }
            | Self::Elsewhere { .. }
            | Self::Founder { .. }
            | Self::InUse { .. }
            | Self::SameAddress { .. }
            | Self::Forgotten { .. } => true,
            Self::NoPart { .. }
            | Self::Busy { .. }
            | Self::VotersUnknown { .. }
            | Self::NotStored { .. }
            | Self::Full
            | Self::Unknown => false,
        }
    }
}

impl fmt::Display for JoinRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { by } => write!(
                f,
                "the group of member {by} accepts nobody while it runs: only one with leases from \
                 a majority and durable tokens does"
            ),
            Self::NoPart { by } => write!(f, "member {by} takes no part in the election now"),
            Self::Busy { by } => write!(f, "member {by} is busy"),
            Self::VotersUnknown { by } => {
                write!(f, "member {by} does not know who votes, or the voters change now")
            }
            Self::NotStored { by, error } => {
                write!(f, "member {by} cannot store its book: {error}")
            }
            Self::Elsewhere { said, from } => {
                let said = said.map_or_else(|| "nowhere".to_owned(), |at| at.to_string());
                write!(
                    f,
                    "it says that it is at {said}, but its datagrams come from {from}: let it \
                     listen at the address that the others see"
                )
            }
            Self::Founder { id } => write!(
                f,
                "{id} is the id of a founding member: start that one with the founding list, or \
                 choose another id"
            ),
            Self::InUse { id, at } => write!(
                f,
                "{id} is the id of a member at {at}: choose another id; or, if that one has ended \
                 for good, forget it first"
            ),
            Self::SameAddress { id, at } => {
                write!(f, "{at} is the address of member {id}: listen at another one")
            }
            Self::Forgotten { id } => write!(
                f,
                "member {id} was forgotten, and this process knows the group from before: remove \
                 its book, and let it join again"
            ),
            Self::Full => write!(
                f,
                "a group has at most {MEMBERS_MAX} members, and this one is full: forget members \
                 that have ended for good"
            ),
            Self::Unknown => f.write_str(
                "for a reason that this release does not know: run the release of the group",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_comes_back_and_one_of_a_later_version_is_still_a_refusal() {
        let at: SocketAddr = "[::1]:7400".parse().unwrap();
        let error = "no space".to_owned();
        for refused in [
            JoinRefused::Closed { by: NodeId(1) },
            JoinRefused::NotStored { by: NodeId(u64::MAX), error },
            JoinRefused::Elsewhere { said: None, from: at },
            JoinRefused::InUse { id: NodeId(7), at },
            JoinRefused::Full,
        ] {
            let text = serde_json::to_string(&refused).unwrap();
            assert_eq!(serde_json::from_str::<JoinRefused>(&text).unwrap(), refused, "{text}");
        }
        let later = r#"{"reason":"too-young","years":3}"#;
        assert_eq!(serde_json::from_str::<JoinRefused>(later).unwrap(), JoinRefused::Unknown);
    }
}
