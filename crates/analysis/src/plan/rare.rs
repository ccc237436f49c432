//! Estimates how often the planned T_L gives up a leader that is there, where nobody could wait for
//! it: a goal such as one false alarm in ten years.
//!
//! Losses are forced and weighed, where each receiver loses for itself: this estimates the
//! probability of a false departure within a short window, at the T_L that is planned, and so
//! confirms the formula where it is used and not only at a shorter T_L.

use super::confirm::Effort;
use super::{DAY, Plan, silence};
use crate::announce_listen::point_of;
use crate::figures::SimulationFailed;
use crate::inputs::Loss;
use crate::support::CONFIDENCE;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::rare::{Estimate, Method, Rare, RareEvent, interval};
use bellwether_sim::{Control, Scenario};

/// The largest group that is estimated; the formula is asked for the same.
const GROUP_MAX: u32 = 20;
/// The window, in announcements: an estimate costs more with a longer one, and says no more.
const WINDOW: f64 = 10.0;
/// How many estimates there are, and how many runs each has.
const REPLICATIONS: u32 = 20;
const FORCED: u32 = 20;
/// The formula counts alarms as if they were independent of those before.
const SLACK: f64 = 0.01;

/// How often a leader that is there is given up, by formula and by estimate, in a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The size of the group.
    pub nodes: u32,
    /// What the formula says.
    pub predicted: f64,
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
    /// Estimates the rate at the planned T_L; nothing where nothing is lost, or all lose together.
    pub(super) fn rate(&self, effort: Effort) -> Result<Option<Rate>, SimulationFailed> {
        let goals = self.goals;
        let nodes = goals.nodes.min(GROUP_MAX);
        let inputs = self.inputs.with(|given| given.nodes = nodes).unwrap_or(self.inputs);
        let window = WINDOW * goals.announce;
        let point = point_of(Variant::LeS, &inputs).seed(effort.seed);
        let point = point.scenario(Scenario::FalseDeparture, window);
        let mut rare = Rare::new(RareEvent::FalseDeparture);
        (rare.replications, rare.effort, rare.method) = (REPLICATIONS, FORCED, Method::Tilt);
        if !matches!(goals.loss, Loss::Uncorrelated(_)) {
            return Ok(None);
        }
        let command = format!(
            "{} --rare {} --method {} --effort {} --replications {}",
            point.command().replace(&format!(" --runs {}", point.runs), ""),
            rare.event.name(),
            rare.method.name(),
            rare.effort,
            rare.replications
        );
        let free = Control { progress: &|| (), over: &|| false };
        let estimate = point
            .experiment(effort.threads)
            .and_then(|experiment| experiment.estimate(&rare, free))
            .map_err(|why| SimulationFailed { command: command.clone(), why })?;
        let a_day = |chance: f64| Estimate::rate_of(chance, estimate.window, DAY);
        let predicted = goals.per_day(silence::alarms(nodes, goals.loss, self.losses));
        let [low, high] = interval(&estimate.replications, CONFIDENCE).map(a_day);
        Ok(Some(Rate {
            nodes,
            predicted,
            estimated: a_day(estimate.probability),
            ci95: estimate.ci95.map(a_day),
            agrees: low <= predicted * (1.0 + SLACK) && predicted * (1.0 - SLACK) <= high,
            command,
        }))
    }
}
