//! A ring of processes, its messages, and the leaders at the end.

use crate::support::campaign;
use crate::support::count::{Count, assert_led_by, until_quiet};
use bellwether_core::{Entropy, Protocol, Seeded};
use bellwether_protocols::ring::{Config, Params, Variant};
use bellwether_sim::{Order, Plan, World};

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

/// Parameters without time-outs.
pub(crate) fn calm(variant: Variant) -> Config {
    Config { variant, ..Config::default() }
}

/// A ring in this order on which these call an election at once.
pub(crate) fn ring(order: &[u32], initiators: impl IntoIterator<Item = u32>) -> Plan {
    let nodes = u32::try_from(order.len()).expect("rings of these tests are small");
    let faults = initiators.into_iter().map(|node| campaign(0, node)).collect();
    Plan { order: Order::Listed(order.to_vec()), faults, ..Plan::new(nodes) }
}

pub(crate) fn ascending(nodes: u32) -> Vec<u32> {
    (0..nodes).collect()
}

pub(crate) fn descending(nodes: u32) -> Vec<u32> {
    (0..nodes).rev().collect()
}

/// An order drawn with this seed.
pub(crate) fn shuffled(nodes: u32, seed: u64) -> Vec<u32> {
    let (mut order, mut luck) = (ascending(nodes), Seeded::new(seed));
    for place in (1..order.len()).rev() {
        order.swap(place, luck.below(place as u64 + 1) as usize);
    }
    order
}

/// Runs a ring until no event is left.
pub(crate) fn run<P: Protocol>(params: P::Params, plan: &Plan) -> (Count, World<P>) {
    until_quiet(params, plan, 7)
}

/// Counts the messages of a ring without time-outs, in which the greatest that is there must win.
#[track_caller]
pub(crate) fn count<P>(variant: Variant, plan: &Plan, case: &str) -> Count
where
    P: Protocol<Params = Params>,
{
    let (count, world) = run::<P>(params(calm(variant)), plan);
    let greatest = (0..plan.nodes).filter(|node| !plan.absent.contains(node)).max();
    assert_led_by(greatest.expect("somebody is there"), &world, plan.nodes, case);
    count
}
