//! The digest of what all members of a group must have in common: two numbers in every frame.
//!
//! Leases are safe only among members that count the same majority and wait the same times. Frames
//! of a member with another list or other parameters are dropped with a reason of their own, so
//! that `status` can say what to compare.
//!
//! The numbers catch mistakes, not attacks: they are 32 bits of a hash. An attacker who could forge
//! them has the key and could do worse.

use super::header::front;
use bellwether_core::NodeId;
use sha2::{Digest, Sha256};

/// Digests of what the members must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigDigest {
    /// The list of members.
    pub list: u32,
    /// The protocol and its parameters.
    pub terms: u32,
}

impl ConfigDigest {
    /// The `list` of a group without one: everybody who has the key is a member.
    pub const LIST_OPEN: u32 = 0;

    /// The digest of a group with a list of members, each with its address as it was written (names
    /// are not resolved), in any order. `terms` is the text of the protocol and its parameters.
    pub fn listed<'a>(members: impl IntoIterator<Item = (NodeId, &'a str)>, terms: &str) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_unstable();
        let mut hash = Sha256::new().chain_update("bellwether list v1");
        for (id, address) in members {
            hash.update(text(&format!("{id}={address}")));
        }
        Self { list: number(hash), ..Self::open(terms) }
    }

    /// The digest of a group without a list.
    pub fn open(terms: &str) -> Self {
        let hash = Sha256::new().chain_update("bellwether terms v1").chain_update(terms);
        Self { list: Self::LIST_OPEN, terms: number(hash) }
    }
}

/// Hashes a text after its length, so that different lists never give the same bytes.
fn text(text: &str) -> Vec<u8> {
    let length = text.len() as u64;
    [&length.to_le_bytes(), text.as_bytes()].concat()
}

fn number(hash: Sha256) -> u32 {
    u32::from_le_bytes(front(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: [(NodeId, &str); 3] =
        [(NodeId(1), "a:7000"), (NodeId(2), "b:7000"), (NodeId(3), "c:7000")];

    #[test]
    fn the_order_of_the_list_does_not_matter() {
        let digest = ConfigDigest::listed(LIST, "le-s");
        assert_eq!(digest, ConfigDigest::listed(LIST.into_iter().rev(), "le-s"));
    }

    #[test]
    fn every_difference_shows_in_its_own_half() {
        let digest = ConfigDigest::listed(LIST, "le-s");
        let others = [
            ConfigDigest::listed(LIST[..2].iter().copied(), "le-s"),
            ConfigDigest::listed([LIST[0], LIST[1], (NodeId(3), "c:7001")], "le-s"),
            ConfigDigest::listed([LIST[0], LIST[1], (NodeId(4), "c:7000")], "le-s"),
            ConfigDigest::listed([LIST[0], LIST[1], LIST[2], LIST[2]], "le-s"),
            ConfigDigest::open("le-s"),
        ];
        for other in others {
            assert_ne!(other.list, digest.list);
            assert_eq!(other.terms, digest.terms);
        }
        let other = ConfigDigest::listed(LIST, "le-m");
        assert_eq!(other.list, digest.list);
        assert_ne!(other.terms, digest.terms);
    }

    #[test]
    fn two_lists_do_not_run_together() {
        let one = ConfigDigest::listed([(NodeId(1), "a"), (NodeId(2), "b")], "");
        let other = ConfigDigest::listed([(NodeId(1), "a2=b")], "");
        assert_ne!(one, other);
    }
}
