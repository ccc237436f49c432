//! The order of candidates: those who would lead before the retired, then by id.

use alloc::vec::Vec;
use bellwether_core::{Malformed, NodeId, Reader, Write};

/// A process as a candidate; the greatest leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Whether it would lead; if not, it leads only if nobody else would.
    pub active: bool,
    /// Who.
    pub id: NodeId,
}

impl Key {
    /// How many bytes it takes on the wire.
    pub(super) const LEN: usize = 9;

    /// As one number, larger is better.
    pub(super) fn weight(self) -> u64 {
        const ACTIVE: u64 = 1 << 63;
        let class = if self.active { ACTIVE } else { 0 };
        class | self.id.0.min(ACTIVE - 1)
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        out.put_flag(self.active);
        out.put_node(self.id);
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { active: input.flag()?, id: input.node()? })
    }
}
