//! Probabilities of rare events, by multilevel splitting (`split`); of some also by importance
//! sampling: forced losses (`tilt`), spells of heavy loss (`spell`), and relays that are selected
//! less often (`few`).
//!
//! **Source.** P. Glasserman, P. Heidelberger, P. Shahabuddin and T. Zajic, *Multilevel splitting
//! for estimating rare event probabilities*, Operations Research 47 (1999); M. Garvels, *The
//! splitting method in rare event simulation*, thesis, Twente (2000), for fixed effort; F. Cérou
//! and A. Guyader, *Adaptive multilevel splitting for rare event analysis*, Stochastic Analysis and
//! Applications 25 (2007), for levels from pilot runs.
//!
//! **How.** A `Gauge` says how near a run is to the event. Runs that come to the first
//! level are copied there; the copies go on with draws of their own; those that come to the next
//! level are copied, and so on. Each stage makes a fixed number of runs, from starts that are
//! chosen at random among those that arrived. The product of the parts that arrive at each level
//! estimates the probability. The levels, and how many runs each stage makes, come from pilot runs.
//!
//! **Promise.** The estimate of each replication is unbiased, whatever the levels and however good
//! the gauge, if the levels do not depend on its runs: they come from pilot runs with draws of
//! their own. Replications are independent, so the interval is Student's, corrected for their
//! skewness. A test counts how often it holds an exact value. It is too narrow where replications
//! differ much: a relative error above [`ERROR_MAX`] calls for more effort. The result is a
//! function of the seed and the settings, not of the threads.
//!
//! **Assumptions.** Runs are world states that can be copied; the fate of a packet is drawn when it
//! is sent, or when it arrives, once ([`World::branch`](crate::World::branch)).

mod few;
mod gauge;
mod odds;
mod refusal;
mod spell;
mod split;
mod tilt;

pub use refusal::NotEstimated;

use super::{BadExperiment, Control, Experiment, Part, Scenario};
use crate::stats::{Summary, reach};
use bellwether_core::{Duration, Protocol, Visitor};
use bellwether_protocols::named;
use std::ops::Range;

named! {
    /// What is rare.
    pub enum RareEvent = FalseDeparture {
        /// A process gives up a leader that is there and leads.
        FalseDeparture = "false-departure",
        /// Two processes lead at the same time for longer than a given time.
        TwoLeaders = "two-leaders",
        /// A leader by leases stops leading, though nothing failed but messages.
        LeadershipLoss = "leadership-loss",
        /// Nobody leads, and so many processes support different candidates that nobody can have a
        /// majority before some of this support lapses.
        SplitVote = "split-vote",
        /// An election in rounds ends, and not all live processes name the same live leader.
        FailedElection = "failed-election",
    }
}

named! {
    /// How a probability is estimated.
    pub enum Method = Split {
        /// Runs that come near the event are copied there; for all but failed elections.
        Split = "split",
        /// Coins are tilted, and runs weighed: losses that are forced, for false departures; spells
        /// of heavy loss, for lost leases; fewer relays, for failed elections.
        Tilt = "tilt",
    }
}

impl RareEvent {
    /// How it is estimated, if nobody says.
    pub fn method(self) -> Method {
        match self {
            Self::FailedElection | Self::LeadershipLoss => Method::Tilt,
            Self::FalseDeparture | Self::TwoLeaders | Self::SplitVote => Method::Split,
        }
    }

    /// Whether coins can be tilted for it, in place of splitting runs.
    fn may_tilt(self) -> bool {
        matches!(self, Self::FalseDeparture | Self::LeadershipLoss | Self::FailedElection)
    }
}

/// A rare event, and how much work its estimate may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rare {
    /// What is rare.
    pub event: RareEvent,
    /// How its probability is estimated.
    pub method: Method,
    /// For how long two must lead; nothing else reads it.
    pub longer: Duration,
    /// How many runs each stage of splitting makes; without splitting, how many runs (failed
    /// elections), pairs of runs (false departures) or copies (lost leases) each replication makes.
    pub effort: u32,
    /// How many independent estimates are made; at least 2.
    pub replications: u32,
    /// Which part of the runs should come from one level to the next.
    pub share: f64,
}

impl Rare {
    /// This event, with the usual effort.
    pub fn new(event: RareEvent) -> Self {
        let (method, longer) = (event.method(), Duration::ZERO);
        Self { event, method, longer, effort: 500, replications: 20, share: 0.2 }
    }
}

/// How much work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spent {
    runs: u64,
    /// Simulated.
    seconds: f64,
}

impl Spent {
    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.seconds += other.seconds;
    }
}

/// Some replications: what each estimates, and what it took.
struct Made {
    levels: Vec<f64>,
    pilot: Spent,
    estimates: Vec<(f64, Spent)>,
}

/// The probability of a rare event.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the replications.
    pub probability: f64,
    /// Its standard error.
    pub stderr: f64,
    /// Where the probability is, with 95 % confidence.
    pub ci95: [f64; 2],
    /// What each replication estimates.
    pub replications: Vec<f64>,
    /// The levels, in seconds on the gauge.
    pub levels: Vec<f64>,
    /// How many runs were made in all, whole ones and branches, pilot runs included.
    pub runs: u64,
    /// How much time was simulated in them, in seconds.
    pub simulated: f64,
    /// How long a run is watched for the event.
    pub window: Duration,
}

