//! The order of candidates: willing ones before retired ones, then by id.

use alloc::vec::Vec;
use bellwether_core::{Malformed, NodeId, Reader, WireWrite};

/// A process as a candidate; the greatest leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    class: Class,
    /// The process.
    pub id: NodeId,
}

/// Whether a process is willing to lead. As wide as an id, so that a key is copied word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
enum Class {
    /// Only if nobody else is.
    Retired,
    /// Willing.
    Active,
}

impl Key {
    /// A process that would lead, or one that leads only if nobody else would.
    pub fn new(active: bool, id: NodeId) -> Self {
        Self { class: if active { Class::Active } else { Class::Retired }, id }
    }

    /// The length on the wire, in bytes.
    pub(super) const LEN: usize = 9;

    /// The key as one number; larger is better.
    pub(super) fn weight(self) -> u64 {
        const ACTIVE: u64 = 1 << 63;
        let class = if self.class == Class::Active { ACTIVE } else { 0 };
        class | self.id.0.min(ACTIVE - 1)
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        out.put_flag(self.class == Class::Active);
        out.put_node(self.id);
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self::new(input.flag()?, input.node()?))
    }
}
