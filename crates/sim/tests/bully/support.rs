//! A group of bullies, its messages, and the leaders at the end.

use bellwether_core::{Dest, Duration, Message, Protocol, SimTime};
use bellwether_protocols::bully::{Bully, Config, Params};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Timed, Who, World};
use std::collections::BTreeMap;

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

/// How many messages of each kind were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(BTreeMap<&'static str, u64>);

impl Count {
    pub(crate) fn of(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }

    /// The messages beyond those of `other`.
    pub(crate) fn less(&self, before: &Self) -> Self {
        let more = |(kind, count): (&&'static str, &u64)| (*kind, count - before.of(kind));
        Self(self.0.iter().map(more).collect())
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

/// Runs a group until no event is left.
pub(crate) fn run(config: Config, plan: &Plan) -> (Count, World<Bully>) {
    let mut world = World::<Bully>::new(params(config));
    let mut count = Count::default();
    let horizon = Duration::from_secs(10_000);
    let outcome = world.run(&Plan { horizon, ..plan.clone() }, RunSeed::new(7, 0), &mut count);
    assert!(outcome.ended < SimTime::ZERO + horizon, "the world must fall quiet");
    let quiet = (0..plan.nodes).filter_map(|node| world.node(node));
    for node in quiet {
        assert_eq!(node.poll_timeout(), bellwether_core::Instant::NEVER, "a timer is left armed");
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
