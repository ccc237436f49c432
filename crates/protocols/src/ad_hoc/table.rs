//! The parameters of the ad hoc election, each described once, and the defaults that depend on the
//! surroundings.

use crate::detect::{Detected as _, detected};
use crate::param::{BadParam, Fit, GivenParams};
use crate::surroundings::Surroundings;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

detected! {
    /// The written parameters. By default nothing is repeated and no time-out ends a wait: this is
    /// right where nothing is lost and nothing moves, and the exact counts use it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Config {
        /// How long the caller of an election waits for its end before it calls another.
        ///
        /// The others wait twice as long. It must be longer than an election takes: twice the
        /// longest path through the network, plus the repetitions of lost messages.
        timeout: Duration = Duration::MAX,
            follows("infinite; in a network that moves or loses, 60 delays and 4 for each process"),
            within("retry < timeout");
        /// A message that is not answered after this is repeated.
        retry: Duration = Duration::MAX,
            follows("infinite; in a network that moves or loses, 5 delays, or 30 with heartbeats"),
            within("0 < retry");
        /// The time between a leader's heartbeats.
        leader_beat: Duration = Duration::MAX,
            follows("infinite; in a network that moves or loses, 20 delays, or 60 with heartbeats"),
            within("0 < leader-beat");
        /// A leader silent for this long is given up.
        ///
        /// A small multiple of `leader_beat`.
        leader_silence: Duration = Duration::MAX,
            follows(
                "infinite; in a network that moves or loses, 80 delays, or with heartbeats 90 and \
                 4 for each process"
            ),
            within("leader-beat < leader-silence");
    }
}

impl Fit for Config {
    fn fit(self, around: &Surroundings, given: &GivenParams) -> Self {
        let (mut config, hop) = (self.fit_detector(around, given), around.hop());
        let detects = config.layer().is_some();
        if !around.restless() && !detects {
            return config;
        }
        let across = hop * 4 * u64::from(around.nodes);
        // A detector tells the neighbours of a leader that it is gone, and resends lost messages.
        // Heartbeats remain for processes that were cut off from a live leader; one that is resent
        // is as good as three that are not. Repeating unanswered messages before the layer has
        // given up would only repeat its repetitions.
        let (retry, beat, silence) = if detects {
            (hop * 30, hop * 60, hop * 90 + across)
        } else {
            (hop * 5, hop * 20, hop * 80)
        };
        let follow = |name, field: &mut Duration, length| {
            if !given.has(name) {
                *field = length;
            }
        };
        follow("call-after", &mut config.call_after, hop * 30);
        follow("timeout", &mut config.timeout, hop * 60 + across);
        follow("retry", &mut config.retry, retry);
        follow("leader-beat", &mut config.leader_beat, beat);
        follow("leader-silence", &mut config.leader_silence, silence);
        config
    }

    fn check_fit(&self, around: &Surroundings, given: &GivenParams) -> Result<(), BadParam> {
        self.check_copies(around, given)
    }
}
