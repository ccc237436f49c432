//! The parameters of bully: time-outs and variants.

use super::table::Config;
use crate::named;
use bellwether_core::Duration;
use core::fmt;

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
