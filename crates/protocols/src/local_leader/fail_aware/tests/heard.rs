//! Which message of a peer is remembered.

use super::super::bound::{Bound, Clocks, RoundTrip};
use super::super::heard::{Heard, Life, Table};
use super::*;
use crate::testing::fixed;
use proptest::prelude::*;

const PEER: NodeId = NodeId(2);

/// Which of these messages of one life, in the order of their receipt, is remembered.
fn kept(drift_ppm: u32, stamps: &[(u64, u64)]) -> Heard {
    let mut table = Table::default();
    for &(sent, received) in stamps {
        let received = Instant::from_nanos(received);
        let heard = Heard { life: 1, sent: Instant::from_nanos(sent), received };
        assert_eq!(table.note(PEER, heard, drift_ppm, Rules::ALL), Life::Present);
    }
    let row = table.row(PEER).expect("something was heard");
    Heard { life: row.life, sent: row.sent, received: row.received }
}

fn heard(sent: u64, received: u64) -> Heard {
    Heard { life: 1, sent: Instant::from_nanos(sent), received: Instant::from_nanos(received) }
}

#[test]
fn a_slower_message_does_not_replace_a_faster_one_on_good_clocks() {
    assert_eq!(kept(0, &[(100, 1000), (200, 1101)]), heard(100, 1000));
    assert_eq!(kept(0, &[(100, 1000), (200, 1099)]), heard(200, 1099), "a faster one does");
    assert_eq!(kept(0, &[(100, 1000), (200, 1100)]), heard(200, 1100), "the younger of equals");
}

#[test]
fn a_slower_message_replaces_a_faster_one_that_has_grown_old() {
    // At 10 % a nanosecond of delay is worth 1.1 / 0.2 = 5.5 ns of age.
    let old = (1000, 1000);
    assert_eq!(kept(100_000, &[old, (1450, 1550)]), heard(1450, 1550), "100 slower, 550 younger");
    assert_eq!(kept(100_000, &[old, (1448, 1549)]), heard(1000, 1000), "101 slower, 549 younger");
}

#[test]
fn a_message_that_was_overtaken_does_not_replace_what_overtook_it() {
    for drift_ppm in [0, 200, 100_000, 1_000_000] {
        assert_eq!(kept(drift_ppm, &[(200, 1000), (199, 1000)]), heard(200, 1000));
        assert_eq!(kept(drift_ppm, &[(200, 1000), (100, 1010)]), heard(200, 1000));
    }
}

#[test]
fn the_dead_are_not_noted() {
    let mut table = Table::default();
    assert_eq!(
        table.note(PEER, Heard { life: 2, ..heard(100, 1000) }, 0, Rules::ALL),
        Life::Present
    );
    let before = table.clone();
    assert_eq!(table.note(PEER, heard(5000, 1001), 0, Rules::ALL), Life::Former);
    assert_eq!(table, before);
    assert_eq!(table.note(PEER, Heard { life: 3, ..heard(1, 1002) }, 0, Rules::ALL), Life::New);
}

fn drift() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 0..1000_u32, 0..1_000_000_u32]
}

proptest! {
    #![proptest_config(fixed(2000))]

    #[test]
    fn no_message_ever_heard_would_give_a_smaller_bound_than_the_one_kept(
        messages in prop::collection::vec((0..2000_u64, 0..500_u64), 1..12),
        (wait, way_back) in (0..100_000_u64, 0..100_000_u64),
        drift_ppm in drift(),
        fastest in 0..50_u64,
    ) {
        let mut now = 0;
        let mut stamps = Vec::new();
        for (sent, gap) in messages {
            now += gap;
            stamps.push((sent, now));
        }
        let (c, d) = (Instant::from_nanos(now + wait), Instant::from_nanos(2000 + wait + way_back));
        let bound = |heard: Heard| {
            let trip = RoundTrip::new(heard.sent, heard.received, c, d).expect("time goes on");
            let clocks = Clocks { drift_ppm, error: Duration::ZERO };
            let fastest = Duration::from_nanos(fastest);
            Bound { trip, clocks, fastest, outward: true }.longest()
        };
        let least = stamps.iter().map(|&(sent, received)| bound(heard(sent, received))).min();
        prop_assert_eq!(Some(bound(kept(drift_ppm, &stamps))), least);
    }

    #[test]
    fn no_stamps_make_it_panic(
        stamps in prop::collection::vec((any::<u64>(), any::<u64>()), 1..5),
        drift_ppm in any::<u32>(),
    ) {
        kept(drift_ppm, &stamps);
    }
}
