//! Confirms a plan by simulation: what was predicted, and what happens.
//!
//! **Source.** The formulas of [`Renewal`] and [`Takeover`](super::Takeover).
//!
//! **Assumptions.** Simulated processes react at once and store in no time: σ and fsync are room
//! that the simulation does not use. Clocks drift by up to ρ.
//!
//! **Promise.** Nothing is said to be confirmed that was not measured. Losses of a good plan are
//! too rare to be seen. So their formula is confirmed with a shorter lease and more loss, where
//! there are hundreds, and the plan itself is watched for as long as the effort allows: what is
//! seen must not contradict the rate.
//!
//! How much is simulated is counted in deliveries and not in seconds, so that an answer does not
//! depend on the machine.

use super::{Goals, LossRate, Plan, Renewal, SHARE};
use crate::figures::SimulationFailed;
use crate::inputs::Loss;
use crate::plan::{Effort, Verdict};
use crate::point::Point;
use crate::support::CONFIDENCE;
use bellwether_protocols::local_leader::{Config, Params};
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, Control, Measure, Proportion, Samples, Scenario};
use statrs::distribution::{DiscreteCDF, Poisson};

/// The deliveries of a watch, for each run asked for.
const DELIVERIES: f64 = 20_000.0;
/// The runs of a watch.
const WATCHES: u64 = 20;
/// The losses that make their rate visible.
const PLENTY: f64 = 300.0;
/// What part of a prediction may be wrong: it leaves out how a leadership begins.
const SLACK: f64 = 0.05;
/// The same for losses: followers that stand for election add about an eighth.
pub(super) const SLACK_LOSSES: f64 = 0.25;
/// The losses of messages at which leadership may be lost often enough.
const LOSSES: [f64; 12] = [0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55];

/// A prediction and its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is predicted.
    pub name: &'static str,
    /// What differs from the plan where it was simulated.
    pub circumstances: String,
    /// At least and at most.
    pub predicted: [f64; 2],
    /// What happened.
    pub simulated: Summary,
    /// How the simulation judges the prediction.
    pub verdict: Verdict,
    /// The command that prints the same, or what this was computed from.
    pub command: String,
}

/// The plan, watched for losses that are too rare to count.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// For how many hours, in all runs together.
    pub hours: f64,
    /// How many losses are expected.
    pub expected: f64,
    /// How many were seen.
    pub seen: u64,
    /// Whether that is possible, at 99.9 %.
    pub consistent: bool,
    /// The command that prints the same.
    pub command: String,
    /// The rate as that of a rare event, where none is expected to be seen and it can be estimated.
    pub rate: Option<LossRate>,
}

/// What the simulations say.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmed {
    /// The time from a leader's crash to the next leader.
    pub takeover: Option<Summary>,
    /// In how many of all runs that was in time.
    pub in_time: Proportion,
    /// The command that prints the same.
    pub command: String,
    /// Datagrams, and losses where they are frequent.
    pub comparisons: Vec<Comparison>,
    /// The plan itself.
    pub watch: Watch,
}

impl Confirmed {
    /// Whether the goal is reached as often as it should be, as far as can be told.
    pub fn is_in_time(&self) -> bool {
        self.in_time.interval(CONFIDENCE)[1] >= SHARE
    }

    /// What is not confirmed.
    pub fn doubts(&self) -> Vec<&'static str> {
        let differs = |one: &&Comparison| one.verdict == Verdict::Differs;
        let mut doubts: Vec<_> =
            self.comparisons.iter().filter(differs).map(|one| one.name).collect();
        if !self.is_in_time() {
            doubts.push("takeover");
        }
        // The estimate of a rare rate decides nothing: nobody has counted how often its interval
        // holds.
        if !self.watch.consistent {
            doubts.push("losses_per_year");
        }
        doubts
    }
}

