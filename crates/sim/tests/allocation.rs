//! Memory: a warm world runs without asking for any, and a process costs little of it.
//!
//! `allocation_counter` counts what the measuring thread allocates, so tests side by side do not
//! disturb each other.

mod support;

use allocation_counter::{AllocationInfo, measure};
use bellwether_core::{Duration, Leadership, NodeId, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Variant};
use bellwether_sim::network::Loss;
use bellwether_sim::{Cause, Coins, Observer, Plan, World};
use support::{constant, p, params};

/// Waits until all but the greatest have heard of it. Allocates nothing once it is made.
struct Heard {
    by: Vec<bool>,
    missing: u32,
}

impl Heard {
    fn new(nodes: u32) -> Self {
        Self { by: vec![false; nodes as usize], missing: 0 }
    }

    fn reset(&mut self) {
        self.by.fill(false);
        self.missing = self.by.len() as u32 - 1;
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
        let greatest = NodeId(self.by.len() as u64 - 1);
        if node as usize != self.by.len() - 1 && leadership.leaders == [greatest] {
            self.missing -= u32::from(!std::mem::replace(&mut self.by[node as usize], true));
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

/// One whole run, and what it allocated.
fn run(world: &mut World<AnnounceListen>, plan: &Plan, number: u64) -> (u64, AllocationInfo) {
    let mut heard = Heard::new(plan.nodes);
    heard.reset();
    let mut deliveries = 0;
    let used = measure(|| {
        let outcome = world.run(plan, Coins::new(1, number), &mut heard);
        assert!(outcome.satisfied);
        deliveries = outcome.deliveries;
    });
    (deliveries, used)
}

/// Every buffer has been as full as these runs make it.
#[test]
fn a_warm_world_runs_without_allocating() {
    let (mut world, plan) = (world(), lossy(200));
    let allocations = |world: &mut World<AnnounceListen>| -> u64 {
        (0..20).map(|number| run(world, &plan, number).1.count_total).sum()
    };
    assert!(allocations(&mut world) > 0, "nothing is counted");
    assert_eq!(allocations(&mut world), 0);
}

/// What runs of new luck allocate after two others: (run, allocations, bytes), and deliveries.
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

/// Bytes a process costs in a large world, held after a run and at its peak.
fn bytes_per_process() -> (f64, f64) {
    let (plan, mut world) = (lossy(100_000), world());
    let (_, used) = run(&mut world, &plan, 0);
    let each = |bytes: f64| bytes / f64::from(plan.nodes);
    (each(used.bytes_current as f64), each(used.bytes_max as f64))
}

/// 180 of these are the process's own (its state 136, its places in the queue of wake-ups 16 and in
/// four arrays 28), the rest are letters and timers of the busiest moment.
#[test]
fn a_process_costs_at_most_two_hundred_bytes() {
    let (held, peak) = bytes_per_process();
    println!("{held:.1} bytes a process, {peak:.1} at the peak");
    assert!(peak <= 200.0, "{held:.1} bytes a process, {peak:.1} at the peak, not 200");
}
