//! What a process knows of others beyond its view: whom it met, who is missed, and who does not
//! stand.

use alloc::collections::{BTreeMap, BTreeSet};
use bellwether_core::NodeId;

/// The most entries of each kind that a process remembers.
const REMEMBERED_MAX: usize = 1 << 16;

/// Knowledge beyond the view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Known {
    /// Members that are not in the driver's view, but are added to it for good.
    met: BTreeSet<NodeId>,
    /// Processes that do not stand for election, and up to which one.
    absent: BTreeMap<NodeId, u32>,
    /// Processes that are gone, until something is heard of them.
    missed: BTreeSet<NodeId>,
    /// Processes that were thought not to stand, and have put themselves forward in this round.
    /// Others may not know this yet. Without this set, one process that knows and one that does not
    /// would change the mind of a third for ever.
    standing: BTreeSet<NodeId>,
}

impl Known {
    pub(super) fn met(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.met.iter().copied()
    }

    /// Notes that it met this process. True if it had not met it before.
    pub(super) fn meet(&mut self, id: NodeId) -> bool {
        self.met.len() < REMEMBERED_MAX && self.met.insert(id)
    }

    pub(super) fn is_absent(&self, id: NodeId, election: u32) -> bool {
        self.absence(id, election).is_some()
    }

    /// The last election in which the process does not stand, if it does not stand in this one.
    pub(super) fn absence(&self, id: NodeId, election: u32) -> Option<u32> {
        let withdrawn = self.absent.get(&id).copied().filter(|until| election <= *until);
        // Of a missed process it is known only that it cannot be elected now.
        withdrawn.or_else(|| self.missed.contains(&id).then_some(election))
    }

    /// Whether it has said that it will never stand again.
    pub(super) fn is_gone_for_good(&self, id: NodeId) -> bool {
        self.absent.get(&id) == Some(&u32::MAX)
    }

    pub(super) fn mark_absent(&mut self, id: NodeId) {
        if self.missed.len() < REMEMBERED_MAX {
            self.missed.insert(id);
        }
    }

    pub(super) fn find(&mut self, id: NodeId) {
        self.missed.remove(&id);
    }

    pub(super) fn note_that_it_stands(&mut self, id: NodeId) {
        if self.absent.remove(&id).is_some() && self.standing.len() < REMEMBERED_MAX {
            self.standing.insert(id);
        }
    }

    pub(super) fn has_heard_stand(&self, id: NodeId) -> bool {
        self.standing.contains(&id)
    }

    pub(super) fn begin_round(&mut self) {
        self.standing.clear();
    }

    pub(super) fn note_absence(&mut self, id: NodeId, until: u32) {
        if self.absent.len() < REMEMBERED_MAX {
            let known = self.absent.entry(id).or_default();
            *known = until.max(*known);
        }
    }

    pub(super) fn forget_absence(&mut self, id: NodeId) {
        self.absent.remove(&id);
        self.missed.remove(&id);
    }

    /// Forgets what mattered only before this election.
    pub(super) fn prune(&mut self, election: u32) {
        self.absent.retain(|_, until| election <= *until);
    }
}
