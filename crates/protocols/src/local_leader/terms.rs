//! Terms, from which fencing tokens are made: what a process has granted, and stores.
//!
//! **Source.** Beyond the paper. The rules are those of the model in `proofs/`.
//!
//! **Assumptions.** What was stored before a message left is there after a crash, or it is missing
//! as a whole: damaged bytes count as missing. Whoever stored nothing cannot tell a first life from
//! a lost memory.
//!
//! **Promise.** A process grants a term to one life of one candidate, and never a lower one later.
//! It stores a grant before it answers.

use super::list::List;
use alloc::vec::Vec;
use bellwether_core::{Fnv1a, NodeId, Reader, WireWrite};

/// What a process stores: the highest term that it granted or learnt of, and whom it granted it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stored {
    pub(super) highest: u64,
    /// The candidate and its incarnation; `None` if the term was learnt from others.
    pub(super) granted: Option<(NodeId, u64)>,
}

impl Stored {
    /// The record of a process that never voted.
    pub(super) const FOUNDING: Self = Self { highest: 0, granted: None };

    /// Whether it may grant this term to this incarnation of a candidate.
    pub(super) fn allows(&self, term: u64, candidate: (NodeId, u64)) -> bool {
        term > self.highest || (term == self.highest && self.granted == Some(candidate))
    }

    /// The bytes of a record: these terms and the list. Without a list it is the founding one.
    pub(super) fn encode(&self, list: Option<&List>) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.put_u64(self.highest);
        bytes.put_flag(self.granted.is_some());
        let (node, life) = self.granted.unwrap_or((NodeId(0), 0));
        bytes.put_node(node);
        bytes.put_u64(life);
        list.into_iter().for_each(|list| list.encode(&mut bytes));
        let sum = checksum(&bytes);
        bytes.put_u64(sum);
        bytes
    }

    /// The record in these bytes; `None` if they are damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, Option<List>)> {
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        if *sum != checksum(body).to_le_bytes() {
            return None;
        }
        let mut input = Reader::new(body);
        let highest = input.u64().ok()?;
        let is_granted = input.flag().ok()?;
        let granted = (input.node().ok()?, input.u64().ok()?);
        let stored = Self { highest, granted: is_granted.then_some(granted) };
        // Before groups could change their members a record had no list.
        let bare = input.clone().finish().is_ok();
        let list = if bare { None } else { Some(List::decode(&mut input).ok()?) };
        input.finish().ok().map(|()| (stored, list))
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Fnv1a::default();
    sum.add(bytes);
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::super::times::Lengths;
    use super::*;
    use bellwether_core::Duration;

    const LENGTHS: Lengths = Lengths { lock: Duration::from_millis(150), drift_ppm: 200 };
    const RECORD: Stored = Stored { highest: 7, granted: Some((NodeId(3), 9)) };

    #[test]
    fn a_term_is_granted_once_and_never_a_lower_one() {
        assert!(RECORD.allows(8, (NodeId(1), 1)));
        assert!(RECORD.allows(7, (NodeId(3), 9)), "again to the same life");
        assert!(!RECORD.allows(7, (NodeId(3), 10)), "another life is another candidate");
        assert!(!RECORD.allows(7, (NodeId(1), 9)) && !RECORD.allows(6, (NodeId(3), 9)));
        assert!(!Stored { granted: None, ..RECORD }.allows(7, (NodeId(3), 9)), "only learnt");
    }

    #[test]
    fn what_is_stored_comes_back_and_damaged_bytes_count_as_missing() {
        let list = List::founding([1, 2, 3].map(NodeId), LENGTHS).unwrap();
        let next = list.next(Some(NodeId(4)), None, LENGTHS).unwrap();
        for (record, list) in
            [(RECORD, None), (Stored::FOUNDING, None), (RECORD, Some(list)), (RECORD, Some(next))]
        {
            let bytes = record.encode(list.as_ref());
            assert_eq!(Stored::decode(&bytes), Some((record, list)));
            for length in 0..bytes.len() {
                assert_eq!(Stored::decode(&bytes[..length]), None, "{length} bytes");
            }
            for place in 0..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[place] ^= 1;
                assert_eq!(Stored::decode(&bytes), None, "byte {place}");
            }
            assert_eq!(Stored::decode(&[bytes, [0].into()].concat()), None, "more bytes");
        }
    }
}
