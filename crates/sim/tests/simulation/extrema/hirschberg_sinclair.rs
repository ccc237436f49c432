//! The counts of Hirschberg-Sinclair.

use super::support::{ascending, descending, ring, shuffled};
use crate::support::count::Count;
use bellwether_core::Duration;
use bellwether_protocols::ring::{HirschbergSinclair, Variant};
use bellwether_sim::Plan;
use bellwether_sim::network::{Delay, Loss, Network};

fn count(plan: &Plan, case: &str) -> Count {
    super::support::count::<HirschbergSinclair>(Variant::HirschbergSinclair, plan, case)
}

fn assert_counts(count: &Count, [probe, reply, announcement]: [u64; 3], case: &str) {
    count.assert([("probe", probe), ("reply", reply), ("announcement", announcement)], case);
}

/// All call at once, in an order that was worked out by hand.
fn assert_worked_out(order: &[u32], probe: u64, reply: u64) {
    let n = order.len() as u32;
    let case = format!("{order:?}");
    assert_counts(&count(&ring(order, 0..n), &case), [probe, reply, n.into()], &case);
}

/// 0 1 2 3 4 5 6 7, and backwards, which is its mirror image.
///
/// * Phase 0, all stand: 16 probes. 0 to 6 are stopped on one side, 0 on the other too (by 7), so
///   the others are answered on that side: 6 replies. 7 is answered twice: 8 replies.
/// * Phase 1, 7 alone: 2 hops each way, 4 probes, 4 replies. Phase 2: 8 probes, 8 replies.
/// * Phase 3: 8 hops would do, and that is once round, both ways: 16 probes.
#[test]
fn ascending_and_descending() {
    assert_worked_out(&ascending(8), 16 + 4 + 8 + 16, 8 + 4 + 8);
    assert_worked_out(&descending(8), 16 + 4 + 8 + 16, 8 + 4 + 8);
}

/// 0 4 2 6 1 5 3 7: the bits of the place reversed.
///
/// * Phase 0, all stand: 16 probes. 4, 6, 5 and 7 stand between two lesser ones: 8 replies. The
///   others are stopped on both sides.
/// * Phase 1, these four, up to 2 hops: 4 has 2 6 on one side, where 6 stops it after 2 hops, and
///   0 7 on the other, where 7 does: 4 probes, no reply. 6 has 1 5 and 2 4: 4 probes, 4 replies.
///   5 has 3 7 and 1 6: 4 probes, no reply. 7 has 0 4 and 3 5: 4 probes, 4 replies.
/// * Phase 2, 6 and 7, up to 4 hops: 7 is 4 away from 6 both ways, so 6 sends 8 probes and gets no
///   reply. 7 sends 8 probes, and 6 sends it both replies: 8.
/// * Phase 3: 7 goes round both ways, 16 probes.
#[test]
fn reversed_bits() {
    assert_worked_out(&[0, 4, 2, 6, 1, 5, 3, 7], 16 + 16 + 16 + 16, 8 + 8 + 8);
}

/// 0 4 1 5 2 6 3 7: small and large by turns.
///
/// * Phase 0, all stand: 16 probes; 4 to 7 stand between two lesser ones: 8 replies.
/// * Phase 1, these four, up to 2 hops, where the next large one is: 4 is stopped by 5 and by 7,
///   5 by 6 and answered by 4, 6 by 7 and answered by 5, 7 answered by 4 and 6. 16 probes, and
///   2 + 2 + 4 = 8 replies.
/// * Phase 2, 7 alone: 8 probes, 8 replies. Phase 3: 16 probes.
#[test]
fn small_and_large_by_turns() {
    assert_worked_out(&[0, 4, 1, 5, 2, 6, 3, 7], 16 + 16 + 8 + 16, 8 + 8 + 8);
}

/// The smallest rings.
///
/// * Two: 4 probes in phase 0, both of 1's are answered; in phase 1 both go round, 2 hops each.
/// * Three, 0 1 2: 6 probes in phase 0; 1 is answered by 0, 2 by 1 and by 0: 3 replies. In phase 1
///   2 goes 2 hops both ways, past 0 to 1 and past 1 to 0: 4 probes and 4 replies. Phase 2: 6
///   probes go round.
#[test]
fn two_and_three() {
    assert_worked_out(&[0, 1], 4 + 4, 2);
    assert_worked_out(&[0, 1, 2], 6 + 4 + 6, 3 + 4);
}

