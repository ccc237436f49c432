//! The table of the ad hoc election's parameters, and the defaults that depend on the surroundings.

use super::params::Config;
use crate::detect::{BEAT, DETECTOR, Detected as _, RESEND, SUSPECT, TRIES, detected};
use crate::on_demand::CALL_AFTER;
use crate::param::{BadParam, Described, Given, Param};
use crate::surroundings::Surroundings;
use bellwether_core::Duration;

detected!(Config);

impl Described for Config {
    type Variant = ();

    const PARAMS: &'static [Param] = &[
        DETECTOR,
        BEAT,
        SUSPECT,
        RESEND,
        TRIES,
        CALL_AFTER,
        Param::length(
            "timeout",
            "how long the caller of an election waits for its end before it calls another",
        )
        .follows("infinite; in a network that moves or loses, 60 delays and 4 for each process")
        .within("retry < timeout"),
        Param::length("retry", "a message that is not answered after this is repeated")
            .follows("infinite; in a network that moves or loses, 5 delays, or 30 with heartbeats")
            .within("0 < retry"),
        Param::length("leader-beat", "the time between a leader's heartbeats")
            .follows("infinite; in a network that moves or loses, 20 delays, or 60 with heartbeats")
            .within("0 < leader-beat"),
        Param::length("leader-silence", "a leader silent for this long is given up")
            .follows(
                "infinite; in a network that moves or loses, 80 delays, or with heartbeats 90 and \
                 4 for each process",
            )
            .within("leader-beat < leader-silence"),
    ];

    fn variant(&self) {}

    fn of(self, (): ()) -> Self {
        self
    }

    fn fit(self, around: &Surroundings, given: &Given) -> Self {
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

    fn check_fit(&self, around: &Surroundings, given: &Given) -> Result<(), BadParam> {
        self.check_copies(around, given)
    }
}
