//! Confirms a plan by simulation: what was predicted, and what happens.
//!
//! Starts are simulated as they are, a million processes too. What happens to a settled group is
//! simulated with fewer processes where there are many, and compared with what the same formulas
//! predict for those. False departures of a good plan are too rare to be seen; so their formulas
//! are confirmed at a shorter T_L, where there are hundreds, and the planned T_L is watched for as
//! long as the effort allows: what is seen must not contradict the rate, and seldom can do more.
//! Where even that can see nothing, the rate is estimated as that of a rare event (`rare.rs`).
//!
//! How much is simulated is counted in deliveries and not in seconds, so that an answer does not
//! depend on the machine.

use super::{
    FRACTION, LEADERSHIP, LENGTH, Plan, Predicted, Rate, formula, messages_at_start, silence,
};
use crate::announce_listen::losses::beyond_first;
use crate::announce_listen::point_of;
use crate::figures::SimulationFailed;
use crate::inputs::ValidInputs;
use crate::point::Point;
use crate::support::CONFIDENCE;
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, Measure, Scenario};
use libm::{ceil, exp, floor, sqrt};
use statrs::distribution::{Binomial, DiscreteCDF};

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The most runs of one experiment.
    pub runs: u64,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many threads; zero for as many as there are cores.
    pub threads: usize,
}

/// The deliveries an experiment may take, for each run asked for.
const DELIVERIES: f64 = 100_000.0;
/// What it costs to send an announcement, in deliveries.
const SENDING: f64 = 20.0;
/// The largest settled group that is simulated.
pub const GROUP_MAX: u32 = 500;
/// The fewest runs that give a mean with an error worth having.
const RUNS_MIN: u64 = 20;
/// The runs in which a group is watched for rare events.
const WATCHES: u64 = 100;
/// The runs in which no Bye is heard, so many that their length shows.
const UNHEARD: f64 = 50.0;
/// Runs are rare if they are fewer than this part of all.
const RARE: f64 = 0.1;
/// What part of a delay may be due to rare runs before there must be plenty of those.
const RARE_PART: f64 = 0.1;
/// So few runs of a watch that see anything say nothing.
const UNSEEN: f64 = 0.01;
/// The stretches without agreement that make their rate visible.
const PLENTY: f64 = 400.0;

/// How a simulation judges a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not contradict the prediction at 99.9 %.
    Agrees,
    /// It contradicts the value, but not all values within the error of the approximation.
    Near,
    /// It contradicts the prediction.
    Differs,
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Near => "near",
            Self::Differs => "differs",
        }
    }
}

/// A prediction and its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// What is predicted; the name of a forecast, or the length of a false departure.
    pub name: &'static str,
    /// The size of the group that was simulated.
    pub nodes: u32,
    /// T_L in it.
    pub listen: f64,
    /// What the formula says about that group.
    pub predicted: f64,
    /// By what part of itself that may be wrong; zero if the formula is exact.
    pub slack: f64,
    /// What happened.
    pub simulated: Summary,
    /// Runs that gave no number.
    pub unsettled: u64,
    /// About how many of the runs it depends on, if those are rare.
    pub rests_on: Option<f64>,
    /// How the simulation judges the prediction.
    pub verdict: Verdict,
    /// The command that prints the same.
    pub command: String,
}

/// The planned T_L, watched for false departures that are too rare to count.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// The size of the group.
    pub nodes: u32,
    /// For how many days it was watched, in all runs together.
    pub days: f64,
    /// How many runs.
    pub runs: u64,
    /// In how many of them a false departure should be seen.
    pub expected: f64,
    /// In how many one was.
    pub seen: u64,
    /// Whether that is possible, at 99.9 %.
    pub consistent: bool,
    /// The command that prints the same.
    pub command: String,
    /// The rate by an estimate, where watching cannot see anything.
    pub rate: Option<Rate>,
}

/// One experiment, and what is expected of it.
#[derive(Clone, Debug)]
struct Check {
    point: Point,
    expected: Vec<Expected>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    name: &'static str,
    measure: Measure,
    value: f64,
    slack: f64,
    rare: Option<Rare>,
}

/// The runs that take much longer than others.
#[derive(Clone, Copy, Debug)]
struct Rare {
    /// How many there should be.
    runs: f64,
    /// The error of the mean that comes from their number. A sample without any would show none.
    stderr: f64,
    /// Whether they are few, and yet make much of the mean.
    matter: bool,
}