/// The number of probes and replies if all stand from the start: each looks both ways for a greater
/// process, up to 2^k away.
fn by_the_book(order: &[u32]) -> (u64, u64) {
    let n = order.len();
    let (mut probes, mut replies) = (0, 0);
    for (place, me) in order.iter().enumerate() {
        // The distance of the first greater one, either way; n if there is none.
        let far = |step: usize| {
            let greater = |hops: &usize| order[(place + hops * step) % n] > *me;
            (1..n).find(greater).unwrap_or(n)
        };
        let far = [far(1), far(n - 1)];
        for phase in 0.. {
            let reach = 1_usize << phase;
            probes += far.iter().map(|far| *far.min(&reach) as u64).sum::<u64>();
            replies += far.iter().filter(|far| **far > reach).count() as u64 * reach as u64;
            if far.iter().any(|far| *far <= reach) {
                break;
            }
        }
    }
    (probes, replies)
}

#[test]
fn in_any_order_as_many_as_the_phases_need_and_less_than_the_bound() {
    for nodes in 2..=40 {
        let n = u64::from(nodes);
        let bound = 8 * n * (1 + u64::from(n.next_power_of_two().ilog2()));
        for seed in 0..20 {
            let order = shuffled(nodes, seed);
            let case = format!("{order:?}");
            let count = count(&ring(&order, 0..nodes), &case);
            let (probes, replies) = by_the_book(&order);
            assert_counts(&count, [probes, replies, n], &case);
            assert!(probes + replies <= bound, "{case}: more than {bound}");
        }
    }
}

#[test]
fn large_rings_are_within_the_bound() {
    for nodes in [1_000_u32, 1_024, 1_025] {
        let n = u64::from(nodes);
        let bits = u64::from(n.next_power_of_two().ilog2());
        for order in [ascending(nodes), shuffled(nodes, 5)] {
            let count = count(&ring(&order, 0..nodes), "a large ring");
            let found = count.of("probe") + count.of("reply");
            assert!(found <= 8 * n * (1 + bits), "{nodes}: {found}");
            assert!(found > 4 * n, "{nodes}: {found}");
        }
    }
}

#[test]
fn whoever_calls_the_greatest_wins() {
    for nodes in 1..=33 {
        for seed in 0..4 {
            let order = shuffled(nodes, seed);
            for caller in 0..nodes {
                let case = format!("{order:?}, {caller} calls");
                let count = count(&ring(&order, [caller]), &case);
                let (probes, replies) = by_the_book(&order);
                let found = count.of("probe") + count.of("reply");
                assert!(found <= probes + replies, "{case}: who need not stand costs nothing");
            }
        }
    }
}

/// 0 1 2 3 4 5 6 7, and 7 calls: it probes distances 1, 2 and 4 and gets 2 + 4 + 8 replies, then
/// its probe goes around.
#[test]
fn the_greatest_alone_calls() {
    let case = "the greatest calls";
    let count = count(&ring(&ascending(8), [7]), case);
    assert_counts(&count, [2 + 4 + 8 + 16, 2 + 4 + 8, 8], case);
}

#[test]
fn messages_that_overtake_change_nothing_about_the_winner() {
    let delay = Delay::Exponential { min: Duration::ZERO, mean: Duration::from_millis(100) };
    for seed in 0..200 {
        let order = shuffled(17, seed);
        let network = Network::uniform(delay.clone(), Loss::None);
        let case = format!("{order:?}");
        count(&Plan { network: network.clone(), ..ring(&order, 0..17) }, &case);
        count(&Plan { network, ..ring(&order, [3, 11]) }, &case);
    }
}

#[test]
fn the_dead_are_skipped_both_ways() {
    let order = [8, 0, 1, 9, 2, 3, 10, 4, 5, 6, 11, 7];
    let absent = vec![8, 9, 10, 11];
    let plan = Plan { absent, detection: Some(Duration::ZERO), ..ring(&order, 0..8) };
    let case = "0 to 7 in ascending order, and four that are not there";
    assert_counts(&count(&plan, case), [16 + 4 + 8 + 16, 8 + 4 + 8, 8], case);
}
