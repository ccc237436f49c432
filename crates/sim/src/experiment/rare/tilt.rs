//! False departures by importance sampling: losses that are forced, and weighed.
//!
//! **Source.** R. Adler, J. Blanchet and J. Liu, *Efficient Monte Carlo for high excursions of
//! Gaussian random fields*, Annals of Applied Probability 22 (2012), for events that are unions:
//! one of the events is chosen and made to happen, and the weight divides by how many happened.
//!
//! **How.** A follower gives up its leader after m announcements in a row were lost. In a run there
//! are K places for that: a follower, and the m announcements before a moment of the watch. One
//! place is chosen at random, its m losses are forced by a cut from the leader to the follower, all
//! other draws stay as they are. If l is the loss, each place is that way with probability l^m, and
//! the weight of the run is K·l^m / M if somebody gave up its leader, where M is the number of
//! places at which all m were lost; zero otherwise.
//!
//! **Promise.** Unbiased, but for the runs that the assumptions leave out: under the mixture over
//! places the density of a run is M/(K·l^m) times the usual one, and wherever the event happens M
//! is at least 1. The weights never exceed K·l^m, so the relative error does not grow as the event
//! gets rarer.
//!
//! **Assumptions.** Each receiver loses messages for itself, and nothing else is random about them:
//! constant delay, no copies. The leader's announcements do not depend on what followers lose; this
//! is checked in every run. With more than two processes, runs are left out in which somebody gives
//! up a second leader, which somebody became that had given up the first: about l^2m.

use super::gauge::{Gauge, Sent};
use super::{BadExperiment, Experiment, Made, NotEstimated, Rare, Spent};
use crate::coin::{RunSeed, StreamPurpose};
use crate::experiment::Control;
use crate::fault::{Fault, Timed};
use crate::network::Loss;
use crate::plan::Plan;
use crate::world::World;
use bellwether_core::{Duration, Entropy, Protocol, SimTime, Visitor};
use rayon::prelude::*;
use std::ops::Range;

/// Names the stream from which places are drawn.
const PLACES: u64 = 0x706c_6163_6573_2121;

/// Forces losses in runs of this experiment, for these replications.
pub(super) struct Forcing<'a> {
    experiment: &'a Experiment,
    rare: &'a Rare,
    loss: f64,
    numbers: Range<u32>,
    control: Control<'a>,
}

impl<'a> Forcing<'a> {
    /// Refuses where the assumptions do not hold.
    pub(super) fn of(
        experiment: &'a Experiment,
        rare: &'a Rare,
        numbers: Range<u32>,
        control: Control<'a>,
    ) -> Result<Self, BadExperiment> {
        let Loss::Uncorrelated(loss) = experiment.network.loss() else {
            return Err(BadExperiment::Rare(NotEstimated::rule(
                "losses must be independent to be forced one by one; choose {loss-model} \
                 uncorrelated, or {method} split",
            )));
        };
        if !experiment.network.is_plain() {
            return Err(BadExperiment::Rare(NotEstimated::rule(
                "losses are forced only where the delay is constant; choose {delay-model} \
                 constant, or {method} split",
            )));
        }
        if experiment.drift > 0 {
            // A follower with a fast clock gives up after one loss less.
            return Err(BadExperiment::Rare(NotEstimated::rule(
                "losses are forced only where clocks do not drift; choose {clock-drift} 0, or \
                 {method} split",
            )));
        }
        Ok(Self { experiment, rare, loss: loss.value(), numbers, control })
    }
}

impl Visitor for Forcing<'_> {
    type Output = Result<Made, BadExperiment>;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        let effort = self.rare.effort;
        let replicate = |number: u32| {
            let seed = RunSeed::new(self.experiment.seed, 1).branch(u64::from(number));
            let mut world = World::<P>::new(params.clone());
            let (mut sum, mut spent) = (0.0, Spent::default());
            for run in 0..effort {
                if (self.control.over)() {
                    return Ok(None);
                }
                let (weight, work) = self.weight(&mut world, seed.branch(u64::from(run)))?;
                sum += weight;
                spent.add(work);
            }
            (self.control.progress)();
            Ok(Some((sum / f64::from(effort), spent)))
        };
        let made: Result<Vec<Option<(f64, Spent)>>, BadExperiment> =
            self.numbers.clone().into_par_iter().map(replicate).collect();
        let estimates = made?.into_iter().map_while(|one| one).collect();
        Ok(Made { levels: Vec::new(), pilot: Spent::default(), estimates })
    }
}

/// A place: this follower, and as many announcements from this one on as it takes.
#[derive(Clone, Copy)]
struct Place {
    follower: u32,
    first: usize,
}

