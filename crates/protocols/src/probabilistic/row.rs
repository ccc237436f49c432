//! What others ask of the probabilistic election.

use super::message::RoundId;
use super::params::{Choice, Params, ROUNDS_MAX, Size};
use super::table::Config;
use super::{BadConfig, Probabilistic};
use crate::answers::{Answers, NotLive, Row, Usual};
use crate::choice::{Entry, Family};
use crate::profile::{Goal, Profile};
use crate::promise::Promise;
use crate::purpose::{MessageKind, Purpose};
use crate::simulated::{Extent, Rounds, Selection, UnderWay, Volume};
use crate::time_scales::TimeScales;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use bellwether_core::{Duration, NodeId, Protocol as _, Visitor};

impl Row for Params {
    type Config = Config;
    type BadConfig = BadConfig;

    const ROWS: &'static [Entry] = &[Entry {
        name: Probabilistic::NAME,
        summary: "a hash selects a few of many, which agree and tell all: probably one leader",
        source: "Gupta, van Renesse and Birman 2000",
        family: Family::Probabilistic,
    }];

    const MESSAGES: &'static [MessageKind] = &[
        Purpose::Call.of("initiate"),
        Purpose::Answer.of("prefer"),
        Purpose::Answer.also("welcome", 2),
        Purpose::Result.of("final"),
        Purpose::Question.of("join"),
        Purpose::Farewell.of("withdraw"),
        Purpose::News.of("gossip"),
    ];

    const USUAL: Usual = Usual { nodes: 1000, nodes_shown: 20, ..Usual::TEN };

    fn checked(config: Config) -> Result<Self, BadConfig> {
        Self::try_from(config)
    }

    fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        visitor.visit::<Probabilistic>(self)
    }
}

impl Answers for Params {
    fn profile(&self) -> Profile {
        let first = self.time_outs(self.rounds()[0].among(1));
        Profile {
            goal: Goal::Same,
            opening: first.settle,
            trust: self.config().silence,
            attempt: first.decide,
            byes: 1,
            on_demand: Probabilistic::ON_DEMAND,
            restless: self.is_in_touch(),
            ..Profile::every(if self.is_in_touch() { self.config().beat } else { first.decide })
        }
    }

    /// Two multicasts on end, and a timer that is late, must fit into two bounds of a multicast:
    /// so half a bound is timely. A leader is trusted for `silence`, which is what a lease is;
    /// where nobody keeps in touch, for a round.
    ///
    /// How it settles, from the moment nothing goes wrong: a round that is under way ends, and
    /// with it the hopes set in it. Trust in a leader that is gone ends after `silence`, or
    /// somebody without a leader has waited so long, and both for a delay. The election that
    /// follows may meet one with a later number, which ends it, and then a round that named two;
    /// so we allow for three rounds and the delays between them. Where ids decide, the dead are
    /// candidates, and each of them may be elected once before it is known to be silent.
    fn time_scales(&self, nodes: u32) -> TimeScales {
        let multicast = self.config().multicast();
        let all = (1..=self.rounds().len() as u32).map(|round| self.lasts(round, nodes.into()));
        let steps = self.step() * u64::from(u64::BITS - u64::from(nodes).leading_zeros());
        let longest = all.clone().max().unwrap_or_default() + steps;
        let (lease, settles) = if self.is_in_touch() {
            let silence = self.config().silence;
            let elected_dead = match self.config().choice {
                Choice::Rank => 0,
                Choice::LowestId | Choice::HighestId | Choice::Lot => nodes.into(),
            };
            let again = (silence + steps + self.lasts(1, nodes.into())) * elected_dead;
            (silence, longest + silence + steps + longest * 3 + again)
        } else {
            let held = all.fold(Duration::ZERO, |sum, lasts| sum + lasts + steps);
            (self.lasts(1, nodes.into()), held)
        };
        TimeScales {
            fastest: multicast / 100,
            timely: multicast / 2,
            scheduling: multicast / 8,
            lease,
            settles: TimeScales::stretched(settles, TimeScales::QUARTZ),
            ..TimeScales::USUAL
        }
    }
    fn promise(&self) -> Promise {
        Promise::ProbablyOne
    }

