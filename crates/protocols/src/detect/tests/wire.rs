//! Frames as bytes.

use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, bytes_of, decoded, read_as_written};
use bellwether_core::{Malformed, Message};
use proptest::prelude::*;

fn every_body() -> [Body<Word>; 5] {
    let extreme = one(u64::MAX, u64::MAX, u64::MAX);
    [Body::Beat, Body::All(Word(3)), one(5, 4, 3), extreme, Body::Ack { life: 1, number: 2 }]
}

#[test]
fn frames_survive_the_wire_and_are_counted_by_what_they_carry() {
    let kinds = every_body().map(|body| {
        let frame = frame(u64::MAX, body);
        assert_survives_the_wire(&frame);
        frame.kind()
    });
    assert_eq!(kinds, ["heartbeat", "word", "word", "word", "ack"]);
}

#[test]
fn a_message_cannot_be_settled_before_it_is_sent() {
    let bytes = bytes_of(&frame(1, one(4, 5, 3)));
    assert_eq!(decoded::<Frame<Word>>(&bytes), Err(Malformed));
}

proptest! {
    #![proptest_config(fixed(256))]

    #[test]
    fn no_bytes_make_a_process_panic(
        frames in prop::collection::vec(
            (0..5_u64, 0..4_u8, 0..4_u8, prop::collection::vec(0..3_u8, 0..40), 0..200_u64),
            1..30,
        ),
    ) {
        let mut process = start();
        for (from, life, body, rest, wait) in frames {
            let bytes = [&[life, 0, 0, 0, 0, 0, 0, 0, body], &rest[..]].concat();
            if let Some(said) = read_as_written(&bytes) {
                process.message(from, said);
            }
            pass(&mut process, wait);
        }
    }
}
