//! Fixed-effort splitting: pilot runs that choose the levels, then independent replications.

use super::gauge::Gauge;
use super::{BadExperiment, Experiment, Made, NotEstimated, Rare, RareEvent, Scenario, Spent};
use crate::coin::{RunSeed, StreamPurpose};
use crate::experiment::Control;
use crate::plan::Plan;
use crate::world::World;
use bellwether_core::{Entropy, Protocol, SimTime, Visitor};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// More stages than any probability that a double holds needs.
const STAGES_MAX: usize = 400;
/// Pilot runs have draws of their own.
const PILOT: u64 = u64::MAX;
/// Chooses which arrivals are copied.
const PARENTS: u64 = 0x7061_7265_6e74_7321;
/// So few arrivals at a level say too little; where a stage has fewer, it makes more runs.
const ARRIVALS_MIN: usize = 20;
/// By how much a stage makes more runs, again and again; and how many times the effort at most.
const MORE: u64 = 4;
const MORE_MAX: u64 = 64;

/// Splits runs of this experiment, for these replications.
pub(super) struct Splitting<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) rare: &'a Rare,
    pub(super) settled: bool,
    pub(super) numbers: Range<u32>,
    pub(super) control: Control<'a>,
}

/// The experiment in which the event is looked for, and whether its group has settled before.
pub(super) fn watched(experiment: &Experiment, event: RareEvent) -> (Experiment, bool) {
    let from_start = matches!(event, RareEvent::TwoLeaders | RareEvent::SplitVote);
    let settled = !from_start || experiment.scenario != Scenario::Start;
    let scenario = match experiment.scenario {
        Scenario::Start if settled => Scenario::FalseDeparture,
        given => given,
    };
    (Experiment { scenario, ..experiment.clone() }, settled)
}

impl Visitor for Splitting<'_> {
    type Output = Result<Made, BadExperiment>;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        let Self { experiment, rare, settled, numbers, control } = self;
        let stages = Stages::<P> { experiment, rare, settled, params, over: control.over };
        let Some((levels, pilot)) = stages.levels()? else {
            let (levels, pilot) = (Vec::new(), Spent::default());
            return Ok(Made { levels, pilot, estimates: Vec::new() });
        };
        (control.progress)();
        let replications: Vec<Option<(f64, Spent)>> = numbers
            .into_par_iter()
            .map(|number| {
                let estimate = stages.replicate(&levels, u64::from(number))?;
                (control.progress)();
                Some(estimate)
            })
            .collect();
        // The last stage leads to the event, which is no level.
        let heights = levels.iter().filter(|stage| stage.level != u64::MAX);
        Ok(Made {
            levels: heights.map(|stage| stage.level as f64 / 1e9).collect(),
            pilot,
            estimates: replications.into_iter().map_while(|one| one).collect(),
        })
    }
}

/// A run that has come somewhere.
struct Branch<P: Protocol> {
    world: World<P>,
    gauge: Gauge,
    plan: Arc<Plan>,
    /// Where its draws came from last.
    key: RunSeed,
    at: SimTime,
    /// How much time passed since it was begun or copied.
    seconds: f64,
}

impl<P: Protocol> Clone for Branch<P> {
    fn clone(&self) -> Self {
        Self {
            world: self.world.clone(),
            gauge: self.gauge.clone(),
            plan: Arc::clone(&self.plan),
            key: self.key,
            at: self.at,
            seconds: self.seconds,
        }
    }
}

/// Where a stage leads, and how many runs it makes.
#[derive(Clone, Copy, Debug)]
struct Stage {
    level: u64,
    runs: u64,
}

struct Stages<'a, P: Protocol> {
    experiment: &'a Experiment,
    rare: &'a Rare,
    settled: bool,
    params: P::Params,
    /// Asked before every run whether to stop.
    over: &'a (dyn Fn() -> bool + Sync),
}

