//! Hirschberg-Sinclair, input by input. What all searches share is tested beside Chang-Roberts.

use super::*;
use crate::ring::extrema::{Message, Says};
use crate::ring::{Config, Params, Variant};
use crate::testing::{Datagram, campaign, deliver_all, fixed, lose, others};
use bellwether_core::harness::{Harness, assert_survives_the_wire, bytes_of, decoded};
use bellwether_core::{Boot, Dest, Effect, Message as Wire, NodeId, Reach};
use proptest::prelude::*;

type Process = Harness<HirschbergSinclair>;
type Asked = Effect<HirschbergSinclair>;

/// A process of the ring 1 2 3 4 5 6 7.
fn boot(me: u64, incarnation: u64, config: Config) -> Process {
    let params = Params::try_from(config).expect("the rules are kept");
    Process::boot(Boot { incarnation, ..Boot::first(NodeId(me)) }, params, &others(me, 7), &[])
}

fn start(me: u64) -> Process {
    boot(me, 1, Config { variant: Variant::HirschbergSinclair, ..Config::default() })
}

fn key(id: u64) -> Key {
    Key::new(true, NodeId(id))
}

fn note(round: u64, note: Notice) -> Message<Notice> {
    Message { round, says: Says::Note(note) }
}

fn probe(round: u64, id: u64, phase: u8, hops: u64, way: Way) -> Message<Notice> {
    note(round, Notice { key: key(id), phase, way, hops: Some(hops) })
}

fn reply(round: u64, id: u64, phase: u8, way: Way) -> Message<Notice> {
    note(round, Notice { key: key(id), phase, way, hops: None })
}

fn leads(round: u64, id: u64) -> Message<Notice> {
    Message { round, says: Says::Announcement(key(id)) }
}

fn sent(to: u64, message: Message<Notice>) -> Asked {
    Effect::Send(Dest::Node(NodeId(to)), message)
}

use Way::{Back, Forth};

/// Both probes of process 4 in this phase.
fn probes(round: u64, phase: u8) -> [Asked; 2] {
    [sent(5, probe(round, 4, phase, 1, Forth)), sent(3, probe(round, 4, phase, 1, Back))]
}

#[test]
fn a_candidate_looks_both_ways_and_twice_as_far_with_both_replies() {
    let mut process = start(4);
    assert_eq!(campaign(&mut process).effects(), probes(1, 0));
    assert_eq!(process.message(5, reply(1, 4, 0, Back)).effects(), []);
    assert_eq!(process.message(5, reply(1, 4, 0, Back)).effects(), [], "the same one twice");
    assert_eq!(process.message(3, reply(1, 4, 0, Forth)).effects(), probes(1, 1));
    assert_eq!(process.message(3, reply(1, 4, 0, Forth)).effects(), [], "that phase is over");
    process.message(3, reply(1, 4, 1, Forth));
    assert_eq!(process.message(5, reply(1, 4, 1, Back)).effects(), probes(1, 2));
    assert_eq!(process.message(3, probe(1, 4, 2, 4, Forth)).effects(), [sent(5, leads(1, 4))]);
    assert_eq!(process.leader(), Some(4));
    assert_eq!(process.message(5, probe(1, 4, 2, 4, Back)).effects(), [], "the other one");
}

#[test]
fn a_greater_candidate_is_passed_on_as_far_as_it_goes_and_answered_there() {
    for (way, next, last) in [(Forth, 5, 3), (Back, 3, 5)] {
        let mut process = start(4);
        for hops in 1..4 {
            process.message(last, probe(1, 6, 2, hops, way));
            assert_eq!(process.effects(), [sent(next, probe(1, 6, 2, hops + 1, way))]);
        }
        process.message(last, probe(1, 6, 2, 4, way));
        assert_eq!(process.effects(), [sent(last, reply(1, 6, 2, way.reversed()))]);
        process.message(last, probe(1, 6, 0, 1, way));
        assert_eq!(process.effects(), [sent(last, reply(1, 6, 0, way.reversed()))]);
        process.message(last, reply(1, 6, 2, way));
        assert_eq!(process.effects(), [sent(next, reply(1, 6, 2, way))]);
    }
}

#[test]
fn a_lesser_candidate_wakes_up_whoever_has_taken_no_part() {
    let mut process = start(4);
    assert_eq!(process.message(3, probe(1, 2, 0, 1, Forth)).effects(), probes(1, 0));
    assert_eq!(process.message(3, probe(1, 3, 0, 1, Forth)).effects(), [], "it stands already");
    let mut process = start(4);
    process.message(3, probe(1, 5, 1, 1, Forth));
    assert_eq!(process.message(3, probe(1, 3, 0, 1, Forth)).effects(), [], "5 is greater");
    assert_eq!(campaign(&mut process).effects(), [], "and needs no other");
    assert_eq!(process.message(3, reply(1, 3, 0, Forth)).effects(), [], "nobody's reply");
}

