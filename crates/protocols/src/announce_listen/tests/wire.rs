//! Messages as bytes.

use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, read_as_written};
use bellwether_core::{Malformed, Message as _, Reader};
use proptest::prelude::*;

const CLAIMS: [u64; 5] = [0, 1, 1 << 62, (1 << 62) | STANDING_MAX, (2 << 62) | STANDING_MAX];

#[test]
fn every_message_survives_the_wire() {
    for weight in CLAIMS {
        assert_survives_the_wire(&Message::Announce(weight));
        assert_survives_the_wire(&Message::Query(weight));
    }
    assert_survives_the_wire(&Message::Bye);
}

#[test]
fn claims_of_no_class_and_unknown_kinds_are_refused() {
    for (kind, weight) in [(0, u64::MAX), (1, 3 << 62), (3, 5), (255, 5)] {
        let mut bytes = alloc::vec![kind];
        bytes.extend_from_slice(&weight.to_le_bytes());
        assert_eq!(Message::decode(&mut Reader::new(&bytes)), Err(Malformed), "{bytes:?}");
    }
}

#[test]
fn messages_are_counted_by_kind() {
    assert_eq!(Message::Announce(1).kind(), "announce");
    assert_eq!(Message::Query(1).kind(), "query");
    assert_eq!(Message::Bye.kind(), "bye");
}

#[test]
fn only_announcements_can_be_held_up_by_a_bar() {
    assert_eq!(Message::Announce(7).weight(), 7);
    assert_eq!(Message::Query(7).weight(), u64::MAX);
    assert_eq!(Message::Bye.weight(), u64::MAX);
}

proptest! {
    #![proptest_config(fixed(2000))]

    #[test]
    fn no_bytes_make_a_decoder_panic_and_what_it_reads_it_would_write(
        bytes in prop::collection::vec(any::<u8>(), 0..24),
        kind in 0..4u8,
    ) {
        // Random first bytes are mostly unknown kinds, so half the cases begin with a known one.
        for bytes in [bytes.clone(), [&[kind][..], &bytes].concat()] {
            read_as_written::<Message>(&bytes);
        }
    }
}