impl Estimate {
    /// The standard error as a part of the probability; infinite if that is zero.
    pub fn relative_error(&self) -> f64 {
        if self.probability > 0.0 { self.stderr / self.probability } else { f64::INFINITY }
    }

    /// Whether the relative error is so large that the interval may be too narrow.
    pub fn has_large_error(&self) -> bool {
        is_large(self.probability, self.stderr)
    }

    /// How often it happens in so many seconds, if windows follow one another.
    pub fn rate(&self, seconds: f64) -> f64 {
        Self::rate_of(self.probability, self.window, seconds)
    }

    /// The same of a probability for this window.
    pub fn rate_of(probability: f64, window: Duration, seconds: f64) -> f64 {
        -libm::log1p(-probability) * seconds / window.as_secs_f64()
    }

    fn of(made: Made, window: Duration) -> Self {
        let mut spent = made.pilot;
        made.estimates.iter().for_each(|(_, more)| spent.add(*more));
        let replications: Vec<f64> = made.estimates.iter().map(|(estimate, _)| *estimate).collect();
        // As the rows of a sweep have it, to the last bit.
        let summary = Summary::of(&replications);
        let [probability, stderr] = summary.map_or([0.0; 2], |all| [all.mean, all.stderr]);
        Self {
            probability,
            stderr,
            ci95: interval(&replications, 0.95),
            replications,
            levels: made.levels,
            runs: spent.runs,
            simulated: spent.seconds,
            window,
        }
    }
}

/// Above this relative error an interval may be too narrow: replications differ so much that a few
/// of them decide.
pub const ERROR_MAX: f64 = 0.2;

/// Whether the relative error of a mean of replications is above [`ERROR_MAX`], or unknown because
/// none saw the event, or because one is no number.
pub fn is_large(mean: f64, stderr: f64) -> bool {
    let is_small = mean > 0.0 && stderr <= ERROR_MAX * mean;
    !is_small
}

/// Where the mean of independent estimates of a probability is, with this confidence. Anywhere, if
/// fewer than two of them saw the event.
pub fn interval(replications: &[f64], confidence: f64) -> [f64; 2] {
    let seen = replications.iter().filter(|estimate| **estimate > 0.0).count();
    let known = Summary::of(replications).filter(|_| seen > 1);
    let Some(Summary { mean, stderr, .. }) = known else {
        return [0.0, 1.0];
    };
    let (reach, skew) = (reach(replications.len(), confidence), skew(replications, mean, stderr));
    let [below, above] = [reach, -reach].map(|t| stderr * unskewed(t, skew));
    [(mean - below).max(0.0), (mean - above).min(1.0)]
}

/// How skewed the mean of these samples is: their skewness, divided by the root of how many they
/// are.
fn skew(samples: &[f64], mean: f64, stderr: f64) -> f64 {
    if stderr == 0.0 {
        return 0.0;
    }
    let cubes = samples.iter().map(|sample| libm::pow((sample - mean) / stderr, 3.0));
    cubes.sum::<f64>() / libm::pow(samples.len() as f64, 3.0)
}

/// Student's quantile for a mean of skewed samples (P. Hall, *On the removal of skewness by
/// transformation*, Journal of the Royal Statistical Society B 54, 1992): products of proportions
/// have a long tail above, and the usual interval around their mean is too low. `skew` is divided
/// by the root of the number of samples.
fn unskewed(quantile: f64, skew: f64) -> f64 {
    if skew.abs() < 1e-6 {
        return quantile;
    }
    3.0 / skew * (libm::cbrt(1.0 + skew * (quantile - skew / 6.0)) - 1.0)
}

/// What each replication gives, where replications are kept as runs are.
pub const PROBABILITY: &str = "probability";
/// How many runs it made, and how much time it simulated in them.
const COSTS: [&str; 2] = ["branches", "simulated_seconds"];

/// The names of all that a replication gives.
pub fn measures() -> [&'static str; 3] {
    let [branches, seconds] = COSTS;
    [PROBABILITY, branches, seconds]
}

impl Experiment {
    /// Estimates the probability that the event happens in a run, while it is watched.
    ///
    /// A group is watched for its [window](Self::window) once it has settled; two leaders and split
    /// votes of a [start](Scenario::Start) are looked for from the start on. Of an election in
    /// rounds, the end counts.
    ///
    /// # Errors
    /// As [`check`](Self::check), and [`BadExperiment::Rare`].
    pub fn estimate(&self, rare: &Rare, control: Control<'_>) -> Result<Estimate, BadExperiment> {
        if rare.replications < 2 {
            return Err(BadExperiment::Rare(NotEstimated::rule(
                "an interval needs at least 2 replications; raise {replications}",
            )));
        }
        let made = self.replicate(rare, 0..rare.replications, control)?;
        if made.estimates.len() < 2 {
            return Err(BadExperiment::Rare(NotEstimated::tried(
                "it was stopped before two replications were made",
            )));
        }
        Ok(Estimate::of(made, self.window))
    }

