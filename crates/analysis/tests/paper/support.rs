//! Points, their answers, and the comparison with what should come out.

use bellwether_analysis::announce_listen;
use bellwether_analysis::point::duration;
use bellwether_analysis::{Inputs, Loss, Point, ValidInputs};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::Variant;
use bellwether_protocols::choice::Config;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, Measure};

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

/// The losses of the grid in one model, from nothing lost.
pub(crate) fn losses_together() -> [Loss; 4] {
    [Loss::None, Loss::Correlated(0.1), Loss::Correlated(0.4), Loss::Correlated(0.7)]
}

/// The losses of the grid where each receiver has its own.
pub(crate) fn losses_apart() -> [Loss; 3] {
    [0.1, 0.4, 0.7].map(Loss::Uncorrelated)
}

/// All of them.
pub(crate) fn losses() -> impl Iterator<Item = Loss> {
    losses_together().into_iter().chain(losses_apart())
}

/// A start with the parameters of the figures, and the seed of all comparisons.
pub(crate) fn start(variant: Variant, nodes: u32, loss: Loss) -> Point {
    announce_listen::point(variant, nodes, loss).seed(seed())
}

/// More for small groups, where a run is cheap.
pub(crate) fn runs(nodes: u32) -> u64 {
    match nodes {
        0..=10 => 20_000,
        11..=100 => 10_000,
        _ => 4_000,
    }
}

/// What the tests change in a point and ask of it.
pub(crate) trait Trial: Sized {
    /// With luck of its own, to be compared with another point's.
    fn independent(self) -> Self;
    /// With this Δ.
    fn delay(self, delay: f64) -> Self;
    /// With this T_S and T_A.
    fn timers(self, suppress: f64, announce: f64) -> Self;
    /// With so many Byes on departure.
    fn bye(self, copies: u32) -> Self;
    /// With as many runs as are asked for.
    fn funded(&self) -> Self;
    /// What formulas are asked about it.
    fn inputs(&self) -> ValidInputs;
    /// What is simulated. Tests run beside each other, so each has one thread.
    fn simulated(&self) -> Answer;
}

impl Trial for Point {
    fn independent(self) -> Self {
        Self { seed: self.seed + 1_000_000, ..self }
    }

    fn delay(self, delay: f64) -> Self {
        Self { delay: duration(delay), ..self }
    }

    fn timers(self, suppress: f64, announce: f64) -> Self {
        self.with_own("suppress", duration(suppress)).with_own("announce", duration(announce))
    }

    fn bye(self, copies: u32) -> Self {
        self.with("bye-copies", copies)
    }

    fn funded(&self) -> Self {
        self.clone().runs(self.runs * runs_factor())
    }

    fn inputs(&self) -> ValidInputs {
        let seconds = |length: Duration| match length {
            Duration::MAX => f64::INFINITY,
            length => length.as_secs_f64(),
        };
        let Ok(Config::AnnounceListen(config)) = self.config() else {
            panic!("{}: no parameters of this family", self.command());
        };
        let given = Inputs {
            nodes: self.nodes,
            loss: self.multicast_loss,
            delay: seconds(self.delay),
            suppress: seconds(config.suppress),
            announce: seconds(config.announce),
            listen: seconds(config.listen),
            shape: config.shape(),
            ..Inputs::default()
        };
        given.try_into().expect("inputs in the domain")
    }

    fn simulated(&self) -> Answer {
        let answer = self.funded().answer(1, &|| ()).expect("a valid experiment");
        assert_eq!(answer.unsettled, 0, "some runs never settled: {}", self.command());
        answer
    }
}

/// What the comparisons of one test came to. They are all made before any of them fails the test.
#[derive(Default)]
pub(crate) struct Report {
    failures: String,
}

impl Report {
    /// A measure of a point should be `expected`, within the interval.
    pub(crate) fn agrees(
        &mut self,
        point: &Point,
        answer: &Answer,
        measure: Measure,
        expected: f64,
    ) {
        let summary = measured(answer, measure);
        self.mean_agrees(&measure.name(), summary, expected, &point.funded().command());
    }

    /// A measure of a point should not be `printed`: the interval leaves it out.
    pub(crate) fn rejects(
        &mut self,
        point: &Point,
        answer: &Answer,
        measure: Measure,
        printed: f64,
    ) {
        let summary = measured(answer, measure);
        self.mean_rejects(&measure.name(), summary, printed, &point.funded().command());
    }

    /// Several measures of one point.
    pub(crate) fn all_agree(&mut self, point: &Point, expected: &[(Measure, f64)]) {
        let answer = point.simulated();
        for &(measure, expected) in expected {
            self.agrees(point, &answer, measure, expected);
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
        point: &Point,
        (measure, expected): (Measure, f64),
        tolerance: f64,
    ) {
        let answer = point.simulated();
        let got = measured(&answer, measure);
        let [low, high] = got.interval(CONFIDENCE);
        let slack = tolerance * expected;
        let good = low - slack <= expected && expected <= high + slack;
        let name = format!("{} is roughly", measure.name());
        self.note(good, &name, got, expected, &point.funded().command());
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
