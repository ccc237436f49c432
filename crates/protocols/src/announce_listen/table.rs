//! The parameters of the announce-listen family, each described once, and the defaults that depend
//! on the surroundings.

use super::bye::bye_copies;
use super::params::{Criterion, Opening, RATE, Variant};
use super::wake::{Distribution, WakeBy};
use crate::param::{BadParam, Fit, GivenParams};
use crate::params;
use crate::surroundings::Surroundings;
use alloc::string::String;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

const EXPONENTIAL: &[&str] =
    &[Distribution::Exponential.name(), Distribution::ExponentialFalling.name()];
const STANDING: &[&str] = &[WakeBy::Standing.name()];

/// Those that wait before they speak.
const SUPPRESS: &[&str] = &[
    Variant::LeS.name(),
    Variant::LeM.name(),
    Variant::Sup.name(),
    Variant::SuppressQuery.name(),
    Variant::SupAlElect.name(),
    Variant::SupAlLimit.name(),
    Variant::SupAlSpread.name(),
];
/// Those in which not every message silences.
const ORDERED: &[&str] = &[
    Variant::LeA.name(),
    Variant::LeS.name(),
    Variant::LeM.name(),
    Variant::Al.name(),
    Variant::Query.name(),
    Variant::SuppressQuery.name(),
    Variant::SupAlSpread.name(),
];
/// Those that ask.
const QUERY: &[&str] = &[Variant::Query.name(), Variant::SuppressQuery.name()];
/// Those that speak more than once.
const REPEAT: &[&str] = &[
    Variant::LeA.name(),
    Variant::LeS.name(),
    Variant::LeM.name(),
    Variant::Al.name(),
    Variant::Query.name(),
    Variant::SuppressQuery.name(),
    Variant::SupAlElect.name(),
    Variant::SupAlLimit.name(),
    Variant::SupAlSpread.name(),
];

params! {
    /// The written parameters. The defaults are the thesis's: T_S = T_A = 1 s, T_L infinite.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Config of Variant {
        /// T_S: a process waits a random time below this before it announces.
        ///
        /// It should be smaller than T_A, or late wakers meet second announcements.
        suppress: Duration = Duration::from_secs(1),
            is("1s"), within("suppress < infinite"), only_of(SUPPRESS);
        /// T_A: the time between a leader's announcements.
        announce: Duration = Duration::from_secs(1),
            is("1s"), within("0 < announce < infinite"), only_of(REPEAT);
        /// T_L: a leader silent for this long is given up.
        ///
        /// A small multiple of T_A, or infinite.
        listen: Duration = Duration::MAX,
            is("infinite"), unattended("3s"), within("0 < listen");
        /// A leader silent for this long, below T_L, no longer keeps others out.
        aging: Option<Duration>, within("0 < aging < listen"), on(&["listen"]);
        /// How the random wait is distributed.
        timer: Distribution, is("uniform"), only_of(SUPPRESS);
        /// How steep an exponential timer is, over its whole interval.
        timer_rate: Option<f64>,
            follows("10"), within("0 < timer-rate <= 500"),
            only_with("timer", EXPONENTIAL), only_of(SUPPRESS);
        /// How long a query waits for answers.
        ///
        /// A round trip, plus the spread of the answers.
        patience: Duration = Duration::from_millis(200),
            follows("two delays and the reply spread"),
            within("reply-spread < patience < infinite"),
            on(&["reply-spread"]),
            only_of(QUERY);
        /// Answers to a query are spread over this.
        reply_spread: Duration,
            follows("one delay for suppress-query, else 0s"), only_of(QUERY);
        /// Who leads.
        criterion: Option<Criterion>, follows("the protocol's own");
        /// Where a wait comes from: a random draw, or the standing of the process.
        mapping: WakeBy, is("random"), only_of(SUPPRESS);
        /// A random addition to a wait that follows the standing.
        ///
        /// With it equals do not speak at once.
        jitter: Duration,
            is("0s"), within("jitter < infinite"),
            only_with("mapping", STANDING), only_of(SUPPRESS);
        /// The standing that wakes first.
        best: Option<u64>,
            follows("the greatest that there can be in the group"),
            within("worst < best"),
            on(&["worst", "criterion"]),
            only_with("mapping", STANDING),
            only_of(SUPPRESS);
        /// The standing that wakes last.
        worst: Option<u64>,
            follows("0"), within("worst < best"),
            only_with("mapping", STANDING), only_of(SUPPRESS);
        /// How many lead together.
        leaders: usize = 1, is("1"), within("1 <= leaders <= 64");
        /// A departing leader sends as many Byes as the loss of the network requires.
        bye: bool;
        /// How many Byes a departing leader sends.
        ///
        /// See [`bye_copies`](super::bye_copies).
        bye_copies: u32,
            follows("0; 1 if all say goodbye; with bye, what the loss requires"),
            within("bye-copies <= 10000"),
            on(&["bye", "bye-from-all"]);
        /// Processes that do not lead send Byes too.
        bye_from_all: bool;
        /// As in Programs 5.1 and 5.2, mistakes included.
        ///
        /// The leader's announcements do not renew trust in it.
        as_printed: bool, only_of(ORDERED);
    }
}

impl Fit for Config {
    fn fit(mut self, around: &Surroundings, given: &GivenParams) -> Self {
        let (opening, ..) = self.variant.rules();
        if !given.has("reply-spread") {
            // Answers that would all come at once are spread over the time that one answer takes.
            let spreads = opening == Opening::SuppressQuery;
            self.reply_spread = if spreads { around.delay } else { Duration::ZERO };
        }
        if opening.queries() && !given.has("patience") {
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

    fn check_fit(&self, around: &Surroundings, given: &GivenParams) -> Result<(), BadParam> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::{Repeat, Yields};
    use alloc::vec::Vec;

    #[test]
    fn parameters_belong_to_the_protocols_whose_rules_read_them() {
        let members = |has: &dyn Fn(Variant) -> bool| -> Vec<&str> {
            Variant::ALL.into_iter().filter(|it| has(*it)).map(Variant::name).collect()
        };
        assert_eq!(SUPPRESS, members(&|it| it.rules().0.suppresses()));
        assert_eq!(QUERY, members(&|it| it.rules().0.queries()));
        assert_eq!(ORDERED, members(&|it| it.rules().1 != Yields::ToAnyone));
        assert_eq!(REPEAT, members(&|it| it.rules().2 != Repeat::Once));
    }
}
