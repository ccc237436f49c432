//! Experiments: many runs of one setup, and the results with their uncertainty.
//!
//! The random draws of a run are a function of (seed, run). Runs are distributed over threads, and
//! their samples are put back in order, so the result does not depend on the number of threads.

mod agreement;
mod check;
mod cut;
mod initiation;
mod leases;
mod measure;
pub mod part;
pub mod rare;
mod recovery;
mod repeat;
mod rounds;
mod scenario;
mod start;
mod tally;
mod wandering;
mod watch;

pub use check::BadExperiment;
pub use cut::Cut;
pub use initiation::{Initiation, Initiators};
pub(crate) use measure::Sample;
pub use measure::{Measure, Run, Samples};
pub use part::Part;
pub use scenario::{Churn, Scenario, ScenarioKind};
pub use wandering::{Wandering, Wanderings};

use crate::coin::RunSeed;
use crate::lazy::Lazy;
use crate::network::{Delay, Loss, Network};
use crate::plan::{Plan, Ranks};
use crate::proportion::Proportion;
use crate::stats::Summary;
use crate::world::World;
use bellwether_core::{Duration, Protocol, Record, SimTime, Visitor};
use bellwether_protocols::choice::{Choice, Goal};
use bellwether_protocols::named;
use measure::Sort;
use rayon::prelude::*;
use scenario::Planned;
use std::ops::Range;
use watch::Watch;

named! {
    /// Which messages are simulated. Every message is an event, which supports every protocol and
    /// every fault; or only what decides the outcome is computed, for a start with constant delay
    /// and infinite T_L.
    pub enum Engine = Auto {
        /// Every message.
        Event = "event",
        /// Only those that decide; the same result.
        Lazy = "lazy",
        /// Lazy where that is possible.
        Auto = "auto",
    }
}

/// A protocol in a group, a network and a scenario, to be run many times.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The protocol.
    pub choice: Choice,
    /// The number of processes; before the event, if there is one.
    pub nodes: u32,
    /// The network.
    pub network: Network,
    /// Where ranks come from.
    pub ranks: Ranks,
    /// Each clock runs fast or slow by a random rate up to this, in parts per 10⁹.
    pub drift: u32,
    /// How an election is started, for protocols that need an initiator.
    pub initiation: Initiation,
    /// What happens to the group.
    pub scenario: Scenario,
    /// How long a disturbed group is watched.
    pub window: Duration,
    /// The number of runs.
    pub runs: u64,
    /// The seed of all random draws.
    pub seed: u64,
    /// The number of threads; zero for the number of cores.
    pub threads: usize,
    /// The engine.
    pub engine: Engine,
}

/// How the caller follows many runs, and stops them.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Called after every run.
    pub progress: &'a (dyn Fn() + Sync),
    /// Asked before every run whether to begin no more, and now and then during one whether to
    /// give it up; nothing is kept of it then.
    pub over: &'a (dyn Fn() -> bool + Sync),
}

/// What the first runs of an experiment gave, for [more](Experiment::run_on) to follow them.
#[derive(Clone, Debug, Default)]
pub struct RunsMade(Vec<Sample>);

impl RunsMade {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What each of them gave for a measure, without those that gave nothing.
    pub fn values(&self, measure: Measure) -> Vec<f64> {
        Samples::of(vec![measure], &self.0).of_measure(measure)
    }
}

/// The results of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Each measure that some run has.
    pub measures: Vec<(Measure, Summary)>,
    /// Runs in which the group did not settle, or not again, while it was watched.
    pub unsettled: u64,
    /// Each measure that some runs lack because they were not watched for long enough.
    pub cuts: Vec<(Measure, Cut)>,
    /// Messages received. Absent for the lazy engine, which does not look at most of them.
    pub deliveries: Option<u64>,
    /// Whether the lazy engine was used.
    pub lazy: bool,
}

