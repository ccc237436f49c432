//! Messages as bytes.

use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, bytes_of, read_as_written};
use bellwether_core::{Malformed, Message as _, Reader};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Message, Malformed> {
    Message::decode(&mut Reader::new(bytes))
}

fn all() -> [Message; 10] {
    [
        ask(0),
        renew(7, &[1, 2, u64::MAX]),
        ask_with_news(7, 3, 5),
        yes(20),
        no(20, Duration::MAX),
        release(20),
        farewell(20),
        Message::Inquiry { life: 3, round: 4 },
        Message::Record { asker: 3, round: 4, life: 5, highest: Some(6) },
        Message::Record { asker: 3, round: 4, life: 5, highest: None },
    ]
}

#[test]
fn every_message_survives_the_wire_and_none_does_if_it_is_cut_short() {
    all().iter().for_each(assert_survives_the_wire);
    let request = Request { life: u64::MAX, sent: Instant::NEVER };
    let farewell = Some(Farewell { node: NodeId(u64::MAX), request });
    let supporters = (0..u64::from(u16::MAX)).map(NodeId).collect();
    let longest = Message::Election { request, term: 1, lock: Duration::MAX, supporters, farewell };
    assert_eq!(read(&bytes_of(&longest)), Ok(longest));
}

#[test]
fn the_bytes_are_what_they_are() {
    let request = Request { life: 2, sent: Instant::from_nanos(3) };
    let (support, remaining) = (true, Duration::from_nanos(4));
    let reply = Message::Reply { request, support, remaining, highest: 1 };
    let numbers: Vec<u8> = [2_u64, 3].into_iter().flat_map(u64::to_le_bytes).collect();
    let rest: Vec<u8> = [4_u64, 1].into_iter().flat_map(u64::to_le_bytes).collect();
    assert_eq!(bytes_of(&reply), [&[1], &numbers[..], &[1], &rest[..]].concat());
}

#[test]
fn unknown_kinds_and_flags_are_refused() {
    let reply = bytes_of(&yes(20));
    for kind in 5..=u8::MAX {
        assert_eq!(read(&[&[kind], &reply[1..]].concat()), Err(Malformed));
    }
    for message in [yes(20), release(20), ask(0)] {
        let mut bytes = bytes_of(&message);
        let flag = if matches!(message, Message::Reply { .. }) { 17 } else { bytes.len() - 1 };
        assert!(bytes[flag] < 2, "there it is");
        bytes[flag] = 2;
        assert_eq!(read(&bytes), Err(Malformed));
    }
}

#[test]
fn a_short_message_cannot_name_many_supporters() {
    let mut bytes = bytes_of(&ask(0));
    bytes[33..35].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(read(&bytes), Err(Malformed));
}

#[test]
fn messages_are_counted_by_kind() {
    let kinds = all().map(|message| message.kind());
    let leases = ["election", "election", "election", "reply", "reply", "release", "release"];
    assert_eq!(kinds[..7], leases);
    assert_eq!(kinds[7..], ["inquiry", "record", "record"]);
}

proptest! {
    #![proptest_config(fixed(4000))]

    #[test]
    fn no_bytes_make_a_decoder_panic_and_what_it_reads_it_would_write(
        bytes in prop::collection::vec(0..4_u8, 0..96),
    ) {
        read_as_written::<Message>(&bytes);
    }
}
