//! Messages whose initiator has crashed, and messages lost with the process that held them.

use super::support::{
    BOTH, HOP, assert_counts, assert_right, at, campaign, crash, plan, run, trusting,
};
use crate::support::count::leaders;
use crate::support::{ms, node};
use bellwether_core::Duration;
use bellwether_protocols::ring::{Config, Variant};
use bellwether_sim::{Disk, Fault, Order, Plan, Timed};

/// A hop, in microseconds.
const STEP: u64 = HOP * 1_000;

fn restart(micros: u64, number: u32) -> Timed {
    at(micros, Fault::Restart { node: node(number), disk: Disk::Kept, reboot: false })
}

/// A hop is given up after this; then the election is held again.
fn careful(variant: Variant) -> Config {
    Config { retry: ms(HOP * 2), ..trusting(variant) }
}

#[test]
fn the_message_of_a_dead_initiator_is_retired_and_its_election_held_by_the_next() {
    for variant in BOTH {
        for nodes in 3..=9 {
            let n = u64::from(nodes);
            // Its message has reached process `met` when process 0 crashes.
            for met in 1..nodes {
                let faults = vec![campaign(0, 0), crash(u64::from(met) * STEP + 1, 0)];
                let plan = Plan { faults, ..plan(nodes) };
                let (count, world) = run(trusting(variant), &plan, 0);
                let case = format!("{variant:?} of {nodes}, met {met}");
                assert_right(&world, nodes, &case);
                // Its own message comes around to the next process, whether that is told at once or
                // not, unless it was on its way to the dead one.
                assert_counts(&count, n + n - 1, n - 1, &case);
            }
        }
    }
}

#[test]
fn a_dead_initiators_announcement_is_retired_once_it_has_gone_round() {
    for variant in BOTH {
        for nodes in 3..=9 {
            let n = u64::from(nodes);
            for met in 1..nodes {
                let faults = vec![campaign(0, 0), crash((n + u64::from(met)) * STEP + 1, 0)];
                let plan = Plan { faults, ..plan(nodes) };
                let (count, world) = run(trusting(variant), &plan, 0);
                let case = format!("{variant:?} of {nodes}, met {met}");
                assert_right(&world, nodes, &case);
                assert_counts(&count, n, n, &case);
            }
        }
    }
}

#[test]
fn whoever_stood_back_for_a_dead_initiator_stands_back_for_its_heir() {
    // 2 holds a younger election, whose message 0 destroys; then 0 crashes.
    for after in [3, 4] {
        let faults = vec![campaign(0, 0), campaign(1, 2), crash(after * STEP + 1, 0)];
        let plan = Plan { faults, ..plan(5) };
        let (_, world) = run(trusting(Variant::Merea), &plan, 0);
        assert_right(&world, 5, "without any time-out");
    }
}

/// Any process crashes at any moment of an election, with or without a restart; the others are told
/// soon or late. All moments, all processes.
#[test]
fn a_message_that_is_lost_with_its_holder_is_sent_again() {
    for variant in BOTH {
        for nodes in 2..=5 {
            for (initiators, victim) in cases(nodes) {
                for half in 0..=4 * u64::from(nodes) {
                    for (detection, back) in [(0, false), (30, true), (250, false), (250, true)] {
                        let mut faults = initiators.clone();
                        let when = half * STEP / 2 + 1_000;
                        faults.push(crash(when, victim));
                        if back {
                            faults.push(restart(when + 5 * STEP + 7, victim));
                        }
                        let detection = Some(ms(detection));
                        let plan = Plan { faults, detection, ..plan(nodes) };
                        let (_, world) = run(careful(variant), &plan, 0);
                        let case = format!("{variant:?} {plan:?}");
                        if half > 0 || initiators.len() > 1 || back {
                            assert_right(&world, nodes, &case);
                        }
                    }
                }
            }
        }
    }
}

/// The initiators, and the process that crashes.
fn cases(nodes: u32) -> Vec<(Vec<Timed>, u32)> {
    let mut cases = Vec::new();
    for victim in 0..nodes {
        for start in 0..nodes {
            cases.push((vec![campaign(0, start)], victim));
            if start > 0 {
                cases.push((vec![campaign(0, start), campaign(500, 0)], victim));
            }
        }
    }
    cases
}

#[test]
fn the_loss_of_the_leader_calls_everyone() {
    for variant in BOTH {
        for nodes in [2, 3, 8, 33] {
            let n = u64::from(nodes);
            let top = nodes - 1;
            let faults = vec![campaign(0, 0), crash(3 * n * STEP, top)];
            for order in [Order::Ascending, Order::Descending, Order::Random] {
                let plan = Plan { faults: faults.clone(), order: order.clone(), ..plan(nodes) };
                let (count, world) = run(trusting(variant), &plan, 3);
                let case = format!("{variant:?} of {nodes} in {order:?}");
                assert_right(&world, nodes, &case);
                let left = n - 1;
                if variant == Variant::Ring && left > 1 {
                    assert_eq!(count.total(), 2 * n + 2 * left * left, "{case}");
                }
            }
        }
    }
}

#[test]
fn who_comes_back_holds_an_election_and_finds_the_living() {
    for variant in BOTH {
        for nodes in [2_u32, 3, 8] {
            let (n, top) = (u64::from(nodes), nodes - 1);
            // The successors of the greatest are dead; it is told so only after it began.
            let dead: Vec<u32> = (0..nodes.saturating_sub(2).min(3)).collect();
            let mut faults = vec![crash(1_000, top)];
            faults.push(restart(10 * n * STEP, top));
            let plan = Plan { faults, absent: dead, ..plan(nodes) };
            let (_, world) = run(trusting(variant), &plan, 0);
            assert_right(&world, nodes, &format!("{variant:?} of {nodes}"));
        }
    }
}

#[test]
fn the_patient_wait_for_a_leader_no_longer_than_they_must() {
    for variant in BOTH {
        let retry = ms(HOP * 2);
        let config = Config { call_after: Duration::from_secs(3), retry, ..trusting(variant) };
        let (count, world) = run(config, &plan(4), 0);
        assert_right(&world, 4, "nobody called");
        assert!(count.total() >= 8, "{count:?}");
        assert_eq!(leaders(&world, 4), [Some(3); 4]);
    }
}
