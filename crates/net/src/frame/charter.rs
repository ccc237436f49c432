//! What all members of a group must have in common, as two numbers in every frame.
//!
//! Leases are safe only among members that count the same majority and wait the same times. A
//! member that was started with another list or other parameters is refused, and told apart from
//! a stranger, so that `status` can say what to compare.
//!
//! The numbers catch mistakes, not enemies: 32 bits of a hash. Whoever could forge them has the
//! key and could do worse.

use super::header::front;
use bellwether_core::NodeId;
use sha2::{Digest, Sha256};

/// Digests of what the members must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Charter {
    /// Who the members are.
    pub list: u32,
    /// The protocol and its parameters.
    pub terms: u32,
}

impl Charter {
    /// The `list` of a group that has none: whoever has the key is a member.
    pub const LIST_OPEN: u32 = 0;

    /// The charter of a group whose members are listed, each with its address as it was written
    /// (a name stays a name, wherever it leads), in any order. `terms` names the protocol and its
    /// parameters, in a form that is equal wherever they are.
    pub fn listed<'a>(members: impl IntoIterator<Item = (NodeId, &'a str)>, terms: &str) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_unstable();
        let mut hash = Sha256::new().chain_update("bellwether list v1");
        for (id, address) in members {
            hash.update(text(&format!("{id}={address}")));
        }
        Self { list: number(hash), ..Self::open(terms) }
    }

    /// The charter of a group without a list.
    pub fn open(terms: &str) -> Self {
        let hash = Sha256::new().chain_update("bellwether terms v1").chain_update(terms);
        Self { list: Self::LIST_OPEN, terms: number(hash) }
    }
}

/// A text behind its length, so that no two lists run together into the same bytes.
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
        let charter = Charter::listed(LIST, "le-s");
        assert_eq!(charter, Charter::listed(LIST.into_iter().rev(), "le-s"));
    }

    #[test]
    fn every_difference_shows_in_its_own_half() {
        let charter = Charter::listed(LIST, "le-s");
        let others = [
            Charter::listed(LIST[..2].iter().copied(), "le-s"),
            Charter::listed([LIST[0], LIST[1], (NodeId(3), "c:7001")], "le-s"),
            Charter::listed([LIST[0], LIST[1], (NodeId(4), "c:7000")], "le-s"),
            Charter::listed([LIST[0], LIST[1], LIST[2], LIST[2]], "le-s"),
            Charter::open("le-s"),
        ];
        for other in others {
            assert_ne!(other.list, charter.list);
            assert_eq!(other.terms, charter.terms);
        }
        let other = Charter::listed(LIST, "le-m");
        assert_eq!(other.list, charter.list);
        assert_ne!(other.terms, charter.terms);
    }

    #[test]
    fn two_lists_do_not_run_together() {
        let one = Charter::listed([(NodeId(1), "a"), (NodeId(2), "b")], "");
        let other = Charter::listed([(NodeId(1), "a2=b")], "");
        assert_ne!(one, other);
    }
}
