//! Experiments: many runs of one question, and the answer with its uncertainty.
//!
//! A run's luck is a function of (seed, run); runs are spread over threads and their samples put
//! back in order, so the result does not depend on how many threads there were.

mod agreement;
mod check;
mod convening;
mod leases;
mod measure;
mod recovery;
mod repeat;
mod rounds;
mod scenario;
mod start;
mod tally;
mod wandering;
mod watch;

pub use check::BadExperiment;
pub use convening::{Convening, Initiators};
pub(crate) use measure::Sample;
pub use measure::{Measure, Run, Samples};
pub use scenario::{Churn, Scenario};
pub use wandering::{Wandering, Wanderings};

use crate::coin::Coins;
use crate::lazy::Lazy;
use crate::network::{Delay, Loss, Network};
use crate::observer::Tracer;
use crate::plan::{Plan, Ranks};
use crate::proportion::Proportion;
use crate::stats::Summary;
use crate::world::World;
use bellwether_core::{Duration, Protocol, Record, SimTime, Visitor};
use bellwether_protocols::choice::Choice;
use measure::Sort;
use rayon::prelude::*;
use scenario::Planned;
use watch::Watch;

/// Which engine runs an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Every message an event, every protocol, every fault.
    Event,
    /// Only what decides the outcome: for a start with constant delay and infinite T_L.
    Lazy,
    /// The lazy one where it applies.
    #[default]
    Auto,
}

/// A question: this protocol, in this group, network and scenario, so many times.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The protocol.
    pub choice: Choice,
    /// The group's size; before the event, where there is one.
    pub nodes: u32,
    /// The network.
    pub network: Network,
    /// Where ranks come from.
    pub ranks: Ranks,
    /// Clocks run fast or slow by up to this, in parts per 10⁹, each in its own way.
    pub drift: u32,
    /// Who calls the election, for protocols in which somebody must.
    pub convening: Convening,
    /// What happens.
    pub scenario: Scenario,
    /// How long a disturbed group is watched.
    pub window: Duration,
    /// How many runs.
    pub runs: u64,
    /// Where luck comes from.
    pub seed: u64,
    /// How many threads; nought for as many as there are cores.
    pub threads: usize,
    /// Which engine.
    pub engine: Engine,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Each measure that some run gave.
    pub measures: Vec<(Measure, Summary)>,
    /// Runs in which the group did not settle, or not again, while it was watched.
    pub unsettled: u64,
    /// Messages received; none known for the lazy engine, which does not look at most of them.
    pub deliveries: Option<u64>,
    /// The engine that was used.
    pub lazy: bool,
}

impl Experiment {
    /// Asks, `progress` being told after every run.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run(&self, progress: &(dyn Fn() + Sync)) -> Result<Answer, BadExperiment> {
        let (samples, lazy) = self.samples(progress)?;
        Ok(summarise(&samples, lazy))
    }

    /// The same, with what every run gave.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run_and_keep(
        &self,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(Answer, Samples), BadExperiment> {
        let (samples, lazy) = self.samples(progress)?;
        Ok(kept(&samples, lazy))
    }

    /// What every run gave, and whether the lazy engine ran them.
    fn samples(&self, progress: &(dyn Fn() + Sync)) -> Result<(Vec<Sample>, bool), BadExperiment> {
        self.check()?;
        let lazy = self.engine != Engine::Event && self.not_lazy().is_none();
        let samples = self.choice.clone().visit(Runs { experiment: self, lazy, progress })?;
        Ok((samples, lazy))
    }

    /// The plan of one run, and when its watch begins. Where a split cuts is not in it: that
    /// depends on who leads then.
    pub fn plan(&self, coins: Coins) -> (Plan, SimTime) {
        self.scenario.plan(self, coins)
    }

    /// How many ids it has: of processes that are there or may come.
    pub fn ids(&self) -> u64 {
        self.scenario.ids(self.nodes, self.choice.profile().leases.is_some())
    }

    /// Everything that happens in the first run.
    pub fn trace(&self) -> Vec<Record> {
        self.choice.clone().visit(FirstRun { experiment: self })
    }

    /// Why the lazy engine does not apply, if it does not.
    pub fn not_lazy(&self) -> Option<&'static str> {
        Lazy::refuses(self)
    }

    /// Whether the plan is the same in every run.
    fn is_fixed(&self) -> bool {
        match self.choice.profile().convened {
            true => self.convening.is_fixed(),
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
    Answer {
        measures: measure::columns(samples).filter_map(summarised).collect(),
        unsettled: samples.iter().filter(|sample| sample.unsettled).count() as u64,
        deliveries: (!lazy).then(|| samples.iter().map(|sample| sample.deliveries).sum()),
        lazy,
    }
}

/// What either happened or did not has an interval of its own: that around a mean has no width
/// where it always happened, and leaves the chances where it nearly did.
fn summary(measure: Measure, samples: &[f64]) -> Option<Summary> {
    let summary = Summary::of(samples)?;
    if measure.sort() != Sort::Chance {
        return Some(summary);
    }
    let successes = samples.iter().filter(|sample| **sample > 0.0).count() as u64;
    let ci95 = Proportion { successes, runs: samples.len() as u64 }.interval(0.95);
    Some(Summary { ci95, ..summary })
}

impl Answer {
    /// One measure's summary.
    pub fn measure(&self, measure: Measure) -> Option<&Summary> {
        self.measures.iter().find(|(known, _)| *known == measure).map(|(_, summary)| summary)
    }
}

/// All runs of an experiment, spread over threads.
struct Runs<'a> {
    experiment: &'a Experiment,
    lazy: bool,
    progress: &'a (dyn Fn() + Sync),
}

