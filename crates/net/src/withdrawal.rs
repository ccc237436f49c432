//! Why a member takes no part, and until when.

use crate::clock::ClockFault;
use crate::frame::Refusal;
use bellwether_core::{Duration, Instant};
use std::fmt;
use std::net::SocketAddr;

/// A member that takes no part for a while.
#[derive(Clone, Debug)]
pub(crate) struct Withdrawal {
    pub(crate) why: Reason,
    /// It may come back then, unless there is another reason.
    pub(crate) until: Instant,
}

/// What could make two leaders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// Another member has another idea of the group, or the same id.
    Conflict(Refusal, SocketAddr),
    /// The clock cannot be trusted.
    Clock(ClockFault),
    /// A promise of the last life may bind for longer than those of this one.
    Promise(Duration),
    /// Nothing is found under the name by which members are to be found.
    Name(String),
    /// What must be stored cannot be.
    Disk(String),
}

impl Reason {
    /// Whether it is the same again, perhaps from elsewhere: then there is nothing new to tell.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Conflict(one, _), Self::Conflict(other, _)) => one == other,
            (Self::Clock(_), Self::Clock(_)) => true,
            _ => self == other,
        }
    }

    /// For how long one reason is enough.
    pub(crate) fn lasts(&self) -> Duration {
        match self {
            // Conflicting members show themselves twice a second; four losses in a row are rare.
            Self::Conflict(..) => BEACON * 4,
            Self::Clock(_) => Duration::from_secs(2),
            Self::Promise(length) => *length,
            Self::Name(_) | Self::Disk(_) => Duration::from_secs(1),
        }
    }
}

/// How often a member that takes no part shows that it is there, so that others with whom it
/// disagrees know of it.
pub(crate) const BEACON: Duration = Duration::from_millis(500);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(refusal, from) => write!(f, "a frame from {from}: {refusal}"),
            Self::Clock(fault) => fault.fmt(f),
            Self::Promise(length) => {
                write!(
                    f,
                    "a promise of its last life, with longer leases, may bind it for {length}"
                )
            }
            Self::Name(name) => {
                write!(f, "nothing is found under the name {name}: who the others are is unknown")
            }
            Self::Disk(problem) => write!(f, "its state cannot be stored: {problem}"),
        }
    }
}
