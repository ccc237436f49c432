//! The table of bully's parameters, and the defaults that depend on the surroundings.

use super::params::{Config, Recovery, TopAnswers};
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
        Param::length("reply", "how long a process waits for an OK before it takes the lead")
            .follows("10 delays")
            .within("0 < reply < wait"),
        Param::length("wait", "how long it then waits for the Coordinator message")
            .follows("3 times reply")
            .within("reply < wait < infinite")
            .on(&["reply"]),
        Param::one_of(
            "top-answers",
            TopAnswers::CHOICES,
            "how the greatest process of all answers an election",
        )
        .is("ok"),
        Param::one_of("recovery", Recovery::CHOICES, "what a recovered process does").is("bully"),
        Param::switch(
            "stamps",
            "elections carry the time they were called, and the oldest prevails: MEREA's idea",
        ),
    ];

    fn variant(&self) {}

    fn of(self, (): ()) -> Self {
        self
    }

    fn fit(self, around: &Surroundings, given: &Given) -> Self {
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

    fn check_fit(&self, around: &Surroundings, given: &Given) -> Result<(), BadParam> {
        self.check_copies(around, given)
    }
}
