//! The members of the family, and their parameters.

use super::table::Config;
use crate::named;
use bellwether_core::Duration;
use core::fmt;

named! {
    /// The members of the family.
    pub enum Variant = Ring {
        /// The message collects everyone.
        Ring = "ring",
        /// A greater process stops the message of a lesser one.
        ChangRoberts = "chang-roberts",
        /// The message collects everyone, and the oldest stops the others.
        Merea = "merea",
        /// Messages go both ways, twice as far in every phase.
        HirschbergSinclair = "hirschberg-sinclair",
    }
}

impl Variant {
    /// The longest path of an election and its announcement, in rounds of the ring: one that has
    /// not ended after this never will.
    fn rounds(self) -> u64 {
        match self {
            Self::Ring => 2,
            // The message that prevails may be the last that was sent.
            Self::ChangRoberts | Self::Merea => 3,
            // 1, 2, 4, … hops there and back, the last of which is less than twice the ring.
            Self::HirschbergSinclair => 9,
        }
    }
}

impl Config {
    /// Parameters for a group in which processes come and go, and one hop takes some milliseconds.
    pub fn restless(variant: Variant) -> Self {
        let (call_after, retry) = (Duration::from_secs(2), Duration::from_millis(100));
        Self { variant, call_after, retry, ..Self::default() }
    }
}

/// Valid parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params(Config);

impl Params {
    /// The written parameters.
    pub fn config(&self) -> &Config {
        &self.0
    }

    /// How long whoever holds an election among so many processes waits for its end.
    pub fn wait(&self, processes: usize) -> Duration {
        let processes = u64::try_from(processes).unwrap_or(u64::MAX);
        self.0.retry * self.0.variant.rounds().saturating_mul(processes)
    }

    /// The time within which all of `processes` processes name the same leader, once faults have
    /// stopped and all know who can be reached, if no message takes longer than `retry`. In the
    /// worst case processes without a leader wait for `call-after`, and an election that met an old
    /// one is held again.
    pub fn settles(&self, processes: usize) -> Duration {
        (self.0.call_after + self.wait(processes) * 2) * 3
    }
}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let Config { variant, call_after, retry, as_printed, .. } = config;
        for (what, length) in [("call-after", call_after), ("retry", retry)] {
            if length == Duration::ZERO {
                return Err(BadConfig::NoTime { what });
            }
        }
        if call_after != Duration::MAX && retry == Duration::MAX {
            return Err(BadConfig::CallWithoutRetry { call_after });
        }
        if as_printed && variant != Variant::Merea {
            return Err(BadConfig::NothingPrintedWrong);
        }
        Ok(Self(config))
    }
}

/// Which rule a [`Config`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// A wait must be longer than zero, because an election takes time.
    NoTime {
        /// Which of the parameters is zero.
        what: &'static str,
    },
    /// Without `retry` a process that waits for an election that never ends would wait for ever.
    CallWithoutRetry {
        /// The wait without a leader as written.
        call_after: Duration,
    },
    /// The text of this variant has no mistakes to follow.
    NothingPrintedWrong,
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTime { what } => {
                write!(f, "{what} = 0s, but {what} > 0 must hold; try 1s, or infinite")
            }
            Self::CallWithoutRetry { call_after } => write!(
                f,
                "call-after = {call_after} and retry = infinite, but a process that calls \
                 elections of its own must repeat a lost one; try retry = twice the time of \
                 a hop, or call-after = infinite"
            ),
            Self::NothingPrintedWrong => write!(
                f,
                "as-printed = true, but only the text of merea is printed wrong; leave it out, or \
                 choose merea"
            ),
        }
    }
}

impl core::error::Error for BadConfig {}
