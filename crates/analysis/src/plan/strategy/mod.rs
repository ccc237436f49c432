//! The smallest strategy of a probabilistic election that succeeds as often as asked for.
//!
//! **Source.** Section 3.2 of the paper leaves the strategy open: K of the first round, K of the
//! further ones, and how many there are. Section 4 gives a lower bound for the success of one
//! round, but it is far too low to choose a strategy by. So strategies are simulated.
//!
//! **What is smallest.** The strategy with the fewest messages on average, unicasts and multicasts
//! together, of those tried: K the same in all rounds, or twice that of the round before; one round
//! or several. The paper's own last round, in which everyone is a relay, is not among them: it
//! takes N² unicasts.
//!
//! **When it reaches a goal.** When the lower end of the interval of its strong success does. Every
//! strategy is looked at several times and may by chance seem better than it is. So the search
//! chooses by the interval of 99.9 % and reports that of 95 %, which lies within.
//! [Fresh runs](Found::confirm) then show whether the choice holds.
//!
//! **What limits it.** No process notices a crash of the leader in the round that elects it. So no
//! strategy succeeds much more often than 1 − p_fail.
//!
//! | file | what it knows |
//! |---|---|
//! | `tactic` | what a strategy is, and what its simulation said |
//! | `search` | which are tried, in what order, and how often |
//! | `refused` | why there is none |
//! | `trade_off` | all that were tried, as a picture |

mod refused;
mod search;
mod tactic;
mod trade_off;

pub use refused::Refused;
pub use search::{Found, search};
pub use tactic::{Attainment, Growth, Tactic, Trial};

use crate::point::Point;
use crate::support::CONFIDENCE;
use bellwether_protocols::probabilistic::{Conditions, Odds};
use bellwether_sim::Proportion;

/// No plan has more rounds.
pub const ROUNDS_MAX: u32 = 16;
/// The confidence of the interval that is reported.
pub const TOLD: f64 = 0.95;
/// The confidence of the interval by which a strategy is chosen.
const CHOSEN: f64 = CONFIDENCE;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Goals {
    /// The group, its network, and who begins the next round. Its strategy, runs and seed are those
    /// of each trial.
    pub point: Point,
    /// How often all are to name the same live leader in the end.
    pub success: f64,
    /// The most rounds an election may have.
    pub max_rounds: u32,
}

impl Goals {
    /// The bound of section 4: how often one round with K relays succeeds at least.
    pub fn bound(&self, relays: u32) -> f64 {
        let Point { nodes, view, unicast_loss, multicast_loss, fail, .. } = &self.point;
        let conditions = Conditions {
            nodes: f64::from(*nodes),
            view: *view,
            unicast_loss: unicast_loss.rate(),
            multicast_loss: multicast_loss.rate(),
            fail: *fail,
        };
        Odds::of(f64::from(relays), &conditions).success()
    }

    fn check(&self, effort: &Effort) -> Result<(), Refused> {
        let Self { success, max_rounds, .. } = *self;
        if !(success > 0.0 && success < 1.0) {
            return Err(Refused::NoChance { success });
        }
        if !(1..=ROUNDS_MAX).contains(&max_rounds) {
            return Err(Refused::Rounds { max_rounds });
        }
        let (needs, most) = (runs_to_show(success), effort.runs_max() as f64);
        if needs > most {
            return Err(Refused::TooManyRuns { success, needs, most });
        }
        // A process that names a leader has heard of it.
        let (nodes, most) = (self.point.nodes, effort.deliveries());
        let least = needs * f64::from(nodes);
        if least > most {
            let scale = least / USUAL_DELIVERIES;
            return Err(Refused::TooManyDeliveries { success, nodes, needs, most, scale });
        }
        Ok(())
    }
}

/// How many runs without a failure it takes to choose a strategy for this goal.
fn runs_to_show(success: f64) -> f64 {
    Proportion::runs_to_show(success, CHOSEN)
}

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// A multiple of what is usual: three thousand million deliveries, and a hundred thousand runs
    /// of one strategy. Deliveries and not seconds, so that no answer depends on the machine.
    pub scale: f64,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many threads; zero for as many as there are cores.
    pub threads: usize,
}

impl Effort {
    /// The most deliveries of a search.
    fn deliveries(&self) -> f64 {
        USUAL_DELIVERIES * self.scale
    }

    /// The most runs of one strategy.
    fn runs_max(&self) -> u64 {
        (100_000.0 * self.scale) as u64 // saturates
    }

    /// The most runs of one strategy for these goals. What is still open then fails about as often
    /// as the goal allows, to a quarter or so, and is not worth a longer look. Never fewer than it
    /// takes to show the goal, nor than a [last look](Self::last_look), so that a goal we call
    /// reachable is found to be so.
    fn runs_for(&self, goals: &Goals) -> u64 {
        let near = (NEAR * self.scale).max(1.0) * runs_to_show(goals.success);
        let near = (near as u64).min(self.runs_max()); // saturates
        near.max(self.last_look(goals.point.nodes))
    }

    /// How many runs the best strategy has at least, before it is told that it does not suffice.
    fn last_look(&self, nodes: u32) -> u64 {
        let first = self.first_look(nodes);
        (first * MORE * MORE).min(self.runs_max()).max(first)
    }

    /// How many runs a first look at a strategy takes in a group of so many. The same for all goals
    /// and strategies: which one is cheaper then does not depend on what is asked for.
    fn first_look(&self, nodes: u32) -> u64 {
        // A round of ten relays or so.
        let run = 10.0 * f64::from(nodes);
        ((self.deliveries() / 500.0 / run) as u64).clamp(LOOK_MIN, LOOK_MAX)
    }
}

/// The most deliveries of a search of the usual effort.
const USUAL_DELIVERIES: f64 = 3e9;
/// How many times as many runs a strategy may have as it takes to show the goal without a failure.
const NEAR: f64 = 20.0;
/// How many times as many runs a further look has.
const MORE: u64 = 3;
/// The fewest and the most runs of a first look.
const LOOK_MIN: u64 = 20;
const LOOK_MAX: u64 = 400;
