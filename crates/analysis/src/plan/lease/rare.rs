//! Estimates how often a planned leader loses its leadership, where nobody could wait for it: a
//! goal such as one loss in ten years.
//!
//! Spells of heavy loss are weighed ([`bellwether_sim::rare`]): this estimates the probability of a
//! loss within a short window, with the parameters that are planned, where the formula is used, and
//! not only with a shorter lease. How often its interval holds is counted at a probability of 10⁻⁴,
//! in groups of three, where all packets of a spell are lost more often (`docs/sweeps.md`). It is
//! counted neither in larger groups, where some followers are cut off, nor at the probabilities of
//! plans. So it is told beside the plan and decides nothing.
//!
//! **Assumptions.** Where the weights of spells differ too much to be averaged there is no
//! estimate, rather than a bad one.

use super::confirm::SLACK_LOSSES;
use super::{Plan, YEAR};
use crate::figures::SimulationFailed;
use crate::plan::Effort;
use crate::support::CONFIDENCE;
use bellwether_sim::rare::{Estimate, Rare, RareEvent, interval};
use bellwether_sim::{Control, Scenario};

/// The window, in leases: a run in which several copies begin takes little longer than one in which
/// only one does.
const WINDOW: f64 = 20.0;
/// Probabilities below this are not tried: no spell shows them.
const LEAST: f64 = 1e-15;
/// How many copies of runs have a spell, in each of the replications.
const COPIES: u32 = 10_000;

/// How often a leader that is alive loses its leadership in a year, by formula and by estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct LossRate {
    /// What the formula says, at least and at most.
    pub predicted: [f64; 2],
    /// What the estimate says.
    pub estimated: f64,
    /// Where it is with 95 % confidence.
    pub ci95: [f64; 2],
    /// Whether the estimate does not contradict the formula at 99.9 %.
    pub agrees: bool,
    /// The command that prints the same.
    pub command: String,
}

impl Plan {
    /// Estimates the rate with the planned parameters; nothing where nothing is lost, and where it
    /// is too rare to be estimated.
    pub(super) fn loss_rate(&self, effort: Effort) -> Result<Option<LossRate>, SimulationFailed> {
        let window = libm::ceil(WINDOW * self.params.lock().as_secs_f64());
        let rates = self.renewal().losses_per_second();
        if self.goals.loss.rate() == 0.0 || rates[0] * window < LEAST {
            return Ok(None);
        }
        let point = self.point().seed(effort.seed).scenario(Scenario::Start, window);
        let rare = Rare { effort: COPIES, ..Rare::new(RareEvent::LeadershipLoss) };
        let command = format!(
            "{} --rare {} --effort {} --replications {}",
            point.command().replace(&format!(" --runs {}", point.runs), ""),
            rare.event.name(),
            rare.effort,
            rare.replications
        );
        let free = Control { progress: &|| (), over: &|| false };
        let estimate = point
            .experiment(effort.threads)
            .and_then(|experiment| experiment.estimate(&rare, free))
            .map_err(|why| SimulationFailed { command: command.clone(), why })?;
        if estimate.has_large_error() {
            return Ok(None);
        }
        let a_year = |chance: f64| Estimate::rate_of(chance, estimate.window, YEAR);
        let predicted = rates.map(|rate| rate * YEAR);
        let [low, high] = interval(&estimate.replications, CONFIDENCE).map(a_year);
        let [least, most] = [1.0 - SLACK_LOSSES, 1.0 + SLACK_LOSSES];
        Ok(Some(LossRate {
            predicted,
            estimated: a_year(estimate.probability),
            ci95: estimate.ci95.map(a_year),
            agrees: low <= predicted[1] * most && predicted[0] * least <= high,
            command,
        }))
    }
}
