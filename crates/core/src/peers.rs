//! The other members of a group.

use crate::id::NodeId;
use alloc::vec::Vec;

/// The other members of the group as this process sees them, in ring order.
///
/// A cursor, not a list: a view of a million members costs nothing until it is iterated.
pub trait Peers {
    /// How many others are in this *view*, which may be a part of the group. It may iterate over
    /// all of them; see [`group_size_hint`](Self::group_size_hint).
    fn len(&self) -> usize;

    /// Whether this view is empty.
    fn is_empty(&self) -> bool {
        self.after(None).is_none()
    }

    /// A cheap estimate of how many others are in the whole *group*, in this view or not. The
    /// default assumes that the view is the whole group.
    fn group_size_hint(&self) -> usize {
        self.len()
    }

    /// Whether `id` is one of the others in this view.
    fn contains(&self, id: NodeId) -> bool;

    /// Whether all of these are in this view, or the process `me` itself. To ask at once is faster
    /// than to ask for each.
    fn contain_all(&self, me: NodeId, ids: &[NodeId]) -> bool {
        ids.iter().all(|id| *id == me || self.contains(*id))
    }

    /// The processes that vote at first, if the driver was told which: those that the founding list
    /// names. `None` if it was not: then all members vote, in this view and the process itself.
    /// Protocols in which everybody votes ignore it.
    fn founders(&self) -> Option<&[NodeId]> {
        None
    }

    /// A number that all members of this group share and other groups do not. Hashes that use it
    /// differ from group to group, and from one simulated run to the next. Zero by default.
    fn group(&self) -> u64 {
        0
    }

    /// Calls `show` with every peer in ring order. The same as iterating with
    /// [`after`](Self::after), and faster for computed views.
    fn show(&self, see: &mut dyn FnMut(NodeId)) {
        let mut next = self.after(None);
        while let Some(peer) = next {
            see(peer);
            next = self.after(Some(peer));
        }
    }

    /// The first peer after `id` in ring order, or the first of all for `None`. `id` may be the
    /// process itself. `None` at the end; `successor` wraps around.
    fn after(&self, id: Option<NodeId>) -> Option<NodeId>;

    /// The last peer before `id` in ring order, or the last of all for `None`. `None` at the
    /// beginning; `predecessor` wraps around. The default iterates.
    fn before(&self, id: Option<NodeId>) -> Option<NodeId> {
        // The peer after the process tells its position in the ring.
        let end = id.map(|id| if self.contains(id) { Some(id) } else { self.after(Some(id)) });
        let (mut last, mut next) = (None, self.after(None));
        while let Some(peer) = next {
            if end == Some(Some(peer)) {
                break;
            }
            (last, next) = (Some(peer), self.after(Some(peer)));
        }
        last
    }

    /// How many peers come before `id` in ring order. `id` may be the process itself. The default
    /// iterates.
    fn place(&self, id: NodeId) -> usize {
        let (mut place, mut last) = (0, self.before(Some(id)));
        while let Some(peer) = last {
            (place, last) = (place + 1, self.before(Some(peer)));
        }
        place
    }

    /// The peer with so many before it in ring order. The default iterates.
    fn at(&self, place: usize) -> Option<NodeId> {
        let mut next = self.after(None);
        for _ in 0..place {
            next = self.after(Some(next?));
        }
        next
    }
}

impl dyn Peers + '_ {
    /// All the others, in ring order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        core::iter::successors(self.after(None), |last| self.after(Some(*last)))
    }

    /// The next peer on the ring after `id`, wrapping around; `None` if there is no other.
    #[inline]
    pub fn successor(&self, id: NodeId) -> Option<NodeId> {
        self.after(Some(id)).or_else(|| self.after(None))
    }

    /// The next peer on the ring before `id`, wrapping around; `None` if there is no other.
    #[inline]
    pub fn predecessor(&self, id: NodeId) -> Option<NodeId> {
        self.before(Some(id)).or_else(|| self.before(None))
    }
}

