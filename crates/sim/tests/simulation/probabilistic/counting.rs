//! A gossiped group size, in a world with partial views and losses.

use super::support::{loss, params, seconds};
use crate::support::count::Count;
use crate::support::{campaign, p};
use bellwether_core::Duration;
use bellwether_protocols::probabilistic::{Config, Probabilistic, Size};
use bellwether_sim::network::{Delay, Network};
use bellwether_sim::{Plan, RunSeed, World};

/// Gossips for half a minute, holds an election, and counts.
fn held(nodes: u32, seed: u64) -> Count {
    let config = Config { k: 40, size: Size::Gossip, max_rounds: 1, ..Config::default() };
    let plan = Plan {
        network: Network::uniform(Delay::Constant(Duration::from_millis(100)), loss(0.1)),
        faults: vec![campaign(30_000, 0)],
        view: p(0.2),
        ..Plan::new(nodes)
    };
    let mut count = Count::default();
    let mut world = World::<Probabilistic>::new(params(config));
    let outcome = world.run(&plan, RunSeed::new(seed, 0), &mut count);
    assert!(outcome.ended < seconds(60), "gossip ends");
    count
}

#[test]
fn a_gossiped_size_lets_k_through_where_nobody_knows_the_group() {
    // Views are of a fifth: by them 5K would pass. 36 of 40 hear that a round begins.
    let runs = 20;
    let mut finals = 0;
    for seed in 0..runs {
        let count = held(500, seed);
        finals += count.of("final");
        assert!(count.of("gossip") < 500 * 60, "{}", count.of("gossip"));
    }
    let mean = finals as f64 / runs as f64;
    assert!((mean - 36.0).abs() < 4.0 * (36.0 / runs as f64).sqrt() + 0.05 * 36.0, "{mean}");
}
