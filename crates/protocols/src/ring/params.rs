//! The members of the family, and their parameters.

use crate::detect::Detector;
use crate::named::named;
use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

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

/// The written parameters. By default no time-out ends a wait: this is right where nothing fails,
/// and the exact counts use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// The member of the family; a file names it next to the parameters, not among them.
    #[serde(skip)]
    pub variant: Variant,
    /// How failures are detected: by reports of the driver, or by heartbeats.
    pub detector: Detector,
    /// How often a process sends a heartbeat, if heartbeats are used.
    pub beat: Option<Duration>,
    /// A peer silent for this long is considered dead.
    pub suspect: Option<Duration>,
    /// How long a message waits for its acknowledgement before it is sent again.
    pub resend: Option<Duration>,
    /// How often a message is sent before its receiver is considered dead.
    pub tries: Option<u32>,
    /// How long a process tolerates having no leader, or one that is not the greatest; infinite:
    /// for ever.
    #[serde(alias = "patience")]
    pub call_after: Duration,
    /// How long a message may take from one process to the next. An election that has not ended
    /// after this time for every hop it may need is held again; infinite: never.
    pub retry: Duration,
    /// Whether to follow the text where it is wrong (`merea` only).
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
