//! Cases, their answers, and the comparison with what should come out.

use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{Config, Params, Shape, Variant};
use bellwether_sim::network::{Delay, Loss, Network, Probability};
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, Churn, Convening, Engine, Experiment, Measure, Ranks, Scenario};
use std::fmt::Write;

/// The seed of every comparison, chosen as the module docs of `main` tell.
const SEED: u64 = 1;

/// How sure an interval must be to reject a value.
pub(crate) const CONFIDENCE: f64 = 0.999;

/// Δ of the figures, in seconds.
pub(crate) const D: f64 = 0.1;

/// The group sizes of the grid.
pub(crate) const SIZES: [u32; 6] = [2, 5, 10, 50, 100, 500];

/// The seed, or the one asked for to see how much is luck.
fn seed() -> u64 {
    asked("PAPER_SEED").unwrap_or(SEED)
}

/// By how much the number of runs is multiplied.
fn runs_factor() -> u64 {
    asked("PAPER_RUNS").unwrap_or(1)
}

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

pub(crate) fn seconds(length: f64) -> Duration {
    Duration::from_secs_f64(length).expect("a length of time")
}

fn probability(loss: f64) -> Probability {
    Probability::try_from(loss).expect("a probability")
}

/// One coin per message.
pub(crate) fn correlated(loss: f64) -> Loss {
    Loss::Correlated(probability(loss))
}

/// One coin per message and receiver.
pub(crate) fn uncorrelated(loss: f64) -> Loss {
    Loss::Uncorrelated(probability(loss))
}

/// The losses of the grid in one model, from nothing lost.
pub(crate) fn losses_together() -> [Loss; 4] {
    [Loss::None, correlated(0.1), correlated(0.4), correlated(0.7)]
}

/// The losses of the grid where each receiver has its own.
pub(crate) fn losses_apart() -> [Loss; 3] {
    [0.1, 0.4, 0.7].map(uncorrelated)
}

/// All of them.
pub(crate) fn losses() -> impl Iterator<Item = Loss> {
    losses_together().into_iter().chain(losses_apart())
}

/// One cell of a grid: what is simulated, and how to do it again.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) config: Config,
    pub(crate) nodes: u32,
    pub(crate) loss: Loss,
    pub(crate) delay: Duration,
    pub(crate) scenario: Scenario,
    pub(crate) window: Duration,
    pub(crate) runs: u64,
    pub(crate) seed: u64,
}

impl Case {
    /// A start with the parameters of the figures: T_S = T_A = 1, Δ = .1, T_L infinite.
    pub(crate) fn new(variant: Variant, nodes: u32, loss: Loss) -> Self {
        Self {
            config: Config::new(variant),
            nodes,
            loss,
            delay: seconds(D),
            scenario: Scenario::Start,
            window: Duration::from_secs(100),
            runs: 1000,
            seed: seed(),
        }
    }

    pub(crate) fn runs(self, runs: u64) -> Self {
        Self { runs, ..self }
    }

    /// With luck of its own, to be compared with another case's.
    pub(crate) fn independent(self) -> Self {
        Self { seed: self.seed + 1_000_000, ..self }
    }

    pub(crate) fn delay(self, delay: f64) -> Self {
        Self { delay: seconds(delay), ..self }
    }

    pub(crate) fn shape(mut self, shape: Shape) -> Self {
        self.config.shape = shape;
        self
    }

    /// T_S and T_A.
    pub(crate) fn timers(mut self, suppress: f64, announce: f64) -> Self {
        (self.config.suppress, self.config.announce) = (seconds(suppress), seconds(announce));
        self
    }

    /// T_L.
    pub(crate) fn listen(mut self, listen: f64) -> Self {
        self.config.listen = seconds(listen);
        self
    }

    pub(crate) fn bye(mut self, copies: u32) -> Self {
        self.config.bye_copies = copies;
        self
    }

    /// Something happens to the settled group, which is then watched for a while.
    pub(crate) fn scenario(self, scenario: Scenario, window: f64) -> Self {
        Self { scenario, window: seconds(window), ..self }
    }

    pub(crate) fn experiment(&self) -> Experiment {
        Experiment {
            choice: Params::try_from(self.config.clone()).expect("a valid config").into(),
            nodes: self.nodes,
            network: Network::uniform(Delay::Constant(self.delay), self.loss),
            ranks: Ranks::ById,
            drift: 0,
            convening: Convening::default(),
            scenario: self.scenario,
            window: self.window,
            runs: self.runs * runs_factor(),
            seed: self.seed,
            threads: 1, // the tests themselves run beside each other
            engine: Engine::Auto,
        }
    }

