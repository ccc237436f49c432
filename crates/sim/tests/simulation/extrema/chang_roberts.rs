//! The counts of Chang-Roberts.

use super::support::{ascending, calm, descending, params, ring, shuffled};
use crate::support::count::Count;
use bellwether_core::{Duration, Entropy, Seeded};
use bellwether_protocols::ring::{ChangRoberts, Variant};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Order, Plan, RunSeed, World};

fn count(plan: &Plan, case: &str) -> Count {
    super::support::count::<ChangRoberts>(Variant::ChangRoberts, plan, case)
}

fn assert_counts(count: &Count, election: u64, announcement: u64, case: &str) {
    count.assert([("election", election), ("announcement", announcement)], case);
}

#[test]
fn all_call_at_once_in_the_best_and_the_worst_order() {
    for nodes in 2..=64 {
        let n = u64::from(nodes);
        let case = format!("{nodes} processes");
        let best = count(&ring(&ascending(nodes), 0..nodes), &case);
        assert_counts(&best, 2 * n - 1, n, &format!("{case}, each before the next greater"));
        let worst = count(&ring(&descending(nodes), 0..nodes), &case);
        assert_counts(&worst, n * (n + 1) / 2, n, &format!("{case}, the other way round"));
    }
}

#[test]
fn the_named_orders_of_a_plan_are_the_best_and_the_worst() {
    let all = |nodes| ring(&ascending(nodes), 0..nodes);
    let best = count(&Plan { order: Order::Ascending, ..all(20) }, "ascending");
    assert_counts(&best, 39, 20, "ascending");
    let worst = count(&Plan { order: Order::Descending, ..all(20) }, "descending");
    assert_counts(&worst, 210, 20, "descending");
}

#[test]
fn one_calls() {
    for nodes in 2..=64 {
        let n = u64::from(nodes);
        for order in [ascending(nodes), descending(nodes), shuffled(nodes, n)] {
            let top = order.iter().position(|node| *node == nodes - 1).expect("it is there");
            for (place, caller) in order.iter().enumerate() {
                // On its way to the greatest the message changes its candidate, but does not stop.
                let way = (top + order.len() - place) % order.len();
                let case = format!("{order:?}, {caller} calls");
                assert_counts(&count(&ring(&order, [*caller]), &case), way as u64 + n, n, &case);
            }
        }
    }
}

/// The number of Election messages if every message takes one unit of time: only the rules of the
/// paper, unit by unit.
fn by_the_book(order: &[u32], callers: &[u32]) -> u64 {
    let n = order.len();
    let mut part: Vec<bool> = order.iter().map(|node| callers.contains(node)).collect();
    let mut held: Vec<Vec<u32>> = order
        .iter()
        .map(|node| if callers.contains(node) { vec![*node] } else { vec![] })
        .collect();
    let mut sent = 0;
    while held.iter().any(|messages| !messages.is_empty()) {
        let mut next = vec![Vec::new(); n];
        for (place, messages) in held.iter().enumerate() {
            for candidate in messages {
                sent += 1;
                let to = (place + 1) % n;
                let me = order[to];
                if *candidate > me {
                    next[to].push(*candidate);
                } else if *candidate < me && !part[to] {
                    next[to].push(me);
                }
                part[to] = true;
            }
        }
        held = next;
    }
    sent
}

#[test]
fn several_call() {
    let mut luck = Seeded::new(1);
    for seed in 0..300 {
        let nodes = 2 + luck.below(40) as u32;
        let order = shuffled(nodes, seed);
        let callers: Vec<u32> = shuffled(nodes, !seed)
            .into_iter()
            .take(1 + luck.below(u64::from(nodes)) as usize)
            .collect();
        let case = format!("{order:?}, {callers:?} call");
        let election = by_the_book(&order, &callers);
        let count = count(&ring(&order, callers), &case);
        assert_counts(&count, election, u64::from(nodes), &case);
    }
}

#[test]
fn the_dead_are_skipped_and_cost_nothing() {
    for (absent, live) in [(vec![9], 9), (vec![0, 1, 2], 7), (vec![4, 9, 5], 7)] {
        let callers = (0..10).filter(|node| !absent.contains(node));
        for (order, election) in
            [(ascending(10), 2 * live - 1), (descending(10), live * (live + 1) / 2)]
        {
            let detection = Some(Duration::ZERO);
            let all = ring(&order, callers.clone());
            let plan = Plan { absent: absent.clone(), detection, ..all };
            let case = format!("{order:?} without {absent:?}");
            assert_counts(&count(&plan, &case), election, live, &case);
        }
    }
}

#[test]
fn in_random_order_it_is_n_times_a_harmonic_number() {
    const RUNS: u64 = 2_000;
    let nodes = 40;
    let n = f64::from(nodes);
    let mut world = World::<ChangRoberts>::new(params(calm(Variant::ChangRoberts)));
    let exponential = Delay::Exponential { min: Duration::ZERO, mean: Duration::from_millis(100) };
    // Delays and the order of arrival make no difference: each message goes as far as the first
    // greater process.
    for delay in [Delay::Constant(Duration::from_millis(100)), exponential] {
        let network = Network::uniform(delay.clone(), Loss::None);
        let all = ring(&ascending(nodes), 0..nodes);
        let plan = Plan { order: Order::Random, network, ..all };
        let (mut sum, mut squares) = (0.0, 0.0);
        for run in 0..RUNS {
            let mut count = Count::default();
            world.run(&plan, RunSeed::new(3, run), &mut count);
            let election = count.of("election") as f64;
            sum += election;
            squares += election * election;
        }
        let runs = RUNS as f64;
        let mean = sum / runs;
        let error = ((squares / runs - mean * mean) / runs).sqrt();
        let harmonic: f64 = (1..=nodes).map(|i| 1.0 / f64::from(i)).sum();
        let off = (mean - n * harmonic).abs();
        assert!(off < 3.0 * error && error < 1.0, "{delay:?}: {mean} +- {error}, {}", n * harmonic);
    }
}
