//! One election on a connected graph of V processes and E links: 2E−V+1 Elections, as many Acks,
//! V−1 Leaders, and then silence.

use super::support::{campaign, on_graph, params, run, verdict};
use crate::support::ms;
use bellwether_core::Entropy;
use bellwether_protocols::ad_hoc::{AdHoc, Config};
use bellwether_sim::coin::Stream;
use bellwether_sim::graph::{self, Links};
use bellwether_sim::network::Delay;
use bellwether_sim::{Plan, Ranks, RunSeed, StreamPurpose, World};

#[track_caller]
fn assert_counts(nodes: u32, links: Links, starter: u32, seed: u64) {
    let (v, e) = (u64::from(nodes), links.len() as u64);
    for delay in [Delay::Constant(ms(10)), wild()] {
        let mut plan = on_graph(nodes, links.clone());
        plan.network.unicast.delay = delay;
        plan.ranks = Ranks::Random;
        plan.faults = vec![campaign(starter)];
        let (world, count) = run(Config::default(), &plan, seed);
        let expected = [("election", 2 * e + 1 - v), ("ack", 2 * e + 1 - v), ("leader", v - 1)];
        count.assert(expected, &format!("seed {seed}, from {starter} on {links:?}"));
        assert_eq!(verdict(&plan, &world), Ok(()), "seed {seed}");
    }
}

/// Messages overtake each other.
fn wild() -> Delay {
    Delay::Exponential { min: ms(1), mean: ms(20) }
}

fn below(n: u32, luck: &mut Stream) -> u32 {
    luck.below(n.into()) as u32
}

#[test]
fn on_a_thousand_random_graphs_the_counts_are_exact() {
    let mut luck = RunSeed::new(6, 22).world(StreamPurpose::Caller(1));
    for seed in 0..1_000 {
        let nodes = 2 + below(24, &mut luck);
        let most = u64::from(nodes) * u64::from(nodes - 1) / 2;
        let links = graph::connected(nodes, luck.below(most + 1) as usize, &mut luck);
        assert_counts(nodes, links, below(nodes, &mut luck), seed);
    }
}

#[test]
fn on_trees_grids_complete_graphs_and_radios_too() {
    let mut luck = RunSeed::new(6, 23).world(StreamPurpose::Caller(1));
    for seed in 0..50 {
        let nodes = 1 + below(40, &mut luck);
        assert_counts(nodes, graph::tree(nodes, &mut luck), below(nodes, &mut luck), seed);
        let (rows, columns) = (1 + below(7, &mut luck), 1 + below(7, &mut luck));
        let starter = below(rows * columns, &mut luck);
        assert_counts(rows * columns, graph::grid(rows, columns), starter, seed);
        let radios = graph::disc(30, 0.35, &mut luck).expect("they are close enough");
        assert_counts(30, radios.1, below(30, &mut luck), seed);
    }
    for nodes in 1..30 {
        assert_counts(nodes, graph::complete(nodes), nodes / 2, 0);
    }
}

#[test]
fn an_election_called_by_all_at_once_ends_with_the_best() {
    let mut luck = RunSeed::new(6, 24).world(StreamPurpose::Caller(1));
    for seed in 0..200 {
        let nodes = 2 + below(15, &mut luck);
        let links = graph::connected(nodes, below(3 * nodes, &mut luck) as usize, &mut luck);
        let mut plan = on_graph(nodes, links);
        plan.network.unicast.delay = wild();
        plan.ranks = Ranks::Random;
        plan.faults = (0..nodes).filter(|_| luck.below(2) == 0).map(campaign).collect();
        plan.faults.push(campaign(0));
        let (world, _) = run(Config::default(), &plan, seed);
        assert_eq!(verdict(&plan, &world), Ok(()), "seed {seed}");
    }
}

#[test]
fn nobody_speaks_before_somebody_calls_and_nothing_happens_after_the_end() {
    let plan = on_graph(9, graph::grid(3, 3));
    let (world, count) = run(Config::default(), &plan, 1);
    assert_eq!(count.total(), 0);
    assert!(world.node(0).expect("it is there").leadership(world.clock(0)).leaders.is_empty());
    let plan = Plan { faults: vec![campaign(4)], ..plan };
    let mut world = World::<AdHoc>::new(params(Config::default()));
    let outcome = world.run(&plan, RunSeed::new(1, 0), &mut ());
    // Two hops to a corner, one to its other neighbour and one back, two back, two with the news.
    assert_eq!(outcome.ended.as_nanos(), 80_000_000);
}
