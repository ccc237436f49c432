//! Ours, as in the live benchmark.

use crate::cluster::resident;
use crate::lab::group::{Group, Shape};
use crate::{Fault, Peer};
use ::bellwether::core::{Duration, Instant};
use ::bellwether::protocols::local_leader::Preset;

/// Three members with this preset, and another lockTime if one is given.
#[derive(Clone, Copy)]
pub(crate) struct Lease {
    pub(crate) preset: Preset,
    pub(crate) lock: Option<Duration>,
}

impl Lease {
    /// The name of its row.
    pub(crate) fn name(self) -> String {
        let lock = self.lock.map_or(String::new(), |lock| format!(" --lock {lock}"));
        format!("bellwether, {}{lock}", self.preset.name())
    }
}

/// A running group.
pub(crate) struct Ours {
    lease: Lease,
    group: Group,
}

impl Ours {
    pub(crate) fn started(lease: Lease) -> Self {
        let Lease { preset, lock } = lease;
        Self { lease, group: Group::started(Shape { preset, lock, ..Shape::lan(3) }) }
    }
}

impl Peer for Ours {
    fn name(&self) -> String {
        self.lease.name()
    }

    fn gives_up_after(&self) -> Duration {
        self.group.params().lock()
    }

    fn settled(&mut self) -> u64 {
        let ids = self.group.ids();
        self.group.settled(&ids)
    }

    fn strike(&mut self, fault: Fault, id: u64) -> Instant {
        match fault {
            Fault::Kill => self.group.crash(id),
            Fault::KillAll => self.group.crash_all(id),
            Fault::Cut => self.group.cut_silently(id),
            Fault::Pause => self.group.pause(id),
            Fault::Terminate => self.group.stop(id),
        }
    }

    fn replaced(&mut self, former: u64, since: Instant) -> Duration {
        self.group.replaced(former, since).1
    }

    fn mend(&mut self, fault: Fault, id: u64) {
        match fault {
            Fault::Kill | Fault::KillAll => {
                self.group.restart(id);
            }
            Fault::Cut => {
                self.group.heal();
            }
            Fault::Pause => {
                self.group.resume(id);
            }
            Fault::Terminate => {
                self.group.member(id).wait();
                self.group.start(id);
            }
        }
    }

    /// By the reigns that the judge finds in the traces.
    fn two_led(self: Box<Self>) -> Duration {
        let verdict = self.group.judge();
        let reigns = verdict["reigns"].as_array().unwrap_or_else(|| panic!("no reigns: {verdict}"));
        let end = |reign: &serde_json::Value, key: &str| reign[key].as_u64().unwrap_or(u64::MAX);
        let mut spans: Vec<(u64, u64)> =
            reigns.iter().map(|reign| (end(reign, "from"), end(reign, "to"))).collect();
        spans.sort_unstable();
        let (mut latest, mut total) = (0, 0);
        for (from, to) in spans {
            total += latest.min(to).saturating_sub(from);
            latest = latest.max(to);
        }
        Duration::from_nanos(total)
    }

    fn packets(&self) -> u64 {
        self.group.ids().iter().map(|id| self.group.network().packets(*id)).sum()
    }

    fn memory(&self) -> f64 {
        let member = |pids: Vec<u32>| pids.into_iter().map(resident).sum::<f64>();
        self.group.processes().into_iter().map(member).fold(0.0, f64::max)
    }
}
