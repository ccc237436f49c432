//! Faults of clocks: drift, short errors, and offsets.
//!
//! **Promise.** Between any two moments a clock gains or loses at most ρ of the time between them
//! and ε beyond that, and both limits are reached. The runtime accepts exactly this.

use super::Draft;
use crate::fault_kind::FaultKind;
use bellwether_core::Duration;
use bellwether_sim::{Fault, Who};

/// The largest offset between clocks.
const OFFSET: Duration = Duration::from_secs(100);
/// How long it takes a clock to gain or lose ε.
const BURST: Duration = Duration::from_millis(1);
/// The part of ε for rounding: each change of the rate rounds a clock down to a nanosecond.
const ROUNDING: Duration = Duration::from_nanos(50);
/// The most bursts of one clock.
const BURSTS_MAX: u64 = 6;
const BILLION: u64 = 1_000_000_000;

/// A change of a clock's rate.
#[derive(Clone, Copy)]
struct Change {
    at: Duration,
    node: u32,
    parts_per_billion: i32,
}

impl Draft<'_> {
    /// Draws the offsets of clocks. Drift and its changes are faults.
    pub(super) fn draw_clocks(&mut self) -> Duration {
        let mut changes = Vec::new();
        if self.kinds.has(FaultKind::Drift) {
            for node in 0..self.nodes {
                changes.push(self.drift(Duration::ZERO, node));
            }
        }
        for at in self.moments(FaultKind::Drift) {
            let node = self.rng.node(self.nodes);
            changes.push(self.drift(at, node));
        }
        changes.sort_by_key(|change| change.at);
        if self.kinds.has(FaultKind::Drift) && self.time_scales.clock_error > Duration::ZERO {
            for node in 0..self.nodes {
                let bursts = self.bursts(node, &changes);
                changes.extend(bursts);
            }
        }
        for Change { at, node, parts_per_billion } in changes {
            self.push(at, Fault::Drift { node: Who::Node(node), parts_per_billion });
        }
        if !self.kinds.has(FaultKind::Offset) {
            return Duration::ZERO;
        }
        self.trouble.count(FaultKind::Offset);
        OFFSET
    }

    /// Draws a change of a clock's rate: to the largest drift, or a part of it.
    fn drift(&mut self, at: Duration, node: u32) -> Change {
        let most = (f64::from(self.time_scales.drift) * self.mix.drift) as i64;
        let drawn = match self.rng.below(4) {
            0 => most,
            1 => -most,
            _ => self.rng.below(2 * most as u64 + 1) as i64 - most,
        };
        Change { at, node, parts_per_billion: i32::try_from(drawn).unwrap_or(i32::MAX) }
    }

    /// Draws bursts in which a clock gains and loses ε in turns, so that no two add up.
    fn bursts(&mut self, node: u32, changes: &[Change]) -> Vec<Change> {
        let error = (self.time_scales.clock_error.saturating_sub(ROUNDING)).as_nanos();
        let error = error * BILLION / BURST.as_nanos();
        let mut rate = i32::try_from(error).unwrap_or(i32::MAX);
        if self.rng.below(2) == 0 {
            rate = -rate;
        }
        let count = self.rng.below(BURSTS_MAX + 1);
        let last = self.chaos.saturating_sub(BURST * 2);
        let mut moments: Vec<Duration> =
            (0..count).map(|_| self.rng.within(Duration::ZERO, last)).collect();
        moments.sort_unstable();
        let (mut bursts, mut free) = (Vec::new(), Duration::ZERO);
        let own = || changes.iter().filter(|change| change.node == node);
        for at in moments {
            let end = at + BURST;
            if at < free || own().any(|change| (at..=end).contains(&change.at)) {
                continue; // one change of the rate at a time
            }
            let before = own().rfind(|change| change.at < at);
            let usual = before.map_or(0, |change| change.parts_per_billion);
            bursts.push(Change { at, node, parts_per_billion: usual.saturating_add(rate) });
            bursts.push(Change { at: end, node, parts_per_billion: usual });
            (rate, free) = (-rate, end + BURST);
        }
        bursts
    }
}
