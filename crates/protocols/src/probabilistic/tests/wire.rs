//! Messages as bytes.

use super::*;
use crate::testing::fixed;
use bellwether_core::harness::{assert_survives_the_wire, bytes_of, decoded, read_as_written};
use bellwether_core::{Malformed, Message as Wire};
use proptest::prelude::*;
use proptest::strategy::Strategy;

#[test]
fn messages_survive_the_wire_under_their_names() {
    let last = RoundId { election: u32::MAX, number: u32::MAX };
    let traces = Sketch::of(0, (0..5_000).map(NodeId));
    let all = [
        (Message::Initiate(FIRST), "initiate"),
        (Message::Initiate(last), "initiate"),
        (Message::Prefer(SECOND, Candidate { id: NodeId(u64::MAX), rank: 3 }), "prefer"),
        (Message::Final(SECOND, NodeId(9)), "final"),
        (Message::Join(u32::MAX), "join"),
        (Message::Welcome(RoundId::default(), None), "welcome"),
        (Message::Welcome(last, Some(NodeId(0))), "welcome"),
        (Message::Withdraw(NodeId(4), 7), "withdraw"),
        (Message::Gossip(Box::new(traces)), "gossip"),
    ];
    for (message, kind) in all {
        assert_survives_the_wire(&message);
        assert_eq!(message.kind(), kind);
        let length = bytes_of(&message).len();
        assert!(length <= 1_152, "{kind} has {length} bytes, more than a frame");
    }
}

#[test]
fn a_round_that_is_none_cannot_begin() {
    for (election, number) in [(0, 0), (0, 1), (1, 0)] {
        let bytes = bytes_of(&Message::Initiate(RoundId { election, number }));
        assert_eq!(decoded::<Message>(&bytes), Err(Malformed));
    }
}

/// Bytes that may be a message.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let rest = prop::collection::vec(0..4_u8, 0..20);
    (0..7_u8, 0..3_u8, 0..7_u8, rest).prop_map(|(tag, election, number, rest)| {
        [&[tag, election, 0, 0, 0, number, 0, 0, 0], &rest[..]].concat()
    })
}

/// Any message.
fn any_message() -> impl Strategy<Value = Message> {
    let round =
        || (1..=3_u32, 1..=7_u32).prop_map(|(election, number)| RoundId { election, number });
    let id = || (0..8_u64).prop_map(NodeId);
    prop_oneof![
        round().prop_map(Message::Initiate),
        (round(), id(), 0..3_u64)
            .prop_map(|(round, id, rank)| Message::Prefer(round, Candidate { id, rank })),
        (round(), id()).prop_map(|(round, leader)| Message::Final(round, leader)),
        (0..8_u32).prop_map(Message::Join),
        (round(), prop::option::of(id())).prop_map(|(round, who)| Message::Welcome(round, who)),
        (id(), 0..5_u32).prop_map(|(who, until)| Message::Withdraw(who, until)),
        prop::collection::vec(any::<u64>(), 1..9).prop_map(|ids| {
            Message::Gossip(Box::new(Sketch::of(0, ids.into_iter().map(NodeId))))
        }),
    ]
}

fn any_config() -> impl Strategy<Value = Config> {
    let choices = [Choice::LowestId, Choice::HighestId, Choice::Rank, Choice::Lot];
    let sizes = [Size::Group, Size::Given(20), Size::View, Size::Gossip];
    (0..4_usize, 0..4_usize, any::<[bool; 5]>()).prop_map(
        move |(choice, size, [hash, woken, always, all, in_touch])| Config {
            choice: choices[choice],
            size: sizes[size],
            reinitiate: if hash { Reinitiate::Hash } else { Reinitiate::Delay },
            woken_by: if woken { WokenBy::Preference } else { WokenBy::Initiation },
            join: if always { Join::Always } else { Join::Restarted },
            last_round_all: all,
            beat: if in_touch { Duration::from_secs(1) } else { Duration::MAX },
            silence: if in_touch { Duration::from_secs(4) } else { Duration::MAX },
            ..config()
        },
    )
}

proptest! {
    #![proptest_config(fixed(256))]

    #[test]
    fn whatever_is_said_survives_the_wire(message in any_message()) {
        assert_survives_the_wire(&message);
    }

    #[test]
    fn what_is_read_is_written(bytes in any_bytes()) {
        read_as_written::<Message>(&bytes);
    }

    #[test]
    fn nothing_that_happens_makes_a_process_panic_and_what_it_knows_does_nothing(
        happens in prop::collection::vec((0..8_u64, any_message(), 0..12_u8), 1..60),
        config in any_config(),
        incarnation in 1..3_u64,
    ) {
        let params = params(config.clone());
        let boot_as = Boot { incarnation, ..Boot::first(NodeId(3)) };
        let mut process = boot(boot_as, &[1, 2, 4], config, &[0; 4000]);
        for (from, message, then) in happens {
            let light = message.weight() < process.node().protocol().min_weight()
                || process.node().protocol().is_redundant(&message, &params);
            let before = process.node().protocol().clone();
            process.message(from, message);
            if light {
                prop_assert_eq!(process.effects(), vec![]);
                prop_assert_eq!(process.node().protocol(), &before);
            }
            match then {
                0..=3 if !process.is_quiet() => drop(process.ring()),
                4 => drop(process.peer(from, Reach::Down)),
                5 => drop(process.peer(from, Reach::Up)),
                6 => drop(process.command(Command::Campaign).map(|_| ())),
                7 => drop(process.command(Command::Resign).map(|_| ())),
                8 => drop(process.command(Command::Rank(from)).map(|_| ())),
                _ => {}
            }
            let named = process.leadership();
            prop_assert_eq!(!named.leaders.is_empty(), named.stage == Stage::Decided);
            prop_assert!(named.leaders.len() <= 1);
        }
        process.command(Command::Leave).unwrap();
        prop_assert!(process.leadership().leaders.is_empty() && process.is_quiet());
    }
}
