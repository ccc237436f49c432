//! A gossiped group size, in a world with partial views and losses.

use crate::support::{chance, loss, params, seconds};
use bellwether_core::{Dest, Duration, SimTime};
use bellwether_protocols::probabilistic::{Config, Message, Probabilistic, Size};
use bellwether_sim::network::{Delay, Network};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Timed, Who, World};

#[derive(Debug, Default)]
struct Kinds {
    gossip: u32,
    finals: u32,
}

impl Observer<Probabilistic> for Kinds {
    fn on_send(&mut self, _: SimTime, _from: u32, _to: Dest, message: &Message, _: u32) {
        match message {
            Message::Gossip(_) => self.gossip += 1,
            Message::Final(..) => self.finals += 1,
            _ => {}
        }
    }
}

/// Gossips for half a minute, holds an election, and counts.
fn held(nodes: u32, seed: u64) -> Kinds {
    let config = Config { k: 40, size: Size::Gossip, max_rounds: 1, ..Config::default() };
    let campaign = Fault::Campaign { node: Who::Node(0) };
    let plan = Plan {
        network: Network::uniform(Delay::Constant(Duration::from_millis(100)), loss(0.1)),
        faults: vec![Timed { at: Duration::from_secs(30), fault: campaign }],
        view: chance(0.2),
        ..Plan::new(nodes)
    };
    let mut kinds = Kinds::default();
    let mut world = World::<Probabilistic>::new(params(config));
    let outcome = world.run(&plan, RunSeed::new(seed, 0), &mut kinds);
    assert!(outcome.ended < seconds(60), "gossip ends");
    kinds
}

#[test]
fn a_gossiped_size_lets_k_through_where_nobody_knows_the_group() {
    // Views are of a fifth: by them 5K would pass. 36 of 40 hear that a round begins.
    let runs = 20;
    let mut finals = 0;
    for seed in 0..runs {
        let kinds = held(500, seed);
        finals += kinds.finals;
        assert!(kinds.gossip < 500 * 60, "{}", kinds.gossip);
    }
    let mean = f64::from(finals) / runs as f64;
    assert!((mean - 36.0).abs() < 4.0 * (36.0 / runs as f64).sqrt() + 0.05 * 36.0, "{mean}");
}
