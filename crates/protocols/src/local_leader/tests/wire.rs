//! Messages as bytes.

use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, bytes_of, read_as_written};
use bellwether_core::{Malformed, Message as Wire, Reader};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Message, Malformed> {
    Message::decode(&mut Reader::new(bytes))
}

/// A list of three, and the one after it that has one voter instead of another.
fn lists() -> [List; 2] {
    let list = List::founding([1, 2, 3].map(NodeId)).unwrap();
    let next = list.next(Some(NodeId(u64::MAX)), Some(NodeId(2))).unwrap();
    [list, next]
}

/// The list after that one, with a lockTime of its own.
fn lasting(list: &List) -> List {
    list.lasting(Some(Lengths { lock: ms(300), drift_ppm: 200 })).unwrap()
}

/// The message by this list.
fn by(told: ListTold, mut body: Message) -> Message {
    match &mut body {
        Message::Election { list, .. } | Message::Reply { list, .. } => *list = Some(told),
        Message::Record { list, .. } => *list = Some(told),
        other => panic!("{other:?} has no list"),
    }
    body
}

fn all() -> Vec<Message> {
    let [list, next] = lists();
    let inquiry = |founding| Message::Inquiry { life: 3, round: 4, founding, needs: false };
    let record = |highest| Message::Record { asker: 3, round: 4, life: 5, highest, list: None };
    vec![
        ask(0),
        renew(7, &[1, 2, u64::MAX]),
        ask_with_news(7, 3, 5),
        yes(20),
        no(20, Duration::MAX),
        release(20),
        farewell(20),
        hand_over(20, 3),
        inquiry(None),
        record(Some(6)),
        record(None),
        Message::Invite { life: 7 },
        inquiry(Some(8)),
        by(ListTold::Name(list.id(), true), ask(0)),
        by(ListTold::Name(next.id(), true), yes(20)),
        by(ListTold::Name(next.id(), false), no(20, Duration::ZERO)),
        by(list.into(), record(None)),
        by(lasting(&next).into(), record(Some(3))),
        by(next.into(), renew(7, &[1])),
        Message::Collation(Collation {
            leader: NodeId(2),
            request: request(5),
            highest: 4,
            list: Some(ListTold::Name(lists()[1].id(), false)),
            voters: [1, 2, u64::MAX].map(NodeId).into_iter().collect(),
        }),
        Message::Standing(Candidacy { priority: 7, witness: true }),
        Message::Announcement(Announcement {
            leader: NodeId(2),
            request: request(5),
            token: 4,
            hold: ms(3000),
            list: List::founding([1, 2].map(NodeId)).expect("it has voters"),
            last: NodeId(9),
            backwards: true,
        }),
    ]
}

#[test]
fn every_message_survives_the_wire_and_none_does_if_it_is_cut_short() {
    all().iter().for_each(assert_survives_the_wire);
    let request = Request { life: u64::MAX, sent: Instant::NEVER };
    let farewell = Some(Farewell { node: NodeId(u64::MAX), request });
    let supporters = (0..u64::from(u16::MAX)).map(NodeId).collect();
    let longest = Message::Election {
        request,
        term: 1,
        lock: Duration::MAX,
        supporters,
        farewell,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    };
    assert_eq!(read(&bytes_of(&longest)), Ok(longest));
}

#[test]
fn the_bytes_are_what_they_are() {
    let request = Request { life: 2, sent: Instant::from_nanos(3) };
    let (support, remaining) = (true, Duration::from_nanos(4));
    let list = List::founding([NodeId(1)]).map(|list| ListTold::Name(list.id(), true));
    let reply = Message::Reply { request, support, remaining, highest: 1, list };
    let numbers: Vec<u8> = [2_u64, 3].into_iter().flat_map(u64::to_le_bytes).collect();
    let rest: Vec<u8> = [4_u64, 1].into_iter().flat_map(u64::to_le_bytes).collect();
    // FNV-1a of the founding list's only voter.
    let digest = 0x89cd_3129_1d2a_efa4_u64.to_le_bytes();
    let list = [&[2], &digest[..]].concat();
    assert_eq!(bytes_of(&reply), [&[1], &numbers[..], &[1], &rest[..], &list[..]].concat());
}

#[test]
fn unknown_kinds_and_flags_are_refused() {
    let reply = bytes_of(&yes(20));
    for kind in 7..=u8::MAX {
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

/// Bytes that are no list: a voter twice or out of order, nobody, a change that is none, and a
/// founding list that is not committed.
#[test]
fn a_list_that_makes_no_sense_is_refused() {
    let [list, next] = lists();
    let bytes = |list: &List| bytes_of(&by(list.clone().into(), yes(20)));
    let start = bytes_of(&yes(20)).len(); // the version; the voters begin ten bytes later
    let spoilt = |list: &List, place: usize, byte: u8| {
        let mut bytes = bytes(list);
        bytes[start + place] = byte;
        read(&bytes)
    };
    assert!(read(&bytes(&list)).is_ok() && read(&bytes(&next)).is_ok());
    assert_eq!(spoilt(&list, 10, 2), Err(Malformed), "a voter twice");
    assert_eq!(spoilt(&list, 10, 9), Err(Malformed), "voters out of order");
    assert_eq!(spoilt(&list, 0, 1), Err(Malformed), "a version after which nothing changed");
    assert_eq!(spoilt(&list, 36, 0), Err(Malformed), "a founding list that is not committed");
    assert_eq!(spoilt(&next, 0, 0), Err(Malformed), "a founding list with a change");
    assert_eq!(spoilt(&next, 10 + 24 + 1, 7), Err(Malformed), "a new voter that does not vote");
    assert_eq!(spoilt(&next, 10 + 24 + 10, 1), Err(Malformed), "a voter that is removed");
    // After the voters and two flags for those that changed: which lengths follow.
    let longer = lasting(&list);
    assert!(read(&bytes(&longer)).is_ok());
    assert_eq!(spoilt(&longer, 36, 8), Err(Malformed), "an unknown flag");
    assert_eq!(spoilt(&longer, 36, 0), Err(Malformed), "nothing changed");
    assert_eq!(spoilt(&longer, 36 + 1 + 7, 1), Err(Malformed), "a lock of years");
    assert_eq!(spoilt(&longer, 36 + 1 + 8 + 3, 1), Err(Malformed), "clocks that run at will");
    assert_eq!(List::founding([]), None);
    let nobody = [&[4][..], &[0; 24], &[0], &[1], &[0; 8], &[0; 2], &[0, 0, 1]].concat();
    assert_eq!(read(&nobody), Err(Malformed), "nobody votes");
}

#[test]
fn a_short_message_cannot_name_many_supporters() {
    let mut bytes = bytes_of(&ask(0));
    bytes[33..35].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(read(&bytes), Err(Malformed));
}

#[test]
fn messages_are_counted_by_kind() {
    let kinds: Vec<&str> = all().iter().map(Wire::kind).collect();
    let leases = ["election", "election", "election", "reply", "reply", "release", "release"];
    assert_eq!(kinds[..7], leases);
    assert_eq!(kinds[7..12], ["release", "inquiry", "record", "record", "invite"]);
    assert_eq!(kinds[kinds.len() - 2..], ["standing", "announcement"]);
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
