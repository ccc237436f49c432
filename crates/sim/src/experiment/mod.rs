//! Experiments: many runs of one question, and the answer with its uncertainty.
//!
//! A run's luck is a function of (seed, run); runs are spread over threads and their samples put
//! back in order, so the result does not depend on how many threads there were.

mod agreement;
mod recovery;
mod scenario;
mod start;

pub use scenario::{Churn, Scenario};

use crate::coin::Coins;
use crate::lazy::Lazy;
use crate::network::{Delay, Loss, Network};
use crate::observer::Tracer;
use crate::plan::{BadPlan, Plan, Ranks};
use crate::stats::Summary;
use crate::world::World;
use bellwether_core::{Duration, Protocol, Record, Visitor};
use bellwether_protocols::announce_listen::{Repeat, Yields};
use bellwether_protocols::choice::{Choice, Crowd, Goal};
use rayon::prelude::*;
use recovery::Recovery;
use start::Start;
use std::fmt;

/// What is measured. The names are those of the command line's JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// When the converging announcement was sent.
    ConvergenceTime,
    /// When it was received.
    LeadershipDelay,
    /// Messages sent before that.
    Messages,
    /// Which of the leader's messages it was.
    Rounds,
    /// The same, averaged over the other processes.
    AverageRounds,
    /// Processes announcing themselves, averaged over the time until then.
    SimultaneousLeaders,
    /// Messages per announce interval.
    AnnouncersPerInterval,
    /// When all name the leader at the same moment.
    AgreementTime,
    /// Time until a disturbed group agrees again.
    ReestablishmentDelay,
    /// Part of the time without agreement.
    InconsistentFraction,
}

impl Measure {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 10] = [
        Self::ConvergenceTime,
        Self::LeadershipDelay,
        Self::Messages,
        Self::Rounds,
        Self::AverageRounds,
        Self::SimultaneousLeaders,
        Self::AnnouncersPerInterval,
        Self::AgreementTime,
        Self::ReestablishmentDelay,
        Self::InconsistentFraction,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConvergenceTime => "convergence_time",
            Self::LeadershipDelay => "leadership_delay",
            Self::Messages => "messages",
            Self::Rounds => "rounds",
            Self::AverageRounds => "average_rounds",
            Self::SimultaneousLeaders => "simultaneous_leaders",
            Self::AnnouncersPerInterval => "announcers_per_interval",
            Self::AgreementTime => "agreement_time",
            Self::ReestablishmentDelay => "reestablishment_delay",
            Self::InconsistentFraction => "inconsistent_fraction",
        }
    }
}

/// What one run gave. Measures that it did not give are not numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    values: [f64; Measure::ALL.len()],
    deliveries: u64,
    /// Whether what the run was for did not happen.
    pub(crate) unsettled: bool,
}

impl Sample {
    pub(crate) fn new(deliveries: u64) -> Self {
        Self { values: [f64::NAN; Measure::ALL.len()], deliveries, unsettled: false }
    }

    pub(crate) fn set(&mut self, measure: Measure, value: f64) {
        self.values[measure as usize] = value;
    }
}

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

/// Why an experiment cannot be done.
#[derive(Clone, Debug, PartialEq)]
pub enum BadExperiment {
    /// The plan is not valid.
    Plan(BadPlan),
    /// The group is too large for the protocol.
    Crowd(Crowd),
    /// Everything is lost.
    NeverConverges,
    /// So much is lost that the group would take for ever, or nearly.
    TooManyRounds {
        /// The loss.
        loss: f64,
        /// How many attempts that would take, on average.
        rounds: f64,
    },
    /// There is nobody who could take over.
    NobodyLeft,
    /// The lazy engine cannot do this.
    NotLazy(&'static str),
    /// The scenario needs a leader to lose or to find.
    ElectsNobody(&'static str),
    /// A leader that is never given up is never replaced.
    NeverGivenUp,
    /// Luck, not the id, decides who is greater.
    NobodyIsGreater(&'static str),
    /// More comings and goings than a run should have.
    TooMuchChurn {
        /// About how many there would be.
        events: f64,
    },
    /// Threads could not be had.
    Threads(String),
}

/// The most comings and goings of one run.
const CHURN_MAX: f64 = 1e6;
/// The most attempts a group may need to converge, on average.
const ROUNDS_MAX: f64 = 1e6;

impl fmt::Display for BadExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(bad) => bad.fmt(f),
            Self::Crowd(crowd) => crowd.fmt(f),
            Self::NeverConverges => f.write_str(
                "loss = 1: no message ever arrives, so a group of more than one never converges; \
                 choose a loss below 1",
            ),
            Self::TooManyRounds { loss, rounds } => write!(
                f,
                "loss = {loss}: the group would need about {rounds:.0} attempts to converge, \
                 but at most {ROUNDS_MAX:.0} are simulated; choose less loss"
            ),
            Self::NobodyLeft => f.write_str(
                "nodes = 1: when the only process departs nobody is left to lead; choose 2 or more",
            ),
            Self::NotLazy(why) => {
                write!(f, "the lazy engine does not apply: {why}; try --engine event")
            }
            Self::ElectsNobody(scenario) => write!(
                f,
                "scenario {scenario} watches a leader being replaced, but this protocol promises \
                 none; try le-a, le-s, le-m, al or query"
            ),
            Self::NeverGivenUp => f.write_str(
                "listen is infinite: a leader that departs without a word is followed for ever; \
                 give --listen, for example 3s, or --bye",
            ),
            Self::NobodyIsGreater(scenario) => write!(
                f,
                "scenario {scenario} needs to know who is greater, but with this criterion luck \
                 decides; try --criterion highest-id"
            ),
            Self::TooMuchChurn { events } => write!(
                f,
                "departures and arrivals make about {events:.0} events in the window, but at most \
                 {CHURN_MAX:.0} can be planned; choose lower rates or a shorter --window"
            ),
            Self::Threads(why) => write!(f, "the threads could not be started: {why}"),
        }
    }
}

