//! Who else is in the group.

use crate::id::NodeId;
use alloc::vec::Vec;

/// The other members of the group as this process sees them, in ring order.
///
/// A cursor instead of a list: a view of a million members costs nothing until it is walked.
pub trait Peers {
    /// How many others are in this *view*, which may be a part of the group. May walk all of it;
    /// see [`estimate`](Self::estimate).
    fn len(&self) -> usize;

    /// Whether nobody else is in this view.
    fn is_empty(&self) -> bool {
        self.after(None).is_none()
    }

    /// About how many others are in the whole *group*, seen or not, cheaply. Not an estimate of
    /// [`len`](Self::len), unless the view is of everybody, as the default takes it to be.
    fn estimate(&self) -> usize {
        self.len()
    }

    /// Whether `id` is one of the others in this view.
    fn contains(&self, id: NodeId) -> bool;

    /// The first peer after `id` in ring order, or the first of all for `None`. `id` may be the
    /// process itself. `None` at the end: it is `successor` that closes the ring.
    fn after(&self, id: Option<NodeId>) -> Option<NodeId>;
}

impl dyn Peers + '_ {
    /// All the others, in ring order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        core::iter::successors(self.after(None), |last| self.after(Some(*last)))
    }

    /// The next peer on the ring after `id`, past the end too; `None` if there is no other.
    pub fn successor(&self, id: NodeId) -> Option<NodeId> {
        self.after(Some(id)).or_else(|| self.after(None))
    }
}

/// The plainest view: a list, ordered by id and each id once, however it was gathered.
///
/// Not a bare list, on which [`Peers::contains`] would stand in the way of the ordinary `contains`
/// and give wrong answers where the list is not sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members(Vec<NodeId>);

impl FromIterator<NodeId> for Members {
    fn from_iter<I: IntoIterator<Item = NodeId>>(ids: I) -> Self {
        let mut ids: Vec<NodeId> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }
}

impl Peers for Members {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn contains(&self, id: NodeId) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
        let next = match id {
            None => 0,
            Some(id) => self.0.partition_point(|peer| *peer <= id),
        };
        self.0.get(next).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_in_order_and_each_there_once_however_they_were_named() {
        let members: Members = [5, 1, 3, 1].map(NodeId).into_iter().collect();
        let peers: &dyn Peers = &members;
        assert_eq!(peers.iter().collect::<Vec<_>>(), [1, 3, 5].map(NodeId));
        assert_eq!((peers.len(), peers.estimate()), (3, 3));
        assert!([1, 3, 5].map(NodeId).iter().all(|id| peers.contains(*id)));
        assert!((&Members::default() as &dyn Peers).is_empty());
    }

    #[test]
    fn the_ring_closes_and_the_list_does_not() {
        let members: Members = [1, 3, 5].map(NodeId).into_iter().collect();
        let peers: &dyn Peers = &members;
        assert_eq!(peers.after(Some(NodeId(5))), None);
        assert_eq!(peers.successor(NodeId(5)), Some(NodeId(1)));
        assert_eq!(peers.successor(NodeId(4)), Some(NodeId(5)), "the process itself is not listed");
        assert!(peers.contains(NodeId(3)) && !peers.contains(NodeId(4)));
    }
}
