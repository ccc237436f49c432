//! Memory: a warm world allocates nothing, and a process needs little memory.
//!
//! `allocation_counter` counts the allocations of the measuring thread, so parallel tests do not
//! disturb each other.

use crate::support::{constant, p, params};
use allocation_counter::{AllocationInfo, measure};
use bellwether_core::{Duration, Leadership, NodeId, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Config, Variant};
use bellwether_sim::network::Loss;
use bellwether_sim::{Cause, Observer, Plan, RunSeed, World};

/// Waits until all but the greatest have heard of them. Allocates nothing once it is made.
struct Heard {
    by: Vec<bool>,
    missing: usize,
    greatest: Vec<NodeId>,
}

impl Heard {
    fn new(nodes: u32, leaders: usize) -> Self {
        let greatest: Vec<_> = (0..u64::from(nodes)).rev().take(leaders).map(NodeId).collect();
        Self { by: vec![false; nodes as usize], missing: nodes as usize - leaders, greatest }
    }
}

impl Observer<AnnounceListen> for Heard {
    fn on_change(
        &mut self,
        _at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        let follows = (node as usize) < self.by.len() - self.greatest.len();
        if follows && leadership.leaders == self.greatest {
            self.missing -= usize::from(!std::mem::replace(&mut self.by[node as usize], true));
        }
    }

    fn done(&self) -> bool {
        self.missing == 0
    }
}

fn world() -> World<AnnounceListen> {
    World::new(params(Variant::LeS, Duration::MAX))
}

fn lossy(nodes: u32) -> Plan {
    Plan { network: constant(100, Loss::Uncorrelated(p(0.4))), ..Plan::new(nodes) }
}

/// One whole run, and its allocations.
fn run(world: &mut World<AnnounceListen>, plan: &Plan, number: u64) -> (u64, AllocationInfo) {
    run_for(1, world, plan, number)
}

fn run_for(
    leaders: usize,
    world: &mut World<AnnounceListen>,
    plan: &Plan,
    number: u64,
) -> (u64, AllocationInfo) {
    let mut heard = Heard::new(plan.nodes, leaders);
    let mut deliveries = 0;
    let used = measure(|| {
        let outcome = world.run(plan, RunSeed::new(1, number), &mut heard);
        assert!(outcome.satisfied);
        deliveries = outcome.deliveries;
    });
    (deliveries, used)
}

/// Every buffer has reached the size that these runs need.
#[test]
fn a_warm_world_runs_without_allocating() {
    let (mut world, plan) = (world(), lossy(200));
    let allocations = |world: &mut World<AnnounceListen>| -> u64 {
        (0..20).map(|number| run(world, &plan, number).1.count_total).sum()
    };
    assert!(allocations(&mut world) > 0, "nothing is counted");
    assert_eq!(allocations(&mut world), 0);
}

/// A process allocates its lists of leaders (a pair of two) once per incarnation, when it hears of
/// a second one, and keeps them: leaders come and go, and lose rank, in the same memory.
#[test]
fn several_leaders_cost_a_process_three_allocations_a_life() {
    let config = Config { leaders: 3, ..Config::new(Variant::LeS) };
    let mut world = World::<AnnounceListen>::new(config.try_into().unwrap());
    let (plan, runs) = (lossy(200), 0..20);
    let mut allocations = || -> u64 {
        runs.clone().map(|number| run_for(3, &mut world, &plan, number).1.count_total).sum()
    };
    allocations();
    let (most, found) = (3 * u64::from(plan.nodes) * 20, allocations());
    assert!(found <= most, "{found}, not {most}");
}

/// The allocations of runs with other seeds after two runs: (run, allocations, bytes), and
/// deliveries.
fn after_two_runs() -> (Vec<(u64, u64, u64)>, u64) {
    let (mut world, plan) = (world(), lossy(200));
    let (mut late, mut deliveries) = (Vec::new(), 0);
    for number in 0..200 {
        let (received, used) = run(&mut world, &plan, number);
        if number >= 2 && used.count_total > 0 {
            late.push((number, used.count_total, used.bytes_total));
        }
        deliveries += received;
    }
    (late, deliveries)
}

#[test]
fn two_runs_make_a_world_warm_for_any_luck() {
    let (late, deliveries) = after_two_runs();
    assert!(late.is_empty(), "(run, allocations, bytes): {late:?}, in {deliveries} deliveries");
}

/// Bytes per process in a large world, held after a run and at its peak.
fn bytes_per_process() -> (f64, f64) {
    let (plan, mut world) = (lossy(100_000), world());
    let (_, used) = run(&mut world, &plan, 0);
    let each = |bytes: f64| bytes / f64::from(plan.nodes);
    (each(used.bytes_current as f64), each(used.bytes_max as f64))
}

/// 180 of these belong to the process (its state 136, its places in the queue of wake-ups 16 and in
/// four arrays 28); the rest are packets and timers of the busiest moment.
#[test]
fn a_process_costs_at_most_two_hundred_bytes() {
    let (held, peak) = bytes_per_process();
    println!("{held:.1} bytes a process, {peak:.1} at the peak");
    assert!(peak <= 200.0, "{held:.1} bytes a process, {peak:.1} at the peak, not 200");
}