impl std::error::Error for BadExperiment {}

impl From<BadPlan> for BadExperiment {
    fn from(bad: BadPlan) -> Self {
        Self::Plan(bad)
    }
}

impl From<Crowd> for BadExperiment {
    fn from(crowd: Crowd) -> Self {
        Self::Crowd(crowd)
    }
}

impl Experiment {
    /// Checks everything that can be known before running.
    ///
    /// # Errors
    /// [`BadExperiment`], naming the rule and the way out.
    pub fn check(&self) -> Result<(), BadExperiment> {
        if let Scenario::Churn(Churn { departures, arrivals }) = self.scenario {
            let events = (departures + arrivals) * self.window.as_secs_f64();
            if events.is_nan() || events > CHURN_MAX {
                return Err(BadExperiment::TooMuchChurn { events });
            }
        }
        if self.nodes == 0 {
            return Err(BadPlan::Nodes(0).into());
        }
        self.choice.check_nodes(self.scenario.ids(self.nodes))?;
        self.check_loss()?;
        self.plan(Coins::new(self.seed, 0)).0.check()?;
        if self.engine == Engine::Lazy
            && let Some(why) = self.not_lazy()
        {
            return Err(BadExperiment::NotLazy(why));
        }
        self.check_scenario()
    }

    /// Asks, `progress` being told after every run.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run(&self, progress: &(dyn Fn() + Sync)) -> Result<Answer, BadExperiment> {
        self.check()?;
        let lazy = self.engine != Engine::Event && self.not_lazy().is_none();
        let samples = self.choice.clone().visit(Runs { experiment: self, lazy, progress })?;
        Ok(self.summarise(&samples, lazy))
    }

    /// The plan of one run, and when its watch begins.
    pub fn plan(&self, coins: Coins) -> (Plan, bellwether_core::SimTime) {
        self.scenario.plan(self, coins)
    }

    /// Everything that happens in the first run.
    pub fn trace(&self) -> Vec<Record> {
        self.choice.clone().visit(FirstRun { experiment: self })
    }

    /// Why the lazy engine does not apply, if it does not.
    pub fn not_lazy(&self) -> Option<&'static str> {
        let Choice::AnnounceListen(params) = &self.choice else {
            return Some("only announce-listen protocols are lazy");
        };
        if self.scenario != Scenario::Start {
            return Some("only the start scenario is lazy");
        }
        if params.listen() != Duration::MAX {
            return Some("listen must be infinite");
        }
        if params.opening().queries() {
            return Some("queries depend on who hears them");
        }
        if params.leaders() > 1 {
            return Some("there must be one leader");
        }
        if params.repeat() == Repeat::Redrawn
            || (params.yields() == Yields::ToAnyone && params.repeat() != Repeat::Once)
        {
            return Some("this variant has no order of claims to follow");
        }
        if params.yields() == Yields::Never && params.opening().suppresses() {
            return Some("announcements that nobody silences are too many to follow");
        }
        if self.drift > 0 {
            return Some("clocks must not drift");
        }
        if !self.network.is_plain() {
            return Some("the delay must be constant and losses without memory");
        }
        if self.network.constant_delay() == Some(Duration::ZERO) {
            return Some("the delay must be above nought, or messages race with timers");
        }
        None
    }

    fn check_loss(&self) -> Result<(), BadExperiment> {
        let loss = self.network.multicast.loss.rate();
        if self.nodes > 1 && loss >= 1.0 {
            return Err(BadExperiment::NeverConverges);
        }
        let rounds = self.choice.attempts_beyond_first(self.nodes, loss);
        if rounds > ROUNDS_MAX {
            return Err(BadExperiment::TooManyRounds { loss, rounds });
        }
        Ok(())
    }

    fn check_scenario(&self) -> Result<(), BadExperiment> {
        let name = self.scenario.name();
        if self.scenario == Scenario::Start {
            return Ok(());
        }
        let profile = self.choice.profile();
        let Goal::Leaders(_) = profile.goal else {
            return Err(BadExperiment::ElectsNobody(name));
        };
        let joins = matches!(self.scenario, Scenario::JoinGreater | Scenario::JoinSmaller);
        // An established leader is not displaced by luck, but without trust that ends none is.
        let greater = self.scenario == Scenario::JoinGreater;
        let by_luck = self.ranks == Ranks::Random
            || (profile.by_luck && (greater || profile.trust == Duration::MAX));
        if joins && by_luck {
            return Err(BadExperiment::NobodyIsGreater(name));
        }
        if self.scenario == Scenario::Departure && self.nodes < 2 {
            return Err(BadExperiment::NobodyLeft);
        }
        let departs = matches!(self.scenario, Scenario::Departure | Scenario::Churn(_));
        if departs && profile.trust == Duration::MAX && profile.byes == 0 {
            return Err(BadExperiment::NeverGivenUp);
        }
        Ok(())
    }

    fn summarise(&self, samples: &[Sample], lazy: bool) -> Answer {
        let column = |measure: Measure| -> Vec<f64> {
            let values = samples.iter().map(|sample| sample.values[measure as usize]);
            values.filter(|value| !value.is_nan()).collect()
        };
        let measures = Measure::ALL
            .into_iter()
            .filter_map(|measure| Some((measure, Summary::of(&column(measure))?)))
            .collect();
        Answer {
            measures,
            unsettled: samples.iter().filter(|sample| sample.unsettled).count() as u64,
            deliveries: (!lazy).then(|| samples.iter().map(|sample| sample.deliveries).sum()),
            lazy,
        }
    }
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
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(experiment.threads)
            .build()
            .map_err(|error| BadExperiment::Threads(error.to_string()))?;
        let runs = (0..experiment.runs).into_par_iter().map_init(
            || Runner::<P>::new(experiment, params.clone(), lazy),
            |runner, run| {
                let sample = runner.run(Coins::new(experiment.seed, run));
                progress();
                sample
            },
        );
        Ok(pool.install(|| runs.collect()))
    }
}

