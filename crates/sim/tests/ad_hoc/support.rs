//! Worlds on graphs, and the check of how they end.

use bellwether_core::{Dest, Duration, Fact, Message as _, NodeId, SimTime, Stage};
use bellwether_protocols::ad_hoc::{AdHoc, Config, Message, Params};
use bellwether_sim::graph::Links;
use bellwether_sim::network::{Delay, Loss, Network, Topology};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Timed, Who, World};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("valid parameters")
}

/// A graph with a delay of 10 ms per link.
pub(crate) fn on_graph(nodes: u32, links: Links) -> Plan {
    let mut network = Network::uniform(Delay::Constant(ms(10)), Loss::None);
    network.topology = Topology::Graph { links };
    Plan { network, ..Plan::new(nodes) }
}

pub(crate) fn fault(millis: u64, fault: Fault) -> Timed {
    Timed { at: ms(millis), fault }
}

/// Process `node` calls an election at the start.
pub(crate) fn campaign(node: u32) -> Timed {
    fault(0, Fault::Campaign { node: Who::Node(node) })
}

/// Counts messages by their kind.
#[derive(Default)]
pub(crate) struct Kinds(pub(crate) BTreeMap<&'static str, u64>);

impl Kinds {
    pub(crate) fn of(&self, kind: &str) -> u64 {
        self.0.get(kind).copied().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> u64 {
        self.0.values().sum()
    }
}

impl Observer<AdHoc> for Kinds {
    fn on_send(&mut self, _at: SimTime, _from: u32, _to: Dest, message: &Message, _number: u32) {
        *self.0.entry(message.kind()).or_default() += 1;
    }
}

/// One run: how it ended, and the messages.
pub(crate) fn run(config: Config, plan: &Plan, seed: u64) -> (World<AdHoc>, Kinds) {
    assert_eq!(plan.check(), Ok(()));
    let (mut world, mut kinds) = (World::<AdHoc>::new(params(config)), Kinds::default());
    world.run(plan, RunSeed::new(seed, 0), &mut kinds);
    (world, kinds)
}

/// The links at the end of a plan.
fn last_links(plan: &Plan) -> BTreeSet<(u32, u32)> {
    let Topology::Graph { links } = &plan.network.topology else { panic!("no graph") };
    let tidy = |(a, b): (u32, u32)| (a.min(b), a.max(b));
    let mut links: BTreeSet<_> = links.iter().copied().map(tidy).collect();
    for timed in &plan.faults {
        if let Fault::Link { ends, up } = timed.fault {
            if up {
                links.insert(tidy(ends))
            } else {
                links.remove(&tidy(ends))
            };
        }
    }
    links
}

/// What is wrong at the end of a run, if anything: every live process must name the best live one
/// of its component.
pub(crate) fn verdict(plan: &Plan, world: &World<AdHoc>) -> Result<(), String> {
    let live = |node: u32| world.node(node).is_some();
    let mut component: Vec<u32> = (0..plan.nodes).collect();
    for (a, b) in last_links(plan) {
        if live(a) && live(b) {
            let (from, to) = (component[a as usize], component[b as usize]);
            component.iter_mut().filter(|mark| **mark == from).for_each(|mark| *mark = to);
        }
    }
    let mut best = BTreeMap::<u32, (u64, NodeId)>::new();
    for node in (0..plan.nodes).filter(|node| live(*node)) {
        let state = world.node(node).expect("it is live");
        state.facts(world.clock(node), &mut |fact| {
            if let Fact::Claim { weight } = fact {
                let claim = (weight, NodeId(node.into()));
                let best = best.entry(component[node as usize]).or_insert(claim);
                *best = claim.max(*best);
            }
        });
    }
    for node in (0..plan.nodes).filter(|node| live(*node)) {
        let state = world.node(node).expect("it is live");
        let told = state.leadership(world.clock(node));
        let (_, right) = best[&component[node as usize]];
        if told.leaders != [right] || told.stage != Stage::Decided {
            return Err(format!("{node} says {told:?}, not {right:?}"));
        }
    }
    Ok(())
}