/// What a formula says about what an experiment measures, if it has a value.
fn expect(name: &'static str, measure: Measure, (value, slack): Predicted) -> Option<Expected> {
    Some(Expected { name, measure, value: value.ok()?, slack, rare: None })
}

impl Plan {
    /// Simulates what can be predicted; `progress` is told after every run of how many.
    ///
    /// # Errors
    /// [`SimulationFailed`], if an experiment cannot be done.
    pub fn confirm(
        &self,
        effort: Effort,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Vec<Confirmation>, Option<Watch>), SimulationFailed> {
        let seen = self.seen(effort);
        let mut checks = vec![self.start(effort)];
        if self.disagreement().is_none() {
            checks.extend([seen.departures(effort), seen.bye(effort)]);
        }
        let frequent = seen.frequent(effort);
        checks.push(seen.false_departures(effort, frequent));
        checks.retain(|check| !check.expected.is_empty());
        let watched = (frequent < self.losses).then(|| seen.watched(effort, self.losses, WATCHES));
        let points = checks.iter().map(|check| &check.point).chain(&watched);
        let total = points.map(|point| point.runs).sum();
        let ask = |point: &Point| {
            let failed = |why| SimulationFailed { command: point.command(), why };
            point.answer(effort.threads, &|| progress(total)).map_err(failed)
        };
        let mut confirmed = Vec::new();
        for check in &checks {
            confirmed.extend(check.confirm(&ask(&check.point)?));
        }
        let watch = watched.map(|point| ask(&point).map(|answer| seen.watch(&point, &answer)));
        let mut watch = watch.transpose()?;
        if let Some(watch) = watch.as_mut().filter(|watch| watch.expected < UNSEEN) {
            watch.rate = self.rate(effort)?;
        }
        Ok((confirmed, watch))
    }

    /// The same plan for a group that can be simulated at this effort.
    fn seen(&self, effort: Effort) -> Self {
        let share = effort.deliveries() / (RUNS_MIN as f64 * self.announcements());
        let nodes = self.goals.nodes.min(GROUP_MAX).min(((share - SENDING) as u32).max(3));
        let mut plan = self.clone();
        plan.goals.nodes = nodes;
        plan.all_hear = plan.goals.all_hear(plan.byes);
        plan.inputs = self.inputs.with(|given| given.nodes = nodes).unwrap_or(self.inputs);
        plan
    }

    /// About how many announcements there are in a run with a departure.
    fn announcements(&self) -> f64 {
        100.0 + 3.0 * f64::from(self.losses) + 6.0 * self.attempts()
    }

    /// What an announcement costs, in deliveries.
    fn announcement(&self) -> f64 {
        SENDING + f64::from(self.goals.nodes)
    }

    fn attempts(&self) -> f64 {
        beyond_first(u64::from(self.goals.nodes.min(GROUP_MAX)), self.goals.loss)
    }

    /// A group with these parameters, small enough to simulate quickly, whose leader departs.
    pub fn point(&self) -> Point {
        let nodes = self.goals.nodes.min(GROUP_MAX);
        let inputs = self.inputs.with(|given| given.nodes = nodes).unwrap_or(self.inputs);
        let mut point = point_of(Variant::LeS, &inputs).with("bye-copies", self.byes);
        point.scenario = Scenario::Departure;
        point
    }

    fn of_inputs(&self, effort: Effort, inputs: &ValidInputs, runs: u64) -> Point {
        point_of(Variant::LeS, inputs).runs(runs).seed(effort.seed)
    }

    fn start(&self, effort: Effort) -> Check {
        // The engine that skips what does not matter needs a delay and trust that does not end.
        let inputs = if self.goals.delay > 0.0 { self.inputs } else { self.seen(effort).inputs };
        let forever = inputs.with(|given| given.listen = f64::INFINITY).unwrap_or(inputs);
        let point = self.of_inputs(effort, &forever, effort.share(f64::from(inputs.nodes)));
        let expected = [
            expect("leadership_delay", Measure::LeadershipDelay, formula(LEADERSHIP, &forever)),
            expect("messages", Measure::Messages, messages_at_start(&forever)),
        ];
        Check { point, expected: expected.into_iter().flatten().collect() }
    }

    /// What a run with a departure costs, in deliveries.
    fn departing_costs(&self) -> f64 {
        self.announcement() * self.announcements()
    }