#[test]
fn a_newer_election_ends_a_candidacy() {
    let mut process = start(4);
    campaign(&mut process);
    assert_eq!(process.message(3, probe(2, 3, 0, 1, Forth)).effects(), probes(2, 0));
    process.message(5, reply(1, 4, 0, Back));
    assert_eq!(process.message(3, reply(1, 4, 0, Forth)).effects(), [], "late");
}

#[test]
fn a_recovered_process_learns_the_number_from_the_replies() {
    let mut process = boot(4, 2, Config::default());
    assert_eq!(process.effects(), probes(0, 0));
    let mut next = start(3);
    next.message(2, leads(6, 5));
    assert_eq!(
        next.message(4, probe(0, 4, 0, 1, Back)).effects(),
        [sent(4, reply(7, 4, 0, Forth))]
    );
    process.message(3, reply(7, 4, 0, Forth));
    assert_eq!(process.message(5, reply(7, 4, 0, Back)).effects(), probes(7, 1));
}

#[test]
fn a_lost_neighbour_is_replaced_on_its_side_if_it_had_not_replied() {
    let mut process = start(4);
    campaign(&mut process);
    assert_eq!(process.peer(5, Reach::Down).effects(), [sent(6, probe(1, 4, 0, 1, Forth))]);
    process.message(3, reply(1, 4, 0, Forth));
    assert_eq!(process.peer(3, Reach::Down).effects(), [], "that side has replied");
    process.message(6, reply(1, 4, 0, Back));
    assert_eq!(
        process.effects(),
        [sent(6, probe(1, 4, 1, 1, Forth)), sent(2, probe(1, 4, 1, 1, Back))]
    );
    assert_eq!(process.peer(2, Reach::Down).effects(), [sent(1, probe(1, 4, 1, 1, Back))]);
    let mut relay = start(4);
    relay.message(3, probe(1, 6, 1, 1, Forth));
    assert_eq!(relay.peer(3, Reach::Down).effects(), []);
}

#[test]
fn who_passed_on_a_candidate_that_is_gone_calls_the_next_election() {
    let mut process = start(4);
    process.message(3, probe(1, 7, 2, 1, Forth));
    process.peer(7, Reach::Down);
    assert_eq!(process.effects(), probes(2, 0));
}

#[test]
fn the_last_one_leads() {
    let mut process = start(4);
    campaign(&mut process);
    lose(&mut process, &[1, 2, 3, 5, 6, 7]);
    assert_eq!(process.leader(), Some(4));
}

#[test]
fn the_last_phase_is_not_passed() {
    let mut process = start(4);
    campaign(&mut process);
    for phase in 0..LAST {
        process.message(3, reply(1, 4, phase, Forth));
        process.message(5, reply(1, 4, phase, Back));
        assert_eq!(process.effects(), probes(1, phase + 1));
    }
    process.message(3, reply(1, 4, LAST, Forth));
    assert_eq!(process.message(5, reply(1, 4, LAST, Back)).effects(), []);
}

#[test]
fn messages_survive_the_wire_under_their_names() {
    let far = probe(u64::MAX, u64::MAX, LAST, 1 << LAST, Back);
    for (message, kind) in [
        (probe(1, 2, 0, 1, Forth), "probe"),
        (far, "probe"),
        (reply(1, 2, 3, Back), "reply"),
        (leads(1, 2), "announcement"),
    ] {
        assert_survives_the_wire(&message);
        assert_eq!(message.kind(), kind);
    }
}

#[test]
fn a_probe_that_went_too_far_is_none() {
    for (phase, hops) in [(0, 2), (2, 5), (LAST + 1, 1), (u8::MAX, 0)] {
        let notice = Notice { key: key(1), phase, way: Forth, hops: Some(hops).filter(|h| *h > 0) };
        assert_eq!(decoded::<Message<Notice>>(&bytes_of(&note(1, notice))), Err(Malformed));
    }
}

proptest! {
    #![proptest_config(fixed(256))]

    #[test]
    fn no_bytes_make_a_process_panic_and_what_is_read_is_written(
        packets in prop::collection::vec(
            (0..8_u64, 0..4_u8, 0..8_u8, (0..4_u8, 0..3_u8, 0..9_u8), any::<bool>(), 0..6_u8),
            1..60,
        ),
        incarnation in 1..3_u64,
    ) {
        let datagram = |(from, round, id, (phase, way, hops), news, then)| {
            let head = [round, 0, 0, 0, 0, 0, 0, 0, u8::from(news), 1, id, 0, 0, 0, 0, 0, 0, 0];
            let body = [phase, way, hops, 0, 0, 0, 0, 0, 0, 0];
            let bytes = if news { head.to_vec() } else { [&head[..], &body].concat() };
            (from, bytes, then)
        };
        let datagrams: Vec<Datagram> = packets.into_iter().map(datagram).collect();
        let mut process = boot(4, incarnation, Config::restless(Variant::HirschbergSinclair));
        deliver_all(&mut process, &datagrams, |process| {
            assert!(!process.is_quiet() || process.leader().is_some(), "nobody waits for ever");
        });
    }
}
