//! Faults of processes: crashes, pauses, slowness, leaving and joining.

use super::Draft;
use crate::fault_kind::FaultKind;
use bellwether_core::Duration;
use bellwether_sim::{Disk, Fault, Who};

impl Draft<'_> {
    pub(super) fn draw_processes(&mut self) {
        self.draw_crashes();
        self.draw_pauses();
        self.draw_slowness();
        self.draw_members();
        for at in self.moments(FaultKind::Resign) {
            let node = self.victim();
            self.push(at, Fault::Resign { node });
        }
    }

    /// Draws who hands over to whom; mostly the leader at that time.
    pub(super) fn draw_transfers(&mut self) {
        for at in self.moments(FaultKind::Transfer) {
            let node = match self.latest.chance(0.8) {
                true => Who::Leader,
                false => Who::Node(self.latest.node(self.nodes)),
            };
            let nominee = self.latest.node(self.nodes);
            self.push(at, Fault::Transfer { node, nominee });
        }
    }

    /// Draws who is killed and released, mostly the leader at that time; it starts again before or
    /// after that, or not at all.
    pub(super) fn draw_releases(&mut self) {
        let lease = self.time_scales.lease;
        let under_way = self.late.max(self.time_scales.timely);
        for at in self.moments(FaultKind::Release) {
            let node = match self.releases.chance(0.7) {
                true => Who::Leader,
                false => Who::Node(self.releases.node(self.nodes)),
            };
            let most = if self.releases.chance(0.5) { self.time_scales.timely } else { lease * 2 };
            let release = self.releases.within(Duration::ZERO, most);
            self.late = self.late.max(release + under_way);
            self.push(at, Fault::Kill { node, release });
            let back = at + self.releases.stretch(lease, (0.0, 3.0));
            if back < self.chaos {
                let restart = |node| Fault::Restart {
                    node: Who::Node(node),
                    disk: Disk::Kept,
                    reboot: false,
                };
                self.all_meant(node, |draft, node| draft.push(back, restart(node)));
            }
        }
    }

    /// Draws when all crash, at one moment or within a lease, and when each of them is back. Some
    /// disks are lost or torn, but never that of one process: otherwise the group is a new one.
    pub(super) fn draw_all_restarts(&mut self) {
        let lease = self.time_scales.lease;
        let keeper = self.together.below(u64::from(self.nodes)) as u32;
        for at in self.moments(FaultKind::AllRestart) {
            let at_once = self.together.chance(0.5);
            for node in 0..self.nodes {
                let later = self.together.within(Duration::ZERO, lease);
                let falls = if at_once { at } else { (at + later).min(self.chaos) };
                let back = falls + self.together.stretch(lease, (0.0, 3.0));
                let (lost, torn) = (self.together.chance(0.25), self.together.chance(0.5));
                let disk = match (lost && node != keeper && !self.safe.contains(node), torn) {
                    (false, _) => Disk::Kept,
                    (true, true) => Disk::Torn,
                    (true, false) => Disk::Lost,
                };
                let node = Who::Node(node);
                self.push(falls, Fault::Crash { node });
                if back < self.chaos {
                    self.push(back, Fault::Restart { node, disk, reboot: false });
                }
            }
        }
    }

    /// Draws the target; often the leader at that time.
    fn victim(&mut self) -> Who {
        if self.rng.chance(0.4) { Who::Leader } else { Who::Node(self.rng.node(self.nodes)) }
    }

    fn draw_crashes(&mut self) {
        for kind in [FaultKind::QuickRestart, FaultKind::Crash] {
            for at in self.moments(kind) {
                let node = self.victim();
                self.push(at, Fault::Crash { node });
                let range = if kind == FaultKind::Crash { self.mix.down } else { self.mix.quick };
                let back = at + self.rng.stretch(self.time_scales.lease, range);
                if back < self.chaos {
                    self.all_meant(node, |draft, node| draft.restart(back, node));
                }
            }
        }
    }

    /// Applies an action to every process that may be the target: the leader is not known in
    /// advance.
    fn all_meant(&mut self, who: Who, mut act: impl FnMut(&mut Self, u32)) {
        match who {
            Who::Node(node) => act(self, node),
            Who::Leader => (0..self.nodes).for_each(|node| act(self, node)),
        }
    }

    /// Restarts every target that is down then.
    pub(super) fn restart(&mut self, at: Duration, node: u32) {
        let lost = self.kinds.has(FaultKind::LostDisk) && self.rng.chance(0.5);
        let reboot = self.kinds.has(FaultKind::Reboot) && self.rng.chance(0.5);
        let disk = match lost {
            true if self.rng.chance(0.5) => Disk::Torn,
            true => Disk::Lost,
            false => Disk::Kept,
        };
        let (disk, lost) =
            if self.safe.contains(node) { (Disk::Kept, false) } else { (disk, lost) };
        for (kind, on) in [(FaultKind::LostDisk, lost), (FaultKind::Reboot, reboot)] {
            if on {
                self.trouble.count(kind);
            }
        }
        self.push(at, Fault::Restart { node: Who::Node(node), disk, reboot });
    }

    fn draw_pauses(&mut self) {
        for kind in [FaultKind::ShortPause, FaultKind::LongPause] {
            for at in self.moments(kind) {
                let node = self.victim();
                self.push(at, Fault::Pause { node });
                let lasts = if kind == FaultKind::LongPause {
                    self.rng.stretch(self.time_scales.lease, self.mix.pause)
                } else {
                    self.rng.within(self.time_scales.fastest, self.time_scales.lease)
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
        for kind in [FaultKind::Slow, FaultKind::VerySlow] {
            for at in self.moments(kind) {
                let node = Who::Node(self.rng.node(self.nodes));
                let by = if kind == FaultKind::Slow {
                    self.rng.within(Duration::from_nanos(1), self.time_scales.scheduling)
                } else {
                    let most = self.time_scales.lease.max(self.time_scales.scheduling * 2);
                    self.rng.within(self.time_scales.scheduling, most)
                };
                self.slowest = self.slowest.max(by);
                self.push(at, Fault::Slow { node, by });
            }
        }
    }

    fn draw_members(&mut self) {
        for at in self.moments(FaultKind::Join) {
            let node = self.rng.node(self.nodes);
            if !self.absent.contains(&node) {
                self.absent.push(node);
            }
            self.push(at, Fault::Join { node: Who::Node(node) });
        }
        for at in self.moments(FaultKind::Leave) {
            let node = self.rng.node(self.nodes);
            self.push(at, Fault::Leave { node: Who::Node(node) });
            let back = at + self.rng.stretch(self.time_scales.lease, (0.0, 5.0));
            if back < self.chaos && self.rng.chance(0.7) {
                self.push(back, Fault::Join { node: Who::Node(node) });
            }
        }
    }
}
