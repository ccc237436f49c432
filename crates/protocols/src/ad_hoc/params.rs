//! The parameters as written and as validated.
//!
//! [`Config`] holds the written values; [`Params`] is what the handlers read. One conversion leads
//! from one to the other; its error names the values and the rule they break.

use super::table::Config;
use crate::detect::Detector;
use bellwether_core::Duration;
use core::fmt;

impl Config {
    /// Parameters for a network that moves and loses messages, in which one hop takes some
    /// milliseconds.
    pub fn restless() -> Self {
        Self {
            call_after: Duration::from_secs(1),
            timeout: Duration::from_secs(2),
            retry: Duration::from_millis(100),
            leader_beat: Duration::from_millis(500),
            leader_silence: Duration::from_secs(2),
            ..Self::default()
        }
    }
}

/// Valid parameters, as the handlers read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) call_after: Duration,
    pub(super) timeout: Duration,
    pub(super) retry: Duration,
    pub(super) leader_beat: Duration,
    pub(super) leader_silence: Duration,
    pub(super) restless: bool,
}

impl Params {
    /// Once nothing goes wrong any more and all know who can be reached, all name the same leader
    /// within this, if a message takes no longer than `across` through the whole network: a leader
    /// that is gone is given up, once, because a process in an election does not believe messages
    /// of an older one; an election is called, meets an old one and is called again.
    pub fn settles(&self, across: Duration) -> Duration {
        let Self { call_after, timeout, leader_silence, .. } = *self;
        leader_silence + (call_after + timeout * 2 + across * 4) * 2
    }

    /// How long a process without a leader waits.
    pub fn call_after(&self) -> Duration {
        self.call_after
    }

    /// How long the caller of an election waits for its end.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The time between a leader's heartbeats; [`Duration::MAX`] for none.
    pub fn leader_beat(&self) -> Duration {
        self.leader_beat
    }

    /// A leader silent for this long is given up; [`Duration::MAX`] for never.
    pub fn leader_silence(&self) -> Duration {
        self.leader_silence
    }
}

/// Which rule a [`Config`] breaks, with the values that break it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// A repeated action needs a positive interval.
    NoTime {
        /// Which of the parameters is zero.
        what: &'static str,
    },
    /// The silence must be longer than the time between heartbeats.
    SilenceNotAboveBeat {
        /// The silence as written.
        leader_silence: Duration,
        /// The time between heartbeats as written.
        leader_beat: Duration,
    },
    /// The time-out must be longer than the time between repetitions.
    TimeoutNotAboveRetry {
        /// The time-out as written.
        timeout: Duration,
        /// The time between repetitions as written.
        retry: Duration,
    },
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTime { what } => {
                write!(f, "{what} = 0s, but {what} > 0 must hold; try 1s, or infinite for never")
            }
            Self::SilenceNotAboveBeat { leader_silence, leader_beat } => write!(
                f,
                "leader-silence = {leader_silence} and leader-beat = {leader_beat}, but \
                 leader-silence > leader-beat must hold, or every leader is given up between two \
                 heartbeats; try leader-silence = 4 times leader-beat"
            ),
            Self::TimeoutNotAboveRetry { timeout, retry } => write!(
                f,
                "timeout = {timeout} and retry = {retry}, but timeout > retry must hold, or \
                 nothing is ever repeated; try a timeout of 20 retries"
            ),
        }
    }
}

impl core::error::Error for BadConfig {}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let Config { call_after, timeout, retry, leader_beat, leader_silence, detector, .. } =
            config;
        for (what, length) in [
            ("call-after", call_after),
            ("timeout", timeout),
            ("retry", retry),
            ("leader-beat", leader_beat),
            ("leader-silence", leader_silence),
        ] {
            if length == Duration::ZERO {
                return Err(BadConfig::NoTime { what });
            }
        }
        let never = Duration::MAX;
        if leader_silence != never && leader_silence <= leader_beat {
            return Err(BadConfig::SilenceNotAboveBeat { leader_silence, leader_beat });
        }
        if retry != never && timeout <= retry {
            return Err(BadConfig::TimeoutNotAboveRetry { timeout, retry });
        }
        let lengths = [call_after, timeout, retry, leader_beat, leader_silence];
        let restless =
            detector == Detector::Heartbeats || lengths.iter().any(|length| *length != never);
        Ok(Self { call_after, timeout, retry, leader_beat, leader_silence, restless })
    }
}
