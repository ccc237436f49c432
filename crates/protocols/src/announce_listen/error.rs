//! The rules that a configuration can break, and their error messages.

use super::params::{BYES_MAX, LEADERS_MAX, RATE_MAX};
use crate::param::NoEffect;
use bellwether_core::Duration;
use core::fmt;

/// Which rule a [`Config`](super::Config) breaks, with the values that break it.
#[derive(Clone, Debug, PartialEq)]
pub enum BadConfig {
    /// T_A must be positive, or announcements never end.
    NoAnnounceInterval,
    /// T_L must be positive, or every leader is given up at once.
    NoListenInterval,
    /// Only T_L may be infinite: a process that waits for ever for anything else stops working.
    EndlessWait {
        /// The parameter that was infinite.
        what: &'static str,
    },
    /// Aging must be shorter than T_L.
    AgingNotBelowListen {
        /// The aging as written.
        aging: Duration,
        /// T_L as written.
        listen: Duration,
    },
    /// There must be at least one leader, and no more than the board can hold.
    LeadersOutOfRange {
        /// The number as written.
        leaders: usize,
    },
    /// Several leaders need an order among claims.
    LeadersWithoutOrder {
        /// The number as written.
        leaders: usize,
        /// The variant that has no such order.
        variant: &'static str,
    },
    /// Aging lets better claims in, which needs an order among claims.
    AgingWithoutOrder {
        /// The variant that has no such order.
        variant: &'static str,
    },
    /// The earliest wake-up can lead only in variants whose processes wake up exactly once.
    NoWakeUp {
        /// The variant that starts at once, or wakes up repeatedly.
        variant: &'static str,
    },
    /// The rate of an exponential timer must be positive and of reasonable size.
    RateOutOfRange {
        /// The rate as written.
        rate: f64,
    },
    /// The standing that wakes first must be better than the one that wakes last.
    MappingUpsideDown {
        /// The standing that should wake first.
        best: u64,
        /// The standing that should wake last.
        worst: u64,
    },
    /// Wake-ups that are redrawn in every interval must fit into it.
    SuppressBeyondAnnounce {
        /// T_S as written, and the jitter of a mapping.
        suppress: Duration,
        /// T_A as written.
        announce: Duration,
    },
    /// A query that does not wait hears no answer.
    NoPatience {
        /// The patience as written.
        patience: Duration,
        /// The spread of the answers as written.
        reply_spread: Duration,
    },
    /// A mapping needs to know the best standing.
    NoBest,
    /// The number of Byes follows from the loss of the network, which is not known here.
    ByeWithoutCopies,
    /// A value has no effect.
    NoEffect(NoEffect),
    /// More Byes than the limit.
    TooManyByes {
        /// The number as written.
        copies: u32,
    },
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnnounceInterval => {
                write!(f, "announce = 0s, but announcements need announce > 0; try 1s")
            }
            Self::NoListenInterval => {
                write!(
                    f,
                    "listen = 0s, but listen > 0 must hold; try 3 times the announce interval"
                )
            }
            Self::EndlessWait { what } => {
                write!(f, "{what} = infinite, but only listen may be infinite")
            }
            Self::AgingNotBelowListen { aging, listen } => {
                write!(
                    f,
                    "aging = {aging} and listen = {listen}, but 0 < aging < listen < infinite must \
                     hold"
                )
            }
            Self::LeadersOutOfRange { leaders } => {
                write!(f, "leaders = {leaders}, but 1 <= leaders <= {LEADERS_MAX} must hold")
            }
            Self::LeadersWithoutOrder { leaders, variant } => write!(
                f,
                "leaders = {leaders}, but in {variant} any message silences: it knows no order of \
                 claims, so leaders must be 1"
            ),
            Self::AgingWithoutOrder { variant } => write!(
                f,
                "aging lets better claims in, but in {variant} any message silences: it knows no \
                 order of claims"
            ),
            Self::NoWakeUp { variant } => write!(
                f,
                "criterion = earliest-wake-up, but {variant} has no one wake-up to go by; \
                 try le-m, or criterion highest-id"
            ),
            Self::RateOutOfRange { rate } => {
                write!(f, "timer-rate = {rate}, but 0 < timer-rate <= {RATE_MAX} must hold")
            }
            Self::MappingUpsideDown { best, worst } => {
                write!(f, "best = {best} and worst = {worst}, but best > worst must hold")
            }
            Self::SuppressBeyondAnnounce { suppress, announce } => write!(
                f,
                "suppress + jitter = {suppress} and announce = {announce}, but wake-ups redrawn in \
                 every announce interval need suppress + jitter <= announce"
            ),
            Self::NoPatience { patience, reply_spread } => write!(
                f,
                "patience = {patience} and reply-spread = {reply_spread}, but patience > \
                 reply-spread must hold; try a round trip more"
            ),
            Self::NoBest => write!(
                f,
                "mapping = standing, but best is not set; set it to the greatest standing in the \
                 group"
            ),
            Self::ByeWithoutCopies => write!(
                f,
                "bye = true, but how often to say goodbye follows from the loss of the network, \
                 which is not known here; set bye-copies instead"
            ),
            Self::NoEffect(bad) => bad.fmt(f),
            Self::TooManyByes { copies } => {
                write!(f, "bye-copies = {copies}, but bye-copies <= {BYES_MAX} must hold")
            }
        }
    }
}

impl core::error::Error for BadConfig {}
