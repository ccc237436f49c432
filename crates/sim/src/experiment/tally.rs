//! Measures an election that an initiator starts, until nothing more happens: its messages by kind.
//!
//! | measure | what it is |
//! |---|---|
//! | `messages`, `messages_<kind>` | sent, also to dead processes, until all is quiet; until agreement in protocols that never fall quiet |
//! | `time` | when the last process began to name its leader |
//!
//! A run is *unsettled* if at the end some live process does not name the best live one that it can
//! reach.

use super::{Measure, Sample};
use crate::fault::{Fault, Who};
use crate::network::{Topology, components};
use crate::observer::{Cause, Observer, id};
use crate::plan::Plan;
use crate::world::World;
use bellwether_core::{
    Dest, Duration, Fact, Instant, Leadership, Message, Node, Protocol, SimTime,
};

/// Counts the messages of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    sent: u64,
    /// How many of each kind, in the order of first use; without those since `turned`.
    kinds: Vec<(&'static str, u64)>,
    /// The last message's kind: most messages have the same kind as the one before.
    last: &'static str,
    /// How many were sent before the first of the messages of this kind that came last.
    turned: u64,
    last_change: Duration,
    /// For protocols that never fall quiet: the processes that do not name the leader yet.
    waiting: Option<Waiting>,
}

/// Processes that do not name the best process yet.
#[derive(Clone, Debug)]
struct Waiting {
    best: u32,
    names: Vec<bool>,
    missing: usize,
}

impl Tally {
    /// Prepares for a run of this plan, watched until all agree or until all is quiet.
    pub(super) fn reset(&mut self, plan: &Plan, until_agreed: bool) {
        let dead = plan.faults.iter().filter_map(|timed| match timed.fault {
            Fault::Crash { node: Who::Node(node) } | Fault::Kill { node: Who::Node(node), .. } => {
                Some(node)
            }
            _ => None,
        });
        let dead: Vec<u32> = dead.chain(plan.absent.iter().copied()).collect();
        let live = plan.nodes as usize - dead.len();
        let there = |node: &u32| !dead.contains(node);
        let best = (0..plan.nodes).rev().find(there).unwrap_or_default();
        let names = || vec![false; plan.nodes as usize];
        let waiting = until_agreed.then(|| Waiting { best, names: names(), missing: live });
        *self = Self { waiting, ..Self::default() };
    }

    /// The results of the run.
    pub(super) fn sample<P: Protocol>(
        &self,
        plan: &Plan,
        world: &World<P>,
        deliveries: u64,
    ) -> Sample {
        let mut sample = Sample::new(deliveries);
        sample.unsettled = !agreed(plan, world);
        if sample.unsettled {
            return sample; // the cost of agreement is unknown
        }
        sample.set(Measure::Messages, self.sent as f64);
        sample.set(Measure::Time, self.last_change.as_secs_f64());
        sample.kinds = self.kinds();
        sample
    }

    /// How many of each kind were sent, in the order of first use.
    fn kinds(&self) -> Vec<(&'static str, u64)> {
        let mut kinds = self.kinds.clone();
        add(&mut kinds, self.last, self.sent - self.turned);
        kinds
    }

    /// The next message is of another kind than the one before.
    fn turn(&mut self, kind: &'static str) {
        add(&mut self.kinds, self.last, self.sent - self.turned);
        (self.last, self.turned) = (kind, self.sent);
    }
}

/// Adds so many messages of one kind.
fn add(kinds: &mut Vec<(&'static str, u64)>, kind: &'static str, more: u64) {
    match kinds.iter_mut().find(|(known, _)| *known == kind) {
        Some((_, count)) => *count += more,
        None if more > 0 => kinds.push((kind, more)),
        None => {} // before the first message
    }
}

impl<P: Protocol> Observer<P> for Tally {
    #[inline(always)]
    fn on_send(&mut self, _at: SimTime, _from: u32, _to: Dest, message: &P::Message, _number: u32) {
        let kind = message.kind();
        if !std::ptr::eq(kind, self.last) {
            self.turn(kind);
        }
        self.sent += 1;
    }

    #[inline]
    fn on_change(&mut self, at: SimTime, node: u32, belief: &Leadership<'_>, _: Option<Cause>) {
        self.last_change = at.since(SimTime::ZERO);
        if let Some(Waiting { best, names, missing }) = &mut self.waiting {
            let right = belief.leaders == [id(*best)];
            let before = std::mem::replace(&mut names[node as usize], right);
            *missing += usize::from(before);
            *missing -= usize::from(right);
        }
    }

    fn done(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.missing == 0)
    }
}

/// Whether every live process names the best live one that it can reach, and no other.
fn agreed<P: Protocol>(plan: &Plan, world: &World<P>) -> bool {
    let component = reachable(plan, world);
    let mut best = vec![None; plan.nodes as usize];
    for node in 0..plan.nodes {
        if let Some(state) = world.node(node) {
            let best = &mut best[component[node as usize] as usize];
            *best = (*best).max(Some((claim(state, world.clock(node)), node)));
        }
    }
    (0..plan.nodes).all(|node| {
        let Some(state) = world.node(node) else { return true };
        let best = best[component[node as usize] as usize].map(|(_, node)| id(node));
        state.leadership(world.clock(node)).leaders == best.as_slice()
    })
}

/// The claim of a process, as it states it.
fn claim<P: Protocol>(state: &Node<P>, now: Instant) -> u64 {
    let mut weight = 0;
    state.facts(now, &mut |fact| {
        if let Fact::Claim { weight: own } = fact {
            weight = own;
        }
    });
    weight
}

/// A component number for each process: those that can reach each other share one.
fn reachable<P: Protocol>(plan: &Plan, world: &World<P>) -> Vec<u32> {
    let Topology::Graph { links } = &plan.network.topology else {
        return vec![0; plan.nodes as usize];
    };
    let there = |node: u32| world.node(node).is_some();
    let links = links.iter().copied().filter(|(a, b)| there(*a) && there(*b));
    components(plan.nodes, links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_protocols::probabilistic::{Message as Said, Probabilistic};

    #[test]
    fn messages_are_counted_by_the_names_they_give_themselves() {
        let mut tally = Tally::default();
        let withdraw = Said::Withdraw(id(1), 1);
        for message in [&Said::Join(1), &Said::Join(2), &withdraw, &Said::Join(3)] {
            let (at, to) = (SimTime::ZERO, Dest::Everyone);
            Observer::<Probabilistic>::on_send(&mut tally, at, 0, to, message, 0);
        }
        assert_eq!(tally.kinds(), [("join", 3), ("withdraw", 1)]);
        assert_eq!(tally.sent, 4);
    }
}