    fn departing(&self, effort: Effort) -> Point {
        let runs = effort.share(self.departing_costs());
        let beyond = (40.0 + 4.0 * self.attempts()) * self.goals.announce;
        let window = ceil(2.0 * self.inputs.listen + beyond);
        self.of_inputs(effort, &self.inputs, runs).scenario(Scenario::Departure, window)
    }

    fn departures(&self, effort: Effort) -> Check {
        let (name, measure) = ("reestablishment_delay", Measure::ReestablishmentDelay);
        let expected = expect(name, measure, self.departure());
        Check { point: self.departing(effort), expected: expected.into_iter().collect() }
    }

    fn bye(&self, effort: Effort) -> Check {
        let mut point = self.departing(effort).with("bye-copies", self.byes);
        let (name, measure) = ("reestablishment_delay_with_bye", Measure::ReestablishmentDelay);
        let mut expected = expect(name, measure, self.departure_with_bye());
        if let (Some(expected), Ok(silent)) = (&mut expected, self.departure().0) {
            let unheard = 1.0 - self.all_hear;
            let much = unheard * silent > RARE_PART * expected.value;
            let matter = unheard < RARE && much;
            if matter {
                let plenty = ceil(UNHEARD / unheard) as u64; // saturates
                point.runs = plenty.min(effort.affords(self.departing_costs())).max(point.runs);
            }
            let runs = point.runs as f64;
            let stderr = silent * sqrt(unheard * self.all_hear / runs);
            expected.rare = Some(Rare { runs: unheard * runs, stderr, matter });
        }
        Check { point, expected: expected.into_iter().collect() }
    }

    /// The greatest m, up to the planned one, at which this effort shows plenty of stretches; if
    /// none does, the one at which there are most.
    fn frequent(&self, effort: Effort) -> u32 {
        let all = effort.deliveries() / self.announcement();
        let count = |m: &u32| silence::stretches(self.goals.nodes, self.goals.loss, *m) * all;
        let most = || (1..=self.losses).max_by(|a, b| count(a).total_cmp(&count(b)));
        let plenty = (1..=self.losses).rev().find(|m| count(m) >= PLENTY);
        plenty.or_else(most).unwrap_or(self.losses)
    }

    /// A group in which nobody departs, with the T_L for this m, watched in so many runs.
    fn watched(&self, effort: Effort, losses: u32, runs: u64) -> Point {
        let listen = self.goals.listen(losses);
        let all = effort.deliveries() / self.announcement();
        let window = floor(all / runs as f64).max(1.0) * self.goals.announce;
        let point = self.of_inputs(effort, &self.inputs, runs).listen(listen);
        point.scenario(Scenario::FalseDeparture, window)
    }

    fn false_departures(&self, effort: Effort, losses: u32) -> Check {
        let listen = self.goals.listen(losses);
        let inputs = self.inputs.with(|given| given.listen = listen).unwrap_or(self.inputs);
        let (fraction, length) = (formula(FRACTION, &inputs), formula(LENGTH, &inputs));
        let expected = [
            expect("inconsistent_fraction", Measure::InconsistentFraction, fraction),
            expect("false_departure_length", Measure::ReestablishmentDelay, length),
        ];
        // A run gives one mean length, which what the window cuts off makes a little wrong: so few
        // runs are watched for long.
        let point = self.watched(effort, losses, RUNS_MIN);
        Check { point, expected: expected.into_iter().flatten().collect() }
    }

    fn watch(&self, point: &Point, answer: &Answer) -> Watch {
        let (nodes, loss) = (self.goals.nodes, self.goals.loss);
        let window = point.window.as_secs_f64();
        let each = silence::stretches(nodes, loss, self.losses) * window / self.goals.announce;
        let chance = 1.0 - exp(-each);
        let seen = answer.measure(Measure::ReestablishmentDelay);
        let seen = seen.map_or(0, |summary| summary.count as u64);
        Watch {
            nodes,
            days: window * point.runs as f64 / super::DAY,
            runs: point.runs,
            expected: chance * point.runs as f64,
            seen,
            consistent: possible(point.runs, chance, seen),
            command: point.command(),
            rate: None,
        }
    }
}

impl Effort {
    fn deliveries(self) -> f64 {
        DELIVERIES * self.runs as f64
    }

    /// How many runs of so many deliveries there may be.
    fn share(self, deliveries: f64) -> u64 {
        self.affords(deliveries).min(self.runs).max(RUNS_MIN)
    }

