//! Clocks that drift, and that never agreed.

use super::Draft;
use crate::trouble::Trouble;
use bellwether_core::Duration;
use bellwether_sim::{Fault, Who};

/// Clocks differ by up to this from the beginning.
const OFFSET: Duration = Duration::from_secs(100);

impl Draft<'_> {
    /// By how much clocks differ from the beginning; drift and its changes are faults.
    pub(super) fn draw_clocks(&mut self) -> Duration {
        if self.kinds.has(Trouble::Drift) {
            for node in 0..self.nodes {
                self.drift(Duration::ZERO, node);
            }
        }
        for at in self.moments(Trouble::Drift) {
            let node = self.luck.node(self.nodes);
            self.drift(at, node);
        }
        if !self.kinds.has(Trouble::Offset) {
            return Duration::ZERO;
        }
        self.trouble.count(Trouble::Offset);
        OFFSET
    }

    /// From then on a clock runs fast or slow: as much as is allowed, or by some part of that.
    fn drift(&mut self, at: Duration, node: u32) {
        let most = (f64::from(self.pace.drift) * self.regime.drift) as i64;
        let drawn = match self.luck.below(4) {
            0 => most,
            1 => -most,
            _ => self.luck.below(2 * most as u64 + 1) as i64 - most,
        };
        let parts_per_billion = i32::try_from(drawn).unwrap_or(i32::MAX);
        self.push(at, Fault::Drift { node: Who::Node(node), parts_per_billion });
    }
}