    pub(crate) fn answer(&self) -> Answer {
        let answer = self.experiment().run(&|| ()).expect("a valid experiment");
        assert_eq!(answer.unsettled, 0, "some runs never settled: {}", self.command());
        answer
    }

    /// The command that prints the same numbers.
    pub(crate) fn command(&self) -> String {
        let config = &self.config;
        let mut line = format!("bellwether sim {} --nodes {}", config.variant.name(), self.nodes);
        let mut add = |flag: &str, value: &dyn std::fmt::Display| {
            write!(line, " --{flag} {value}").expect("strings take everything");
        };
        add("loss", &self.loss.rate());
        match self.loss {
            Loss::Correlated(_) => add("loss-model", &"correlated"),
            Loss::Uncorrelated(_) => add("loss-model", &"uncorrelated"),
            _ => {}
        }
        add("delay", &self.delay);
        add("suppress", &config.suppress);
        add("announce", &config.announce);
        add("listen", &config.listen);
        let (timer, rate) = match config.shape {
            Shape::Uniform => ("uniform", 1.0),
            Shape::Rising { rate } => ("exponential", rate),
            Shape::Falling { rate } => ("exponential-falling", rate),
        };
        add("timer", &timer);
        add("timer-rate", &rate);
        add("bye-copies", &config.bye_copies);
        if self.scenario != Scenario::Start {
            add("scenario", &self.scenario.name());
            add("window", &self.window);
        }
        if let Scenario::Churn(Churn { departures, arrivals }) = self.scenario {
            add("departures", &departures);
            add("arrivals", &arrivals);
        }
        add("runs", &(self.runs * runs_factor()));
        add("seed", &self.seed);
        line
    }
}

/// What the comparisons of one test came to. They are all made before any of them fails the test.
#[derive(Default)]
pub(crate) struct Report {
    failures: String,
}

impl Report {
    /// A measure of a case should be `expected`, within the interval.
    pub(crate) fn agrees(&mut self, case: &Case, answer: &Answer, measure: Measure, expected: f64) {
        let summary = measured(answer, measure);
        self.mean_agrees(measure.name(), summary, expected, &case.command());
    }

    /// A measure of a case should not be `printed`: the interval leaves it out.
    pub(crate) fn rejects(&mut self, case: &Case, answer: &Answer, measure: Measure, printed: f64) {
        let summary = measured(answer, measure);
        self.mean_rejects(measure.name(), summary, printed, &case.command());
    }

    /// Several measures of one case.
    pub(crate) fn all_agree(&mut self, case: &Case, expected: &[(Measure, f64)]) {
        let answer = case.answer();
        for &(measure, expected) in expected {
            self.agrees(case, &answer, measure, expected);
        }
    }

    pub(crate) fn mean_agrees(&mut self, name: &str, got: &Summary, expected: f64, again: &str) {
        let good = got.agrees_with(expected, CONFIDENCE);
        self.note(good, &format!("{name} is"), got, expected, again);
    }

    pub(crate) fn mean_rejects(&mut self, name: &str, got: &Summary, printed: f64, again: &str) {
        let good = !got.agrees_with(printed, CONFIDENCE);
        self.note(good, &format!("{name} is not"), got, printed, again);
    }

    /// An approximation: the mean should be within this part of it, beside the interval.
    pub(crate) fn roughly(
        &mut self,
        case: &Case,
        (measure, expected): (Measure, f64),
        tolerance: f64,
    ) {
        let answer = case.answer();
        let got = measured(&answer, measure);
        let [low, high] = got.interval(CONFIDENCE);
        let slack = tolerance * expected;
        let good = low - slack <= expected && expected <= high + slack;
        let name = format!("{} is roughly", measure.name());
        self.note(good, &name, got, expected, &case.command());
    }

    /// `what` should be `value`, or should not.
    fn note(&mut self, good: bool, what: &str, got: &Summary, value: f64, again: &str) {
        let Summary { mean, stderr, .. } = *got;
        let off = if stderr == 0.0 { 0.0 } else { (mean - value) / stderr };
        let line = format!("{what} {value:.5}: {mean:.5} ± {stderr:.5}, off by {off:.2}: {again}");
        println!("{} {line}", if good { "true " } else { "false" });
        if !good {
            self.failures += &line;
            self.failures += "\n";
        }
    }

    /// Fails the test if anything was not as it should be.
    pub(crate) fn finish(self) {
        assert!(self.failures.is_empty(), "not as they should be:\n{}", self.failures);
    }
}

pub(crate) fn measured(answer: &Answer, measure: Measure) -> &Summary {
    answer.measure(measure).expect("measured in every run")
}
