//! The parameters of bully: time-outs and variants.

use crate::detect::Detector;
use crate::named::named;
use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The written parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
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
    /// How long a process tolerates having no leader, or one that is not the greatest. Infinite:
    /// for ever, and then it does only what the text says.
    #[serde(alias = "patience")]
    pub call_after: Duration,
    /// How long a process waits for an OK before it takes the lead; also for an answer to "who
    /// leads?".
    pub reply: Duration,
    /// How long it then waits for the Coordinator message before it calls another election.
    pub wait: Duration,
    /// How the greatest process answers.
    pub top_answers: TopAnswers,
    /// What a recovered process does.
    pub recovery: Recovery,
    /// Whether an election carries the time it was called, and the older one prevails.
    pub stamps: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            detector: Detector::Told,
            beat: None,
            suspect: None,
            resend: None,
            tries: None,
            call_after: Duration::MAX,
            reply: Duration::from_secs(1),
            wait: Duration::from_secs(3),
            top_answers: TopAnswers::Ok,
            recovery: Recovery::Bully,
            stamps: false,
        }
    }
}

named! {
    /// How the process with the greatest id of all answers an election.
    pub enum TopAnswers = Ok {
        /// With OK, like every other process; then it tells all that it leads.
        Ok = "ok",
        /// By telling all that it leads, which is answer enough.
        Coordinator = "coordinator",
    }
}

named! {
    /// What a recovered process does.
    pub enum Recovery = Bully {
        /// It calls an election.
        Bully = "bully",
        /// It asks who leads and follows that process, even a lesser one; it calls an election only
        /// if nobody knows.
        Ask = "ask",
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

    /// Once nothing goes wrong any more and all know who can be reached, all name the same leader
    /// within this, if no message takes longer than `delay`: somebody has waited for `call-after`
    /// and holds an election that meets an old one and is held again.
    pub fn settles(&self, delay: Duration) -> Duration {
        let Config { reply, wait, call_after, .. } = self.0;
        (call_after + (reply + wait) * 2 + delay * 4) * 2
    }
}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let Config { reply, wait, call_after, .. } = config;
        if reply == Duration::ZERO || wait <= reply || wait > Duration::LONGEST_WRITTEN {
            return Err(BadConfig::TimeOuts { reply, wait });
        }
        if call_after == Duration::ZERO {
            return Err(BadConfig::NoCallAfter);
        }
        Ok(Self(config))
    }
}

/// Which rule a [`Config`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// A process that takes over needs time to find nobody greater and to say so.
    TimeOuts {
        /// The wait for an OK as written.
        reply: Duration,
        /// The wait for the Coordinator message as written.
        wait: Duration,
    },
    /// `call-after` must be longer than zero, because an election takes time.
    NoCallAfter,
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeOuts { reply, wait } => write!(
                f,
                "reply = {reply} and wait = {wait}, but 0 < reply < wait < infinite must hold; try \
                 reply = 2 round trips and wait = 3 times reply"
            ),
            Self::NoCallAfter => write!(
                f,
                "call-after = 0s, but call-after > 0 must hold; try 2 times wait, or infinite"
            ),
        }
    }
}

impl core::error::Error for BadConfig {}
