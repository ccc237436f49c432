//! The board: the best claims that a process knows, best first. Its own claim is among them if it
//! is good enough.
//!
//! A board of one entry makes the plain election. A longer one makes the election of several agreed
//! leaders (section 5.7). The ids are stored separately so that they can be lent out as a slice.

use alloc::boxed::Box;
use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};
use core::cmp::Reverse;
use core::hash::{Hash, Hasher};
use core::slice;

/// A claim to lead: the larger weight wins, and between equals the larger id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) weight: u64,
    pub(super) id: NodeId,
}

/// What is known of a claim besides whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    weight: u64,
    /// Orders claims of equal weight: the id, until the claim sinks to another one.
    tie: NodeId,
    until: Instant,
}

impl Mark {
    fn new(claim: Claim, until: Instant) -> Self {
        Self { weight: claim.weight, tie: claim.id, until }
    }

    /// The claim as it counts.
    fn claim(&self) -> Claim {
        Claim { weight: self.weight, id: self.tie }
    }
}

/// The result of hearing a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Not good enough, or older than what is known of the same process.
    Refused,
    /// Already on the board; now trusted for longer.
    Refreshed,
    /// New on the board.
    Admitted,
}

/// The board. A single claim is stored in place, so that a process of a plain election allocates
/// nothing. A list, once allocated, is kept even if it becomes short, so that claims come and go
/// without allocations. Boards are therefore compared by their contents.
#[derive(Clone, Debug, Default)]
pub(super) enum Board {
    #[default]
    Empty,
    One(NodeId, Mark),
    Several(Box<(Vec<NodeId>, Vec<Mark>)>),
}

impl PartialEq for Board {
    fn eq(&self, other: &Self) -> bool {
        (self.ids(), self.marks()) == (other.ids(), other.marks())
    }
}

impl Eq for Board {}

impl Hash for Board {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.ids(), self.marks()).hash(state);
    }
}

impl Board {
    /// Adds a claim heard from its owner, trusted until the given instant.
    #[inline]
    pub(super) fn hear(&mut self, claim: Claim, until: Instant, room: usize) -> Heard {
        // The fast path of the plain election: a better claim replaces the only one.
        if let (Self::One(id, mark), 1) = (&mut *self, room)
            && *id != claim.id
        {
            if claim < mark.claim() {
                return Heard::Refused;
            }
            (*id, *mark) = (claim.id, Mark::new(claim, until));
            return Heard::Admitted;
        }
        if let Some(at) = self.position(claim.id) {
            let known = self.marks()[at].claim();
            if claim < known {
                return Heard::Refused;
            }
            if claim == known {
                self.marks_mut()[at].until = until;
                return Heard::Refreshed;
            }
            self.remove_at(at);
            self.put(claim, until, room);
            return Heard::Refreshed;
        }
        if self.ids().len() < room {
            self.put(claim, until, room);
            return Heard::Admitted;
        }
        if self.worst().is_some_and(|worst| claim < worst) {
            return Heard::Refused;
        }
        self.remove_at(self.ids().len() - 1);
        self.put(claim, until, room);
        Heard::Admitted
    }

    /// Trusts a process on the board for longer, whatever its claim is now.
    pub(super) fn refresh(&mut self, id: NodeId, until: Instant) {
        if let Some(at) = self.position(id) {
            self.marks_mut()[at].until = until;
        }
    }

    /// Puts a claim on the board even if there is no room: the process's own, at a new start.
    pub(super) fn enter(&mut self, claim: Claim, room: usize) {
        self.remove(claim.id);
        while self.ids().len() >= room {
            self.remove_at(self.ids().len() - 1);
        }
        self.put(claim, Instant::NEVER, room);
        assert!(self.holds(claim.id), "a candidate is on its own board");
    }

