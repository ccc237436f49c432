//! The members of the family, and their time-outs.

use crate::detect::Detector;
use crate::named::named;
use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

named! {
    /// Which election on a ring.
    pub enum Variant = Ring {
        /// The message collects everyone.
        Ring = "ring",
        /// The message of a lesser process is stopped.
        ChangRoberts = "chang-roberts",
        /// The message collects everyone, and the oldest stops the others.
        Merea = "merea",
        /// Messages go both ways, twice as far in every phase.
        HirschbergSinclair = "hirschberg-sinclair",
    }
}

impl Variant {
    /// The longest way of an election and its announcement, in rounds of the ring: after so long
    /// one that has not come to an end never will.
    fn rounds(self) -> u64 {
        match self {
            Self::Ring => 2,
            // The message that prevails may be the last that was sent.
            Self::ChangRoberts | Self::Merea => 3,
            // There and back 1, 2, 4, … hops, the last of which is less than twice the ring.
            Self::HirschbergSinclair => 9,
        }
    }
}

/// What a person writes. By default nothing is ever waited for in vain: right where nothing goes
/// wrong, and what the exact counts are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// Which member of the family; in a file it is named beside the parameters, not among them.
    #[serde(skip)]
    pub variant: Variant,
    /// How failures are detected; whoever drives the protocol tells of them if they are told.
    pub detector: Detector,
    /// How often a process says that it lives, where failures are detected.
    pub beat: Option<Duration>,
    /// A peer that was silent for so long is considered dead.
    pub suspect: Option<Duration>,
    /// How long a message waits for its acknowledgement before it is sent again.
    pub resend: Option<Duration>,
    /// How often it is sent before its receiver is considered dead.
    pub tries: Option<u32>,
    /// How long a process bears to have no leader, or one that is not the greatest; infinite: for
    /// ever.
    #[serde(alias = "patience")]
    pub call_after: Duration,
    /// How long a message may take from one process to the next. An election that has not come to
    /// an end after so long for every hop it may need is held again; infinite: never.
    pub retry: Duration,
    /// Whether to do what the text prints where that is wrong (`merea` alone).
    pub as_printed: bool,
}

impl Default for Config {
    fn default() -> Self {
        let never = Duration::MAX;
        Self {
            variant: Variant::Ring,
            detector: Detector::Told,
            beat: None,
            suspect: None,
            resend: None,
            tries: None,
            call_after: never,
            retry: never,
            as_printed: false,
        }
    }
}

impl Config {
    /// For a group in which processes come and go, and one hop takes some milliseconds.
    pub fn restless(variant: Variant) -> Self {
        let (call_after, retry) = (Duration::from_secs(2), Duration::from_millis(100));
        Self { variant, call_after, retry, ..Self::default() }
    }
}

/// Parameters that keep the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params(Config);

impl Params {
    /// What they were made from.
    pub fn config(&self) -> &Config {
        &self.0
    }

    /// How long whoever holds an election among so many processes waits for its end.
    pub fn wait(&self, processes: usize) -> Duration {
        let processes = u64::try_from(processes).unwrap_or(u64::MAX);
        self.0.retry * self.0.variant.rounds().saturating_mul(processes)
    }

    /// Once nothing goes wrong any more and all know who can be reached, all of so many processes
    /// name the same leader within this, if no message takes longer than `retry`: those without
    /// leader lose patience, and an election that met an old one is held again.
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
    /// An election takes time.
    NoTime {
        /// Which of the parameters is zero.
        what: &'static str,
    },
    /// Whoever waits for an election that came to no end has no leader, and would wait for ever.
    CallWithoutRetry {
        /// The wait without a leader as written.
        call_after: Duration,
    },
    /// There is nothing to do as printed.
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
                 elections of its own must hold a lost one again; try retry = twice the time of \
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
