//! How many messages of each kind were sent, and who leads at the end.

use bellwether_core::{Dest, Duration, Instant, Message, Protocol, SimTime};
use bellwether_sim::{Observer, Plan, RunSeed, World};
use std::collections::BTreeMap;

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

    /// The messages that were sent after `before` was counted.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let more = |(kind, count): (&&'static str, &u64)| (*kind, count - before.of(kind));
        Self(self.0.iter().map(more).collect())
    }

    /// Fails unless exactly these were sent, and nothing else.
    #[track_caller]
    pub(crate) fn assert<const N: usize>(&self, expected: [(&'static str, u64); N], case: &str) {
        assert_eq!(expected.map(|(kind, _)| (kind, self.of(kind))), expected, "{case}");
        let sum: u64 = expected.iter().map(|(_, count)| count).sum();
        assert_eq!(self.total(), sum, "{case}: nothing else is sent: {self:?}");
    }
}

impl<P: Protocol> Observer<P> for Count {
    fn on_send(&mut self, _at: SimTime, _from: u32, _to: Dest, message: &P::Message, _: u32) {
        *self.0.entry(message.kind()).or_default() += 1;
    }
}

/// Runs a group until no event is left.
pub(crate) fn until_quiet<P: Protocol>(
    params: P::Params,
    plan: &Plan,
    seed: u64,
) -> (Count, World<P>) {
    let horizon = Duration::from_secs(1_000_000);
    let plan = Plan { horizon, ..plan.clone() };
    assert_eq!(plan.check(), Ok(()));
    let (mut world, mut count) = (World::<P>::new(params), Count::default());
    let outcome = world.run(&plan, RunSeed::new(seed, 0), &mut count);
    assert!(outcome.ended < SimTime::ZERO + horizon, "the world must fall quiet: {plan:?}");
    for node in (0..plan.nodes).filter_map(|node| world.node(node)) {
        assert_eq!(node.poll_timeout(), Instant::NEVER, "a timer is left armed: {plan:?}");
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

/// Fails unless all live processes name this one.
#[track_caller]
pub(crate) fn assert_led_by<P: Protocol>(leader: u32, world: &World<P>, nodes: u32, case: &str) {
    let named = leaders(world, nodes);
    assert!(!named.is_empty(), "{case}: nobody is left");
    assert!(named.iter().all(|name| *name == Some(leader.into())), "{case}: {named:?}");
}
