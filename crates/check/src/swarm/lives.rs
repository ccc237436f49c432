//! Commands of applications, and lives that are numbered wrongly.
//!
//! Both were added after the others, and are drawn from luck of their own.
//!
//! **Assumptions.** A process that begins with the number of a former life knows that it ran before
//! and waits for a lockTime, and its clock has not begun again: that is what the runtime sees to,
//! which numbers lives by its state file or the wall clock. It is corrected at the end of the
//! chaos, since whoever has a lower number than others remember is not heard by them.

use super::Draft;
use crate::trouble::Trouble;
use bellwether_core::Duration;
use bellwether_sim::{Disk, Fault, Renumbered, Who};

impl Draft<'_> {
    pub(super) fn draw_calls(&mut self) {
        for at in self.moments(Trouble::Campaign) {
            let node = match self.later.chance(0.2) {
                true => Who::Leader,
                false => Who::Node(self.later.node(self.nodes)),
            };
            self.push(at, Fault::Campaign { node });
        }
    }

    /// Crashes after which a process begins with a number that it used.
    pub(super) fn draw_lives(&mut self) {
        for (kind, life) in
            [(Trouble::RepeatedLife, Renumbered::Same), (Trouble::LowerLife, Renumbered::Lower)]
        {
            for at in self.moments(kind) {
                let node = self.later.node(self.nodes);
                // The same low number on a clock that began again in between is another matter.
                if life == Renumbered::Lower && self.renumbered.contains(node) {
                    continue;
                }
                let down = self.later.stretch(self.pace.lease, (0.0, 2.0));
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

    /// Whoever has a number that it used begins again with one of its own.
    pub(super) fn number_anew(&mut self, at: Duration) {
        for node in self.renumbered.iter() {
            let node = Who::Node(node);
            self.push(at, Fault::Crash { node });
            self.push(at, Fault::Restart { node, disk: Disk::Kept, reboot: false });
        }
    }
}
