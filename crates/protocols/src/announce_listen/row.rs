//! What others ask of the announce-listen family.

use super::bye::announcements_beyond_first;
use super::params::{Criterion, Params, Variant, Yields};
use super::table::Config;
use super::{AnnounceListen, BadConfig, Mapping};
use crate::answers::{Answers, NotLive, Row, Usual};
use crate::choice::{Entry, Family};
use crate::profile::{Goal, Profile};
use crate::promise::Promise;
use crate::purpose::{MessageKind, Purpose};
use crate::time_scales::TimeScales;
use bellwether_core::{Duration, Visitor};

const fn row(variant: Variant, summary: &'static str, source: &'static str) -> Entry {
    Entry { name: variant.name(), summary, source, family: Family::AnnounceListen(variant) }
}

impl Row for Params {
    type Config = Config;
    type BadConfig = BadConfig;

    const ROWS: &'static [Entry] = &[
        row(Variant::LeA, "announce at once, give way to a greater id", "Program 5.1"),
        row(Variant::LeS, "wait a random time, announce, give way to a greater id", "Program 5.2"),
        row(Variant::LeM, "as le-s, but the earliest to wake up leads", "section 5.4.3"),
        row(
            Variant::Sup,
            "suppression alone: the first to speak silences the rest",
            "chapters 2-3",
        ),
        row(Variant::Al, "everyone announces for ever, all learn who is greatest", "chapter 4"),
        row(Variant::Query, "ask who leads, announce if nobody answers", "section 5.7"),
        row(Variant::SuppressQuery, "wait a random time, then ask", "section 5.7"),
        row(Variant::SupAlElect, "follow whoever speaks first, for ever", "section 5.7"),
        row(
            Variant::SupAlLimit,
            "per interval, the first to speak silences the rest",
            "section 5.7",
        ),
        row(Variant::SupAlSpread, "everyone announces, spread over the interval", "section 5.7"),
    ];

    const MESSAGES: &'static [MessageKind] =
        &[Purpose::Call.of("announce"), Purpose::Question.of("query"), Purpose::Farewell.of("bye")];

    const USUAL: Usual = Usual {
        nodes: 100,
        nodes_shown: 100,
        live_delay: Duration::from_millis(100),
        ..Usual::TEN
    };

    fn checked(config: Config) -> Result<Self, BadConfig> {
        Self::try_from(config)
    }

    fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        visitor.visit::<AnnounceListen>(self)
    }
}

impl Answers for Params {
    fn profile(&self) -> Profile {
        let suppress = if self.opening.suppresses() { self.wake.longest() } else { Duration::ZERO };
        let patience = if self.opening.queries() { self.patience } else { Duration::ZERO };
        Profile {
            goal: match (self.names_leaders, self.yields) {
                (false, _) => Goal::Quiet,
                (true, Yields::ToAnyone) => Goal::Same,
                (true, _) => Goal::Leaders(self.leaders),
            },
            opening: suppress + patience,
            trust: self.listen,
            byes: self.bye_copies,
            by_luck: self.criterion == Criterion::EarliestWakeUp,
            ..Profile::every(self.announce)
        }
    }

    /// The thesis has a delay of a tenth of the announce interval; that is timely here. A leader is
    /// trusted for T_L, which is what a lease is; where trust never ends, three intervals.
    ///
    /// How it settles, from the moment nothing goes wrong: trust in whoever is gone ends after T_L;
    /// the best process then opens an election (T_S, and the patience of a query) and announces;
    /// whoever opened one of its own meanwhile, or gave up trust a little later, hears the best
    /// one's next announcement, a T_A on. Every step is late by up to a delay and σ. We allow for
    /// the opening twice and for three announcements.
    fn time_scales(&self, _nodes: u32) -> TimeScales {
        let (announce, profile) = (self.announce, self.profile());
        let (timely, scheduling) = (announce / 10, announce / 20);
        let lease = if profile.trust == Duration::MAX { announce * 3 } else { profile.trust };
        let steps = profile.opening * 2 + announce * 3 + (timely + scheduling) * 5;
        TimeScales {
            fastest: announce / 100,
            timely,
            scheduling,
            lease,
            settles: TimeScales::stretched(lease + steps, TimeScales::QUARTZ),
            ..TimeScales::USUAL
        }
    }

    fn promise(&self) -> Promise {
        match self.profile().goal {
            Goal::Leaders(_) => Promise::EventuallyOne,
            Goal::Same => Promise::Nothing,
            Goal::Quiet => Promise::ElectsNobody,
        }
    }

    fn attempts_beyond_first(&self, nodes: u32, loss: f64) -> f64 {
        announcements_beyond_first(nodes.saturating_sub(1).into(), loss)
    }

    fn reads_rank(&self) -> bool {
        let by_standing = matches!(self.wake.mapping, Mapping::ByStanding { .. });
        match self.criterion {
            Criterion::HighestId => false,
            Criterion::Rank => true,
            Criterion::EarliestWakeUp => by_standing,
        }
    }

    fn announcing(&self) -> Option<&Params> {
        Some(self)
    }

    fn check_live(&self) -> Result<(), NotLive> {
        let so = "gives up leaders that are alive";
        match self.is_as_printed() {
            true => Err(NotLive::WithMistakes { param: "as-printed", so }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_settles_after_trust_an_opening_and_a_few_announcements() {
        let listen = Duration::from_secs(3);
        let params = Params::try_from(Config { listen, ..Config::new(Variant::LeS) }).unwrap();
        let scales = params.time_scales(5);
        assert_eq!((scales.lease, scales.timely), (listen, Duration::from_millis(100)));
        let steps = Duration::from_millis(2_000 + 3_000 + 750);
        assert!(scales.settles > listen + steps);
        assert!(scales.settles < listen + steps + Duration::from_millis(5));
        let params = Params::try_from(Config::new(Variant::LeA)).unwrap();
        assert_eq!(params.time_scales(5).lease, listen, "trust that never ends");
    }
}
