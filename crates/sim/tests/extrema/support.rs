//! A ring of processes, its messages, and the leaders at the end.

use bellwether_core::{Dest, Duration, Instant, Message, Protocol, SimTime};
use bellwether_protocols::ring::{Config, Params, Variant};
use bellwether_sim::{Fault, Observer, Order, Plan, RunSeed, Timed, Who, World};
use std::collections::BTreeMap;

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

/// Parameters without time-outs.
pub(crate) fn calm(variant: Variant) -> Config {
    Config { variant, ..Config::default() }
}

/// How many messages of each kind were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(BTreeMap<&'static str, u64>);

impl Count {
    pub(crate) fn of(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

impl<P: Protocol> Observer<P> for Count {
    fn on_send(&mut self, _at: SimTime, _from: u32, _to: Dest, message: &P::Message, _: u32) {
        *self.0.entry(message.kind()).or_default() += 1;
    }
}

/// A fault of a process at a time, in milliseconds.
pub(crate) fn at(millis: u64, fault: Fault) -> Timed {
    Timed { at: Duration::from_millis(millis), fault }
}

pub(crate) fn campaign(millis: u64, node: u32) -> Timed {
    at(millis, Fault::Campaign { node: Who::Node(node) })
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
    use bellwether_core::{Entropy, Seeded};
    let (mut order, mut luck) = (ascending(nodes), Seeded::new(seed));
    for place in (1..order.len()).rev() {
        order.swap(place, luck.below(place as u64 + 1) as usize);
    }
    order
}

/// Runs a ring until no event is left.
pub(crate) fn run<P: Protocol>(params: P::Params, plan: &Plan) -> (Count, World<P>) {
    let mut world = World::<P>::new(params);
    let mut count = Count::default();
    let horizon = Duration::from_secs(100_000);
    let plan = Plan { horizon, ..plan.clone() };
    assert_eq!(plan.check(), Ok(()));
    let outcome = world.run(&plan, RunSeed::new(7, 0), &mut count);
    assert!(outcome.ended < SimTime::ZERO + horizon, "the world must fall quiet");
    for node in (0..plan.nodes).filter_map(|node| world.node(node)) {
        assert_eq!(node.poll_timeout(), Instant::NEVER, "a timer is left armed");
    }
    (count, world)
}

/// The leader that each live process names.
pub(crate) fn leaders<P: Protocol>(world: &World<P>, nodes: u32) -> Vec<Option<u64>> {
    let named = |node| {
        let state = world.node(node)?;
        Some(state.leadership(world.clock(node)).leaders.first().map(|leader| leader.0))
    };
    (0..nodes).filter_map(named).collect()
}

/// All live processes name this one.
pub(crate) fn assert_led_by<P: Protocol>(leader: u32, world: &World<P>, plan: &Plan, case: &str) {
    let named = leaders(world, plan.nodes);
    assert!(!named.is_empty(), "{case}: nobody is left");
    assert!(named.iter().all(|name| *name == Some(leader.into())), "{case}: {named:?}");
}
