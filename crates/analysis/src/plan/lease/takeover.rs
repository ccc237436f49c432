//! How soon a dead leader is replaced.
//!
//! **Source.** Ours, from the rules of the candidate: the first in line asks when its lock lapses,
//! each next one 2Δ+σ later. A candidate that too few answer releases whom it has bound.
//!
//! **Assumptions.** Those of [the answers](super::answers). All but the leader are alive.
//!
//! **Promise.** In 99 of 100 crashes the next leader leads within [`Takeover::within`]. Attempts
//! are taken to be independent, which they nearly are; the simulation decides.
//!
//! An attempt that fails costs the next in line its turn, 2Δ+σ, and a release that is under way.
//! If a process heard the request and misses the release, it is bound for another lockTime.

use super::answers::too_few;
use super::{Goals, MILLION};
use crate::inputs::Loss;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::Params;

/// The part of all crashes after which a leader is replaced in time.
pub const SHARE: f64 = 0.99;
/// How probable it may be that more attempts fail than planned for, and that more leave somebody
/// bound: half each of what [`SHARE`] leaves.
const BEYOND: f64 = (1.0 - SHARE) / 2.0;
/// With the most loss that is planned for there are fewer.
const ATTEMPTS_MAX: u32 = 64;

/// What may go wrong after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takeover {
    /// How many attempts may fail.
    pub attempts: u32,
    /// How many of them may leave somebody bound for another lockTime.
    pub locks: u32,
}

/// The least number of events of this probability beyond which there are hardly any.
fn enough(chance: f64) -> u32 {
    let mut beyond = chance;
    let mut count = 0;
    while beyond > BEYOND && count < ATTEMPTS_MAX {
        beyond *= chance;
        count += 1;
    }
    count
}

impl Takeover {
    pub(super) fn of(goals: &Goals) -> Self {
        Self::among(goals.nodes, goals.loss)
    }

    /// What may go wrong in a group of so many, with this loss.
    pub(crate) fn among(nodes: u32, loss: Loss) -> Self {
        let (l, nodes) = (loss.rate(), u64::from(nodes));
        let (voters, needed) = (nodes.saturating_sub(2), nodes / 2);
        let fails = too_few(voters, needed, 1, loss);
        // One of them hears the request, misses the release, and may be heard itself or not.
        let rest = voters.saturating_sub(1);
        let apart = Loss::apart(l);
        let without = l * too_few(rest, needed, 1, apart)
            + (1.0 - l) * too_few(rest, needed.saturating_sub(1), 1, apart);
        let binds = match loss {
            Loss::Correlated(_) => l * fails,
            _ => (voters as f64 * l * (1.0 - l) * without).min(fails),
        };
        Self { attempts: enough(fails), locks: enough(binds) }
    }

    /// All but the lockTimes.
    fn beside_locks(&self, delta: Duration, sigma: Duration) -> Duration {
        let stagger = delta * 2 + sigma;
        let attempts = (stagger + delta) * u64::from(self.attempts);
        stagger + sigma + attempts + stagger * 2 * u64::from(self.locks)
    }

    /// The longest lockTime with which a takeover takes no longer than this.
    pub(super) fn longest_lock(
        &self,
        within: Duration,
        delta: Duration,
        sigma: Duration,
        drift_ppm: u32,
    ) -> Duration {
        let clocks = u128::from(MILLION.saturating_sub(drift_ppm.into()));
        let nanos = u128::from(within.as_nanos()) * clocks / u128::from(MILLION);
        let all = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let locks = all.saturating_sub(self.beside_locks(delta, sigma));
        locks / (u64::from(self.locks) + 1)
    }

    /// A dead leader is replaced within this, in 99 of 100 crashes.
    pub fn within(&self, params: &Params) -> Duration {
        let locks = params.lock() * (u64::from(self.locks) + 1);
        let all = locks + self.beside_locks(params.delta(), params.sigma());
        // Clocks may be slow.
        let slow = u128::from(MILLION.saturating_sub(params.drift_ppm().into()).max(1));
        let nanos = (u128::from(all.as_nanos()) * u128::from(MILLION)).div_ceil(slow);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_sim::network::DelayModel;

    fn of(nodes: u32, loss: Loss) -> (u32, u32) {
        let goals = Goals {
            nodes,
            loss,
            delay: Duration::from_millis(1),
            delay_model: DelayModel::Constant,
            scheduling: Duration::ZERO,
            drift_ppm: 200,
            fsync: Duration::ZERO,
            detect: Duration::from_secs(1),
            losses_per_year: 1.0,
        };
        let Takeover { attempts, locks } = Takeover::of(&goals);
        (attempts, locks)
    }

    #[test]
    fn more_may_go_wrong_where_more_is_lost() {
        assert_eq!(of(3, Loss::None), (0, 0));
        // One of the two that are left must answer the other: it does not in 2 % of all cases.
        assert_eq!(of(3, Loss::Uncorrelated(0.01)), (1, 0));
        assert_eq!(of(5, Loss::Uncorrelated(0.01)), (0, 0), "two of three must answer");
        assert_eq!(of(3, Loss::Uncorrelated(0.1)), (3, 1));
        assert_eq!(of(5, Loss::Uncorrelated(0.2)), (4, 2));
        assert_eq!(of(5, Loss::Correlated(0.01)), (1, 0));
    }
}