    /// The same, if more are needed than were asked for.
    fn affords(self, deliveries: f64) -> u64 {
        (self.deliveries() / deliveries) as u64
    }
}

impl Check {
    fn confirm(&self, answer: &Answer) -> Vec<Confirmation> {
        let confirm = |expected: &Expected| {
            let simulated = answer.measure(expected.measure)?.clone();
            Some(Confirmation {
                name: expected.name,
                nodes: self.point.nodes,
                listen: listen(&self.point),
                predicted: expected.value,
                slack: expected.slack,
                verdict: verdict(&simulated, expected),
                simulated,
                unsettled: answer.unsettled,
                rests_on: expected.rare.filter(|rare| rare.matter).map(|rare| rare.runs),
                command: self.point.command(),
            })
        };
        self.expected.iter().filter_map(confirm).collect()
    }
}

/// T_L of a point, in seconds.
fn listen(point: &Point) -> f64 {
    let listen = point.param("listen").and_then(|text| text.parse::<Duration>().ok());
    listen.filter(|listen| *listen < Duration::MAX).map_or(f64::INFINITY, Duration::as_secs_f64)
}

fn verdict(simulated: &Summary, expected: &Expected) -> Verdict {
    let mut simulated = simulated.clone();
    if let Some(rare) = expected.rare {
        simulated.stderr = simulated.stderr.max(rare.stderr);
    }
    let (value, within) = (expected.value, expected.slack * expected.value.abs());
    let nearest = simulated.mean.clamp(value - within, value + within);
    if simulated.agrees_with(value, CONFIDENCE) {
        Verdict::Agrees
    } else if simulated.agrees_with(nearest, CONFIDENCE) {
        Verdict::Near
    } else {
        Verdict::Differs
    }
}

/// Whether so many of these runs may have seen what each sees with this chance.
fn possible(runs: u64, chance: f64, seen: u64) -> bool {
    let Ok(law) = Binomial::new(chance.clamp(0.0, 1.0), runs) else { return false };
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let at_least = if seen == 0 { 1.0 } else { law.sf(seen - 1) };
    law.cdf(seen) >= tail && at_least >= tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_possible_or_not() {
        assert!(possible(100, 1e-6, 0), "nothing is what was expected");
        assert!(possible(100, 0.03, 0), "3 expected, none seen");
        assert!(!possible(100, 0.1, 0), "10 expected, none seen");
        assert!(!possible(100, 1e-6, 1), "a wonder");
        assert!(possible(100, 0.5, 60) && !possible(100, 0.5, 80));
        assert!(possible(100, 1.0, 100) && !possible(100, 1.0, 90));
    }

    #[test]
    fn a_verdict_grants_what_an_approximation_may_be_wrong_and_no_more() {
        let samples: Vec<f64> = (0..1000).map(|run| f64::from(run % 10)).collect();
        let simulated = Summary::of(&samples).unwrap(); // 4.5 ± 0.09
        let (name, measure) = ("messages", Measure::Messages);
        let of = |value, slack| {
            verdict(&simulated, &Expected { name, measure, value, slack, rare: None })
        };
        assert_eq!([of(4.6, 0.0), of(5.0, 0.0)], [Verdict::Agrees, Verdict::Differs]);
        assert_eq!([of(5.0, 0.12), of(5.0, 0.05)], [Verdict::Near, Verdict::Near]);
        assert_eq!([of(6.0, 0.12), of(3.5, 0.12)], [Verdict::Differs, Verdict::Differs]);
    }

    /// Three in a thousand take 10 s: 0.03 s of the mean, which a sample without any cannot refute.
    #[test]
    fn a_sample_without_the_rare_does_not_speak_against_it() {
        let simulated = Summary::of(&[0.1; 1000]).unwrap();
        let (name, measure) = ("delay", Measure::ReestablishmentDelay);
        let of = |runs: f64| {
            let stderr = 10.0 * sqrt(runs) / 1000.0;
            let rare = Some(Rare { runs, stderr, matter: true });
            let value = 0.1 + runs * 10.0 / 1000.0;
            verdict(&simulated, &Expected { name, measure, value, slack: 0.0, rare })
        };
        assert_eq!(of(3.0), Verdict::Agrees);
        assert_eq!(of(30.0), Verdict::Differs, "of 30 one would have been seen");
    }
}
