//! The ring as one process knows it: its neighbours, skipping processes that are down.
//!
//! The order is that of `cx.peers()`, in which each process sees the others. Reports say which are
//! down. Only these are stored: finding a neighbour costs one step for each skipped process, and
//! nothing is stored while all are up.

use alloc::collections::BTreeSet;
use bellwether_core::{NodeId, Peers, Reach};

/// The processes that are down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Circle {
    down: BTreeSet<NodeId>,
}

impl Circle {
    /// Handles a report about a process.
    pub(super) fn report(&mut self, peer: NodeId, reach: Reach) {
        match reach {
            Reach::Down => self.down.insert(peer),
            Reach::Up => self.down.remove(&peer),
        };
    }

    /// Whether a process was reported down and not up since.
    #[inline]
    pub(super) fn is_down(&self, peer: NodeId) -> bool {
        !self.down.is_empty() && self.down.contains(&peer)
    }

    /// The next process after `id` that may be up; `None` if there is no other.
    #[inline]
    pub(super) fn next(&self, id: NodeId, peers: &dyn Peers) -> Option<NodeId> {
        self.walk(id, |id| peers.successor(id))
    }

    /// The previous process that may be up; `None` if there is no other.
    pub(super) fn previous(&self, id: NodeId, peers: &dyn Peers) -> Option<NodeId> {
        self.walk(id, |id| peers.predecessor(id))
    }

    /// Whether no process that may be up stands between `id` and `me`: then `me` takes over what
    /// `id` left undone when it went down.
    pub(super) fn follows(&self, me: NodeId, id: NodeId, peers: &dyn Peers) -> bool {
        let mut at = me;
        for _ in 0..=self.down.len() {
            match peers.predecessor(at) {
                Some(before) if before == id => return true,
                Some(before) if self.is_down(before) => at = before,
                _ => return false,
            }
        }
        false
    }

    #[inline]
    fn walk(&self, from: NodeId, step: impl Fn(NodeId) -> Option<NodeId>) -> Option<NodeId> {
        let mut at = step(from)?;
        for _ in 0..=self.down.len() {
            if !self.is_down(at) {
                assert!(at != from, "a process is not its own neighbour");
                return Some(at);
            }
            at = step(at)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Members;

    /// The ring 0 1 2 3 4 as process 2 sees it, with these down.
    fn circle(down: &[u64]) -> (Circle, Members) {
        let mut circle = Circle::default();
        down.iter().for_each(|id| circle.report(NodeId(*id), Reach::Down));
        (circle, [0, 1, 3, 4].map(NodeId).into_iter().collect())
    }

    #[test]
    fn those_who_are_down_are_skipped_both_ways_and_past_the_ends() {
        for (down, next, previous) in [
            (&[][..], Some(3), Some(1)),
            (&[3], Some(4), Some(1)),
            (&[3, 4], Some(0), Some(1)),
            (&[0, 1], Some(3), Some(4)),
            (&[0, 1, 3], Some(4), Some(4)),
            (&[0, 1, 3, 4], None, None),
            (&[0, 1, 3, 4, 77, 2], None, None),
            (&[77], Some(3), Some(1)),
        ] {
            let (circle, peers) = circle(down);
            assert_eq!(circle.next(NodeId(2), &peers), next.map(NodeId), "{down:?}");
            assert_eq!(circle.previous(NodeId(2), &peers), previous.map(NodeId), "{down:?}");
        }
    }

    #[test]
    fn who_is_up_again_is_not_skipped() {
        let (mut circle, peers) = circle(&[3]);
        assert!(circle.is_down(NodeId(3)) && !circle.is_down(NodeId(4)));
        circle.report(NodeId(3), Reach::Up);
        assert_eq!((circle.next(NodeId(2), &peers), circle), (Some(NodeId(3)), Circle::default()));
    }

    #[test]
    fn the_heir_is_the_next_after_the_dead() {
        for (down, heir) in [
            (&[][..], &[1][..]),
            (&[0], &[1]),
            (&[1], &[1, 0]),
            (&[0, 1], &[1, 0, 4]),
            (&[4, 0, 1], &[1, 0, 4, 3]),
            (&[0, 1, 3, 4], &[1, 0, 4, 3]),
        ] {
            let (circle, peers) = circle(down);
            for id in [0, 1, 3, 4, 77] {
                let follows = circle.follows(NodeId(2), NodeId(id), &peers);
                assert_eq!(follows, heir.contains(&id), "{id} with {down:?} down");
            }
        }
    }
}
