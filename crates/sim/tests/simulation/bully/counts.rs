//! The counts of the five cases, and of the variants.

use super::support::run;
use crate::support::count::{Count, leaders};
use crate::support::{campaign, crash, restart};
use bellwether_core::Duration;
use bellwether_protocols::bully::{Config, Recovery, TopAnswers};
use bellwether_sim::Plan;

const SIZES: std::ops::RangeInclusive<u32> = 2..=64;

/// How soon a stop is detected: never, at once, later.
const DETECTIONS: [Option<Duration>; 3] =
    [None, Some(Duration::ZERO), Some(Duration::from_millis(350))];

fn plan(nodes: u32, detection: Option<Duration>) -> Plan {
    Plan { detection, ..Plan::new(nodes) }
}

/// The greatest is dead from the start.
fn headless(nodes: u32, detection: Option<Duration>) -> Plan {
    Plan { absent: vec![nodes - 1], ..plan(nodes, detection) }
}

fn assert_counts(count: &Count, expected: [u64; 3], case: &str) {
    let [elections, oks, coordinators] = expected;
    count.assert([("election", elections), ("ok", oks), ("coordinator", coordinators)], case);
}

#[test]
fn the_top_is_dead_and_any_process_starts() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        let told = |start: &u32| nodes <= 16 || start.is_multiple_of(7) || start + 2 == nodes;
        for start in (0..nodes - 1).filter(told) {
            for detection in DETECTIONS {
                let faults = vec![campaign(0, start)];
                let plan = Plan { faults, ..headless(nodes, detection) };
                let (count, world) = run(Config::default(), &plan);
                let k = n - u64::from(start);
                let case = format!("{nodes} processes, {start} starts, told after {detection:?}");
                assert_counts(&count, [k * (k - 1) / 2, (k - 1) * (k - 2) / 2, n - 2], &case);
                assert_eq!(count.total(), (k - 1) * (k - 1) + n - 2, "{case}");
                if start == 0 {
                    assert_eq!(count.total(), n * n - n - 1, "{case}");
                }
                let named = vec![Some(n - 2); nodes as usize - 1];
                assert_eq!(leaders(&world, nodes - 1), named, "{case}");
            }
        }
    }
}

#[test]
fn all_are_alive_and_the_least_starts() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        let plan = Plan { faults: vec![campaign(0, 0)], ..plan(nodes, None) };
        for top_answers in [TopAnswers::Ok, TopAnswers::Coordinator] {
            let (count, world) = run(Config { top_answers, ..Config::default() }, &plan);
            let case = format!("{nodes} processes, the top answers {top_answers:?}");
            let (oks, total) = match top_answers {
                TopAnswers::Ok => (n * (n - 1) / 2, n * n - 1),
                TopAnswers::Coordinator => ((n - 1) * (n - 2) / 2, n * (n - 1)),
            };
            assert_counts(&count, [n * (n - 1) / 2, oks, n - 1], &case);
            assert_eq!(count.total(), total, "{case}");
            assert_eq!(leaders(&world, nodes), vec![Some(n - 1); nodes as usize], "{case}");
        }
    }
}

#[test]
fn all_start_at_once_and_it_costs_no_more_than_if_the_least_did() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        let faults = (0..nodes).map(|node| campaign(0, node)).collect();
        let (count, world) = run(Config::default(), &Plan { faults, ..plan(nodes, None) });
        let case = format!("{nodes} processes");
        assert_counts(&count, [n * (n - 1) / 2, n * (n - 1) / 2, n - 1], &case);
        assert_eq!(leaders(&world, nodes), vec![Some(n - 1); nodes as usize], "{case}");
    }
}

/// The greatest process crashes after its election, is replaced and comes back: messages from then
/// on.
fn comeback(nodes: u32, recovery: Recovery, detection: Duration) -> (Count, Vec<Option<u64>>) {
    let top = nodes - 1;
    let mut faults = vec![campaign(0, 0), crash(5_000, top)];
    let config = Config { recovery, ..Config::default() };
    let before = Plan { faults: faults.clone(), ..plan(nodes, Some(detection)) };
    let (spent, _) = run(config, &before);
    faults.push(restart(20_000, top));
    let (count, world) = run(config, &Plan { faults, ..before });
    (count.since(&spent), leaders(&world, nodes))
}

