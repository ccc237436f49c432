//! Components that split and merge, leaders that are gone, messages that are lost.

use super::support::{campaign, on_graph, run, verdict};
use crate::support::{self, fault, ms, p};
use bellwether_core::NodeId;
use bellwether_protocols::ad_hoc::Config;
use bellwether_sim::graph;
use bellwether_sim::network::Loss;
use bellwether_sim::{Disk, Fault, Plan, Ranks, RunSeed, StreamPurpose, Who};

fn link(millis: u64, ends: (u32, u32), up: bool) -> bellwether_sim::Timed {
    fault(millis, Fault::Link { ends, up })
}

/// A line 0 1 2 and a line 3 4 5.
fn two_lines() -> Plan {
    let mut plan = on_graph(6, vec![(0, 1), (1, 2), (3, 4), (4, 5)]);
    plan.detection = Some(ms(20));
    plan
}

#[test]
fn two_components_that_meet_adopt_the_better_leader_without_an_election() {
    let faults = vec![campaign(0), campaign(4), link(200, (2, 3), true)];
    let plan = Plan { faults, ..two_lines() };
    let (world, kinds) = run(Config::default(), &plan, 1);
    assert_eq!(verdict(&plan, &world), Ok(()));
    // Each side: two Elections, two Acks, two Leaders.
    assert_eq!((kinds.of("election"), kinds.of("ack")), (4, 4));
    // 2 and 3 tell each other; the side of 3 was in a lower election, so it is told what it missed
    // and says so again; then two hops more on the side of 2.
    assert!((4 + 4..=4 + 7).contains(&kinds.of("leader")), "{}", kinds.of("leader"));
}

/// The side of 2 held the higher election, and so does not believe 3 at first.
#[test]
fn whoever_is_better_is_adopted_though_the_others_elected_later() {
    let again = support::campaign(100, 1);
    let faults = vec![campaign(0), campaign(4), again, link(200, (2, 3), true)];
    let plan = Plan { faults, ..two_lines() };
    let (world, kinds) = run(Config::default(), &plan, 1);
    assert_eq!(verdict(&plan, &world), Ok(()));
    assert_eq!(kinds.of("election"), 6);
}

#[test]
fn two_components_without_a_leader_elect_one_when_they_meet() {
    let plan = Plan { faults: vec![link(200, (2, 3), true)], ..two_lines() };
    let (world, _) = run(Config::default(), &plan, 1);
    assert_eq!(verdict(&plan, &world), Ok(()));
}

/// Process 1 restarts without its state, and nobody is told.
#[test]
fn a_process_that_restarts_unnoticed_learns_who_leads() {
    for elections in 1..4 {
        let called = (0..elections).map(|i| support::campaign(i * 200, 1));
        let mut faults: Vec<_> = called.collect();
        let node = Who::Node(1);
        faults.push(fault(1_000, Fault::Crash { node }));
        let (disk, reboot) = (Disk::Lost, false);
        faults.push(fault(1_010, Fault::Restart { node, disk, reboot }));
        let plan = Plan { faults, ..on_graph(4, graph::complete(4)) };
        let (world, _) = run(Config::default(), &plan, 1);
        assert_eq!(verdict(&plan, &world), Ok(()), "after {elections} elections");
    }
}

#[test]
fn a_leader_that_is_cut_off_is_missed_and_is_welcome_again() {
    let cut = link(3_000, (4, 5), false);
    let line = (0..5).map(|a| (a, a + 1)).collect();
    let apart =
        Plan { faults: vec![campaign(0), cut.clone()], horizon: ms(8_000), ..on_graph(6, line) };
    let (world, _) = run(Config::restless(), &apart, 1);
    assert_eq!(verdict(&apart, &world), Ok(()));
    let named = |node: u32| world.node(node).unwrap().leadership(world.clock(node)).leaders[0];
    assert_eq!([named(0), named(4), named(5)], [4, 4, 5].map(NodeId));
    let faults = vec![campaign(0), cut, link(8_000, (0, 5), true)];
    let together = Plan { faults, horizon: ms(9_000), ..apart };
    let (world, _) = run(Config::restless(), &together, 1);
    assert_eq!(verdict(&together, &world), Ok(()));
}

/// 0 1 2 elect 2. Then 2 dies while 0 is cut off from 1: 0 still believes in 2 and brings that
/// belief back.
#[test]
fn belief_in_a_dead_leader_dies_out() {
    let dead = support::crash(2_000, 2);
    let faults = vec![campaign(0), link(1_900, (0, 1), false), dead, link(2_300, (0, 1), true)];
    let mut plan = on_graph(3, vec![(0, 1), (1, 2)]);
    plan = Plan { faults, detection: Some(ms(20)), horizon: ms(8_000), ..plan };
    for config in [Config::restless(), Config::default()] {
        let (world, _) = run(config, &plan, 1);
        assert_eq!(verdict(&plan, &world), Ok(()));
    }
}

#[test]
fn what_is_lost_is_said_again_until_the_election_ends() {
    for seed in 0..100 {
        let mut luck = RunSeed::new(seed, 0).world(StreamPurpose::Caller(3));
        let mut plan = on_graph(12, graph::connected(12, 20, &mut luck));
        plan.network.unicast.loss = Loss::Uncorrelated(p(0.3));
        plan.ranks = Ranks::Random;
        let patient = Config { timeout: ms(60_000), retry: ms(50), ..Config::default() };
        plan.faults = vec![campaign(0)];
        let (world, kinds) = run(patient, &plan, seed);
        assert_eq!(verdict(&plan, &world), Ok(()), "seed {seed}");
        assert!(kinds.of("election") > 29 && kinds.of("leader") >= 11);
    }
}

/// With half of all messages lost, leaders are given up now and then, but never for long.
#[test]
fn even_in_bad_air_there_is_a_leader_most_of_the_time() {
    let (mut right, mut looks) = (0, 0);
    for seed in 0..200 {
        let mut luck = RunSeed::new(seed, 1).world(StreamPurpose::Caller(3));
        let mut plan = on_graph(8, graph::connected(8, 14, &mut luck));
        plan.network.unicast.loss = Loss::Uncorrelated(p(0.3));
        plan.horizon = ms(10_000 + seed * 37);
        let (world, _) = run(Config::restless(), &plan, seed);
        looks += 1;
        right += u32::from(verdict(&plan, &world).is_ok());
    }
    assert!(right * 10 > looks * 9, "right in {right} of {looks}");
}

#[test]
fn processes_that_nobody_calls_lose_patience() {
    let plan = Plan { horizon: ms(3_000), ..on_graph(9, graph::grid(3, 3)) };
    let (world, _) = run(Config::restless(), &plan, 1);
    assert_eq!(verdict(&plan, &world), Ok(()));
}

#[test]
fn a_heartbeat_goes_over_every_link_but_those_of_the_tree_twice() {
    let (nodes, links) = (9, graph::grid(3, 3));
    let per_beat = 2 * links.len() as u64 + 1 - nodes;
    let config = Config { leader_beat: ms(1_000), ..Config::default() };
    let mut plan = on_graph(9, links);
    plan.faults = vec![campaign(0)];
    plan.horizon = ms(10_500);
    let (_, kinds) = run(config, &plan, 1);
    assert_eq!(kinds.of("heartbeat"), 10 * per_beat);
}