/// The simplest view: a list, sorted by id and without duplicates.
///
/// It is not a plain list, because [`Peers::contains`] would shadow the list's own `contains` and
/// be wrong for unsorted lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members {
    ids: Vec<NodeId>,
    founders: Option<Vec<NodeId>>,
}

impl Members {
    /// The same members, with these [founders](Peers::founders).
    #[must_use]
    pub fn founded_by(self, founders: Vec<NodeId>) -> Self {
        Self { founders: Some(founders), ..self }
    }

    /// These members, with the same [founders](Peers::founders): others may join while it runs.
    #[must_use]
    pub fn with(&self, ids: impl IntoIterator<Item = NodeId>) -> Self {
        let ids: Self = ids.into_iter().collect();
        Self { founders: self.founders.clone(), ..ids }
    }
}

impl FromIterator<NodeId> for Members {
    fn from_iter<I: IntoIterator<Item = NodeId>>(ids: I) -> Self {
        let mut ids: Vec<NodeId> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self { ids, founders: None }
    }
}

impl Peers for Members {
    fn len(&self) -> usize {
        self.ids.len()
    }

    fn founders(&self) -> Option<&[NodeId]> {
        self.founders.as_deref()
    }

    fn contains(&self, id: NodeId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
        let next = match id {
            None => 0,
            Some(id) => self.ids.partition_point(|peer| *peer <= id),
        };
        self.ids.get(next).copied()
    }

    fn before(&self, id: Option<NodeId>) -> Option<NodeId> {
        let end = match id {
            None => self.ids.len(),
            Some(id) => self.ids.partition_point(|peer| *peer < id),
        };
        end.checked_sub(1).map(|last| self.ids[last])
    }

    fn place(&self, id: NodeId) -> usize {
        self.ids.partition_point(|peer| *peer < id)
    }

    fn at(&self, place: usize) -> Option<NodeId> {
        self.ids.get(place).copied()
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
        assert_eq!((peers.len(), peers.group_size_hint()), (3, 3));
        assert!([1, 3, 5].map(NodeId).iter().all(|id| peers.contains(*id)));
        assert!((&Members::default() as &dyn Peers).is_empty());
        assert_eq!(peers.founders(), None);
        let founders = Members::default().founded_by([NodeId(7)].into());
        assert_eq!(founders.founders(), Some(&[NodeId(7)][..]));
        let more = founders.with([9, 8].map(NodeId));
        assert!(more.contains(NodeId(8)) && more.founders() == founders.founders());
    }

    #[test]
    fn the_way_back_is_the_way_forth_reversed_also_where_it_must_be_walked() {
        struct OneWay(Members);
        impl Peers for OneWay {
            fn len(&self) -> usize {
                self.0.len()
            }

            fn contains(&self, id: NodeId) -> bool {
                self.0.contains(id)
            }

            fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
                self.0.after(id)
            }
        }
        let members: Members = [1, 3, 5].map(NodeId).into_iter().collect();
        let one_way = OneWay(members.clone());
        for peers in [&members as &dyn Peers, &one_way] {
            let back = |from: Option<u64>| peers.before(from.map(NodeId)).map(|id| id.0);
            assert_eq!(
                [None, Some(5), Some(3), Some(1)].map(back),
                [Some(5), Some(3), Some(1), None]
            );
            assert_eq!((back(Some(4)), back(Some(0)), back(Some(9))), (Some(3), None, Some(5)));
            assert_eq!(peers.predecessor(NodeId(1)), Some(NodeId(5)));
            assert_eq!(peers.predecessor(NodeId(4)), Some(NodeId(3)));
            assert_eq!([0, 1, 4, 5, 9].map(|id| peers.place(NodeId(id))), [0, 0, 2, 2, 3]);
            let at = |place| peers.at(place).map(|id| id.0);
            assert_eq!([0, 1, 2, 3].map(at), [Some(1), Some(3), Some(5), None]);
        }
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
