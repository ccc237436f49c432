//! Commands of applications, and wrong incarnation numbers.
//!
//! Both were added after the other faults, and have a random stream of their own.
//!
//! **Assumptions.** A process that starts with the number of an earlier incarnation knows that it
//! ran before and waits for a lockTime, and its clock was not reset. The runtime ensures this: it
//! numbers incarnations by its state file or the wall clock. The number is corrected at the end of
//! the faults, because other processes ignore a lower number than they remember.

use super::Draft;
use crate::fault_kind::FaultKind;
use bellwether_core::Duration;
use bellwether_sim::{Disk, Fault, Renumbered, Who};

impl Draft<'_> {
    pub(super) fn draw_calls(&mut self) {
        for at in self.moments(FaultKind::Campaign) {
            let node = match self.later.chance(0.2) {
                true => Who::Leader,
                false => Who::Node(self.later.node(self.nodes)),
            };
            self.push(at, Fault::Campaign { node });
        }
    }

    /// Draws crashes after which a process restarts with a used number.
    pub(super) fn draw_lives(&mut self) {
        for (kind, life) in
            [(FaultKind::RepeatedLife, Renumbered::Same), (FaultKind::LowerLife, Renumbered::Lower)]
        {
            for at in self.moments(kind) {
                let node = self.later.node(self.nodes);
                if self.safe.contains(node) {
                    continue; // with the number the disk is lost
                }
                // The same number after a reset of the clock is another kind of fault.
                if life == Renumbered::Lower && self.renumbered.contains(node) {
                    continue;
                }
                let down = self.later.stretch(self.time_scales.lease, (0.0, 2.0));
                self.renumber(at, (at + down).min(self.chaos), node, life);
            }
        }
    }

    fn renumber(&mut self, at: Duration, back: Duration, node: u32, life: Renumbered) {
        self.renumbered.set(node, true);
        let node = Who::Node(node);
        let restart = Fault::Restart { node, disk: Disk::Kept, reboot: false };
        for (at, fault) in
            [(at, Fault::Crash { node }), (back, Fault::Renumber { node, life }), (back, restart)]
        {
            self.push(at, fault);
        }
    }

    /// Restarts processes with a used number, now with a new one.
    pub(super) fn number_anew(&mut self, at: Duration) {
        for node in self.renumbered.iter() {
            let node = Who::Node(node);
            self.push(at, Fault::Crash { node });
            self.push(at, Fault::Restart { node, disk: Disk::Kept, reboot: false });
        }
    }
}
