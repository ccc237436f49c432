//! The board: the best claims a process knows, best first, its own among them if it is good enough.
//!
//! One entry makes the plain election; more make the election of several agreed leaders
//! (section 5.7). The ids are kept apart from the rest so that they can be lent out as a slice.

use bellwether_core::{Instant, NodeId, Rebase};
use smallvec::SmallVec;

/// A claim to lead: the weightier wins, the larger id between equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) weight: u64,
    pub(super) id: NodeId,
}

/// What is known of one claim beside whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mark {
    weight: u64,
    until: Instant,
}

/// What became of a claim that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Not good enough, or older than what is known of the same process.
    Refused,
    /// On the board already; now good for longer.
    Refreshed,
    /// New on the board.
    Admitted,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Board {
    ids: SmallVec<[NodeId; 1]>,
    marks: SmallVec<[Mark; 1]>,
}

impl Board {
    /// Takes a claim heard from its maker, trusted until the given instant.
    #[inline]
    pub(super) fn hear(&mut self, claim: Claim, until: Instant, room: usize) -> Heard {
        if let Some(at) = self.position(claim.id) {
            if claim.weight < self.marks[at].weight {
                return Heard::Refused;
            }
            if claim.weight == self.marks[at].weight {
                self.marks[at].until = until;
                return Heard::Refreshed;
            }
            self.remove_at(at);
            self.put(claim, until);
            return Heard::Refreshed;
        }
        if self.ids.len() < room {
            self.put(claim, until);
            return Heard::Admitted;
        }
        if self.worst().is_some_and(|worst| claim < worst) {
            return Heard::Refused;
        }
        self.remove_at(self.ids.len() - 1);
        self.put(claim, until);
        Heard::Admitted
    }

    /// Puts a claim on the board, where there is room or not: the process's own, at a new start.
    pub(super) fn enter(&mut self, claim: Claim, room: usize) {
        self.remove(claim.id);
        while self.ids.len() >= room {
            self.remove_at(self.ids.len() - 1);
        }
        self.put(claim, Instant::NEVER);
    }

    /// Takes a process off the board. True if it was on it.
    pub(super) fn remove(&mut self, id: NodeId) -> bool {
        let at = self.position(id);
        if let Some(at) = at {
            self.remove_at(at);
        }
        at.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.marks.clear();
    }

    /// Takes off whoever was silent for too long.
    pub(super) fn expire(&mut self, now: Instant) {
        let mut at = 0;
        while at < self.ids.len() {
            if self.marks[at].until <= now { self.remove_at(at) } else { at += 1 }
        }
    }

    /// Lets every claim trusted only until `limit` or before sink to `floor`, if it is above it.
    pub(super) fn sink(&mut self, limit: Instant, floor: u64) {
        for mark in &mut self.marks {
            if mark.until <= limit && mark.weight > floor {
                mark.weight = floor;
            }
        }
        let mut order: SmallVec<[(Claim, Instant); 4]> =
            self.claims().zip(self.marks.iter().map(|mark| mark.until)).collect();
        order.sort_by_key(|(claim, _)| core::cmp::Reverse(*claim));
        self.clear();
        for (at, (claim, until)) in order.into_iter().enumerate() {
            self.insert(at, claim, until);
        }
    }

    #[inline]
    pub(super) fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    pub(super) fn holds(&self, id: NodeId) -> bool {
        self.position(id).is_some()
    }

    /// The claim that would be the first to go.
    #[inline]
    pub(super) fn worst(&self) -> Option<Claim> {
        Some(Claim { weight: self.marks.last()?.weight, id: *self.ids.last()? })
    }

    /// The first end of trust among all claims.
    pub(super) fn first_end(&self) -> Instant {
        self.marks.iter().map(|mark| mark.until).min().unwrap_or(Instant::NEVER)
    }

    /// The first end of trust among claims that have not sunk to `floor`.
    pub(super) fn first_end_above(&self, floor: u64) -> Instant {
        let above = self.marks.iter().filter(|mark| mark.weight > floor);
        above.map(|mark| mark.until).min().unwrap_or(Instant::NEVER)
    }

    pub(super) fn instants(&mut self, rebase: &Rebase) {
        for mark in &mut self.marks {
            rebase.deadline(&mut mark.until);
        }
    }

    fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        self.ids.iter().zip(&self.marks).map(|(id, mark)| Claim { weight: mark.weight, id: *id })
    }

    #[inline]
    fn position(&self, id: NodeId) -> Option<usize> {
        self.ids.iter().position(|known| *known == id)
    }

    #[inline]
    fn put(&mut self, claim: Claim, until: Instant) {
        let at = self.claims().take_while(|known| *known > claim).count();
        self.insert(at, claim, until);
    }

    #[inline]
    fn insert(&mut self, at: usize, claim: Claim, until: Instant) {
        self.ids.insert(at, claim.id);
        self.marks.insert(at, Mark { weight: claim.weight, until });
    }

    #[inline]
    fn remove_at(&mut self, at: usize) {
        self.ids.remove(at);
        self.marks.remove(at);
    }
}
