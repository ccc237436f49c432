//! The alive-set: the processes heard in time lately, as in the independent assessment of section
//! VII.

use super::ordered::place_of;
use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};

/// The alive-set, in order of id. An entry is gone at its expiry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct AliveSet(Vec<(NodeId, Instant)>);

impl AliveSet {
    fn place(&self, id: NodeId) -> Result<usize, usize> {
        place_of(&self.0, id, |(known, _)| *known)
    }

    /// Notes a fast message of this process.
    pub(super) fn hear(&mut self, id: NodeId, expiry: Instant) {
        match self.place(id) {
            Ok(place) => self.0[place].1 = expiry,
            Err(place) => self.0.insert(place, (id, expiry)),
        }
    }

    pub(super) fn remove(&mut self, id: NodeId) {
        self.0.retain(|(known, _)| *known != id);
    }

    pub(super) fn purge(&mut self, now: Instant) {
        // To look first takes less time than to keep each: nearly always nothing has expired.
        if self.0.iter().any(|(_, expiry)| *expiry <= now) {
            self.0.retain(|(_, expiry)| now < *expiry);
        }
    }

    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.place(id).is_ok()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().map(|(id, _)| *id)
    }

    /// The last expiry among the processes that `which` selects.
    pub(super) fn last_expiry(&self, mut which: impl FnMut(NodeId) -> bool) -> Option<Instant> {
        self.0.iter().filter(|(id, _)| which(*id)).map(|(_, expiry)| *expiry).max()
    }

    /// The processes alive at `now`, whether or not expired ones were removed.
    pub(super) fn at(&self, now: Instant) -> impl Iterator<Item = NodeId> + '_ {
        self.0.iter().filter(move |(_, expiry)| now < *expiry).map(|(id, _)| *id)
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        self.0.retain_mut(|(_, expiry)| !rebase.deadline(expiry));
    }
}
