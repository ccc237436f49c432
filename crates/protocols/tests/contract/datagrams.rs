//! No bytes make a protocol panic, whoever sends them and whenever they come.

use crate::group::{Clocks, Group};
use crate::rows::{Row, rows};
use bellwether_core::{
    Boot, Duration, Env, Instant, Members, Message, NodeId, Protocol, Reach, Reader, Seeded,
    Visitor, endpoint,
};
use proptest::prelude::*;
use std::sync::OnceLock;

/// Real messages of a protocol, as bytes.
struct Samples;

impl Visitor for Samples {
    type Output = Vec<Vec<u8>>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Vec<u8>> {
        let mut group = Group::<P>::new(3, params, Clocks::Agree);
        group.story();
        let bytes = |message: &P::Message| {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            bytes
        };
        group.samples().values().flatten().map(bytes).collect()
    }
}

/// All rows with their samples.
fn known() -> &'static [(Row, Vec<Vec<u8>>)] {
    static KNOWN: OnceLock<Vec<(Row, Vec<Vec<u8>>)>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let with_samples = |row: Row| {
            let samples = row.choice.clone().visit(Samples);
            (row, samples)
        };
        rows().into_iter().map(with_samples).collect()
    })
}

/// A datagram and when it comes.
#[derive(Clone, Debug)]
struct Datagram {
    from: u64,
    bytes: Vec<u8>,
    after: u64,
}

struct TakesAnyBytes<'a> {
    datagrams: &'a [Datagram],
}

impl Visitor for TakesAnyBytes<'_> {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let peers = Members::from_iter([2, 3].map(NodeId));
        let (mut now, mut luck) = (Instant::ZERO, Seeded::new(3));
        let mut env = Env { now, peers: &peers, entropy: &mut luck };
        let mut process = endpoint::<P>(Boot::first(NodeId(1)), &mut env, params);
        process.peer(NodeId(2), Reach::Up, &mut env);
        process.peer(NodeId(3), Reach::Up, &mut env);
        for Datagram { from, bytes, after } in self.datagrams {
            now += Duration::from_nanos(*after);
            env.now = now;
            let readable = P::Message::decode(&mut Reader::new(bytes)).is_ok();
            let taken = process.datagram(NodeId(*from), bytes, &mut env).is_ok();
            assert!(readable || !taken, "what cannot be read cannot be taken");
            process.timeout(&mut env);
            while process.poll_output().is_some() {}
            assert!(process.leadership(now).until > now);
        }
    }
}

/// Each message takes the place of each other one.
struct Moves<'a> {
    samples: &'a [Vec<u8>],
}

impl Visitor for Moves<'_> {
    type Output = ();

    fn visit<P: Protocol>(self, _params: P::Params) {
        let read = |bytes: &Vec<u8>| P::Message::decode(&mut Reader::new(bytes)).ok();
        let messages: Vec<P::Message> = self.samples.iter().filter_map(read).take(40).collect();
        assert!(!messages.is_empty(), "{} sends something", P::NAME);
        for message in &messages {
            assert_eq!(&message.clone().take(), message);
            for other in &messages {
                let (mut moved, mut place) = (message.clone(), other.clone());
                moved.move_into(&mut place);
                assert_eq!(&place, message, "in the place of {other:?}");
            }
        }
    }
}

#[test]
fn a_message_is_the_same_wherever_it_is_moved() {
    for (row, samples) in known() {
        row.choice.clone().visit(Moves { samples });
    }
}

/// Anything, small numbers (of which more get past a decoder), or a real message, whole or with one
/// byte made another.
fn any_datagram(samples: Vec<Vec<u8>>) -> impl Strategy<Value = Datagram> {
    let spoilt = (prop::sample::select(samples.clone()), any::<prop::sample::Index>(), any::<u8>());
    let spoilt = spoilt.prop_map(|(mut bytes, place, byte)| {
        if !bytes.is_empty() {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes
    });
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        prop::collection::vec(0..5_u8, 0..80),
        spoilt,
        prop::sample::select(samples),
    ];
    let after = prop_oneof![0..10_u64, 0..2_000_000_000_u64];
    (0..5_u64, bytes, after).prop_map(|(from, bytes, after)| Datagram { from, bytes, after })
}

fn any_datagrams() -> impl Strategy<Value = (usize, Vec<Datagram>)> {
    (0..known().len()).prop_flat_map(|row| {
        let samples = known()[row].1.clone();
        (Just(row), prop::collection::vec(any_datagram(samples), 1..40))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_bytes_make_a_protocol_panic((row, datagrams) in any_datagrams()) {
        known()[row].0.choice.clone().visit(TakesAnyBytes { datagrams: &datagrams });
    }
}
