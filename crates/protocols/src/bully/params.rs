//! The time-outs of bully, and its variants.

use crate::detect::Detector;
use crate::named::named;
use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What a person writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
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
    /// How long it bears to have no leader, or one that is not the greatest; infinite: for ever,
    /// and then it does what the text says and nothing else.
    #[serde(alias = "patience")]
    pub call_after: Duration,
    /// How long a process waits for an OK before it takes the lead; also for an answer to "who
    /// leads?".
    pub reply: Duration,
    /// How long it then waits for the Coordinator message before it holds another election.
    pub wait: Duration,
    /// How the greatest process answers.
    pub top_answers: TopAnswers,
    /// What a process does that has recovered.
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
        /// Like everyone else, with OK, and then it tells all that it leads.
        Ok = "ok",
        /// By telling all that it leads, which is answer enough.
        Coordinator = "coordinator",
    }
}

named! {
    /// What a process does that has recovered.
    pub enum Recovery = Bully {
        /// It calls an election.
        Bully = "bully",
        /// It asks who leads and follows that one, also if it is lesser; it calls an election only
        /// if nobody knows.
        Ask = "ask",
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

    /// Once nothing goes wrong any more and all know who can be reached, all name the same leader
    /// within this, if no message takes longer than `delay`: somebody loses patience and holds an
    /// election that meets an old one and is held again.
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
            return Err(BadConfig::NoPatience);
        }
        Ok(Self(config))
    }
}

/// Which rule a [`Config`] breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// Whoever takes over must have the time to find nobody greater and say so.
    TimeOuts {
        /// The wait for an OK as written.
        reply: Duration,
        /// The wait for the Coordinator message as written.
        wait: Duration,
    },
    /// An election takes time.
    NoPatience,
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeOuts { reply, wait } => write!(
                f,
                "reply = {reply} and wait = {wait}, but 0 < reply < wait < infinite must hold; try \
                 reply = 2 round trips and wait = 3 times reply"
            ),
            Self::NoPatience => write!(
                f,
                "call-after = 0s, but call-after > 0 must hold; try 2 times wait, or infinite"
            ),
        }
    }
}

impl core::error::Error for BadConfig {}