    fn promise_to(&self, nodes: u32) -> Promise {
        let certain = self.is_in_touch() && self.is_certain(nodes.into());
        if certain { Promise::EventuallyOne } else { self.promise() }
    }

    fn reads_rank(&self) -> bool {
        self.config().choice == Choice::Rank
    }

    fn ready(&self, nodes: u32) -> Duration {
        self.sized(nodes.into())
    }

    fn rounds(&self) -> Option<Rounds> {
        let (begins, prefers, decides) = ("initiate", "prefer", "final");
        Some(Rounds { begins, prefers, decides, gauges: "gossip" })
    }

    /// Where the size is not known to all, each has a filter of its own; where all are relays,
    /// nobody is selected.
    fn selection(&self, nodes: u32) -> Option<Selection> {
        let members = u64::from(nodes);
        let known = self.config().size == Size::Group && !self.is_in_touch();
        let relays = self.selects(members).filter(|relays| known && *relays < members)?;
        Some(Selection { relays, members })
    }

    fn selecting(&self, relays: u64) -> Option<crate::choice::Choice> {
        Some(Self::selecting(self, relays).into())
    }

    fn selected(&self, group: u64, nodes: u32) -> u64 {
        let members = u64::from(nodes);
        let relays = self.relays(1, members).unwrap_or(0);
        let filter = self.filter(group, RoundId::first_of(1), relays, members);
        (0..members).filter(|member| filter.passes(NodeId(*member))).count() as u64
    }

    fn round_lasts(&self, number: u32, nodes: u32) -> Duration {
        self.lasts(number, nodes.into())
    }

    /// Relays know each other, tell each other what they prefer, and again if that changes; the
    /// messages are the same for all.
    fn volume(&self, extent: &Extent) -> Volume {
        let rounds = 1..=self.rounds().len() as u32;
        let relays = rounds.filter_map(|round| self.relays(round, extent.ids)).max();
        let relays = relays.unwrap_or(0).min(extent.ids) as f64;
        let tells = relays + 2.0;
        let (receptions, broadcasts) = (relays * relays * 2.0, relays);
        Volume {
            records: Some(20.0 * tells * (extent.ids as f64 + tells)),
            under_way: Some(UnderWay { receptions, broadcasts, ..UnderWay::default() }),
        }
    }

    fn shown_for(&self) -> Duration {
        Duration::LONGEST_WRITTEN
    }

    fn check_live(&self) -> Result<(), NotLive> {
        if self.is_in_touch() { Ok(()) } else { Err(NotLive::OutOfTouch) }
    }

    fn rules(&self) -> Vec<String> {
        let Config { beat, silence, max_rounds, .. } = *self.config();
        let relays: Vec<String> = self.rounds().iter().map(ToString::to_string).collect();
        let (quiet, relays) = (beat + self.config().multicast(), relays.join(", "));
        vec![
            format!("beat + multicast < silence: {quiet} and {silence}"),
            format!("1 <= max-rounds <= {ROUNDS_MAX}: {max_rounds}, with {relays} relays"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilistic::{Candidate, Message, RoundId, Sketch};
    use alloc::boxed::Box;
    use bellwether_core::{Message as _, NodeId};

    #[test]
    fn the_kinds_of_message_that_make_a_round_are_those_of_the_protocol() {
        let params = Params::try_from(Config::default()).unwrap();
        let rounds = Answers::rounds(&params).unwrap();
        let round = RoundId::first_of(3);
        let one = Candidate { id: NodeId(1), rank: 0 };
        let within = Some((3, 1));
        for (message, kind, number) in [
            (Message::Initiate(round), rounds.begins, within),
            (Message::Prefer(round, one), rounds.prefers, within),
            (Message::Final(round, NodeId(1)), rounds.decides, within),
            (Message::Gossip(Box::new(Sketch::of(0, []))), rounds.gauges, None),
        ] {
            assert_eq!((message.kind(), message.round()), (kind, number));
        }
    }
}