    /// Makes these replications of an estimate, for whoever joins them with others. Fewer, if it is
    /// told to stop. What the pilot runs took is not counted.
    ///
    /// # Errors
    /// As [`estimate`](Self::estimate).
    pub fn estimate_part(
        &self,
        rare: &Rare,
        numbers: Range<u32>,
        control: Control<'_>,
    ) -> Result<Part, BadExperiment> {
        let made = self.replicate(rare, numbers, control)?;
        let row = |(estimate, spent): &(f64, Spent)| [*estimate, spent.runs as f64, spent.seconds];
        Ok(Part {
            measures: measures().map(str::to_owned).to_vec(),
            values: made.estimates.iter().flat_map(row).collect(),
            settled: vec![true; made.estimates.len()],
        })
    }

    /// Makes these replications.
    fn replicate(
        &self,
        rare: &Rare,
        numbers: Range<u32>,
        control: Control<'_>,
    ) -> Result<Made, BadExperiment> {
        self.check()?;
        if let Some(why) = self.not_rare(rare) {
            return Err(BadExperiment::Rare(NotEstimated::rule(why)));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| BadExperiment::Threads(error.to_string()))?;
        pool.install(|| match (rare.event, rare.method) {
            (RareEvent::FailedElection, _) => few::fail(self, rare, numbers, control),
            (RareEvent::LeadershipLoss, Method::Tilt) => {
                let (experiment, settled) = split::watched(self, rare.event);
                let spells = spell::Spells::of(&experiment, rare, settled, numbers, control)?;
                self.choice.clone().visit(OnItsOwn(spells))
            }
            (_, Method::Tilt) => {
                let experiment = Self { scenario: Scenario::FalseDeparture, ..self.clone() };
                let forcing = tilt::Forcing::of(&experiment, rare, numbers, control)?;
                self.choice.clone().visit(OnItsOwn(forcing))
            }
            (_, Method::Split) => {
                let (experiment, settled) = split::watched(self, rare.event);
                let experiment = &experiment;
                let splitting = split::Splitting { experiment, rare, settled, numbers, control };
                self.choice.clone().visit(OnItsOwn(splitting))
            }
        })
    }

    /// Why this event cannot be estimated, if it cannot.
    fn not_rare(&self, rare: &Rare) -> Option<&'static str> {
        let profile = self.choice.profile();
        let announced = profile.leases.is_none() && !profile.on_demand;
        let announced = announced && self.choice.rounds().is_none();
        let by_majority = profile.leases.is_some_and(|leases| leases.majority);
        let quiet = match self.scenario {
            Scenario::Start | Scenario::FalseDeparture => true,
            Scenario::Departure => rare.event == RareEvent::SplitVote,
            _ => false,
        };
        match rare.event {
            RareEvent::LeadershipLoss if profile.leases.is_none() => {
                Some("only a leader that holds leases loses them; choose a protocol with leases")
            }
            RareEvent::SplitVote if !by_majority => {
                Some("only majorities are voted; choose a protocol whose leaders need one")
            }
            RareEvent::FailedElection if self.choice.rounds().is_none() => {
                Some("only an election in rounds can end without a leader; choose such a protocol")
            }
            RareEvent::FailedElection if rare.method == Method::Split => Some(
                "how many relays there are is drawn at once: no run comes near; take {method} tilt",
            ),
            RareEvent::SplitVote if rare.method == Method::Tilt => Some(
                "votes are split by a few losses, not by a spell of them; choose {method} split",
            ),
            RareEvent::TwoLeaders if rare.method == Method::Tilt => {
                Some("two leaders are no matter of a few coins to tilt; choose {method} split")
            }
            RareEvent::TwoLeaders | RareEvent::FalseDeparture if !announced => {
                Some("only leaders that announce themselves are given up; choose such a protocol")
            }
            RareEvent::FalseDeparture if profile.trust == Duration::MAX => Some(
                "with an infinite listen nobody ever gives up a leader; choose a finite {listen}",
            ),
            RareEvent::TwoLeaders if rare.longer == Duration::ZERO => {
                Some("two leaders are rare only for longer than some time; give {longer}")
            }
            _ if !quiet => {
                Some("rare events are looked for where nothing else happens; leave out {scenario}")
            }
            _ if rare.effort < 10 => Some("a stage needs at least 10 runs; raise {effort}"),
            _ => None,
        }
    }
}

/// Hands on to a visitor only protocols in which somebody leads without being called. Worlds with a
/// gauge are compiled for no others, which [`Experiment::not_rare`] refuses anyway.
struct OnItsOwn<V>(V);

impl<V: Visitor<Output = Result<Made, BadExperiment>>> Visitor for OnItsOwn<V> {
    type Output = V::Output;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        if P::ON_DEMAND {
            return Err(BadExperiment::Rare(NotEstimated::rule(
                "an election that somebody calls is over soon; choose another protocol",
            )));
        }
        self.0.visit::<P>(params)
    }
}

#[cfg(test)]
mod tests;