impl Experiment {
    /// Runs the experiment; calls `progress` after every run.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run(&self, progress: &(dyn Fn() + Sync)) -> Result<Answer, BadExperiment> {
        self.run_until(Control { progress, over: &|| false })
    }

    /// The same until it is told to stop; the result is that of the runs that ended by then.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run_until(&self, control: Control<'_>) -> Result<Answer, BadExperiment> {
        let (samples, lazy) = self.samples(control)?;
        Ok(summarise(&samples, lazy))
    }

    /// The same, with what every run gave.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run_and_keep(&self, control: Control<'_>) -> Result<(Answer, Samples), BadExperiment> {
        let (samples, lazy) = self.samples(control)?;
        Ok(kept(&samples, lazy))
    }

    /// The runs that follow those that were made before, up to [`runs`](Self::runs), and what all
    /// of them come to: the same as if all were made at once. Those made before were runs of this
    /// experiment.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run_on(
        &self,
        before: RunsMade,
        control: Control<'_>,
    ) -> Result<(Answer, RunsMade), BadExperiment> {
        let RunsMade(mut samples) = before;
        let (more, lazy) = self.samples_of(samples.len() as u64..self.runs, control)?;
        samples.extend(more);
        Ok((summarise(&samples, lazy), RunsMade(samples)))
    }

    /// What every run gave, and whether the lazy engine ran them.
    fn samples(&self, control: Control<'_>) -> Result<(Vec<Sample>, bool), BadExperiment> {
        self.samples_of(0..self.runs, control)
    }

    /// The same of these runs alone.
    fn samples_of(
        &self,
        runs: Range<u64>,
        control: Control<'_>,
    ) -> Result<(Vec<Sample>, bool), BadExperiment> {
        self.check()?;
        let lazy = self.engine != Engine::Event && self.not_lazy().is_none();
        let visitor = Runs { experiment: self, lazy, runs, control };
        Ok((self.choice.clone().visit(visitor)?, lazy))
    }

    /// The plan of one run, and when its watch begins. It does not contain the cut of a split,
    /// which depends on who leads at that time.
    pub fn plan(&self, run_seed: RunSeed) -> (Plan, SimTime) {
        self.scenario.plan(self, run_seed, &|| false)
    }

    /// The plan of the first run, with the cut of a split, and when its watch begins.
    pub fn first_plan(&self) -> (Plan, SimTime) {
        self.choice.clone().visit(FirstPlan { experiment: self })
    }

    /// The number of ids: of all processes that are there or may come.
    pub fn ids(&self) -> u64 {
        self.scenario.ids(self.nodes, self.choice.profile().leases.is_some())
    }

    /// All records of the first run.
    pub fn trace(&self) -> Vec<Record> {
        self.choice.clone().visit(FirstRun { experiment: self })
    }

    /// Why the lazy engine does not apply, if it does not.
    pub fn not_lazy(&self) -> Option<&'static str> {
        Lazy::refuses(self)
    }

    /// Whether each run ends by itself: then the window changes nothing.
    pub fn ends(&self) -> bool {
        let profile = self.choice.profile();
        if profile.on_demand {
            return !profile.restless && !self.initiation.wanders();
        }
        // Where leaders may be given up, or nothing is promised, agreement may never come.
        let settles = profile.trust == Duration::MAX && matches!(profile.goal, Goal::Leaders(_));
        self.scenario == Scenario::Start && settles && profile.leases.is_none()
    }

    /// Whether the plan is the same in every run.
    fn is_fixed(&self) -> bool {
        match self.choice.profile().on_demand {
            true => self.initiation.is_fixed(),
            false => self.scenario == Scenario::Start,
        }
    }
}

/// The runs put together, and one by one.
fn kept(samples: &[Sample], lazy: bool) -> (Answer, Samples) {
    let answer = summarise(samples, lazy);
    let measures = answer.measures.iter().map(|(measure, _)| *measure).collect();
    (answer, Samples::of(measures, samples))
}

/// Puts the runs together.
fn summarise(samples: &[Sample], lazy: bool) -> Answer {
    let summarised =
        |(measure, column): (Measure, Vec<f64>)| Some((measure, summary(measure, &column)?));
    let measures: Vec<_> = measure::columns(samples).filter_map(summarised).collect();
    Answer {
        cuts: cut::cuts(&measures, samples),
        measures,
        unsettled: samples.iter().filter(|sample| sample.unsettled).count() as u64,
        deliveries: (!lazy).then(|| samples.iter().map(|sample| sample.deliveries).sum()),
        lazy,
    }
}

/// Yes-or-no measures have an interval of their own: the one around a mean has no width where all
/// samples are equal, and leaves the range from 0 to 1 near its ends. No other measure can be
/// negative, so the shown interval does not go below zero.
fn summary(measure: Measure, samples: &[f64]) -> Option<Summary> {
    let summary = Summary::of(samples)?;
    if measure.sort() != Sort::Chance {
        let [low, high] = summary.ci95;
        return Some(Summary { ci95: [low.max(summary.min.min(0.0)), high], ..summary });
    }
    let successes = samples.iter().filter(|sample| **sample > 0.0).count() as u64;
    let ci95 = Proportion { successes, runs: samples.len() as u64 }.interval(0.95);
    Some(Summary { ci95, ..summary })
}

impl Answer {
    /// The summary of one measure.
    pub fn measure(&self, measure: Measure) -> Option<&Summary> {
        self.measures.iter().find(|(known, _)| *known == measure).map(|(_, summary)| summary)
    }

    /// How the end of the watch cut a measure, if it did in some run. The mean of the other runs is
    /// then too low.
    pub fn cut(&self, measure: Measure) -> Option<&Cut> {
        self.cuts.iter().find(|(known, _)| *known == measure).map(|(_, cut)| cut)
    }
}

/// All runs of an experiment, distributed over threads.
struct Runs<'a> {
    experiment: &'a Experiment,
    lazy: bool,
    runs: Range<u64>,
    control: Control<'a>,
}

