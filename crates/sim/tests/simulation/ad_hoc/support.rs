//! Worlds on graphs, and the check of how they end.

use crate::support::constant;
use crate::support::count::Count;
use bellwether_core::{Fact, NodeId, Stage};
use bellwether_protocols::ad_hoc::{AdHoc, Config, Params};
use bellwether_sim::graph::Links;
use bellwether_sim::network::{Loss, Network, Topology};
use bellwether_sim::{Fault, Plan, RunSeed, Timed, World};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("valid parameters")
}

/// A graph with a delay of 10 ms per link.
pub(crate) fn on_graph(nodes: u32, links: Links) -> Plan {
    let network = Network { topology: Topology::Graph { links }, ..constant(10, Loss::None) };
    Plan { network, ..Plan::new(nodes) }
}

/// Process `node` calls an election at the start.
pub(crate) fn campaign(node: u32) -> Timed {
    crate::support::campaign(0, node)
}

/// One run: how it ended, and the messages.
pub(crate) fn run(config: Config, plan: &Plan, seed: u64) -> (World<AdHoc>, Count) {
    assert_eq!(plan.check(), Ok(()));
    let (mut world, mut count) = (World::<AdHoc>::new(params(config)), Count::default());
    world.run(plan, RunSeed::new(seed, 0), &mut count);
    (world, count)
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
