//! How each kind of message looks: the same in every picture.
//!
//! The colour says what a message is for, as its protocol says in `Row::MESSAGES`. Kinds that occur
//! in one protocol differ in colour or in shape, but for the acknowledgements of the layer that
//! detects failures. A kind that no protocol of the table has, but one of somebody's own, gets a
//! look that follows from its name, if no other kind of the picture has it.

use super::svg::COLOURS;
use bellwether_core::Fnv1a;
use bellwether_protocols::choice::{message_kind, message_kinds};
use bellwether_protocols::purpose::{MessageKind, Purpose};

/// How a kind of message looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// The index of its colour.
    pub(super) colour: usize,
    /// The index of the shape that marks a sending.
    pub(super) shape: usize,
}

/// Disc, square, diamond, triangle.
pub(super) const SHAPES: usize = 4;

const fn look(colour: usize, shape: usize) -> Look {
    Look { colour, shape }
}

/// What is left when no look is.
const OTHER: Look = look(COLOURS, 0);

/// How the first kind with this purpose looks; others have other shapes.
const fn first(purpose: Purpose) -> Look {
    match purpose {
        Purpose::Call => look(0, 0),
        Purpose::Answer | Purpose::Report => look(1, 1),
        Purpose::Result => look(2, 2),
        Purpose::Farewell => look(3, 3),
        Purpose::Question => look(4, 1),
        Purpose::News => look(5, 0),
        Purpose::SignOfLife => OTHER,
    }
}

fn known(kind: &MessageKind) -> Look {
    let Look { colour, shape } = first(kind.purpose);
    look(colour, (shape + kind.variety) % SHAPES)
}

/// The kinds that look the same in every picture, with the indices of their colours and shapes: for
/// whoever draws messages elsewhere. Signs of life have the colour after all others.
pub fn known_kinds() -> impl Iterator<Item = (&'static str, usize, usize)> {
    message_kinds().map(|kind| {
        let Look { colour, shape } = known(kind);
        (kind.name, colour, shape)
    })
}

/// The looks of these kinds.
pub(super) fn looks(kinds: &[String]) -> Vec<Look> {
    let known = |kind: &str| message_kind(kind).map(known);
    let mut taken: Vec<Look> = kinds.iter().filter_map(|kind| known(kind)).collect();
    let mut own = |kind: &str| {
        let mut hash = Fnv1a::default();
        hash.add(kind.as_bytes());
        let all = (COLOURS * SHAPES) as u64;
        let places = (0..all).map(|step| ((hash.value() % all + step) % all) as usize);
        let mut looks = places.map(|place| look(place % COLOURS, place / COLOURS));
        let free = looks.find(|look| !taken.contains(look)).unwrap_or(OTHER);
        taken.push(free);
        free
    };
    kinds.iter().map(|kind| known(kind).unwrap_or_else(|| own(kind))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kinds: &[&str]) -> Vec<Look> {
        looks(&kinds.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_kind_looks_the_same_beside_any_others() {
        let alone = of(&["election"])[0];
        assert_eq!(of(&["coordinator", "election", "ok"])[1], alone);
        assert_eq!(of(&["ack", "election", "leader"])[1], alone);
        assert_eq!(of(&["whisper"])[0], of(&["election", "whisper"])[1]);
    }

    /// The kinds of each protocol.
    #[test]
    fn kinds_of_one_protocol_look_different() {
        let protocols: [&[&str]; 7] = [
            &["announce", "bye", "query"],
            &["coordinator", "election", "leader", "ok", "query", "resign"],
            &["coordinator", "election"],
            &["announcement", "probe", "reply"],
            &["ack", "election", "leader"],
            &["final", "gossip", "initiate", "join", "prefer", "welcome", "withdraw"],
            &[
                "announcement",
                "collation",
                "election",
                "inquiry",
                "invite",
                "record",
                "release",
                "reply",
                "standing",
            ],
        ];
        for kinds in protocols {
            let looks = of(kinds);
            for (place, look) in looks.iter().enumerate() {
                assert!(!looks[..place].contains(look), "{}: {looks:?}", kinds[place]);
            }
        }
    }

    #[test]
    fn kinds_that_nobody_knows_look_different_as_long_as_there_are_looks() {
        let names: Vec<String> = (0..30).map(|number| format!("kind-{number}")).collect();
        let looks = looks(&names);
        for (place, look) in looks[..COLOURS * SHAPES].iter().enumerate() {
            assert!(!looks[..place].contains(look) && *look != OTHER, "{place}: {look:?}");
        }
        assert!(looks[COLOURS * SHAPES..].iter().all(|look| *look == OTHER));
    }
}
