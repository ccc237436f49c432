//! Who else is in the group.

use crate::id::NodeId;

/// The other members of the group as this process sees them, in ring order.
///
/// A cursor instead of a list: a view of a million members costs nothing until it is walked.
pub trait Peers {
    /// How many others there are. May walk the whole view; see [`estimate`](Self::estimate).
    fn len(&self) -> usize;

    /// Whether there is nobody else.
    fn is_empty(&self) -> bool {
        self.after(None).is_none()
    }

    /// About how many others there are, cheaply.
    fn estimate(&self) -> usize {
        self.len()
    }

    /// Whether `id` is one of the others.
    fn contains(&self, id: NodeId) -> bool;

    /// The first peer after `id` in ring order, or the first of all for `None`. `id` may be the
    /// process itself. `None` at the end: the ring is closed by [`successor`](dyn Peers::successor).
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

/// A sorted list of ids is the plainest view.
impl Peers for [NodeId] {
    fn len(&self) -> usize {
        <[NodeId]>::len(self)
    }

    fn contains(&self, id: NodeId) -> bool {
        self.binary_search(&id).is_ok()
    }

    fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
        let next = match id {
            None => 0,
            Some(id) => self.partition_point(|peer| *peer <= id),
        };
        self.get(next).copied()
    }
}

/// The sorted list, owned.
impl Peers for alloc::vec::Vec<NodeId> {
    fn len(&self) -> usize {
        Peers::len(self.as_slice())
    }

    fn contains(&self, id: NodeId) -> bool {
        Peers::contains(self.as_slice(), id)
    }

    fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
        self.as_slice().after(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_ring_closes_and_the_list_does_not() {
        let ids: Vec<NodeId> = [1, 3, 5].map(NodeId).to_vec();
        let peers: &dyn Peers = &ids;
        assert_eq!(peers.iter().collect::<Vec<_>>(), ids);
        assert_eq!(peers.after(Some(NodeId(5))), None);
        assert_eq!(peers.successor(NodeId(5)), Some(NodeId(1)));
        assert_eq!(peers.successor(NodeId(4)), Some(NodeId(5)), "the process itself is not listed");
        assert!(peers.contains(NodeId(3)) && !peers.contains(NodeId(4)));
    }
}
