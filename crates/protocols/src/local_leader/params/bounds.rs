//! The bounds that the parameters promise.
//!
//! **Source.** Fetzer and Cristian, "A highly available local leader election service", IEEE
//! Transactions on Software Engineering 25(5), 1999; as corrected where that is said.

use super::{MILLION, Params, scaled};
use bellwether_core::Duration;

impl Params {
    /// The largest delay δ at which every message is certainly recognised as fast, if stamps are at
    /// most this old: from Δ ≥ 2δ−δmin+4ρ·hold+2ε.
    pub fn timely(&self, hold: Duration) -> Duration {
        let rho = u128::from(self.drift_ppm);
        let error = scaled(self.clock_error * 2, MILLION + 4 * rho, true);
        let ageing = scaled(hold, 4 * rho, true) + error;
        let room = (self.delta + self.fastest).saturating_sub(ageing);
        Duration::from_nanos(room.as_nanos() / 2)
    }

    /// κ of the timeliness condition T in local mode, as corrected:
    /// (expires+σ+EP)(1+ρ)+2Δ+σ+4ρΔ.
    pub fn kappa_timeliness(&self) -> Duration {
        let rho = u128::from(self.drift_ppm);
        let first = scaled(self.expires + self.sigma + self.period, MILLION + rho, true);
        first + self.delta * 2 + self.sigma + scaled(self.delta, 4 * rho, true)
    }

    /// κ of bounded inconsistency: 2Δ+(1+ρ)(expires+lockTime(1−2ρ)).
    pub fn kappa_inconsistency(&self) -> Duration {
        let parts = MILLION + u128::from(self.drift_ppm);
        self.delta * 2 + scaled(self.expires + self.lease, parts, true)
    }

    /// The longest time to replace a silent leader in majority mode, if the first in line is alive
    /// and all voters received the same last request: lockTime+2Δ+2σ. Each dead process before the
    /// first in line that is alive adds a [turn](Self::stagger). For a leader that dies while it
    /// asks see [`failover_half_way`](Self::failover_half_way).
    pub fn failover(&self) -> Duration {
        self.lock + self.delta * 2 + self.sigma * 2
    }

    /// The longest time to replace a leader that dies while it asks, so that some voters received
    /// its last request and some did not: their locks end P apart. A process whose turn comes while
    /// others are still locked asks in vain, and the next in line may find it locked to itself, and
    /// waits for its release. As many turns as a minority has members may be lost that way. There
    /// is no proof: it holds in 3,000 simulated groups, and is reached to within 10 ms.
    pub fn failover_half_way(&self, group: usize) -> Duration {
        self.failover() + (self.stagger() + self.delta) * (group as u64 / 2)
    }
}
