//! Lost leases by importance sampling: spells of heavy loss, and weights.
//!
//! **Source.** A. Owen and Y. Zhou, *Safe and effective importance sampling*, Journal of the
//! American Statistical Association 95 (2000), for mixtures that contain the usual law; E. Veach
//! and L. Guibas, *Optimally combining sampling techniques for Monte Carlo rendering*, SIGGRAPH
//! 1995, for the weights.
//!
//! **How.** A leader loses its lease because no renewal succeeds for as long as the lease lasts.
//! Renewals fail at once or not at all, so at small losses no run comes near, and there is nothing
//! to split. Therefore a usual run is copied at some of K moments, a renewal apart, and each copy
//! has a spell there: a time as long as a lease and a renewal, in which some followers are nearly
//! cut off from whoever leads when it begins. They are as many as it takes to fail a renewal, or
//! one less, and are drawn evenly among all others. Packets between each of them and the leader are
//! lost as often as if the follower were known not to answer: a request with the probability l/(l +
//! (1 − l)l) that it is the request and not the answer that is lost, and answers with .7. All other
//! packets are lost as usual: each of their draws would make the weights differ more, and in a
//! group of five the fourth follower alone would make them useless. Every time as long as a lease
//! lies within some spell. With shorter spells some losses at both ends of it would have to happen
//! by themselves: hardly any copy would show them, with a weight above all others. A copy ends as
//! much later as its spell is long, when it has become a usual run again. The weight of a run in
//! which the event happens is
//!
//! 1 / (a + (1 − a)/K · Σ_k R_k), with a = 1/10, and R_k the mean, over all choices of followers,
//! of Π (l'/l) Π ((1 − l')/(1 − l)) over the packets that were lost, and those that were not, of
//! those sent during the k-th spell between them and the leader at its begin;
//!
//! the sum is over the spells whose runs are long enough to see the event. The estimate is a times
//! the weight of the usual run and (1 − a)/K times the weights at all K moments, of which every
//! g-th is made, from a random one on. Weights are zero where the event does not happen.
//!
//! Where all receivers lose a message to everyone together, no follower can be cut off alone; and
//! in groups of three all followers would be. Then all packets of a spell are lost with probability
//! .55: intervals hold more often so (`how_often_intervals_by_spells_hold`).
//!
//! **Promise.** Unbiased: the weight is the ratio of the likelihoods of all draws between the usual
//! law and the mixture of no spell and those spells that could have shown this event. Who leads
//! when a spell begins follows from the draws before it, which are usual. A usual run is part of
//! the mixture, so no weight exceeds 1/a, however the event happens. A run ends at the event;
//! packets that were not sent by then have the ratio 1.
//!
//! **Assumptions.** Whether a packet is lost does not depend on what was lost before: each
//! receiver loses for itself, or all together. Delays may be random.

use super::gauge::Gauge;
use super::odds::{Drawn, Odds};
use super::{BadExperiment, Experiment, Made, NotEstimated, Rare, Spent};
use crate::coin::{RunSeed, StreamPurpose};
use crate::experiment::Control;
use crate::plan::Plan;
use crate::world::World;
use bellwether_core::{Duration, Entropy, Protocol, SimTime, Visitor};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The part of the mixture that has no spell.
const USUAL: f64 = 0.1;
/// At most so many moments at which a spell may begin.
const MOMENTS_MAX: u64 = 100_000;

/// Estimates by runs with spells, for these replications.
pub(super) struct Spells<'a> {
    experiment: &'a Experiment,
    rare: &'a Rare,
    settled: bool,
    numbers: Range<u32>,
    control: Control<'a>,
    odds: Arc<Odds>,
}

impl<'a> Spells<'a> {
    /// Refuses where the assumptions do not hold.
    pub(super) fn of(
        experiment: &'a Experiment,
        rare: &'a Rare,
        settled: bool,
        numbers: Range<u32>,
        control: Control<'a>,
    ) -> Result<Self, BadExperiment> {
        let odds = Odds::of(experiment).ok_or(BadExperiment::Rare(NO_ODDS))?;
        Ok(Self { experiment, rare, settled, numbers, control, odds: Arc::new(odds) })
    }

