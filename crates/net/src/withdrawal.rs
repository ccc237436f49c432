//! Why a member has withdrawn, and until when. A withdrawn member takes no part in the election.

use crate::clock::ClockFault;
use crate::frame::DropReason;
use bellwether_core::{Duration, Instant};
use std::fmt;
use std::net::SocketAddr;

/// A withdrawal for a limited time.
#[derive(Clone, Debug)]
pub(crate) struct Withdrawal {
    pub(crate) why: Reason,
    /// The member may return then, unless there is another reason.
    pub(crate) until: Instant,
    /// The reason as the application was told it. It may become more precise later.
    pub(crate) told: String,
}

/// Why a member must withdraw: otherwise there could be two leaders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// Another member has another configuration, or the same id.
    Conflict(DropReason, SocketAddr),
    /// The clock cannot be trusted.
    Clock(ClockFault),
    /// A promise of the last incarnation may bind for longer than those of this one.
    Promise(Duration),
    /// The names of the members cannot be resolved to one address each.
    Names(String),
    /// The state cannot be stored.
    Disk(String),
    /// The application cannot end what it does as a leader.
    Application(String),
}

impl Reason {
    /// Whether two reasons are alike, so that the application need not be told again.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Conflict(one, _), Self::Conflict(other, _)) => one == other,
            (Self::Clock(_), Self::Clock(_)) => true,
            _ => self == other,
        }
    }

    /// The reason in a few words, for a report.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Conflict(..) => "another member has another configuration, or its id",
            Self::Clock(_) => "its clock cannot be trusted",
            Self::Promise(_) => "an earlier promise still binds",
            Self::Names(_) => "a name has no address, or several",
            Self::Disk(_) => "its state cannot be stored",
            Self::Application(_) => "what it does as a leader cannot be ended",
        }
    }

    /// How long to withdraw for this reason.
    pub(crate) fn lasts(&self) -> Duration {
        match self {
            // Conflicting members send beacons twice a second; four losses in a row are rare.
            Self::Conflict(..) => BEACON * 4,
            Self::Clock(_) => Duration::from_secs(2),
            Self::Promise(length) => *length,
            Self::Names(_) | Self::Disk(_) | Self::Application(_) => Duration::from_secs(1),
        }
    }
}

/// How often a withdrawn member sends beacons, so that conflicting members know of it.
pub(crate) const BEACON: Duration = Duration::from_millis(500);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(reason, from) => write!(f, "a frame from {from}: {reason}"),
            Self::Clock(fault) => fault.fmt(f),
            Self::Promise(length) => {
                write!(
                    f,
                    "a promise of its last incarnation, with longer leases, may bind for {length}"
                )
            }
            Self::Names(problem) => f.write_str(problem),
            Self::Disk(problem) => write!(f, "its state cannot be stored: {problem}"),
            Self::Application(problem) => f.write_str(problem),
        }
    }
}
