//! What is known of others where it is out of the ordinary: who is down, who has retired, who has
//! lived before.
//!
//! Ordinary is a process in its first life that is up and would lead. Nothing is kept of it, so
//! that a large group costs nothing while nothing is wrong.

use alloc::collections::BTreeMap;
use bellwether_core::{Malformed, NodeId, Reader, Write};

/// How a process stands for election, said with every message. Later standings of one process are
/// greater, so what was said in a former life or before it changed its mind is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Standing {
    /// Its incarnation.
    pub life: u64,
    /// How often it changed its mind in this life: it would lead at first, and again after every
    /// second change.
    pub changes: u32,
}

impl Standing {
    /// How a process stands that has just begun.
    pub fn new(life: u64) -> Self {
        Self { life, changes: 0 }
    }

    /// Whether it would lead only if nobody else did.
    pub fn is_retired(self) -> bool {
        self.changes % 2 == 1
    }

    /// It changes its mind.
    pub(super) fn change(&mut self) {
        assert!(self.changes < u32::MAX, "a standing never falls: begin another life first");
        self.changes += 1;
    }

    pub(super) fn encode(self, out: &mut alloc::vec::Vec<u8>) {
        out.put_u64(self.life);
        out.put_u32(self.changes);
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { life: input.u64()?, changes: input.u32()? })
    }
}

/// The order of candidates: those who would lead before the retired, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    active: bool,
    id: NodeId,
}

impl Key {
    pub(super) fn new(id: NodeId, standing: Standing) -> Self {
        Self { active: !standing.is_retired(), id }
    }

    /// As one number, larger is better.
    pub(super) fn weight(self) -> u64 {
        const ACTIVE: u64 = 1 << 63;
        let class = if self.active { ACTIVE } else { 0 };
        class | self.id.0.min(ACTIVE - 1)
    }
}

/// What is kept of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Exception {
    /// The latest life that was heard before the process was reported down; `None` if it is up.
    down: Option<u64>,
    standing: Standing,
}

impl Exception {
    const ORDINARY: Self = Self { down: None, standing: Standing { life: 1, changes: 0 } };
}

/// All exceptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Known(BTreeMap<NodeId, Exception>);

impl Known {
    fn of(&self, id: NodeId) -> Exception {
        self.0.get(&id).copied().unwrap_or(Exception::ORDINARY)
    }

    fn set(&mut self, id: NodeId, exception: Exception) {
        if exception == Exception::ORDINARY {
            self.0.remove(&id);
        } else {
            self.0.insert(id, exception);
        }
    }

    pub(super) fn key(&self, id: NodeId) -> Key {
        Key::new(id, self.of(id).standing)
    }

    pub(super) fn is_down(&self, id: NodeId) -> bool {
        self.of(id).down.is_some()
    }

    pub(super) fn is_retired(&self, id: NodeId) -> bool {
        self.of(id).standing.is_retired()
    }

    /// A process was reported down, or up again.
    pub(super) fn report(&mut self, id: NodeId, down: bool) {
        let known = self.of(id);
        self.set(id, Exception { down: down.then_some(known.standing.life), ..known });
    }

    /// A process said something, standing like this. False if that is late: it stands otherwise
    /// since, or it is known to be dead. What a further life says is not, though whether it lives
    /// is left to reports.
    pub(super) fn hear(&mut self, id: NodeId, standing: Standing) -> bool {
        let known = self.of(id);
        if standing < known.standing || known.down.is_some_and(|dead| standing.life <= dead) {
            return false;
        }
        assert!(known.standing <= standing, "the standing that is known of a peer never falls");
        self.set(id, Exception { standing, ..known });
        true
    }
}