/// The first run of an experiment, kept whole.
struct FirstRun<'a> {
    experiment: &'a Experiment,
}

impl Visitor for FirstRun<'_> {
    type Output = Vec<Record>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Record> {
        let coins = Coins::new(self.experiment.seed, 0);
        let (plan, _) = self.experiment.plan(coins);
        let (mut world, mut tracer) = (World::<P>::new(params), Tracer::default());
        if self.experiment.scenario == Scenario::Start {
            let mut start = Start::new(&self.experiment.choice.profile());
            start.reset(plan.nodes);
            world.run(&plan, coins, &mut (&mut start, &mut tracer));
        } else {
            world.run(&plan, coins, &mut tracer);
        }
        tracer.records
    }
}

/// What one thread reuses from run to run.
struct Runner<'a, P: Protocol> {
    experiment: &'a Experiment,
    world: World<P>,
    start: Start,
    recovery: Recovery,
    lazy: Option<Lazy<'a>>,
    plan: Option<Plan>,
}

impl<'a, P: Protocol> Runner<'a, P> {
    fn new(experiment: &'a Experiment, params: P::Params, lazy: bool) -> Self {
        Self {
            experiment,
            world: World::new(params),
            start: Start::new(&experiment.choice.profile()),
            recovery: Recovery::new(),
            lazy: lazy.then(|| Lazy::new(experiment)).flatten(),
            plan: None,
        }
    }

    fn run(&mut self, coins: Coins) -> Sample {
        if let Some(lazy) = &mut self.lazy {
            return lazy.run(coins);
        }
        let experiment = self.experiment;
        if experiment.scenario == Scenario::Start {
            // Nothing in it depends on luck, so one plan serves all runs.
            let plan = self.plan.get_or_insert_with(|| experiment.plan(coins).0);
            self.start.reset(plan.nodes);
            let outcome = self.world.run(plan, coins, &mut self.start);
            return self.start.sample(outcome.deliveries);
        }
        let (plan, from) = experiment.plan(coins);
        let event = experiment.scenario.has_event();
        self.recovery.reset(plan.nodes, from, experiment.window, event);
        let outcome = self.world.run(&plan, coins, &mut self.recovery);
        self.recovery.sample(outcome.deliveries)
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
