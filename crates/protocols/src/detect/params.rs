//! How often the layer speaks, and after how long a silence it gives a peer up.
//!
//! A person writes these among the parameters of the protocol that the layer carries; see
//! [`Detector`](super::Detector).

use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What a person writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// How often each process says that it lives.
    pub beat: Duration,
    /// A peer that was silent for so long is held to be down.
    pub suspect: Duration,
    /// How long a message to one process waits for its acknowledgement before it is sent again.
    pub resend: Duration,
    /// How often it is sent, the first time included, before its receiver is held to be down.
    pub tries: u32,
}

impl Default for Config {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self { beat: ms(1_000), suspect: ms(3_500), resend: ms(300), tries: 5 }
    }
}

impl Config {
    /// For a network in which one message takes this long; the default is that of a tenth of a
    /// second.
    pub fn paced(hop: Duration) -> Self {
        let (beat, suspect, resend) = (hop * 10, hop * 35, hop * 3);
        Self { beat, suspect, resend, ..Self::default() }
    }

    /// The parameters of the layer around a protocol with these.
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

/// The parameters of the layer and, inside, those of the protocol it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<I> {
    layer: Config,
    inner: I,
}

impl<I> Params<I> {
    /// Those of the layer, which keep the rules.
    pub fn layer(&self) -> &Config {
        &self.layer
    }

    /// The same layer around a protocol with these.
    pub fn around<J>(&self, inner: J) -> Params<J> {
        Params { layer: self.layer, inner }
    }

    /// Those of the protocol inside.
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
    /// A peer that does as it should would be suspected, or nobody ever.
    Silence {
        /// The time between signs of life as written.
        beat: Duration,
        /// The silence that is held against a peer as written.
        suspect: Duration,
    },
    /// Nothing can be acknowledged in no time, and what is lost must be sent again.
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
