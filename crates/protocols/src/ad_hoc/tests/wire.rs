//! Messages as bytes.

use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, read_as_written};
use bellwether_core::{Malformed, Message as _, Reader};
use proptest::prelude::*;

fn samples() -> [Message; 5] {
    let (wave, best) = (Wave { life: u64::MAX, ..wave(3, 5) }, claim(9));
    let news = News { wave, leader: best, beat: beat(7) };
    [
        Message::Election(wave),
        Message::Ack(wave, None),
        Message::Ack(wave, Some(best)),
        Message::Leader(news),
        Message::Heartbeat(news),
    ]
}

#[test]
fn every_message_survives_the_wire() {
    samples().iter().for_each(assert_survives_the_wire);
}

#[test]
fn messages_are_counted_by_kind() {
    let kinds = samples().map(|message| message.kind());
    assert_eq!(kinds, ["election", "ack", "ack", "leader", "heartbeat"]);
}

#[test]
fn unknown_kinds_and_flags_are_refused() {
    for (kind, flag) in [(4, 0), (255, 0), (1, 2)] {
        let bytes = [&[kind][..], &[0; 24], &[flag], &[0; 40]].concat();
        assert_eq!(Message::decode(&mut Reader::new(&bytes)), Err(Malformed), "{bytes:?}");
    }
}

proptest! {
    #![proptest_config(fixed(2000))]

    #[test]
    fn no_bytes_make_a_decoder_panic_and_what_it_reads_it_would_write(
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        kind in 0..5u8,
        flag in 0..3u8,
    ) {
        // Random bytes are mostly unknown kinds and flags, so most cases have known ones.
        let known = [&[kind][..], &bytes].concat();
        let mut flagged = known.clone();
        if let Some(byte) = flagged.get_mut(25) {
            *byte = flag;
        }
        for bytes in [bytes, known, flagged] {
            read_as_written::<Message>(&bytes);
        }
    }
}