    /// Removes a process from the board. True if it was there.
    pub(super) fn remove(&mut self, id: NodeId) -> bool {
        let at = self.position(id);
        if let Some(at) = at {
            self.remove_at(at);
        }
        at.is_some()
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Empty | Self::One(..) => *self = Self::Empty,
            Self::Several(lists) => {
                lists.0.clear();
                lists.1.clear();
            }
        }
    }

    /// Removes processes that were silent for too long.
    pub(super) fn expire(&mut self, now: Instant) {
        let mut at = 0;
        while at < self.ids().len() {
            if self.marks()[at].until <= now { self.remove_at(at) } else { at += 1 }
        }
    }

    /// Lowers every claim that is trusted only until `limit` or earlier to `floor`, if it is above
    /// it. It then ranks behind the owner of that claim.
    pub(super) fn sink(&mut self, limit: Instant, floor: Claim) {
        for mark in self.marks_mut() {
            if mark.until <= limit && mark.claim() > floor {
                (mark.weight, mark.tie) = (floor.weight, floor.id);
            }
        }
        if let Self::Several(lists) = self {
            let (ids, marks) = &mut **lists;
            let key = |id: NodeId, mark: &Mark| (Reverse(mark.claim()), id != mark.tie);
            // Insertion sort in both lists: they are short, and mostly in order already.
            for end in 1..ids.len() {
                let mut at = end;
                while at > 0 && key(ids[at], &marks[at]) < key(ids[at - 1], &marks[at - 1]) {
                    ids.swap(at, at - 1);
                    marks.swap(at, at - 1);
                    at -= 1;
                }
            }
        }
    }

    #[inline]
    pub(super) fn ids(&self) -> &[NodeId] {
        match self {
            Self::Empty => &[],
            Self::One(id, _) => slice::from_ref(id),
            Self::Several(lists) => &lists.0,
        }
    }

    #[inline]
    pub(super) fn holds(&self, id: NodeId) -> bool {
        self.position(id).is_some()
    }

    /// The claim that would be removed first, as it counts.
    #[inline]
    pub(super) fn worst(&self) -> Option<Claim> {
        self.marks().last().map(Mark::claim)
    }

    /// The earliest end of trust among all claims.
    #[inline]
    pub(super) fn first_end(&self) -> Instant {
        self.marks().iter().map(|mark| mark.until).min().unwrap_or(Instant::NEVER)
    }

    /// The earliest end of trust among claims that have not sunk to `floor`.
    pub(super) fn first_end_above(&self, floor: Claim) -> Instant {
        let above = self.marks().iter().filter(|mark| mark.claim() > floor);
        above.map(|mark| mark.until).min().unwrap_or(Instant::NEVER)
    }

    pub(super) fn instants(&mut self, rebase: &Rebase) {
        for mark in self.marks_mut() {
            rebase.deadline(&mut mark.until);
        }
    }

    /// The claims as they count, best first.
    pub(super) fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        self.marks().iter().map(Mark::claim)
    }

    #[inline]
    fn position(&self, id: NodeId) -> Option<usize> {
        self.ids().iter().position(|known| *known == id)
    }

    #[inline]
    fn put(&mut self, claim: Claim, until: Instant, room: usize) {
        assert!(self.ids().len() < room, "there are no more leaders than the board has room for");
        let at = self.claims().take_while(|known| *known > claim).count();
        self.insert(at, claim, until, room);
    }

    fn insert(&mut self, at: usize, claim: Claim, until: Instant, room: usize) {
        let mark = Mark::new(claim, until);
        match self {
            Self::Empty => *self = Self::One(claim.id, mark),
            Self::One(id, known) => {
                let (mut ids, mut marks) = (Vec::with_capacity(room), Vec::with_capacity(room));
                ids.push(*id);
                marks.push(*known);
                ids.insert(at, claim.id);
                marks.insert(at, mark);
                *self = Self::Several(Box::new((ids, marks)));
            }
            Self::Several(lists) => {
                lists.0.insert(at, claim.id);
                lists.1.insert(at, mark);
            }
        }
    }

    fn remove_at(&mut self, at: usize) {
        match self {
            Self::Empty | Self::One(..) => *self = Self::Empty,
            Self::Several(lists) => {
                lists.0.remove(at);
                lists.1.remove(at);
            }
        }
    }

    #[inline]
    fn marks(&self) -> &[Mark] {
        match self {
            Self::Empty => &[],
            Self::One(_, mark) => slice::from_ref(mark),
            Self::Several(lists) => &lists.1,
        }
    }

    fn marks_mut(&mut self) -> &mut [Mark] {
        match self {
            Self::Empty => &mut [],
            Self::One(_, mark) => slice::from_mut(mark),
            Self::Several(lists) => &mut lists.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::hash::{BuildHasher, BuildHasherDefault};

    #[allow(deprecated, reason = "the standard hasher with fixed keys")]
    fn hash(board: &Board) -> u64 {
        BuildHasherDefault::<core::hash::SipHasher>::default().hash_one(board)
    }

    #[test]
    fn boards_with_the_same_claims_are_equal_whatever_was_on_them_before() {
        let claim = |id| Claim { weight: id, id: NodeId(id) };
        let until = Instant::from_nanos(9);
        let (mut short, mut shrunk) = (Board::default(), Board::default());
        for id in 1..=3 {
            shrunk.hear(claim(id), until, 3);
        }
        assert_eq!(shrunk.ids(), [3, 2, 1].map(NodeId));
        assert!(shrunk.remove(NodeId(3)) && shrunk.remove(NodeId(1)));
        assert_ne!(shrunk, short);
        short.hear(claim(2), until, 3);
        assert!(shrunk == short && hash(&shrunk) == hash(&short));
        shrunk.clear();
        short.clear();
        assert!(shrunk == short && hash(&shrunk) == hash(&short));
        assert_eq!(shrunk.worst(), None);
    }
}
