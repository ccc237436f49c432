//! The parameters of bully, each described once, and the defaults that depend on the surroundings.

use super::params::{Recovery, TopAnswers};
use crate::detect::{Detected as _, detected};
use crate::param::{BadParam, Fit, GivenParams};
use crate::surroundings::Surroundings;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

detected! {
    /// The written parameters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Config {
        /// How long a process waits for an OK before it takes the lead.
        ///
        /// Also for an answer to "who leads?".
        reply: Duration = Duration::from_secs(1), follows("10 delays"), within("0 < reply < wait");
        /// How long it then waits for the Coordinator message.
        ///
        /// After that it calls another election.
        wait: Duration = Duration::from_secs(3),
            follows("3 times reply"), within("reply < wait < infinite"), on(&["reply"]);
        /// How the greatest process of all answers an election.
        top_answers: TopAnswers, is("ok");
        /// What a recovered process does.
        recovery: Recovery, is("bully");
        /// Elections carry the time they were called, and the oldest prevails: MEREA's idea.
        stamps: bool;
    }
}

impl Fit for Config {
    fn fit(self, around: &Surroundings, given: &GivenParams) -> Self {
        let (mut config, hop) = (self.fit_detector(around, given), around.hop());
        if !given.has("reply") {
            config.reply = hop * 10;
        }
        if !given.has("wait") {
            config.wait = config.reply * 3;
        }
        if !given.has("call-after") {
            let restless = around.restless() || config.layer().is_some();
            config.call_after = if restless { hop * 60 } else { Duration::MAX };
        }
        config
    }

    fn check_fit(&self, around: &Surroundings, given: &GivenParams) -> Result<(), BadParam> {
        self.check_copies(around, given)
    }
}
