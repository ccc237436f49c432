//! The parameters of the rings, each described once, and the defaults that depend on the
//! surroundings.

use super::params::Variant;
use crate::detect::{Detected as _, detected};
use crate::param::{BadParam, Fit, GivenParams};
use crate::surroundings::Surroundings;
use alloc::format;
use alloc::string::ToString;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

detected! {
    /// The written parameters. By default no time-out ends a wait: this is right where nothing
    /// fails, and the exact counts use it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Config of Variant {
        /// Time allowed for a hop; an election that takes longer for every hop is held again.
        retry: Duration = Duration::MAX,
            follows("infinite; where failures are detected, 5 delays"), within("0 < retry");
        /// merea as in Table 3, mistakes included.
        as_printed: bool, only_of(&[Variant::Merea.name()]);
    }
}

impl Fit for Config {
    fn fit(self, around: &Surroundings, given: &GivenParams) -> Self {
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

    fn check_fit(&self, around: &Surroundings, given: &GivenParams) -> Result<(), BadParam> {
        let hop = around.hop();
        if given.has("retry") && self.retry < hop {
            return Err(BadParam::Unfit {
                name: "retry",
                text: self.retry.to_string(),
                because: format!(
                    "a message takes {hop}: every message would be repeated before it arrives; \
                     choose a longer one"
                ),
            });
        }
        self.check_copies(around, given)
    }
}
