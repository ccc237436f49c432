//! Processes that crash, stand still, are slow, come and go.

use super::Draft;
use crate::trouble::Trouble;
use bellwether_core::Duration;
use bellwether_sim::{Disk, Fault, Who};

impl Draft<'_> {
    pub(super) fn draw_processes(&mut self) {
        self.draw_crashes();
        self.draw_pauses();
        self.draw_slowness();
        self.draw_members();
        for at in self.moments(Trouble::Resign) {
            let node = self.victim();
            self.push(at, Fault::Resign { node });
        }
    }

    /// Whom it strikes; often enough the leader, whoever that is then.
    fn victim(&mut self) -> Who {
        if self.luck.chance(0.4) { Who::Leader } else { Who::Node(self.luck.node(self.nodes)) }
    }

    fn draw_crashes(&mut self) {
        for kind in [Trouble::QuickRestart, Trouble::Crash] {
            for at in self.moments(kind) {
                let node = self.victim();
                self.push(at, Fault::Crash { node });
                let range =
                    if kind == Trouble::Crash { self.regime.down } else { self.regime.quick };
                let back = at + self.luck.stretch(self.pace.lease, range);
                if back < self.chaos {
                    self.all_meant(node, |draft, node| draft.restart(back, node));
                }
            }
        }
    }

    /// Does something for everyone who may have been meant: who the leader will be, nobody knows.
    fn all_meant(&mut self, who: Who, mut act: impl FnMut(&mut Self, u32)) {
        match who {
            Who::Node(node) => act(self, node),
            Who::Leader => (0..self.nodes).for_each(|node| act(self, node)),
        }
    }

    /// A restart, of whoever is not there then.
    pub(super) fn restart(&mut self, at: Duration, node: u32) {
        let lost = self.kinds.has(Trouble::LostDisk) && self.luck.chance(0.5);
        let reboot = self.kinds.has(Trouble::Reboot) && self.luck.chance(0.5);
        let disk = match lost {
            true if self.luck.chance(0.5) => Disk::Torn,
            true => Disk::Lost,
            false => Disk::Kept,
        };
        for (kind, on) in [(Trouble::LostDisk, lost), (Trouble::Reboot, reboot)] {
            if on {
                self.trouble.count(kind);
            }
        }
        self.push(at, Fault::Restart { node: Who::Node(node), disk, reboot });
    }

    fn draw_pauses(&mut self) {
        for kind in [Trouble::ShortPause, Trouble::LongPause] {
            for at in self.moments(kind) {
                let node = self.victim();
                self.push(at, Fault::Pause { node });
                let lasts = if kind == Trouble::LongPause {
                    self.luck.stretch(self.pace.lease, self.regime.pause)
                } else {
                    self.luck.within(self.pace.fastest, self.pace.lease)
                };
                let on = at + lasts;
                if on < self.chaos {
                    self.all_meant(node, |draft, node| {
                        draft.push(on, Fault::Resume { node: Who::Node(node) });
                    });
                }
            }
        }
    }

    fn draw_slowness(&mut self) {
        for kind in [Trouble::Slow, Trouble::VerySlow] {
            for at in self.moments(kind) {
                let node = Who::Node(self.luck.node(self.nodes));
                let by = if kind == Trouble::Slow {
                    self.luck.within(Duration::from_nanos(1), self.pace.scheduling)
                } else {
                    let most = self.pace.lease.max(self.pace.scheduling * 2);
                    self.luck.within(self.pace.scheduling, most)
                };
                self.slowest = self.slowest.max(by);
                self.push(at, Fault::Slow { node, by });
            }
        }
    }

    fn draw_members(&mut self) {
        for at in self.moments(Trouble::Join) {
            let node = self.luck.node(self.nodes);
            if !self.absent.contains(&node) {
                self.absent.push(node);
            }
            self.push(at, Fault::Join { node: Who::Node(node) });
        }
        for at in self.moments(Trouble::Leave) {
            let node = self.luck.node(self.nodes);
            self.push(at, Fault::Leave { node: Who::Node(node) });
            let back = at + self.luck.stretch(self.pace.lease, (0.0, 5.0));
            if back < self.chaos && self.luck.chance(0.7) {
                self.push(back, Fault::Join { node: Who::Node(node) });
            }
        }
    }
}
