//! Changes of lockTime and ρ.
//!
//! They were added after the other faults, and have a random stream of their own.
//!
//! **Assumptions.** Clocks keep the founding ρ, so a new one is never smaller.

use super::Draft;
use super::random::scaled;
use crate::fault_kind::FaultKind;
use bellwether_core::Duration;
use bellwether_protocols::time_scales::TimeScales;
use bellwether_sim::{Fault, Who};

/// How many changes are tried one after the other.
const TRIES: u64 = 6;
/// The new lockTime, by the founding one. The shortest ones are refused.
const LOCKS: (f64, f64) = (0.6, 3.0);
/// The new ρ, by the founding one.
const DRIFTS: (u32, u32) = (1, 2);
/// By how many times the excess of its lockTime a group settles later: locks, EP and quarantines
/// are longer, and whoever lost its record may wait twice.
const LONGER: u64 = 8;

/// The time scales of a group whose lockTime and ρ may become the greatest that are drawn: stamps
/// are older then, and fewer messages are certain to be fast.
pub(super) fn widest(time_scales: &TimeScales) -> TimeScales {
    let TimeScales { lease, drift, stamps, timely, .. } = *time_scales;
    let longest = scaled(lease, LOCKS.1);
    let older = stamps + scaled(longest, 1.1);
    let unsure = |stamps: Duration, drift: u32| {
        scaled(stamps, 2.0 * f64::from(drift) / 1e9) + time_scales.clock_error
    };
    let less = unsure(older, drift * DRIFTS.1).saturating_sub(unsure(stamps, drift));
    TimeScales { timely: timely.saturating_sub(less), ..*time_scales }
}

/// How much later a group is calm, at most.
pub(super) fn latest(time_scales: &TimeScales) -> Duration {
    match time_scales.tokens {
        true => scaled(time_scales.lease, LOCKS.1 - 1.0) * LONGER,
        false => Duration::ZERO,
    }
}

impl Draft<'_> {
    /// Draws many commands, because most are refused: whoever is asked does not lead, a change is
    /// pending, or a constraint would not hold. Returns how much later the group is calm.
    pub(super) fn draw_lengths(&mut self) -> Duration {
        let (lease, chaos) = (self.time_scales.lease, self.chaos);
        let drift_ppm = self.time_scales.drift / 1_000;
        let mut longest = lease;
        for at in self.moments(FaultKind::Lengths) {
            for number in 0..TRIES {
                let later = self.lengths.stretch(lease, (0.0, 1.0));
                let lock = self.lengths.stretch(lease, LOCKS);
                let lock = self.lengths.chance(0.9).then_some(lock);
                let times = DRIFTS.0 + self.lengths.below(2) as u32 * (DRIFTS.1 - DRIFTS.0);
                let drift = (lock.is_none() || self.lengths.chance(0.3)).then_some(times);
                let drift_ppm = drift.map(|times| drift_ppm * times);
                longest = longest.max(lock.unwrap_or_default());
                let fault = Fault::Lengths { node: Who::Leader, lock, drift_ppm };
                self.push((at + later * number).min(chaos), fault);
            }
        }
        longest.saturating_sub(lease) * LONGER
    }
}