    /// One estimate, from as many usual runs as it takes to have all copies. Nothing, if it is told
    /// to stop.
    fn replicate<P: Protocol>(&self, params: P::Params, seed: RunSeed) -> Option<(f64, Spent)> {
        let mut world = World::<P>::new(params);
        let (mut sum, mut spent, mut number, mut count) = (0.0, Spent::default(), 0, 1);
        while number < count {
            let mut base = Base::new(self, &mut world, seed.branch(number));
            count = base.moments.bases(self.rare.effort);
            sum += base.estimate(&mut spent)?;
            number += 1;
        }
        Some((sum / count as f64, spent))
    }

    /// When a spell may begin: what leads to the event in the watch may begin a lease before it.
    fn moments(&self, from: SimTime, end: SimTime) -> Moments {
        let leases = self.experiment.choice.profile().leases;
        let lease = leases.map_or(Duration::ZERO, |leases| leases.lease).as_nanos().max(1);
        let renew = leases.map_or(lease, |leases| leases.renew.as_nanos()).min(lease);
        // At time zero processes send before anything else happens.
        let first = from.as_nanos().saturating_sub(lease.saturating_add(renew)).max(1);
        let all = end.as_nanos().saturating_sub(first).max(1);
        let step = renew.max(all / MOMENTS_MAX).max(1);
        let length = lease.saturating_add(step);
        Moments { first, step, length, count: all.div_ceil(step) }
    }
}

/// Why there is nothing to tilt.
const NO_ODDS: NotEstimated = NotEstimated::rule(
    "nothing is lost, or losses come in bursts or differ from link to link, so there are no odds \
     to tilt; choose {method} split",
);

impl Visitor for Spells<'_> {
    type Output = Result<Made, BadExperiment>;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        let replicate = |number: u32| {
            let seed = RunSeed::new(self.experiment.seed, 2).branch(u64::from(number));
            let estimate = self.replicate::<P>(params.clone(), seed)?;
            (self.control.progress)();
            Some(estimate)
        };
        let made: Vec<Option<(f64, Spent)>> =
            self.numbers.clone().into_par_iter().map(replicate).collect();
        let estimates = made.into_iter().map_while(|one| one).collect();
        Ok(Made { levels: Vec::new(), pilot: Spent::default(), estimates })
    }
}

/// A usual run, which is copied again and again.
struct Base<'a, P: Protocol> {
    spells: &'a Spells<'a>,
    world: &'a mut World<P>,
    gauge: Gauge,
    plan: Plan,
    moments: Moments,
    key: RunSeed,
    /// How far it has come.
    at: SimTime,
}

impl<'a, P: Protocol> Base<'a, P> {
    fn new(spells: &'a Spells<'a>, world: &'a mut World<P>, key: RunSeed) -> Self {
        let experiment = spells.experiment;
        let (mut plan, mut from) = experiment.plan(key);
        if !spells.settled {
            (plan.horizon, from) = (experiment.window, SimTime::ZERO);
        }
        let mut gauge = Gauge::new(spells.rare, &experiment.choice.profile(), plan.nodes, from);
        gauge.drawn = Some(Drawn::new(&spells.odds, key, plan.nodes));
        world.begin(&plan, key, &mut gauge);
        let moments = spells.moments(from, plan.end());
        Self { spells, world, gauge, plan, moments, key, at: SimTime::ZERO }
    }

    /// What this run and its copies estimate. Nothing, if it is told to stop.
    fn estimate(&mut self, spent: &mut Spent) -> Option<f64> {
        let gap = self.moments.gap(self.spells.rare.effort);
        let mut luck = self.key.world(StreamPurpose::Spells);
        let offset = luck.below(gap);
        let mut sum = 0.0;
        for number in (offset..self.moments.count).step_by(usize::try_from(gap).ok()?) {
            if (self.spells.control.over)() {
                return None;
            }
            let during = self.moments.at(number);
            self.proceed(during.start - 1);
            sum += if self.gauge.happened {
                self.weight()
            } else {
                self.copied(&during, &mut luck, spent)
            };
        }
        self.proceed(self.plan.end().as_nanos());
        spent.add(Spent { runs: 1, seconds: self.at.since(SimTime::ZERO).as_secs_f64() });
        let heavy = gap as f64 / self.moments.count as f64 * sum;
        Some(USUAL * self.weight() + (1.0 - USUAL) * heavy)
    }