impl Visitor for Runs<'_> {
    type Output = Result<Vec<Sample>, BadExperiment>;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        let Self { experiment, lazy, progress } = self;
        let begin = || Runner::<P>::new(experiment, params.clone(), lazy);
        on_threads(experiment, progress, begin, Runner::run)
    }
}

/// Makes all runs of an experiment, each thread with what it begins with.
fn on_threads<T>(
    experiment: &Experiment,
    progress: &(dyn Fn() + Sync),
    begin: impl Fn() -> T + Sync + Send,
    run: impl Fn(&mut T, Coins) -> Sample + Sync + Send,
) -> Result<Vec<Sample>, BadExperiment> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(experiment.threads)
        .build()
        .map_err(|error| BadExperiment::Threads(error.to_string()))?;
    let runs = (0..experiment.runs).into_par_iter().map_init(begin, |state, number| {
        let sample = run(state, Coins::new(experiment.seed, number));
        progress();
        sample
    });
    Ok(pool.install(|| runs.collect()))
}

/// The first run of an experiment, kept whole.
struct FirstRun<'a> {
    experiment: &'a Experiment,
}

impl Visitor for FirstRun<'_> {
    type Output = Vec<Record>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Record> {
        let Self { experiment } = self;
        let coins = Coins::new(experiment.seed, 0);
        let (mut world, mut tracer) = (World::<P>::new(params), Tracer::default());
        let planned = experiment.scenario.rehearse(experiment, &mut world, coins);
        let mut watch = Watch::beside_a_trace(experiment);
        watch.reset(experiment, &planned, coins);
        world.run(&planned.plan, coins, &mut (&mut watch, &mut tracer));
        tracer.records
    }
}

/// What one thread reuses from run to run.
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

    fn run(&mut self, coins: Coins) -> Sample {
        if let Some(lazy) = &mut self.lazy {
            return lazy.run(coins);
        }
        let Self { experiment, world, watch, planned, .. } = self;
        if !experiment.is_fixed() {
            *planned = None;
        }
        let planned =
            planned.get_or_insert_with(|| experiment.scenario.rehearse(experiment, world, coins));
        watch.reset(experiment, planned, coins);
        watch.run(world, planned, coins)
    }
}

/// A constant delay and a loss, as most experiments have them.
impl Network {
    /// The constant delay of multicasts, if it is constant.
    pub fn constant_delay(&self) -> Option<Duration> {
        match self.multicast.delay {
            Delay::Constant(delay) => Some(delay),
            _ => None,
        }
    }

    /// The model of loss of multicasts.
    pub fn loss(&self) -> Loss {
        self.multicast.loss
    }
}
