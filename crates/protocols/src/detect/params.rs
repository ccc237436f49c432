//! The parameters of the layer: heartbeats, time-outs and resends.
//!
//! They are written among the parameters of the inner protocol; see [`Detector`](super::Detector).

use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The written parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// How often each process sends a heartbeat.
    pub beat: Duration,
    /// A peer silent for this long is considered down.
    pub suspect: Duration,
    /// How long a message to one process waits for its acknowledgement before it is sent again.
    pub resend: Duration,
    /// How often a message is sent, including the first time, before its receiver is considered
    /// down.
    pub tries: u32,
}

impl Default for Config {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self { beat: ms(1_000), suspect: ms(3_500), resend: ms(300), tries: 5 }
    }
}

impl Config {
    /// Parameters for a network in which one message takes this long; the default is for a tenth of
    /// a second.
    pub fn paced(hop: Duration) -> Self {
        let (beat, suspect, resend) = (hop * 10, hop * 35, hop * 3);
        Self { beat, suspect, resend, ..Self::default() }
    }

    /// The parameters of the layer around a protocol with these parameters.
    ///
    /// # Errors
    /// [`BadConfig`], naming the values and the rule.
    pub fn around<I>(self, inner: I) -> Result<Params<I>, BadConfig> {
        let Self { beat, suspect, resend, tries } = self;
        if beat == Duration::ZERO || beat >= suspect || suspect > Duration::LONGEST_WRITTEN {
            return Err(BadConfig::Silence { beat, suspect });
        }
        if resend == Duration::ZERO || resend > Duration::LONGEST_WRITTEN {
            return Err(BadConfig::Resend { resend });
        }
        if !(1..=TRIES_MAX).contains(&tries) {
            return Err(BadConfig::Tries { tries });
        }
        Ok(Params { layer: self, inner })
    }
}

const TRIES_MAX: u32 = 1_000;

/// The parameters of the layer and of the inner protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<I> {
    layer: Config,
    inner: I,
}

impl<I> Params<I> {
    /// The parameters of the layer.
    pub fn layer(&self) -> &Config {
        &self.layer
    }

    /// The same layer around a protocol with these parameters.
    pub fn around<J>(&self, inner: J) -> Params<J> {
        Params { layer: self.layer, inner }
    }

    /// The parameters of the inner protocol.
    pub fn inner(&self) -> &I {
        &self.inner
    }

    /// How long after a process is gone everyone has been told at the latest, if messages take no
    /// longer than this: its last sign of life, and the silence after it.
    pub fn notices(&self, delay: Duration) -> Duration {
        self.layer.suspect + delay
    }
}

/// Which rule a [`Config`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// A correct peer would be suspected, or a dead one never.
    Silence {
        /// The time between heartbeats as written.
        beat: Duration,
        /// The time to suspicion as written.
        suspect: Duration,
    },
    /// The time before a resend must be positive and finite.
    Resend {
        /// The wait as written.
        resend: Duration,
    },
    /// A message is sent at least once, and not for ever.
    Tries {
        /// The number as written.
        tries: u32,
    },
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence { beat, suspect } => write!(
                f,
                "beat = {beat} and suspect = {suspect}, but 0 < beat < suspect < infinite must \
                 hold; try suspect = 3.5 times beat"
            ),
            Self::Resend { resend } => write!(
                f,
                "resend = {resend}, but 0 < resend < infinite must hold; try a little more than a \
                 round trip"
            ),
            Self::Tries { tries } => {
                write!(f, "tries = {tries}, but 1 <= tries <= {TRIES_MAX} must hold; try 5")
            }
        }
    }
}

impl core::error::Error for BadConfig {}
