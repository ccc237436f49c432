//! A ring, its messages, and the leaders at the end.

use crate::support::count::{Count, assert_led_by, until_quiet};
use crate::support::{constant, node};
use bellwether_core::Duration;
use bellwether_protocols::ring::{Collecting, Config, Params, Variant};
use bellwether_sim::network::Loss;
use bellwether_sim::{Fault, Plan, Timed, World};

/// How long a hop takes in these tests, in milliseconds.
pub(crate) const HOP: u64 = 100;

pub(crate) const BOTH: [Variant; 2] = [Variant::Ring, Variant::Merea];

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

/// Parameters without time-outs.
pub(crate) fn trusting(variant: Variant) -> Config {
    Config { variant, ..Config::default() }
}

#[track_caller]
pub(crate) fn assert_counts(count: &Count, elections: u64, coordinators: u64, case: &str) {
    count.assert([("election", elections), ("coordinator", coordinators)], case);
}

/// A fault of a process at a time, in microseconds.
pub(crate) fn at(micros: u64, fault: Fault) -> Timed {
    Timed { at: Duration::from_micros(micros), fault }
}

pub(crate) fn campaign(micros: u64, number: u32) -> Timed {
    at(micros, Fault::Campaign { node: node(number) })
}

pub(crate) fn crash(micros: u64, number: u32) -> Timed {
    at(micros, Fault::Crash { node: node(number) })
}

/// A ring on which every hop takes the same time and everyone is told at once of a stop.
pub(crate) fn plan(nodes: u32) -> Plan {
    let network = constant(HOP, Loss::None);
    Plan { network, detection: Some(Duration::ZERO), ..Plan::new(nodes) }
}

/// Runs a ring until no event is left.
pub(crate) fn run(config: Config, plan: &Plan, seed: u64) -> (Count, World<Collecting>) {
    until_quiet(params(config), plan, seed)
}

/// All live processes name the greatest live one.
#[track_caller]
pub(crate) fn assert_right(world: &World<Collecting>, nodes: u32, case: &str) {
    let greatest = (0..nodes).rfind(|node| world.node(*node).is_some());
    assert_led_by(greatest.expect("one is left"), world, nodes, case);
}
