//! One fault at any moment.

use super::support::{ascending, calm, descending, params, ring, run, shuffled};
use crate::support::count::{assert_led_by, leaders};
use crate::support::{campaign, crash, fault, restart};
use bellwether_core::{Duration, Protocol};
use bellwether_protocols::ring::{ChangRoberts, Config, HirschbergSinclair, Params, Variant};
use bellwether_sim::{Fault, Plan, Timed, Who};

const RETRY: Duration = Duration::from_millis(200);

fn resign(millis: u64) -> Timed {
    fault(millis, Fault::Resign { node: Who::Leader })
}

/// Runs it with both searches.
fn assert_both(retry: Duration, plan: &Plan, leader: u32, case: &str) {
    fn one<P: Protocol<Params = Params>>(
        variant: Variant,
        retry: Duration,
        plan: &Plan,
        leader: u32,
        case: &str,
    ) {
        let (_, world) = run::<P>(params(Config { retry, ..calm(variant) }), plan);
        assert_led_by(leader, &world, plan.nodes, &format!("{}, {case}", P::NAME));
    }
    one::<ChangRoberts>(Variant::ChangRoberts, retry, plan, leader, case);
    one::<HirschbergSinclair>(Variant::HirschbergSinclair, retry, plan, leader, case);
}

/// A ring with these faults after the call of the least; all are told after this delay.
fn told(order: &[u32], faults: Vec<Timed>, detection: u64) -> Plan {
    let detection = Some(Duration::from_millis(detection));
    let faults = [vec![campaign(0, 0)], faults].concat();
    Plan { faults, detection, ..ring(order, []) }
}

#[test]
fn anyone_may_crash_at_any_moment_of_an_election() {
    for order in [ascending(6), descending(6), shuffled(6, 2)] {
        for node in 0..6 {
            for moment in (0..2_500).step_by(50) {
                for detection in [0, 30, 350] {
                    let case = format!("{order:?}, {node} crashes at {moment}, told {detection}");
                    let plan = told(&order, vec![crash(moment, node)], detection);
                    let leader = if node == 5 { 4 } else { 5 };
                    assert_both(RETRY, &plan, leader, &case);
                }
            }
        }
    }
}

#[test]
fn anyone_may_come_back() {
    for order in [ascending(6), shuffled(6, 3)] {
        for node in 0..6 {
            for moment in (10..1_500).step_by(170) {
                for gone in [20, 400, 9_000] {
                    for detection in [0, 350] {
                        let faults = vec![crash(moment, node), restart(moment + gone, node)];
                        let case =
                            format!("{order:?}, {node} gone at {moment} for {gone}, {detection}");
                        assert_both(RETRY, &told(&order, faults, detection), 5, &case);
                    }
                }
            }
        }
    }
}

/// Nobody crashes and nobody is told anything: a message is lost, and only a retry helps.
#[test]
fn what_is_lost_is_tried_again_and_without_that_the_election_never_ends() {
    for order in [ascending(6), descending(6), shuffled(6, 7)] {
        for (lost, from) in order.iter().enumerate() {
            let to = order[(lost + 1) % order.len()];
            let cut = |from: u32, to: u32| fault(0, Fault::Cut { from: vec![from], to: vec![to] });
            let faults =
                vec![cut(*from, to), cut(to, *from), campaign(0, 0), fault(950, Fault::Heal)];
            let plan = Plan { faults, ..ring(&order, []) };
            let case = format!("{order:?}, cut between {from} and {to}");
            assert_both(RETRY, &plan, 5, &case);
            let never = params(calm(Variant::ChangRoberts));
            let (_, world) = run::<ChangRoberts>(never, &plan);
            let named = leaders(&world, plan.nodes);
            assert!(named.contains(&None), "{case}: without trying again somebody is left out");
        }
    }
}

#[test]
fn a_leader_that_retires_is_replaced_by_the_next_best_and_stays() {
    for order in [ascending(6), descending(6), shuffled(6, 4)] {
        let never = Duration::MAX;
        let case = format!("{order:?}");
        assert_both(never, &told(&order, vec![resign(10_000)], 0), 4, &case);
        assert_both(never, &told(&order, vec![resign(10_000), resign(20_000)], 0), 3, &case);
        let back = vec![resign(10_000), campaign(20_000, 5)];
        assert_both(never, &told(&order, back, 0), 5, &case);
        let gone = (0..5).map(|node| crash(20_000, node));
        let last = [resign(10_000)].into_iter().chain(gone).collect();
        assert_both(never, &told(&order, last, 0), 5, "nobody else is left");
    }
}

#[test]
fn a_leader_that_leaves_or_crashes_is_replaced_without_a_time_out() {
    for order in [ascending(6), descending(6), shuffled(6, 5)] {
        let leave = fault(10_000, Fault::Leave { node: Who::Leader });
        for (end, detection) in [(leave.clone(), 0), (leave, 350), (crash(10_000, 5), 350)] {
            let case = format!("{order:?}, {end:?}");
            assert_both(Duration::MAX, &told(&order, vec![end], detection), 4, &case);
        }
    }
}

#[test]
fn one_that_comes_back_holds_an_election_without_a_time_out() {
    for order in [ascending(6), descending(6), shuffled(6, 6)] {
        for node in 0..6 {
            let faults = vec![crash(10_000, node), restart(20_000, node)];
            let case = format!("{order:?}, {node} comes back");
            assert_both(Duration::MAX, &told(&order, faults, 0), 5, &case);
        }
    }
}
