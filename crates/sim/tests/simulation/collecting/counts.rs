//! The counts of the literature.

use super::support::{BOTH, HOP, assert_counts, assert_right, at, campaign, plan, run, trusting};
use crate::support::count::leaders;
use bellwether_core::Duration;
use bellwether_protocols::ring::{Config, Variant};
use bellwether_sim::{Fault, Order, Plan, Who};

const SIZES: [u32; 10] = [2, 3, 4, 5, 7, 8, 16, 33, 64, 100];
const ORDERS: [Order; 3] = [Order::Ascending, Order::Descending, Order::Random];

/// Checks one plan, in every order.
fn in_all_orders(config: Config, plan: &Plan, elections: u64, coordinators: u64) {
    for order in ORDERS {
        for seed in 0..3 {
            let case = format!("{:?} of {} in {order:?}", config.variant, plan.nodes);
            let (count, world) = run(config, &Plan { order: order.clone(), ..plan.clone() }, seed);
            assert_counts(&count, elections, coordinators, &case);
            assert_right(&world, plan.nodes, &case);
        }
    }
}

#[test]
fn one_initiator_costs_two_rounds_whoever_it_is() {
    for variant in BOTH {
        for nodes in SIZES {
            let n = u64::from(nodes);
            for start in [0, nodes / 2, nodes - 1] {
                let plan = Plan { faults: vec![campaign(0, start)], ..plan(nodes) };
                in_all_orders(trusting(variant), &plan, n, n);
            }
        }
    }
}

#[test]
fn the_dead_are_skipped_and_cost_nothing() {
    for variant in BOTH {
        for nodes in SIZES {
            for absent in [vec![nodes - 1], vec![0], (1..nodes).collect(), (0..nodes / 2).collect()]
            {
                let live = u64::from(nodes) - absent.len() as u64;
                let start = (0..nodes).find(|node| !absent.contains(node)).expect("one is left");
                let faults = vec![campaign(0, start)];
                let plan = Plan { absent, faults, ..plan(nodes) };
                let cost = if live == 1 { 0 } else { live };
                in_all_orders(trusting(variant), &plan, cost, cost);
            }
        }
    }
}

#[test]
fn plain_initiators_do_not_mind_each_other() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        for step in [1, 2, 5] {
            // At once, and while the elections of others are in progress.
            for apart in [0, 30_000, 250_000] {
                let starts = (0..nodes).step_by(step);
                let faults: Vec<_> =
                    (0..).zip(starts).map(|(i, node)| campaign(i * apart, node)).collect();
                let k = faults.len() as u64;
                let plan = Plan { faults, ..plan(nodes) };
                in_all_orders(trusting(Variant::Ring), &plan, k * n, k * n);
            }
        }
    }
}

/// All call an election before any message arrives, in this order.
fn all_call(nodes: u32, sequence: &[u32]) -> Plan {
    let faults = (0..).zip(sequence).map(|(i, node)| campaign(i, *node)).collect();
    Plan { faults, ..plan(nodes) }
}

fn at_once(nodes: u32) -> Plan {
    Plan { faults: (0..nodes).map(|node| campaign(0, node)).collect(), ..plan(nodes) }
}

#[test]
fn all_but_the_oldest_message_end_at_the_next_process_at_best() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        let against: Vec<u32> = (0..nodes).rev().collect();
        // At equal times the lesser id is the older.
        let at_once = Plan { order: Order::Descending, ..at_once(nodes) };
        for plan in [all_call(nodes, &against), at_once] {
            let (count, world) = run(trusting(Variant::Merea), &plan, 0);
            let case = format!("{nodes} processes in {:?}", plan.order);
            assert_counts(&count, 2 * n - 1, n, &case);
            assert_eq!(count.total(), 3 * n - 1, "{case}");
            assert_right(&world, nodes, &case);
        }
    }
}

#[test]
fn all_messages_end_where_the_oldest_began_at_worst() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        let along: Vec<u32> = (0..nodes).collect();
        for plan in [all_call(nodes, &along), at_once(nodes)] {
            let (count, world) = run(trusting(Variant::Merea), &plan, 0);
            let case = format!("{nodes} processes");
            assert_counts(&count, n * (n - 1) / 2 + n, n, &case);
            assert_eq!(count.total(), (n * n + 3 * n) / 2, "{case}");
            assert_right(&world, nodes, &case);
            let (plain, _) = run(trusting(Variant::Ring), &plan, 0);
            assert_eq!(plain.total(), 2 * n * n, "{case}, the plain ring");
        }
    }
}

#[test]
fn in_random_order_it_costs_n_times_the_harmonic_number_and_n() {
    const RUNS: u64 = 2_000;
    for nodes in [5, 20, 60] {
        let n = f64::from(nodes);
        let plan = Plan { order: Order::Random, ..at_once(nodes) };
        let total = |seed| run(trusting(Variant::Merea), &plan, seed).0.total() as f64;
        let totals: Vec<f64> = (0..RUNS).map(total).collect();
        let runs = RUNS as f64;
        let mean = totals.iter().sum::<f64>() / runs;
        let variance = totals.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (runs - 1.0);
        let harmonic: f64 = (1..=nodes).map(|i| 1.0 / f64::from(i)).sum();
        let expected = n * harmonic + n;
        let error = (variance / runs).sqrt();
        let off = (mean - expected).abs() / error;
        assert!(off < 3.0, "{nodes}: {mean} ± {error}, not {expected}");
    }
}

#[test]
fn a_retired_leader_costs_one_more_election() {
    for variant in BOTH {
        for nodes in SIZES {
            let n = u64::from(nodes);
            let resign = Fault::Resign { node: Who::Leader };
            let faults = vec![campaign(0, 0), at(100_000_000, resign)];
            for order in ORDERS {
                let plan = Plan { faults: faults.clone(), order, ..plan(nodes) };
                let (count, world) = run(trusting(variant), &plan, 1);
                let case = format!("{variant:?} of {nodes}");
                assert_counts(&count, 2 * n, 2 * n, &case);
                let named = leaders(&world, nodes);
                assert_eq!(named, vec![Some(n - 2); nodes as usize], "{case}");
            }
        }
    }
}

#[test]
fn a_time_out_that_is_long_enough_changes_nothing() {
    for variant in BOTH {
        let retry = Duration::from_millis(HOP + 1);
        let config = Config { retry, call_after: retry * 300, ..trusting(variant) };
        for nodes in SIZES {
            let n = u64::from(nodes);
            let plan = Plan { faults: vec![campaign(0, 0)], ..plan(nodes) };
            in_all_orders(config, &plan, n, n);
        }
    }
}

/// The list belongs to the message, not to the processes: with O(N²) memory this would not end.
#[test]
fn a_large_ring_is_as_easy_as_a_small_one() {
    let nodes = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    for variant in BOTH {
        let plan = Plan { faults: vec![campaign(0, 0)], order: Order::Random, ..plan(nodes) };
        let (count, world) = run(trusting(variant), &plan, 0);
        assert_counts(&count, nodes.into(), nodes.into(), "a large ring");
        assert_right(&world, nodes, "a large ring");
    }
}
