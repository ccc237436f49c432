//! One strategy, and what its simulation said.

use super::{CHOSEN, Goals, TOLD};
use crate::point::Point;
use bellwether_protocols::probabilistic::{Config, Relays, Strategy};
use bellwether_sim::{Answer, Measure, Proportion};
use std::fmt;

/// How K follows from the round before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// It is the same.
    Fixed,
    /// It is twice as large, and at most everyone, or as many as a round may have.
    Doubling,
}

impl Growth {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Doubling => "doubling",
        }
    }
}

/// A strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tactic {
    /// K of the first round.
    pub k: u32,
    /// K of the others.
    pub growth: Growth,
    /// How many rounds there are; a single one is [`Growth::Fixed`].
    pub rounds: u32,
}

impl Tactic {
    /// A single round.
    pub(super) fn once(k: u32) -> Self {
        Self { k, growth: Growth::Fixed, rounds: 1 }
    }

    /// The strategies with this K that succeed most often: those with the most rounds, since a
    /// further one is held only where the last has no clear outcome. More relays are not always
    /// better: of few who see each other seldom, one alone agrees with itself.
    pub(super) fn strongest(k: u32, max_rounds: u32) -> Vec<Self> {
        let mut all = Self::all(k, max_rounds);
        all.retain(|tactic| tactic.rounds == max_rounds);
        all.reverse(); // doubling is seldom the weaker one, and is asked first
        all
    }

    /// All that have this K in the first round.
    pub(super) fn all(k: u32, max_rounds: u32) -> Vec<Self> {
        let several = (2..=max_rounds).flat_map(|rounds| {
            [Growth::Fixed, Growth::Doubling].map(|growth| Self { k, growth, rounds })
        });
        std::iter::once(Self::once(k)).chain(several).collect()
    }

    /// K of every round in a group of so many: what is simulated, which never has more relays than
    /// [a round may have](bellwether_protocols::probabilistic::Config::most_relays).
    pub fn relays(&self, nodes: u32) -> Vec<u32> {
        let most = nodes.max(self.k).min(Config::default().most_relays);
        let mut k = self.k.min(most);
        let mut all = vec![k];
        for _ in 1..self.rounds {
            if self.growth == Growth::Doubling {
                k = k.saturating_mul(2).min(most);
            }
            all.push(k);
        }
        all
    }

    /// So many runs of it.
    pub(super) fn point(&self, goals: &Goals, runs: u64, seed: u64) -> Point {
        let point = goals.point.clone().runs(runs).seed(seed).with("max-rounds", self.rounds);
        match self.growth {
            Growth::Fixed => point.with("k", self.k).with("strategy", Strategy::Fixed),
            Growth::Doubling => {
                let relays = self.relays(point.nodes).into_iter().map(Relays::Count);
                point.with("strategy", Strategy::List(relays.collect()))
            }
        }
    }
}

impl fmt::Display for Tactic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { k, growth, rounds } = self;
        match rounds {
            1 => write!(f, "K {k} in one round"),
            _ => write!(f, "K {k}, {}, for up to {rounds} rounds", growth.name()),
        }
    }
}

/// What runs of a strategy say to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attainment {
    /// The whole interval reaches it.
    Reaches,
    /// The goal lies within the interval.
    Open,
    /// The whole interval lies below.
    FallsShort,
}

impl Attainment {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reaches => "reaches",
            Self::Open => "open",
            Self::FallsShort => "falls short",
        }
    }
}

/// A strategy and its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The strategy.
    pub tactic: Tactic,
    /// How often all named the same live leader in the end.
    pub success: Proportion,
    /// All that was measured.
    pub answer: Answer,
    /// What was simulated; its command prints the same numbers.
    pub point: Point,
}

impl Trial {
    pub(super) fn new(tactic: Tactic, point: Point, answer: Answer) -> Self {
        let mean = answer.measure(Measure::StrongSuccess).map_or(0.0, |summary| summary.mean);
        let successes = (mean * point.runs as f64).round() as u64;
        let success = Proportion { successes, runs: point.runs };
        Self { tactic, success, answer, point }
    }

    /// The interval of its success that is told.
    pub fn interval(&self) -> [f64; 2] {
        self.success.interval(TOLD)
    }

    /// The mean of a measure; zero if no run gave it.
    pub fn mean(&self, measure: Measure) -> f64 {
        self.answer.measure(measure).map_or(0.0, |summary| summary.mean)
    }

    /// What it costs: unicasts and multicasts, on average.
    pub fn messages(&self) -> f64 {
        self.mean(Measure::Unicasts) + self.mean(Measure::Multicasts)
    }

    /// What it says to a goal, by the interval that chooses.
    pub fn standing(&self, goal: f64) -> Attainment {
        match self.success.interval(CHOSEN) {
            [low, _] if low >= goal => Attainment::Reaches,
            [_, high] if high < goal => Attainment::FallsShort,
            _ => Attainment::Open,
        }
    }

    /// Deliveries of a run, on average.
    pub(super) fn deliveries(&self) -> f64 {
        self.answer.deliveries.unwrap_or(0) as f64 / self.point.runs.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_protocols::choice::Choice;

    #[test]
    fn a_strategy_doubles_up_to_everyone() {
        let of = |growth, rounds| Tactic { k: 7, growth, rounds }.relays(40);
        assert_eq!(of(Growth::Doubling, 5), [7, 14, 28, 40, 40]);
        assert_eq!(of(Growth::Fixed, 3), [7, 7, 7]);
        assert_eq!(Tactic::once(7).relays(3), [7]);
    }

    /// What is printed is what is simulated, in groups of any size.
    #[test]
    fn no_round_has_more_relays_than_are_simulated() {
        let point = Point::new("probabilistic", 1_000_000);
        let goals = Goals { point, success: 0.9, max_rounds: 4 };
        let large = Tactic { k: 2_000, growth: Growth::Doubling, rounds: 4 };
        assert_eq!(large.relays(goals.point.nodes), [2_000, 4_000, 6_000, 6_000]);
        for tactic in Tactic::all(9_000, 4).into_iter().chain([large]) {
            let choice = tactic.point(&goals, 1, 1).experiment(1).unwrap().choice;
            let Choice::Probabilistic(params) = choice else { panic!("another protocol") };
            let simulated = (1..=tactic.rounds)
                .map(|round| params.relays(round, u64::from(goals.point.nodes)).unwrap() as u32);
            assert_eq!(tactic.relays(goals.point.nodes), simulated.collect::<Vec<_>>(), "{tactic}");
        }
    }

    #[test]
    fn one_round_is_tried_once_and_more_in_both_ways() {
        let all = Tactic::all(3, 3);
        assert_eq!(all.len(), 5);
        assert_eq!(all.iter().filter(|tactic| tactic.rounds == 1).count(), 1);
        assert!(Tactic::strongest(3, 3).iter().all(|tactic| all.contains(tactic)));
        assert_eq!(Tactic::strongest(3, 3).len(), 2);
        assert_eq!(Tactic::strongest(3, 1), Tactic::all(3, 1));
    }
}
