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
    /// What orders it among claims of equal weight: the id, until it sinks to another's claim.
    tie: NodeId,
    until: Instant,
}

impl Mark {
    /// The claim as it counts.
    fn claim(&self) -> Claim {
        Claim { weight: self.weight, id: self.tie }
    }
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
        // The plain election, one claim on the board and another better than it, in two moves.
        if let ([id], [mark], 1) = (&mut self.ids[..], &mut self.marks[..], room)
            && *id != claim.id
        {
            if claim < mark.claim() {
                return Heard::Refused;
            }
            (*id, *mark) = (claim.id, Mark { weight: claim.weight, tie: claim.id, until });
            return Heard::Admitted;
        }
        if let Some(at) = self.position(claim.id) {
            let known = self.marks[at].claim();
            if claim < known {
                return Heard::Refused;
            }
            if claim == known {
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

    /// Trusts a process on the board for longer, whatever its claim is now.
    pub(super) fn refresh(&mut self, id: NodeId, until: Instant) {
        if let Some(at) = self.position(id) {
            self.marks[at].until = until;
        }
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
    /// It then ranks behind whoever made that claim.
    pub(super) fn sink(&mut self, limit: Instant, floor: Claim) {
        for mark in &mut self.marks {
            if mark.until <= limit && mark.claim() > floor {
                (mark.weight, mark.tie) = (floor.weight, floor.id);
            }
        }
        let mut order: SmallVec<[(NodeId, Mark); 4]> =
            self.ids.iter().copied().zip(self.marks.iter().copied()).collect();
        order.sort_by_key(|(id, mark)| (core::cmp::Reverse(mark.claim()), *id != mark.tie));
        self.ids = order.iter().map(|(id, _)| *id).collect();
        self.marks = order.iter().map(|(_, mark)| *mark).collect();
    }

    #[inline]
    pub(super) fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    pub(super) fn holds(&self, id: NodeId) -> bool {
        self.position(id).is_some()
    }

    /// The claim that would be the first to go, as it counts.
    #[inline]
    pub(super) fn worst(&self) -> Option<Claim> {
        self.marks.last().map(Mark::claim)
    }

    /// The first end of trust among all claims.
    pub(super) fn first_end(&self) -> Instant {
        self.marks.iter().map(|mark| mark.until).min().unwrap_or(Instant::NEVER)
    }

    /// The first end of trust among claims that have not sunk to `floor`.
    pub(super) fn first_end_above(&self, floor: Claim) -> Instant {
        let above = self.marks.iter().filter(|mark| mark.claim() > floor);
        above.map(|mark| mark.until).min().unwrap_or(Instant::NEVER)
    }

    pub(super) fn instants(&mut self, rebase: &Rebase) {
        for mark in &mut self.marks {
            rebase.deadline(&mut mark.until);
        }
    }

    /// The claims as they count, best first.
    pub(super) fn claims(&self) -> impl Iterator<Item = Claim> + '_ {
        self.marks.iter().map(Mark::claim)
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
        self.marks.insert(at, Mark { weight: claim.weight, tie: claim.id, until });
    }

    #[inline]
    fn remove_at(&mut self, at: usize) {
        self.ids.remove(at);
        self.marks.remove(at);
    }
}
