//! One process dies, or one link breaks, at every moment of an election.

use super::support::{campaign, on_graph, run, verdict};
use crate::support::{self, fault, ms};
use bellwether_core::Duration;
use bellwether_protocols::ad_hoc::Config;
use bellwether_sim::graph::{self, Links};
use bellwether_sim::{Disk, Fault, Plan, Ranks, RunSeed, StreamPurpose, Timed, Who};

/// A hop takes 10 ms, so every second of these moments falls between two hops.
const STEP: u64 = 5;

/// Small graphs that stay connected without any one process: the default parameters, without
/// heartbeats, are enough for them.
fn tough() -> Vec<(u32, Links)> {
    let ring = |n: u32| (0..n).map(|a| (a.min((a + 1) % n), a.max((a + 1) % n))).collect();
    let chord = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4)];
    vec![(4, graph::complete(4)), (5, ring(5)), (6, chord.to_vec()), (6, graph::grid(2, 3))]
}

/// Small graphs that fall apart.
fn brittle() -> Vec<(u32, Links)> {
    let line = (0..5).map(|a| (a, a + 1)).collect();
    let star = (1..6).map(|a| (0, a)).collect();
    let tree = graph::tree(7, &mut RunSeed::new(1, 1).world(StreamPurpose::Caller(1)));
    vec![(6, line), (6, star), (7, tree), (8, [graph::complete(4), bridge()].concat())]
}

/// Links that connect a second square to a first.
fn bridge() -> Links {
    vec![(3, 4), (4, 5), (4, 6), (5, 7), (6, 7)]
}

/// Every process calls the election once; the best process varies; detection is fast or slow.
fn assert_survives(
    graphs: &[(u32, Links)],
    config: &Config,
    calm: Duration,
    what: impl Fn(u64, u32, &Links) -> Vec<Vec<Timed>>,
) {
    let mut runs = 0;
    for (nodes, links) in graphs {
        for starter in 0..*nodes {
            for after in (0..=100).step_by(STEP as usize) {
                for faults in what(after, *nodes, links) {
                    for detection in [0, 3, 30] {
                        let mut plan = on_graph(*nodes, links.clone());
                        plan.ranks = Ranks::Random;
                        plan.detection = Some(ms(detection));
                        plan.faults = [&[campaign(starter)][..], &faults].concat();
                        plan.horizon = calm;
                        runs += 1;
                        assert_ends_well(config, &plan, runs);
                    }
                }
            }
        }
    }
    assert!(runs > 1_000, "{runs}");
}

#[track_caller]
fn assert_ends_well(config: &Config, plan: &Plan, seed: u64) {
    let (world, _) = run(config.clone(), plan, seed);
    assert_eq!(verdict(plan, &world), Ok(()), "seed {seed}: {plan:#?}");
}

fn crash(after: u64, nodes: u32, _links: &Links) -> Vec<Vec<Timed>> {
    (0..nodes).map(|node| vec![support::crash(after, node)]).collect()
}

fn crash_and_restart(after: u64, nodes: u32, links: &Links) -> Vec<Vec<Timed>> {
    let mut schedules = crash(after, nodes, links);
    for (node, faults) in (0..).zip(&mut schedules) {
        let node = Who::Node(node);
        faults.push(fault(after + 15, Fault::Restart { node, disk: Disk::Lost, reboot: false }));
    }
    schedules
}

fn cut(after: u64, _nodes: u32, links: &Links) -> Vec<Vec<Timed>> {
    let cut = |ends: &(u32, u32)| vec![fault(after, Fault::Link { ends: *ends, up: false })];
    links.iter().map(cut).collect()
}

fn flicker(after: u64, nodes: u32, links: &Links) -> Vec<Vec<Timed>> {
    let mut schedules = cut(after, nodes, links);
    for faults in &mut schedules {
        let Fault::Link { ends, .. } = faults[0].fault else { continue };
        faults.push(fault(after + 25, Fault::Link { ends, up: true }));
    }
    schedules
}

fn resign(after: u64, nodes: u32, _links: &Links) -> Vec<Vec<Timed>> {
    (0..nodes).map(|node| vec![fault(after, Fault::Resign { node: Who::Node(node) })]).collect()
}

/// Without time-outs and heartbeats: reports about neighbours are enough. The run ends by itself.
#[test]
fn whoever_dies_whenever_the_rest_elects_its_best() {
    let (config, calm) = (Config::default(), ms(60_000));
    assert_survives(&tough(), &config, calm, crash);
    assert_survives(&tough(), &config, calm, crash_and_restart);
}

#[test]
fn whichever_link_breaks_whenever_the_best_is_elected() {
    let (config, calm) = (Config::default(), ms(60_000));
    assert_survives(&tough(), &config, calm, cut);
    assert_survives(&tough(), &config, calm, flicker);
}

#[test]
fn whoever_resigns_whenever_another_leads() {
    let (config, calm) = (Config::default(), ms(60_000));
    assert_survives(&tough(), &config, calm, resign);
    assert_survives(&brittle(), &config, calm, resign);
}

/// A graph that falls apart needs heartbeats: the leader may be on the other side, and far away.
#[test]
fn where_the_network_falls_apart_each_piece_elects_its_best() {
    let (config, calm) = (Config::restless(), ms(12_000));
    assert_survives(&brittle(), &config, calm, crash);
    assert_survives(&brittle(), &config, calm, cut);
}

#[test]
fn what_falls_apart_and_comes_together_again_has_one_leader() {
    let (config, calm) = (Config::restless(), ms(12_000));
    assert_survives(&brittle(), &config, calm, crash_and_restart);
    assert_survives(&brittle(), &config, calm, flicker);
}