    /// Lets the usual run go on until this time, or until the event.
    fn proceed(&mut self, until: u64) {
        let whole = std::mem::replace(&mut self.plan.horizon, Duration::from_nanos(until));
        let outcome = self.world.proceed(&self.plan, &mut self.gauge);
        self.at = if outcome.satisfied { outcome.ended } else { self.plan.end() };
        self.plan.horizon = whole;
    }

    /// The weight of the usual run.
    fn weight(&self) -> f64 {
        self.moments.weight(&self.gauge, self.at)
    }

    /// The weight of a copy with a spell at this time.
    fn copied(&mut self, during: &Range<u64>, luck: &mut impl Entropy, spent: &mut Spent) -> f64 {
        if let Some(drawn) = &mut self.gauge.drawn {
            drawn.forget(self.moments.seen_from(self.at.as_nanos()));
        }
        let (mut world, mut gauge) = (self.world.clone(), self.gauge.clone());
        let mut plan = self.plan.clone();
        let until = self.moments.seen_until(during);
        plan.horizon = plan.horizon.min(Duration::from_nanos(until));
        if let Some(drawn) = &mut gauge.drawn {
            drawn.begin(during, luck, &mut plan);
        }
        let outcome = world.proceed(&plan, &mut gauge);
        let ended = if outcome.satisfied { outcome.ended } else { plan.end() };
        spent.add(Spent { runs: 1, seconds: ended.since(self.at).as_secs_f64() });
        self.moments.weight(&gauge, ended)
    }
}

/// The moments at which a spell may begin, in nanoseconds, and how long it lasts.
struct Moments {
    first: u64,
    step: u64,
    length: u64,
    count: u64,
}

impl Moments {
    fn at(&self, number: u64) -> Range<u64> {
        let begin = self.first + number * self.step;
        begin..begin.saturating_add(self.length)
    }

    /// Every so many moments a copy is made: copies of one run do not overlap, and they are as many
    /// as the effort at most.
    fn gap(&self, effort: u32) -> u64 {
        let apart = self.length.saturating_mul(2).div_ceil(self.step);
        apart.max(self.count / u64::from(effort)).clamp(1, self.count)
    }

    /// How many usual runs are copied.
    fn bases(&self, effort: u32) -> u64 {
        u64::from(effort).saturating_mul(self.gap(effort)).div_ceil(self.count)
    }

    /// The weight of a run that ended at this time; zero if not by the event.
    fn weight(&self, gauge: &Gauge, ended: SimTime) -> f64 {
        let Some(drawn) = gauge.drawn.as_ref().filter(|_| gauge.happened) else { return 0.0 };
        let begun = self.begun(ended.as_nanos());
        let sum: f64 = begun.clone().map(|number| drawn.ratio(&self.at(number))).sum();
        // Nothing was sent during later spells: each has the ratio 1.
        let sum = sum + (self.count - begun.end) as f64;
        1.0 / (USUAL + (1.0 - USUAL) * sum / self.count as f64)
    }

    /// The spells that began by this time and whose runs do not end before it.
    fn begun(&self, by: u64) -> Range<u64> {
        // How many begin before a time.
        let before = |at: u64| at.saturating_sub(self.first).div_ceil(self.step).min(self.count);
        before(self.seen_from(by))..before(by.saturating_add(1))
    }

    /// When a run with this spell ends.
    fn seen_until(&self, spell: &Range<u64>) -> u64 {
        spell.end.saturating_add(self.length)
    }

    /// When the first spell begins whose run ends at this time or later.
    fn seen_from(&self, ended: u64) -> u64 {
        ended.saturating_sub(self.length.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_that_began_are_those_whose_runs_may_show_an_event() {
        for (first, step, length, count) in [(1, 10, 25, 8), (7, 3, 100, 50), (40, 9, 9, 1)] {
            let moments = Moments { first, step, length, count };
            for ended in 0..400 {
                let seen = |number: &u64| ended <= moments.seen_until(&moments.at(*number));
                let (begun, later): (Vec<u64>, Vec<u64>) =
                    (0..count).filter(seen).partition(|number| moments.at(*number).start <= ended);
                let found = moments.begun(ended);
                assert_eq!(found.clone().collect::<Vec<_>>(), begun, "{ended}");
                assert_eq!(count - found.end, later.len() as u64, "{ended}");
            }
        }
    }
}
