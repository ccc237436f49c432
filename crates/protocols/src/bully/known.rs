//! Exceptions known of other processes: which are down, have retired, or have restarted.
//!
//! Nothing is stored for a process in its first incarnation that is up and willing to lead, so a
//! large group costs nothing while nothing is wrong.

use alloc::collections::BTreeMap;
use bellwether_core::{Malformed, NodeId, Reader, Refused, WireWrite};

/// The availability of a process, sent with every message. Later availabilities of one process are
/// greater, so messages of a former incarnation, or from before a change, are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Availability {
    /// Its incarnation.
    pub life: u64,
    /// How often it changed its willingness in this incarnation: it is willing at first, and again
    /// after every second change.
    pub changes: u32,
}

impl Availability {
    /// The availability of a process that has just started.
    pub fn new(life: u64) -> Self {
        Self { life, changes: 0 }
    }

    /// Whether it would lead only if nobody else did.
    pub fn is_retired(self) -> bool {
        self.changes % 2 == 1
    }

    /// From now on it would lead only if nobody else did.
    pub(super) fn retire(&mut self) {
        self.changes |= 1; // the next odd number, if it is even
    }

    /// A retired process is willing to lead again.
    ///
    /// # Errors
    /// [`Refused`] after the last change that can be counted. A later incarnation counts anew.
    pub(super) fn return_to_duty(&mut self) -> Result<(), Refused> {
        self.changes = self.changes.checked_add(1).ok_or(Refused::NotNow)?;
        Ok(())
    }

    pub(super) fn encode(self, out: &mut alloc::vec::Vec<u8>) {
        out.put_u64(self.life);
        out.put_u32(self.changes);
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { life: input.u64()?, changes: input.u32()? })
    }
}

/// The order of candidates: willing ones before retired ones, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    active: bool,
    id: NodeId,
}

impl Key {
    pub(super) fn new(id: NodeId, availability: Availability) -> Self {
        Self { active: !availability.is_retired(), id }
    }

    /// The key as one number; larger is better.
    pub(super) fn weight(self) -> u64 {
        const ACTIVE: u64 = 1 << 63;
        let class = if self.active { ACTIVE } else { 0 };
        class | self.id.0.min(ACTIVE - 1)
    }
}

/// What is stored of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Exception {
    /// The latest incarnation heard before the process was reported down; `None` if it is up.
    down: Option<u64>,
    availability: Availability,
}

impl Exception {
    const ORDINARY: Self = Self { down: None, availability: Availability { life: 1, changes: 0 } };
}

/// All exceptions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Known(BTreeMap<NodeId, Exception>);

impl Known {
    #[inline]
    fn of(&self, id: NodeId) -> Exception {
        if self.0.is_empty() {
            return Exception::ORDINARY; // the usual case
        }
        self.0.get(&id).copied().unwrap_or(Exception::ORDINARY)
    }

    #[inline]
    fn set(&mut self, id: NodeId, exception: Exception) {
        if exception == Exception::ORDINARY {
            if !self.0.is_empty() {
                self.0.remove(&id);
            }
        } else {
            self.0.insert(id, exception);
        }
    }

    pub(super) fn key(&self, id: NodeId) -> Key {
        Key::new(id, self.of(id).availability)
    }

    pub(super) fn is_down(&self, id: NodeId) -> bool {
        self.of(id).down.is_some()
    }

    pub(super) fn is_retired(&self, id: NodeId) -> bool {
        self.of(id).availability.is_retired()
    }

    /// A process was reported down, or up again.
    pub(super) fn report(&mut self, id: NodeId, down: bool) {
        let known = self.of(id);
        self.set(id, Exception { down: down.then_some(known.availability.life), ..known });
    }

    /// A message with this availability arrived. False if it is late: the process has a newer
    /// availability, or is known to be dead. A message of a later incarnation is not late; whether
    /// that one is up is left to reports.
    #[inline]
    pub(super) fn hear(&mut self, id: NodeId, availability: Availability) -> bool {
        let known = self.of(id);
        if availability == known.availability && known.down.is_none() {
            return true; // the usual case: nothing is new
        }
        if availability < known.availability
            || known.down.is_some_and(|dead| availability.life <= dead)
        {
            return false;
        }
        assert!(known.availability <= availability, "the known availability of a peer never falls");
        self.set(id, Exception { availability, ..known });
        true
    }
}
