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
    /// The reason as it was told: more may be known of it later.
    pub(crate) told: String,
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
    /// Names do not say who the others are.
    Names(String),
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
            Self::Names(_) | Self::Disk(_) => Duration::from_secs(1),
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
            Self::Names(problem) => f.write_str(problem),
            Self::Disk(problem) => write!(f, "its state cannot be stored: {problem}"),
        }
    }
}
