//! Losses, copies, delays, crashes, restarts, resignations and several initiators, and then an
//! election without faults.

use super::support::{loss, params, seconds};
use crate::support::count::leaders;
use crate::support::{campaign, fault, ms, p};
use bellwether_core::{Duration, Entropy};
use bellwether_protocols::probabilistic::{Choice, Config, Probabilistic};
use bellwether_protocols::probabilistic::{Reinitiate, Size, WokenBy};
use bellwether_sim::coin::Stream;
use bellwether_sim::network::{Delay, Network};
use bellwether_sim::{Disk, Fault, Plan, RunSeed, StreamPurpose, Timed, Who, World};

const NODES: u32 = 30;
const STORM: u64 = 60_000;
const CALM: u64 = 500_000;

fn trouble(luck: &mut Stream) -> Fault {
    let node = Who::Node(luck.below(u64::from(NODES)) as u32);
    match luck.below(7) {
        0 => Fault::Crash { node },
        1 | 2 => Fault::Restart { node, disk: Disk::Kept, reboot: false },
        3 => Fault::Resign { node: Who::Leader },
        4 => Fault::Crash { node: Who::Leader },
        _ => Fault::Campaign { node },
    }
}

/// A phase of faults, and a call for an election after it.
fn plan(luck: &mut Stream) -> Plan {
    let mut faults: Vec<Timed> = Vec::new();
    for _ in 0..60 {
        faults.push(fault(luck.below(STORM), trouble(luck)));
    }
    faults.sort_by_key(|timed| timed.at);
    faults.push(fault(CALM, Fault::Network { network: Box::default() }));
    // Every process is told to call; stopped ones cannot.
    faults.extend((0..NODES).map(|node| campaign(CALM, node)));
    let delay = Delay::Uniform { min: Duration::ZERO, max: ms(300) };
    Plan {
        network: Network {
            duplicate: p(0.1),
            reorder: p(0.1),
            straggle: Duration::from_secs(3),
            ..Network::uniform(delay, loss(0.2))
        },
        faults,
        view: p(0.6),
        ..Plan::new(NODES)
    }
}

/// Candidates are relays, and relays are alive: by id, dead processes would be elected repeatedly.
fn config(seed: u64) -> Config {
    Config {
        choice: Choice::Rank,
        reinitiate: if seed.is_multiple_of(2) { Reinitiate::Hash } else { Reinitiate::Delay },
        size: if seed.is_multiple_of(3) { Size::Gossip } else { Size::Group },
        woken_by: if seed % 5 < 2 { WokenBy::Preference } else { WokenBy::Initiation },
        ..Config::default()
    }
}

#[test]
fn whatever_happened_an_election_in_peace_elects_one() {
    for seed in 0..200 {
        let run_seed = RunSeed::new(seed, 9);
        let plan = plan(&mut run_seed.world(StreamPurpose::Caller(5)));
        plan.check().expect("a plan that can be run");
        let mut world = World::<Probabilistic>::new(params(config(seed)));
        let outcome = world.run(&plan, run_seed, &mut ());
        assert!(outcome.ended < seconds(2 * CALM / 1000), "seed {seed} does not fall quiet");
        let followed = leaders(&world, NODES);
        let Some(first) = followed.first() else { continue }; // nobody lives
        let lives = first.is_some_and(|id| world.node(id as u32).is_some());
        assert!(lives && followed.iter().all(|one| one == first), "seed {seed}: {followed:?}");
    }
}