impl<P: Protocol> Stages<'_, P> {
    /// The seed of a replication.
    fn seed(&self, replication: u64) -> RunSeed {
        RunSeed::new(self.experiment.seed, 0).branch(replication)
    }

    /// Run number `number` of a stage, from its beginning to this level: a new run, or the copy of
    /// one of those that came to the level before.
    fn run(&self, from: &[Branch<P>], seed: RunSeed, number: u64, level: u64) -> Branch<P> {
        let mut branch = match from.is_empty() {
            true => self.root(seed.branch(number), level),
            false => {
                let mut luck = seed.branch(number ^ PARENTS).world(StreamPurpose::Parents);
                let parent = &from[luck.below(from.len() as u64) as usize];
                let mut branch = parent.clone();
                branch.key = parent.key.branch(number);
                branch.world.branch(branch.key);
                branch.gauge.aim(level, branch.at);
                branch.seconds = 0.0;
                branch
            }
        };
        let plan = Arc::clone(&branch.plan);
        let outcome = branch.world.proceed(&plan, &mut branch.gauge);
        let ended = if outcome.satisfied { outcome.ended } else { plan.end() };
        branch.gauge.note(ended);
        branch.seconds = ended.since(branch.at).as_secs_f64();
        branch.at = ended;
        branch
    }

    /// A run at its beginning.
    fn root(&self, key: RunSeed, level: u64) -> Branch<P> {
        let (mut plan, mut from) = self.experiment.plan(key);
        if !self.settled {
            (plan.horizon, from) = (self.experiment.window, SimTime::ZERO);
        }
        let profile = self.experiment.choice.profile();
        let mut gauge = Gauge::new(self.rare, &profile, plan.nodes, from);
        gauge.aim(level, SimTime::ZERO);
        let mut world = World::new(self.params.clone());
        world.begin(&plan, key, &mut gauge);
        Branch { world, gauge, plan: Arc::new(plan), key, at: SimTime::ZERO, seconds: 0.0 }
    }

    /// One stage: these runs to this level. Those that arrive, in the order of their numbers. None
    /// is made once it is told to stop.
    fn arrivals(
        &self,
        from: &[Branch<P>],
        seed: RunSeed,
        Stage { level, runs }: Stage,
    ) -> (Vec<Branch<P>>, Spent) {
        let made = (0..runs).into_par_iter().map(|number| {
            if (self.over)() {
                return (None, 0.0);
            }
            let run = self.run(from, seed, number, level);
            let seconds = run.seconds;
            (run.gauge.arrived().then_some(run), seconds)
        });
        let made: Vec<(Option<Branch<P>>, f64)> = made.collect();
        let seconds = made.iter().map(|(_, seconds)| seconds).sum();
        (made.into_iter().filter_map(|(run, _)| run).collect(), Spent { runs, seconds })
    }

    /// How near these runs come to the event, if no level ends them: `u64::MAX` if it happens.
    fn heights(&self, from: &[Branch<P>], seed: RunSeed, runs: Range<u64>) -> (Vec<u64>, Spent) {
        let count = runs.end - runs.start;
        let made = runs.into_par_iter().map(|number| {
            if (self.over)() {
                return (0, 0.0);
            }
            let Branch { gauge, seconds, .. } = self.run(from, seed, number, u64::MAX);
            (if gauge.happened { u64::MAX } else { gauge.best }, seconds)
        });
        let made: Vec<(u64, f64)> = made.collect();
        let seconds = made.iter().map(|(_, seconds)| seconds).sum();
        (made.into_iter().map(|(height, _)| height).collect(), Spent { runs: count, seconds })
    }

    /// The stages: each leads to the highest level that the wanted share of pilot runs comes to.
    /// Where hardly any come further than the level before, the stage makes more runs, in the pilot
    /// and in all replications. Nothing, if it is told to stop.
    fn levels(&self) -> Result<Option<(Vec<Stage>, Spent)>, BadExperiment> {
        let effort = u64::from(self.rare.effort);
        let (mut stages, mut spent) = (Vec::<Stage>::new(), Spent::default());
        let mut from: Vec<Branch<P>> = Vec::new();
        let seed = self.seed(PILOT);
        for number in 0..STAGES_MAX {
            let seed = seed.branch(number as u64);
            let last = stages.last().map_or(0, |stage| stage.level);
            let (mut heights, work) = self.heights(&from, seed, 0..effort);
            spent.add(work);
            let beyond = |heights: &[u64]| heights.iter().filter(|height| **height > last).count();
            while beyond(&heights) < ARRIVALS_MIN
                && (heights.len() as u64) < MORE_MAX * effort
                && !(self.over)()
            {
                let made = heights.len() as u64;
                let (more, work) = self.heights(&from, seed, made..MORE * made);
                heights.extend(more);
                spent.add(work);
            }
            if (self.over)() {
                return Ok(None);
            }
            let runs = heights.len() as u64;
            heights.sort_unstable_by(|a, b| b.cmp(a));
            let wanted = (self.rare.share * runs as f64).ceil().max(1.0) as usize;
            // Fewer than wanted come any further: take those that do.
            let wanted = wanted.min(beyond(&heights));
            let Some(level) = wanted.checked_sub(1).map(|place| heights[place]) else {
                return Err(self.no_way());
            };
            let stage = Stage { level, runs };
            stages.push(stage);
            if level == u64::MAX {
                return Ok(Some((stages, spent)));
            }
            // The same runs again, as far as that level: the same seed repeats them.
            let (runs, work) = self.arrivals(&from, seed, stage);
            spent.add(work);
            from = runs;
            if (self.over)() {
                return Ok(None);
            }
            if from.is_empty() {
                return Err(self.no_way());
            }
        }
        Err(self.no_way())
    }

    /// Why there are no levels.
    fn no_way(&self) -> BadExperiment {
        let tilts = self.rare.event.may_tilt();
        BadExperiment::Rare(if tilts { NO_WAY_BUT_TILT } else { NO_WAY })
    }

    /// One estimate: the product of the parts that come from one level to the next. Nothing, if it
    /// is told to stop.
    fn replicate(&self, stages: &[Stage], number: u64) -> Option<(f64, Spent)> {
        let seed = self.seed(number);
        let (mut estimate, mut spent) = (1.0, Spent::default());
        let mut from: Vec<Branch<P>> = Vec::new();
        for (place, stage) in stages.iter().enumerate() {
            let (runs, work) = self.arrivals(&from, seed.branch(place as u64), *stage);
            spent.add(work);
            if (self.over)() {
                return None;
            }
            from = runs;
            estimate *= from.len() as f64 / stage.runs as f64;
            if from.is_empty() {
                break;
            }
        }
        Some((estimate, spent))
    }
}

/// Why there are no levels.
const NO_WAY: NotEstimated = NotEstimated::tried(
    "no pilot run comes nearer to the event; raise {effort}, or watch for a longer {window}",
);
/// The same of what can be estimated another way.
const NO_WAY_BUT_TILT: NotEstimated = NotEstimated::tried(
    "no pilot run comes nearer to the event; choose {method} tilt, raise {effort}, or watch for a \
     longer {window}",
);

#[cfg(test)]
pub(super) mod tests;
