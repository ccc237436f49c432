//! Changes of the voters.
//!
//! They were added after the other faults, and have a random stream of their own. In half of the
//! schedules with such changes lockTime and ρ change, too. Clocks keep the founding ρ, so a new one
//! is never smaller.
//!
//! **Assumptions.** A founder that has lost its record takes part in founding the group anew if all
//! other founders say that they never voted. So the disks of all founders but one are safe here.

use super::Draft;
use crate::fault_kind::FaultKind;
use crate::nodes::Nodes;
use bellwether_core::Duration;
use bellwether_sim::{Fault, Who};

/// How many vote at first, at most.
const FOUNDERS: u32 = 3;
/// How many changes are tried one after the other.
const TRIES: u64 = 6;
/// In how many of the schedules with changes lockTime and ρ change.
const LENGTHS: f64 = 0.5;
/// How often, at most.
const LENGTHS_MAX: u64 = 3;
/// The new lockTime, by the founding one.
pub(super) const LOCKS: (f64, f64) = (0.6, 3.0);

impl Draft<'_> {
    /// Draws who votes at first: the first processes, of whom one may lose its disk.
    pub(super) fn draw_founders(&mut self) {
        if self.kinds.has(FaultKind::Members) {
            let least = FOUNDERS.min(self.nodes - 1);
            let count = least + self.changes.below(2).min(u64::from(self.nodes - least)) as u32;
            self.founders = Nodes::first(count);
            let risky = self.changes.below(u64::from(count)) as u32;
            self.safe = self.founders.without(Nodes::only(risky));
        }
    }

    /// Draws many commands, because most are refused: whoever is asked does not lead, or the voter
    /// votes already.
    pub(super) fn draw_changes(&mut self) {
        for at in self.moments(FaultKind::Members) {
            for number in 0..TRIES {
                let later = self.changes.stretch(self.time_scales.lease, (0.0, 1.0));
                let at = (at + later * number).min(self.chaos);
                let fault = self.draw_change();
                self.push(at, fault);
            }
        }
    }

    /// Draws changes of lockTime and ρ.
    pub(super) fn draw_lengths(&mut self) {
        if !self.kinds.has(FaultKind::Members) || !self.lengths.chance(LENGTHS) {
            return;
        }
        let (lease, chaos) = (self.time_scales.lease, self.chaos);
        for _ in 0..1 + self.lengths.below(LENGTHS_MAX) {
            let at = self.lengths.within(Duration::ZERO, chaos);
            for number in 0..TRIES {
                let later = self.lengths.stretch(lease, (0.0, 1.0));
                let lock = self.lengths.stretch(lease, LOCKS);
                let lock = self.lengths.chance(0.9).then_some(lock);
                let drift_ppm = self.time_scales.drift / 1_000;
                let drift_ppm = drift_ppm + drift_ppm * self.lengths.below(3) as u32;
                let drift_ppm = (lock.is_none() || self.lengths.chance(0.3)).then_some(drift_ppm);
                self.longest = self.longest.max(lock.unwrap_or_default());
                let fault = Fault::Lengths { node: Who::Leader, lock, drift_ppm };
                self.push((at + later * number).min(chaos), fault);
            }
        }
    }

    fn draw_change(&mut self) -> Fault {
        let node = match self.changes.chance(0.9) {
            true => Who::Leader,
            false => Who::Node(self.changes.node(self.nodes)),
        };
        let (voter, with) = (self.changes.node(self.nodes), self.changes.node(self.nodes));
        match self.changes.below(3) {
            0 => Fault::Add { node, voter },
            1 => Fault::Remove { node, voter },
            _ => Fault::Replace { node, voter, with },
        }
    }
}