impl Forcing<'_> {
    /// The weight of one run, which is made twice.
    fn weight<P: Protocol>(
        &self,
        world: &mut World<P>,
        key: RunSeed,
    ) -> Result<(f64, Spent), BadExperiment> {
        let (mut plan, from) = self.experiment.plan(key);
        let usual = self.watched(world, &plan, key, from).0;
        let Some(leader) = leader_of(&usual, plan.nodes) else {
            return Err(BadExperiment::Rare(NotEstimated::tried(
                "nobody announces itself; choose another protocol",
            )));
        };
        let profile = self.experiment.choice.profile();
        let needed = profile.trust.as_nanos() / profile.interval.as_nanos().max(1);
        let needed = usize::try_from(needed).unwrap_or(usize::MAX);
        let announced = Announced::of(leader, &usual);
        let followers: Vec<u32> = (0..plan.nodes).filter(|node| *node != leader).collect();
        let after = self.experiment.network.multicast.delay.mean() + profile.trust;
        let places = announced.places(&followers, needed, [from, plan.end()], after);
        if needed == 0 || places.is_empty() {
            return Err(BadExperiment::Rare(NotEstimated::rule(
                "the watch has no moment at which it can happen; raise {window}",
            )));
        }
        // A stream of its own: the plan has drawn the watch's phase from the run's.
        let mut luck = key.branch(PLACES).world(StreamPurpose::ForcedLosses);
        let Place { follower, first } = places[luck.below(places.len() as u64) as usize];
        let [begin, end] =
            [first, first + needed - 1].map(|number| announced.0[number].0.since(SimTime::ZERO));
        let cut = Fault::Cut { from: vec![leader], to: vec![follower] };
        plan.faults.push(Timed { at: begin, fault: cut });
        plan.faults.push(Timed { at: end + Duration::from_nanos(1), fault: Fault::Heal });
        let (forced, happened) = self.watched(world, &plan, key, from);
        let forced = Announced::of(leader, &forced);
        if !announced.times().eq(forced.times()) {
            return Err(BadExperiment::Rare(NotEstimated::tried(
                "the leader's announcements depend on what is lost; choose {method} split",
            )));
        }
        let lost = places.iter().filter(|place| forced.all_lost(**place, needed)).count();
        let each = libm::pow(self.loss, needed as f64);
        let weight = places.len() as f64 * each / lost.max(1) as f64;
        let seconds = 2.0 * plan.end().since(SimTime::ZERO).as_secs_f64();
        Ok((if happened { weight } else { 0.0 }, Spent { runs: 2, seconds }))
    }

    /// A whole run: what was sent to all and who received it, and whether the event happened.
    fn watched<P: Protocol>(
        &self,
        world: &mut World<P>,
        plan: &Plan,
        key: RunSeed,
        from: SimTime,
    ) -> (Vec<Sent>, bool) {
        let profile = self.experiment.choice.profile();
        let mut gauge = Gauge::new(self.rare, &profile, plan.nodes, from);
        gauge.log = Some(Vec::new());
        world.run(plan, key, &mut gauge);
        (gauge.log.unwrap_or_default(), gauge.happened)
    }
}

/// Who announced itself most often: in a settled group, its leader.
fn leader_of(log: &[Sent], nodes: u32) -> Option<u32> {
    let count = |node: &u32| log.iter().filter(|sent| sent.from == *node).count();
    (0..nodes).max_by_key(count).filter(|node| count(node) > 0)
}

/// A leader's announcements: when each was sent, and who received it.
struct Announced<'a>(Vec<(SimTime, &'a [bool])>);

impl<'a> Announced<'a> {
    fn of(leader: u32, log: &'a [Sent]) -> Self {
        let own = log.iter().filter(|sent| sent.from == leader);
        Self(own.map(|sent| (sent.at, sent.received.as_slice())).collect())
    }

    fn times(&self) -> impl Iterator<Item = SimTime> {
        self.0.iter().map(|(at, _)| *at)
    }

    /// The places at which somebody may give up the leader during the watch: so long after the
    /// arrival of the announcement before them.
    fn places(
        &self,
        followers: &[u32],
        needed: usize,
        watch: [SimTime; 2],
        after: Duration,
    ) -> Vec<Place> {
        let heard = self.0.len().saturating_sub(needed);
        let during = |before: &usize| {
            let moment = self.0[*before].0 + after;
            watch[0] <= moment && moment <= watch[1]
        };
        let of = |before: usize| {
            followers.iter().map(move |follower| Place { follower: *follower, first: before + 1 })
        };
        (0..heard).filter(during).flat_map(of).collect()
    }

    fn all_lost(&self, Place { follower, first }: Place, needed: usize) -> bool {
        let block = self.0.get(first..first + needed).unwrap_or_default();
        block.iter().all(|(_, received)| !received[follower as usize])
    }
}
