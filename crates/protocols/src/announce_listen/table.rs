//! The table of the announce-listen family's parameters, and the defaults that depend on the
//! surroundings.

use super::bye::bye_copies;
use super::params::{Config, Criterion, RATE, Variant};
use super::wake::{Distribution, WakeBy};
use crate::param::{BadParam, Described, Given, Param};
use crate::surroundings::Surroundings;
use alloc::string::String;
use bellwether_core::Duration;

const EXPONENTIAL: &[&str] =
    &[Distribution::Exponential.name(), Distribution::ExponentialFalling.name()];
const STANDING: &[&str] = &[WakeBy::Standing.name()];

impl Described for Config {
    type Variant = Variant;

    const PARAMS: &'static [Param] = &[
        Param::length(
            "suppress",
            "T_S: a process waits a random time below this before it announces",
        )
        .is("1s")
        .within("suppress < infinite"),
        Param::length("announce", "T_A: the time between a leader's announcements")
            .is("1s")
            .within("0 < announce < infinite"),
        Param::length("listen", "T_L: a leader silent for this long is given up")
            .is("infinite")
            .unattended("3s")
            .within("0 < listen"),
        Param::length(
            "aging",
            "a leader silent for this long, below T_L, no longer keeps others out",
        )
        .within("0 < aging < listen")
        .on(&["listen"]),
        Param::one_of("timer", Distribution::CHOICES, "how the random wait is distributed")
            .is("uniform"),
        Param::number("timer-rate", "how steep an exponential timer is, over its whole interval")
            .follows("10")
            .within("0 < timer-rate <= 500")
            .only_with("timer", EXPONENTIAL),
        Param::length("patience", "how long a query waits for answers")
            .follows("two delays and the reply spread")
            .within("reply-spread < patience < infinite")
            .on(&["reply-spread"]),
        Param::length("reply-spread", "answers to a query are spread over this")
            .follows("one delay for suppress-query, else 0s"),
        Param::one_of("criterion", Criterion::CHOICES, "who leads").follows("the protocol's own"),
        Param::one_of(
            "mapping",
            WakeBy::CHOICES,
            "where a wait comes from: a random draw, or the standing of the process",
        )
        .is("random"),
        Param::length("jitter", "a random addition to a wait that follows the standing")
            .is("0s")
            .within("jitter < infinite")
            .only_with("mapping", STANDING),
        Param::count("best", "the standing that wakes first")
            .follows("the greatest that there can be in the group")
            .within("worst < best")
            .on(&["worst", "criterion"])
            .only_with("mapping", STANDING),
        Param::count("worst", "the standing that wakes last")
            .follows("0")
            .within("worst < best")
            .only_with("mapping", STANDING),
        Param::count("leaders", "how many lead together").is("1").within("1 <= leaders <= 64"),
        Param::switch(
            "bye",
            "a departing leader sends as many Byes as the loss of the network requires",
        ),
        Param::count("bye-copies", "how many Byes a departing leader sends")
            .follows("0; 1 if all say goodbye; with bye, what the loss requires")
            .within("bye-copies <= 10000")
            .on(&["bye", "bye-from-all"]),
        Param::switch("bye-from-all", "processes that do not lead send Byes too"),
        Param::switch("as-printed", "as in Programs 5.1 and 5.2, mistakes included"),
    ];

    fn variant(&self) -> Variant {
        self.variant
    }

    fn of(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    fn fit(mut self, around: &Surroundings, given: &Given) -> Self {
        if !given.has("reply-spread") {
            // Answers that would all come at once are spread over the time that one answer takes.
            let spreads = self.variant.rules().0.suppresses();
            self.reply_spread = if spreads { around.delay } else { Duration::ZERO };
        }
        if !given.has("patience") {
            // Just longer than the last answer takes.
            self.patience = around.delay * 2 + self.reply_spread + Duration::from_nanos(1);
        }
        if !given.has("best") && self.mapping == WakeBy::Standing {
            let ranked = self.criterion == Some(Criterion::Rank);
            let standings = if ranked { around.ranks } else { around.ids };
            // For a single process any range will do.
            self.best = Some(standings.saturating_sub(1).max(1));
        }
        if !given.has("bye-copies") {
            self.bye_copies = match self.bye {
                true => byes(around).unwrap_or(0),
                false => u32::from(self.bye_from_all),
            };
        }
        self
    }

    fn check_fit(&self, around: &Surroundings, given: &Given) -> Result<(), BadParam> {
        if !self.bye {
            return Ok(());
        }
        let unfit = |because| {
            let text = String::from("true");
            Err(BadParam::Unfit { name: "bye", text, because: String::from(because) })
        };
        match byes(around) {
            None => unfit("loss = 1: no number of goodbyes would be heard; leave bye out"),
            Some(copies) if given.has("bye-copies") && copies != self.bye_copies => {
                unfit("bye-copies is another number; leave one of the two out")
            }
            Some(_) => Ok(()),
        }
    }

    fn resolved(&self) -> Self {
        let rate = (self.timer != Distribution::Uniform).then_some(RATE);
        let criterion = Some(self.own_criterion());
        Self { timer_rate: self.timer_rate.or(rate), criterion, ..self.clone() }
    }
}

/// The number of Byes that reaches everyone.
fn byes(around: &Surroundings) -> Option<u32> {
    bye_copies(u64::from(around.nodes.saturating_sub(1)), around.loss)
}
