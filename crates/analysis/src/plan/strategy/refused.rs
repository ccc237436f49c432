//! Why there is no plan, and what can be reached.

use super::{CHOSEN, ROUNDS_MAX, Trial};
use crate::figures::SimulationFailed;
use crate::numbers::trimmed;
use std::fmt;

/// Digits after the point in messages: binary fractions have more than the user gave.
const DIGITS: usize = 7;

/// A goal that is invalid, that no tried strategy reaches, or that cannot be decided.
#[derive(Debug)]
pub enum Refused {
    /// The success asked for is not between 0 and 1.
    NoChance {
        /// As given.
        success: f64,
    },
    /// Too few or too many rounds.
    Rounds {
        /// As given.
        max_rounds: u32,
    },
    /// So much is more than the effort can show.
    TooManyRuns {
        /// As given.
        success: f64,
        /// How many runs it would take at least.
        needs: f64,
        /// How many there may be.
        most: f64,
    },
    /// So much in so large a group is more than the effort can show.
    TooManyDeliveries {
        /// As given.
        success: f64,
        /// The group's size.
        nodes: u32,
        /// How many runs it would take at least.
        needs: f64,
        /// How many deliveries there may be.
        most: f64,
        /// The effort that it would take at least.
        scale: f64,
    },
    /// Not even one strategy could be looked at.
    NothingTried {
        /// The group's size.
        nodes: u32,
    },
    /// A simulation cannot be done.
    SimulationFailed(SimulationFailed),
    /// No strategy tried reaches it; that none does at all is more than a search can say.
    Unreached(Best),
    /// Some might, but the effort does not suffice to tell.
    Undecided(Best),
}

/// The best that was found.
#[derive(Debug)]
pub struct Best {
    /// The goal.
    pub success: f64,
    /// How often a process fails in a round.
    pub fail: f64,
    /// How many strategies were tried.
    pub tried: usize,
    /// The one that most surely succeeds most often.
    pub best: Box<Trial>,
}

impl Best {
    /// A goal for which the best one would be chosen, with as many digits as it takes; none if that
    /// succeeds too seldom to be a goal.
    pub fn reachable(&self) -> Option<f64> {
        let low = self.best.success.interval(CHOSEN)[0];
        let step = [0.1, 0.01, 0.001, 1e-4, 1e-5].into_iter().find(|step| low < 1.0 - step);
        // A digit beyond the first that is no nine.
        let goal = step.map_or(low, |step| libm::floor(low / step * 10.0) * step / 10.0);
        (goal > 0.0).then_some(goal)
    }

    /// The goal to try instead, as the beginning of a list.
    fn instead(&self) -> String {
        let goal = self.reachable().map(|goal| format!("success = {} or ", trimmed(goal, DIGITS)));
        goal.unwrap_or_default()
    }

    fn found(&self) -> String {
        let Self { best, tried, .. } = self;
        let [low, high] = best.interval();
        let (share, runs) = (best.success.share(), best.success.runs);
        format!(
            "the best of {tried} tried, {}, succeeds in {share:.5} of {runs} runs (95 % interval \
             {low:.5} .. {high:.5})",
            best.tactic
        )
    }

    /// Why there is no more to be had, if we know.
    fn limit(&self) -> String {
        let most = 1.0 - self.fail;
        if self.fail > 0.0 && self.success > most - 0.1 * self.fail {
            return format!(
                "; about 1 - fail = {} is the most, since nothing notices a crash of the elected \
                 leader within its round",
                trimmed(most, DIGITS)
            );
        }
        String::new()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChance { success } => write!(
                f,
                "success = {success}, but 0 < success < 1 must hold, and no number of runs shows \
                 more; try 0.999"
            ),
            Self::Rounds { max_rounds } => write!(
                f,
                "max-rounds = {max_rounds}, but 1 <= max-rounds <= {ROUNDS_MAX} must hold for a \
                 plan; try 5"
            ),
            Self::TooManyRuns { success, needs, most } => write!(
                f,
                "success = {success} takes {needs} runs without a failure to be shown, but there \
                 are at most {most}; try a greater effort or a lower goal"
            ),
            Self::TooManyDeliveries { success, nodes, needs, most, scale } => write!(
                f,
                "success = {success} takes {needs} runs without a failure to be shown, each with \
                 a delivery at least to each of nodes = {nodes}, but there are at most {most} \
                 deliveries; try an effort well above {}, a lower goal or a smaller group",
                trimmed(libm::ceil(scale * 1000.0) / 1000.0, DIGITS)
            ),
            Self::NothingTried { nodes } => write!(
                f,
                "nodes = {nodes}: this effort does not suffice for a look at any strategy; try a \
                 greater effort or a smaller group"
            ),
            Self::SimulationFailed(failed) => failed.fmt(f),
            Self::Unreached(best) => write!(
                f,
                "success = {} is reached by no strategy tried: {}{}; try {}fewer losses and \
                 failures, larger views, more rounds",
                best.success,
                best.found(),
                best.limit(),
                best.instead()
            ),
            Self::Undecided(best) => write!(
                f,
                "success = {} cannot be decided with this effort: {}{}; try {}a greater effort",
                best.success,
                best.found(),
                best.limit(),
                best.instead()
            ),
        }
    }
}

impl std::error::Error for Refused {}