impl Plan {
    /// Simulates what is predicted; `progress` is told after every run of how many.
    ///
    /// # Errors
    /// [`SimulationFailed`], if an experiment cannot be done.
    pub fn confirm(
        &self,
        effort: Effort,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Confirmed, SimulationFailed> {
        let seed = effort.seed;
        let crash = self.crash().runs(effort.runs).seed(seed);
        let (frequent, renewal) = self.frequent(effort);
        let watched = self.watched(effort).seed(seed);
        let frequent = frequent.seed(seed);
        let total = [&crash, &frequent, &watched].map(|point| point.runs).iter().sum();
        let ask = |point: &Point| answer(point, effort.threads, &|| progress(total));
        let (crashes, each) = ask(&crash)?;
        let delays = column(&each, Measure::ReestablishmentDelay);
        let detect = self.goals.detect.as_secs_f64();
        let in_time = delays.iter().flatten().filter(|delay| **delay <= detect).count() as u64;
        let often = self.losses(&frequent, &renewal, &ask(&frequent)?.1);
        let (watching, each) = ask(&watched)?;
        let datagrams = self.datagrams(&watched, &watching);
        Ok(Confirmed {
            takeover: crashes.measure(Measure::ReestablishmentDelay).cloned(),
            in_time: Proportion { successes: in_time, runs: delays.len() as u64 },
            command: crash.command(),
            comparisons: datagrams.into_iter().chain(often).collect(),
            watch: self.watch(&watched, &each, effort)?,
        })
    }

    /// A group whose leader crashes.
    pub fn crash(&self) -> Point {
        let window = self.takeover_within().as_secs_f64() * 4.0 + 1.0;
        self.point().scenario(Scenario::Departure, libm::ceil(window))
    }

    /// A group to which nothing happens.
    fn watched(&self, effort: Effort) -> Point {
        let busy = self.renewal().datagrams_per_second()[1];
        let window = DELIVERIES * effort.runs as f64 / busy.max(1.0) / WATCHES as f64;
        let least = self.takeover_within().as_secs_f64() * 20.0;
        let window = libm::floor(window.max(least)).max(1.0);
        self.point().runs(WATCHES).scenario(Scenario::Start, window)
    }

    /// The same with the shortest lease that Δ allows, three requests long, and with so much loss
    /// that there are plenty of losses.
    fn frequent(&self, effort: Effort) -> (Point, Renewal) {
        let (params, rho) = (&self.params, u64::from(self.params.drift_ppm()));
        let (round, sigma) = (params.round(), params.sigma().min(params.round()));
        let renew = super::rounded_up(round);
        // In the middle between two requests, so that no clock decides how many there are.
        let half = round / 2;
        let lease = renew + round * 2 + half + params.clock_error() * 2;
        let lock = super::rounded_up(super::parts(lease, super::MILLION + 2 * rho + rho / 4));
        let config = self.goals.around(params.delta(), sigma, lock);
        let config = Config { renew: Some(renew), ..config };
        let params = Params::try_from(config.clone()).unwrap_or_else(|_| self.params.clone());
        let with = |rate: f64| {
            let loss = match self.goals.loss {
                Loss::Correlated(_) => Loss::together(rate),
                _ => Loss::apart(rate),
            };
            let goals = Goals { loss, ..self.goals };
            Self { goals, config: config.clone(), params: params.clone(), ..self.clone() }
        };
        let count = |plan: &Self| {
            let renewal = plan.renewal();
            let busy = renewal.datagrams_per_second()[1].max(1.0);
            renewal.losses_per_second()[0] * DELIVERIES * effort.runs as f64 / busy
        };
        let plans: Vec<Self> = LOSSES.iter().map(|rate| with(*rate)).collect();
        let plenty = plans.iter().find(|plan| count(plan) >= PLENTY);
        let plan = plenty.or(plans.last()).unwrap_or(self);
        (plan.watched(effort), plan.renewal())
    }

    fn datagrams(&self, point: &Point, answer: &Answer) -> Option<Comparison> {
        let predicted = [self.renewal().datagrams_per_second()[0]; 2];
        let simulated = answer.measure(Measure::MessagesPerSecond)?.clone();
        Some(compared("datagrams_per_second", String::new(), predicted, simulated, SLACK, point))
    }

    /// Losses in an hour of leadership.
    fn losses(&self, point: &Point, renewal: &Renewal, each: &Samples) -> Option<Comparison> {
        let losses = column(each, Measure::LeadershipLossesPerHour);
        let presence = column(each, Measure::LeaderPresence);
        let rates = losses.iter().zip(&presence).filter_map(|(losses, presence)| {
            let (losses, presence) = ((*losses)?, (*presence)?);
            (presence > 0.0).then_some(losses / presence)
        });
        let simulated = Summary::of(&rates.collect::<Vec<_>>())?;
        let predicted = renewal.losses_per_second().map(|rate| rate * 3600.0);
        let circumstances = format!(
            "at loss {}, P {} and lockTime {}",
            point.multicast_loss.rate(),
            point.param("renew").unwrap_or_default(),
            point.param("lock").unwrap_or_default()
        );
        let name = "losses_per_hour_of_leadership";
        Some(compared(name, circumstances, predicted, simulated, SLACK_LOSSES, point))
    }

    fn watch(
        &self,
        point: &Point,
        each: &Samples,
        effort: Effort,
    ) -> Result<Watch, SimulationFailed> {
        let window = point.window.as_secs_f64();
        let losses = column(each, Measure::LeadershipLossesPerHour);
        let agreed = column(each, Measure::AgreementTime);
        let (mut seconds, mut seen) = (0.0, 0.0);
        for (losses, agreed) in losses.iter().zip(&agreed) {
            let watched = window - agreed.unwrap_or(window);
            seconds += watched;
            seen += losses.unwrap_or(0.0) * watched / 3600.0;
        }
        let seen = libm::round(seen) as u64;
        let renewal = self.renewal();
        let rates = [renewal.losses_per_second()[0], renewal.losses_per_second_at_most()];
        let bounds = rates.map(|rate| rate * seconds);
        let rate = if bounds[0] < 1.0 { self.loss_rate(effort)? } else { None };
        Ok(Watch {
            hours: seconds / 3600.0,
            expected: bounds[0],
            seen,
            consistent: possible(bounds, seen),
            command: point.command(),
            rate,
        })
    }
}

/// Simulates a point, with what every run gave.
fn answer(
    point: &Point,
    threads: usize,
    progress: &(dyn Fn() + Sync),
) -> Result<(Answer, Samples), SimulationFailed> {
    let control = Control { progress, over: &|| false };
    let answer = point.experiment(threads).and_then(|all| all.run_and_keep(control));
    answer.map_err(|why| SimulationFailed { command: point.command(), why })
}

/// What every run gave of one measure.
fn column(samples: &Samples, measure: Measure) -> Vec<Option<f64>> {
    let place = samples.measures.iter().position(|known| *known == measure);
    let value = |place: usize| samples.runs.iter().map(|run| run.values[place]).collect();
    place.map_or_else(|| vec![None; samples.runs.len()], value)
}

fn compared(
    name: &'static str,
    circumstances: String,
    predicted: [f64; 2],
    simulated: Summary,
    slack: f64,
    point: &Point,
) -> Comparison {
    let [low, high] = predicted;
    let nearest = |slack: f64| simulated.mean.clamp(low * (1.0 - slack), high * (1.0 + slack));
    let verdict = if simulated.agrees_with(nearest(0.0), CONFIDENCE) {
        Verdict::Agrees
    } else if simulated.agrees_with(nearest(slack), CONFIDENCE) {
        Verdict::Near
    } else {
        Verdict::Differs
    };
    Comparison { name, circumstances, predicted, simulated, verdict, command: point.command() }
}

/// Whether so many may have been seen where between these numbers are expected.
fn possible([least, most]: [f64; 2], seen: u64) -> bool {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let too_many = match Poisson::new(most) {
        Ok(law) => seen > 0 && law.sf(seen - 1) < tail,
        Err(_) => seen > 0, // none is expected
    };
    let too_few = Poisson::new(least).is_ok_and(|law| law.cdf(seen) < tail);
    !too_many && !too_few
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_possible_or_not() {
        assert!(possible([0.0; 2], 0) && !possible([0.0; 2], 1));
        assert!(possible([1e-6; 2], 0) && !possible([1e-6; 2], 1));
        assert!(possible([5.0; 2], 0) && !possible([10.0; 2], 0));
        assert!(possible([100.0; 2], 120) && !possible([100.0; 2], 150));
        assert!(possible([10.0, 100.0], 50), "anything between the bounds");
    }
}
