//! What a process knows of others beyond its view: whom it met, and who does not stand.

use alloc::collections::{BTreeMap, BTreeSet};
use bellwether_core::NodeId;

/// No process remembers more than this many of each.
const REMEMBERED_MAX: usize = 1 << 16;

/// Beyond the view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Known {
    /// Members that are not in the view as the driver gives it, and yet are in it for good.
    met: BTreeSet<NodeId>,
    /// Who does not stand for election, and up to which one.
    absent: BTreeMap<NodeId, u32>,
}

impl Known {
    pub(super) fn met(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.met.iter().copied()
    }

    /// True if they had not met.
    pub(super) fn meet(&mut self, id: NodeId) -> bool {
        self.met.len() < REMEMBERED_MAX && self.met.insert(id)
    }

    pub(super) fn is_absent(&self, id: NodeId, election: u32) -> bool {
        self.absent.get(&id).is_some_and(|until| election <= *until)
    }

    /// Up to which election it does not stand, if it does not stand in this one.
    pub(super) fn absence(&self, id: NodeId, election: u32) -> Option<u32> {
        self.absent.get(&id).copied().filter(|until| election <= *until)
    }

    pub(super) fn note_absence(&mut self, id: NodeId, until: u32) {
        if self.absent.len() < REMEMBERED_MAX {
            let known = self.absent.entry(id).or_default();
            *known = until.max(*known);
        }
    }

    pub(super) fn forget_absence(&mut self, id: NodeId) {
        self.absent.remove(&id);
    }

    /// Forgets what mattered before this election.
    pub(super) fn prune(&mut self, election: u32) {
        self.absent.retain(|_, until| election <= *until);
    }
}
