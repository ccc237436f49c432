//! A ring, its messages, and the leaders at the end.

use bellwether_core::{Dest, Duration, Instant, Message, Protocol, SimTime};
use bellwether_protocols::ring::{Collecting, Config, Params, Variant};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Timed, Who, World};

/// How long a hop takes in these tests, in milliseconds.
pub(crate) const HOP: u64 = 100;

pub(crate) const BOTH: [Variant; 2] = [Variant::Ring, Variant::Merea];

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

/// Parameters without time-outs.
pub(crate) fn trusting(variant: Variant) -> Config {
    Config { variant, ..Config::default() }
}

/// How many messages of each kind were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) elections: u64,
    pub(crate) coordinators: u64,
}

impl Count {
    pub(crate) fn total(self) -> u64 {
        self.elections + self.coordinators
    }
}

impl<P: Protocol> Observer<P> for Count {
    fn on_send(&mut self, _at: SimTime, _from: u32, _to: Dest, message: &P::Message, _: u32) {
        match message.kind() {
            "election" => self.elections += 1,
            "coordinator" => self.coordinators += 1,
            kind => panic!("a ring says nothing like {kind}"),
        }
    }
}

/// A fault of a process at a time, in microseconds.
pub(crate) fn at(micros: u64, fault: Fault) -> Timed {
    Timed { at: Duration::from_micros(micros), fault }
}

pub(crate) fn campaign(micros: u64, node: u32) -> Timed {
    at(micros, Fault::Campaign { node: Who::Node(node) })
}

pub(crate) fn crash(micros: u64, node: u32) -> Timed {
    at(micros, Fault::Crash { node: Who::Node(node) })
}

/// A ring on which every hop takes the same time and everyone is told at once of a stop.
pub(crate) fn plan(nodes: u32) -> Plan {
    let network = Network::uniform(Delay::Constant(ms(HOP)), Loss::None);
    let horizon = Duration::from_secs(1_000_000);
    Plan { network, detection: Some(Duration::ZERO), horizon, ..Plan::new(nodes) }
}

/// Runs a ring until no event is left.
pub(crate) fn run(config: Config, plan: &Plan, seed: u64) -> (Count, World<Collecting>) {
    let mut world = World::<Collecting>::new(params(config));
    let mut count = Count::default();
    let outcome = world.run(plan, RunSeed::new(seed, 0), &mut count);
    assert!(outcome.ended < SimTime::ZERO + plan.horizon, "the world must fall quiet: {plan:?}");
    for node in (0..plan.nodes).filter_map(|node| world.node(node)) {
        assert_eq!(node.poll_timeout(), Instant::NEVER, "a timer is left armed: {plan:?}");
    }
    (count, world)
}

/// The leader that each process names; none for a stopped one.
pub(crate) fn leaders<P: Protocol>(world: &World<P>, nodes: u32) -> Vec<Option<u64>> {
    let named = |node| {
        let state = world.node(node)?;
        state.leadership(world.clock(node)).leaders.first().map(|leader| leader.0)
    };
    (0..nodes).map(named).collect()
}

/// All live processes name the greatest live one.
pub(crate) fn assert_right<P: Protocol>(world: &World<P>, nodes: u32, case: &str) {
    let live = |node: &u32| world.node(*node).is_some();
    let greatest = (0..nodes).rfind(live).map(u64::from);
    let named = leaders(world, nodes);
    for node in (0..nodes).filter(live) {
        assert_eq!(named[node as usize], greatest, "{case}: {node} is wrong in {named:?}");
    }
}