impl Visitor for Runs<'_> {
    type Output = Result<Vec<Sample>, BadExperiment>;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        let Self { experiment, lazy, runs, control } = self;
        on_threads(experiment, runs, control, &|| {
            let mut runner = Runner::<P>::new(experiment, params.clone(), lazy);
            Box::new(move |run_seed| runner.run(run_seed, control.over))
        })
    }
}

/// Executes one run after the other on one thread, and keeps what it needs from run to run. A run
/// that was given up has no sample.
type OnOneThread<'a> = Box<dyn FnMut(RunSeed) -> Option<Sample> + 'a>;

/// Executes these runs of an experiment until it is told to stop; `begin` is called once on each
/// thread.
fn on_threads<'a>(
    experiment: &Experiment,
    runs: Range<u64>,
    control: Control<'_>,
    begin: &(dyn Fn() -> OnOneThread<'a> + Sync),
) -> Result<Vec<Sample>, BadExperiment> {
    let make = |run: &mut OnOneThread<'a>, number| {
        if (control.over)() {
            return None;
        }
        let mut sample = run(RunSeed::new(experiment.seed, number))?;
        sample.number = number;
        (control.progress)();
        Some(sample)
    };
    // A pool for one thread would only cost time, where many small experiments run side by side.
    if experiment.threads == 1 {
        let mut run = begin();
        return Ok(runs.map_while(|number| make(&mut run, number)).collect());
    }
    let runs = runs.into_par_iter().map_init(begin, make);
    // Whoever makes several experiments side by side shares the threads between them.
    let samples: Vec<Option<Sample>> = if rayon::current_thread_index().is_some() {
        runs.collect()
    } else {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(experiment.threads)
            .build()
            .map_err(|error| BadExperiment::Threads(error.to_string()))?;
        pool.install(|| runs.collect())
    };
    Ok(samples.into_iter().flatten().collect())
}

/// The first run of an experiment, with all its records.
struct FirstRun<'a> {
    experiment: &'a Experiment,
}

impl Visitor for FirstRun<'_> {
    type Output = Vec<Record>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Record> {
        let Self { experiment } = self;
        let run_seed = RunSeed::new(experiment.seed, 0);
        let (mut world, mut records) = (World::<P>::new(params), Vec::new());
        let planned = experiment.scenario.rehearse(experiment, &mut world, run_seed, &|| false);
        let Some(planned) = planned else { return Vec::new() };
        let mut watch = Watch::beside_a_trace(experiment);
        watch.reset(experiment, &planned, run_seed);
        watch.read(&mut world, &planned.plan, run_seed, &mut records);
        records
    }
}

/// The plan of the first run of an experiment.
struct FirstPlan<'a> {
    experiment: &'a Experiment,
}

impl Visitor for FirstPlan<'_> {
    type Output = (Plan, SimTime);

    fn visit<P: Protocol>(self, params: P::Params) -> (Plan, SimTime) {
        let Self { experiment } = self;
        let (run_seed, mut world) = (RunSeed::new(experiment.seed, 0), World::<P>::new(params));
        let planned = experiment.scenario.rehearse(experiment, &mut world, run_seed, &|| false);
        planned.map_or_else(|| experiment.plan(run_seed), |planned| (planned.plan, planned.from))
    }
}

/// The state that one thread reuses from run to run.
struct Runner<'a, P: Protocol> {
    experiment: &'a Experiment,
    world: World<P>,
    watch: Watch<'a>,
    lazy: Option<Lazy<'a>>,
    planned: Option<Planned>,
}

impl<'a, P: Protocol> Runner<'a, P> {
    fn new(experiment: &'a Experiment, params: P::Params, lazy: bool) -> Self {
        Self {
            experiment,
            world: World::new(params),
            watch: Watch::of(experiment),
            lazy: lazy.then(|| Lazy::new(experiment)).flatten(),
            planned: None,
        }
    }

    /// Makes a run, unless it is told to give it up.
    fn run(&mut self, run_seed: RunSeed, over: &dyn Fn() -> bool) -> Option<Sample> {
        if let Some(lazy) = &mut self.lazy {
            return Some(lazy.run(run_seed));
        }
        let Self { experiment, world, watch, planned, .. } = self;
        if !experiment.is_fixed() {
            *planned = None;
        }
        if planned.is_none() {
            *planned = experiment.scenario.rehearse(experiment, world, run_seed, over);
        }
        let planned = planned.as_ref()?;
        watch.reset(experiment, planned, run_seed);
        watch.run(world, planned, run_seed, over)
    }
}

/// Shortcuts for networks with a constant delay and one loss.
impl Network {
    /// The constant delay of multicasts, if it is constant.
    pub fn constant_delay(&self) -> Option<Duration> {
        match self.multicast.delay {
            Delay::Constant(delay) => Some(delay),
            _ => None,
        }
    }

    /// The loss model of multicasts.
    pub fn loss(&self) -> Loss {
        self.multicast.loss
    }
}
