//! The table of the rings' parameters, and the defaults that depend on the surroundings.

use super::params::{Config, Variant};
use crate::detect::{BEAT, DETECTOR, Detected as _, RESEND, SUSPECT, TRIES, detected};
use crate::on_demand::CALL_AFTER;
use crate::param::{BadParam, Described, Given, Param};
use crate::surroundings::Surroundings;
use alloc::format;
use alloc::string::ToString;
use bellwether_core::Duration;

detected!(Config);

impl Described for Config {
    type Variant = Variant;

    const PARAMS: &'static [Param] = &[
        DETECTOR,
        BEAT,
        SUSPECT,
        RESEND,
        TRIES,
        CALL_AFTER,
        Param::length(
            "retry",
            "how long a message may take to the next process: an election that has not come to an \
             end after so long for every hop is held again",
        )
        .follows("infinite; where failures are detected, 5 delays")
        .within("0 < retry"),
        Param::switch("as-printed", "merea as in Table 3, mistakes included")
            .only_of(&[Variant::Merea.name()]),
    ];

    fn variant(&self) -> Variant {
        self.variant
    }

    fn of(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    fn fit(self, around: &Surroundings, given: &Given) -> Self {
        let (mut config, hop) = (self.fit_detector(around, given), around.hop());
        let restless = around.restless() || config.layer().is_some();
        let unless_calm = |length| if restless { length } else { Duration::MAX };
        if !given.has("call-after") {
            config.call_after = unless_calm(hop * 60);
        }
        if !given.has("retry") {
            config.retry = unless_calm(hop * 5);
        }
        config
    }

    fn check_fit(&self, around: &Surroundings, given: &Given) -> Result<(), BadParam> {
        let hop = around.hop();
        if given.has("retry") && self.retry < hop {
            return Err(BadParam::Unfit {
                name: "retry",
                text: self.retry.to_string(),
                because: format!(
                    "a message takes {hop}: everything would be said again before it is heard; \
                     choose a longer one"
                ),
            });
        }
        self.check_copies(around, given)
    }
}
