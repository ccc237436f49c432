//! The time-outs of bully, and its variants.

use crate::choice::{Goal, Profile};
use crate::detect;
use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What a person writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Config {
    /// How long a process waits for an OK before it takes the lead; also for an answer to "who
    /// leads?".
    pub reply: Duration,
    /// How long it then waits for the Coordinator message before it holds another election.
    pub wait: Duration,
    /// How long it bears to have no leader, or one that is not the greatest; infinite: for ever,
    /// and then it does what the text says and nothing else.
    pub patience: Duration,
    /// How the greatest process answers.
    pub top_answers: TopAnswers,
    /// What a process does that has recovered.
    pub recovery: Recovery,
    /// Whether an election carries the time it was called, and the older one prevails.
    pub stamps: bool,
    /// How failures are detected; whoever drives the protocol tells of them if absent.
    pub detector: Option<detect::Config>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reply: Duration::from_secs(1),
            wait: Duration::from_secs(3),
            patience: Duration::MAX,
            top_answers: TopAnswers::Ok,
            recovery: Recovery::Bully,
            stamps: false,
            detector: None,
        }
    }
}

/// How the process with the greatest id of all answers an election.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopAnswers {
    /// Like everyone else, and then it tells all that it leads.
    #[default]
    Ok,
    /// By telling all that it leads, which is answer enough.
    Coordinator,
}

/// What a process does that has recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// It holds an election.
    #[default]
    Bully,
    /// It asks who leads and follows that one, also if it is lesser; it holds an election only if
    /// nobody knows.
    Ask,
}

/// Parameters that keep the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params(Config);

impl Params {
    /// What they were made from.
    pub fn config(&self) -> &Config {
        &self.0
    }

    /// What a simulation must know.
    pub fn profile(&self) -> Profile {
        Profile {
            goal: match self.0.recovery {
                Recovery::Bully => Goal::Leaders(1),
                Recovery::Ask => Goal::Same,
            },
            opening: self.0.reply,
            interval: self.0.wait,
            trust: Duration::MAX,
            attempt: self.0.wait,
            byes: 1,
            by_luck: false,
            leases: None,
            convened: true,
            restless: self.0.patience != Duration::MAX || self.0.detector.is_some(),
        }
    }

    /// Once nothing goes wrong any more and all know who can be reached, all name the same leader
    /// within this, if no message takes longer than `delay`: somebody loses patience and holds an
    /// election that meets an old one and is held again.
    pub fn settles(&self, delay: Duration) -> Duration {
        let Config { reply, wait, patience, .. } = self.0;
        (patience + (reply + wait) * 2 + delay * 4) * 2
    }
}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let Config { reply, wait, patience, .. } = config;
        if reply == Duration::ZERO || wait <= reply || wait > Duration::LONGEST_WRITTEN {
            return Err(BadConfig::TimeOuts { reply, wait });
        }
        if patience == Duration::ZERO {
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
                "patience = 0s, but patience > 0 must hold; try 2 times wait, or infinite"
            ),
        }
    }
}

impl core::error::Error for BadConfig {}