#[test]
fn the_top_recovers_and_tells_everyone_at_once() {
    for nodes in SIZES {
        let n = u64::from(nodes);
        for detection in [0, 50, 350].map(Duration::from_millis) {
            let (count, named) = comeback(nodes, Recovery::Bully, detection);
            let case = format!("{nodes} processes, told after {detection}");
            assert_counts(&count, [0, 0, n - 1], &case);
            assert_eq!(named, vec![Some(n - 1); nodes as usize], "{case}");
        }
    }
}

#[test]
fn the_top_recovers_asks_and_follows() {
    for nodes in SIZES {
        for detection in [0, 50, 350].map(Duration::from_millis) {
            let (count, named) = comeback(nodes, Recovery::Ask, detection);
            let case = format!("{nodes} processes, told after {detection}");
            count.assert([("query", 1), ("leader", 1)], &case);
            assert_eq!(named, vec![Some(u64::from(nodes) - 2); nodes as usize], "{case}");
        }
    }
}

#[test]
fn who_asks_and_finds_nobody_holds_an_election() {
    let crashes = (0..4).map(|node| crash(100, node));
    let faults = crashes.chain((0..4).map(|node| restart(1_000, node))).collect();
    let config = Config { recovery: Recovery::Ask, ..Config::default() };
    let (count, world) = run(config, &Plan { faults, ..plan(4, Some(Duration::ZERO)) });
    assert!(count.of("query") > 0 && count.of("election") > 0, "{count:?}");
    assert_eq!(leaders(&world, 4), [Some(3); 4]);
}

#[test]
fn with_stamps_one_call_costs_three_messages_a_process() {
    let config = Config { stamps: true, ..Config::default() };
    for nodes in SIZES {
        let n = u64::from(nodes);
        let faults = vec![campaign(0, 0)];
        let all = Plan { faults: faults.clone(), ..plan(nodes, Some(Duration::ZERO)) };
        let (count, world) = run(config, &all);
        assert_counts(&count, [n - 1, n - 1, n - 1], &format!("{nodes} processes"));
        assert_eq!(leaders(&world, nodes), vec![Some(n - 1); nodes as usize]);
        let (count, world) = run(config, &Plan { faults, ..headless(nodes, Some(Duration::ZERO)) });
        assert_counts(&count, [n - 1, n - 2, n - 2], &format!("{nodes} processes, top dead"));
        assert_eq!(leaders(&world, nodes - 1), vec![Some(n - 2); nodes as usize - 1]);
    }
}

#[test]
fn with_stamps_all_calls_but_the_oldest_are_dropped_and_the_oks_with_them() {
    let config = Config { stamps: true, ..Config::default() };
    for nodes in SIZES {
        let n = u64::from(nodes);
        let faults = (0..nodes).map(|node| campaign(0, node)).collect();
        let plan = Plan { faults, ..plan(nodes, Some(Duration::ZERO)) };
        let (count, world) = run(config, &plan);
        assert_counts(&count, [n * (n - 1) / 2, n - 1, n - 1], &format!("{nodes} processes"));
        assert_eq!(leaders(&world, nodes), vec![Some(n - 1); nodes as usize]);
    }
}

#[test]
fn with_stamps_and_nobody_to_tell_who_is_down_the_text_has_the_last_word() {
    let config = Config { stamps: true, ..Config::default() };
    for nodes in [2, 3, 8] {
        let plan = Plan { faults: vec![campaign(0, 0)], ..headless(nodes, None) };
        let (_, world) = run(config, &plan);
        let named = vec![Some(u64::from(nodes) - 2); nodes as usize - 1];
        assert_eq!(leaders(&world, nodes - 1), named, "{nodes} processes");
    }
}
