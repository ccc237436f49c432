//! The tree inferred from the records is the one in the messages.

use super::super::steps::steps;
use super::super::tree::{self, Claim};
use super::*;
use crate::coin::Stream;
use crate::motion::Motion;
use crate::observer::{Observer, id};
use bellwether_core::{Dest, Entropy};
use bellwether_protocols::ad_hoc::Message;
use std::collections::BTreeMap;

/// What each process last reported, and to which process.
#[derive(Default)]
struct Reports(BTreeMap<NodeId, (NodeId, Claim)>);

impl Observer<AdHoc> for Reports {
    fn on_send(&mut self, _at: SimTime, from: u32, to: Dest, message: &Message, _number: u32) {
        if let (Message::Ack(_, Some(best)), Dest::Node(to)) = (message, to) {
            self.0.insert(id(from), (to, (best.weight, best.id)));
        }
    }
}

/// The actual reports, and the inferred ones.
fn compared(plan: &Plan, seed: u64) -> [BTreeMap<NodeId, (NodeId, Claim)>; 2] {
    assert_eq!(plan.check(), Ok(()));
    let (mut reports, mut tracer) = (Reports::default(), Tracer::default());
    let params = ad_hoc::Config::default().try_into().expect("valid parameters");
    World::<AdHoc>::new(params).run(plan, RunSeed::new(seed, 0), &mut (&mut reports, &mut tracer));
    let Arrangement::Graph(graph) = Arrangement::graph(plan, None) else { panic!("a graph") };
    let parts = tree::on_graph(&graph, &steps(&in_order(&tracer.records, None)));
    let told = |(id, part): (NodeId, tree::Part)| Some((id, (part.parent?, part.report?)));
    [reports.0, parts.into_iter().filter_map(told).collect()]
}

fn wild(nodes: u32, luck: &mut Stream) -> Plan {
    let most = u64::from(nodes * (nodes - 1) / 2);
    let links = graph::connected(nodes, luck.below(most + 1) as usize, luck);
    let mut plan = on_graph(nodes, links, vec![campaign(luck.below(nodes.into()) as u32)]);
    plan.network.unicast.delay = Delay::Exponential { min: ms(1), mean: ms(20) };
    plan.ranks = crate::Ranks::Random;
    plan
}

#[test]
fn one_election_on_any_graph_gives_the_tree_that_was() {
    let mut luck = RunSeed::new(8, 0).world(StreamPurpose::Caller(1));
    for seed in 0..300 {
        let nodes = 2 + luck.below(20) as u32;
        let [said, told] = compared(&wild(nodes, &mut luck), seed);
        assert_eq!(told.len(), nodes as usize - 1);
        assert_eq!(said, told, "seed {seed}");
    }
}

/// For each process that has a parent: whether the path of parents leads to a process without one.
fn is_a_forest(told: &BTreeMap<NodeId, (NodeId, Claim)>) -> bool {
    told.keys().all(|start| {
        let up = |node: &NodeId| told.get(node).map(|(parent, _)| *parent);
        std::iter::successors(Some(*start), up).take(told.len() + 2).count() <= told.len() + 1
    })
}

#[test]
fn of_several_elections_it_is_the_last_that_everybody_took_part_in() {
    let mut luck = RunSeed::new(8, 1).world(StreamPurpose::Caller(1));
    for seed in 0..300 {
        let nodes = 2 + luck.below(15) as u32;
        let mut plan = wild(nodes, &mut luck);
        plan.faults.extend((0..nodes).filter(|_| luck.below(2) == 0).map(campaign));
        let [said, told] = compared(&plan, seed);
        assert_eq!(told.len(), nodes as usize - 1, "all but one, seed {seed}");
        assert!(told.iter().all(|(id, report)| said.get(id) == Some(report)), "seed {seed}");
        assert!(is_a_forest(&told), "seed {seed}");
    }
}

#[test]
fn where_everything_moves_and_crashes_whatever_is_told_was_said() {
    let motion = Motion { fastest: 60.0, lasts: Duration::from_secs(60), ..Motion::default() };
    let mut reports = 0;
    for seed in 0..100 {
        let journey = motion.draw(12, RunSeed::new(seed, 0)).expect("they can move");
        let crash = |n: u64| fault(4_000 * n, Fault::Crash { node: Who::Leader });
        let mut plan = plan(12, std::iter::once(campaign(0)).chain((1..5).map(crash)).collect());
        plan.detection = Some(ms(20));
        plan.horizon = Duration::from_secs(60);
        journey.enter(&mut plan);
        let [said, told] = compared(&plan, seed);
        assert!(told.iter().all(|(id, report)| said.get(id) == Some(report)), "seed {seed}");
        reports += told.len();
    }
    assert!(reports > 300, "{reports}");
}
