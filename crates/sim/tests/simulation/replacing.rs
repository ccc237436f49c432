//! Voters that are gone for good: the leader replaces them by the best observers.
//!
//! Five vote and twenty observe. Messages take from 1 to 4 ms, and one in a hundred is lost. Three
//! voters crash one after the other, the last one as the leader, and never come back. Two of five
//! would be no majority.

use crate::support::{crash, fault, ms, p, plan};
use bellwether_core::{Fact, NodeId};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Fault, Plan, RunSeed, Who, World};

const VOTERS: u32 = 5;
const MEMBERS: u32 = 25;
/// The best observer, and a witness, which comes last although its id is the least.
const BEST: u32 = 17;
const WITNESS: u32 = 5;
/// When voters crash: 1, 2, and the leader.
const CRASHES: [u64; 3] = [2_000, 7_000, 12_000];

fn params(replaces: bool) -> Params {
    let replace_after = replaces.then(|| ms(1_000));
    Config { replace_after, ..Config::default() }.try_into().expect("valid parameters")
}

/// What the live members agree on at the end.
#[derive(Debug, PartialEq)]
struct End {
    leader: Option<NodeId>,
    /// The voters of the list that the leader holds, and whether it is committed.
    voters: Vec<u32>,
    committed: bool,
    /// How many of them are alive.
    alive: usize,
    /// How many live members name that leader.
    named_by: usize,
}

fn run(replaces: bool, until: u64, seed: u64) -> End {
    let delay = Delay::Uniform { min: ms(1), max: ms(4) };
    let network = Network::uniform(delay, Loss::Uncorrelated(p(0.01)));
    let leader = Fault::Crash { node: Who::Leader };
    let faults = vec![crash(CRASHES[0], 1), crash(CRASHES[1], 2), fault(CRASHES[2], leader)];
    let mut priorities = vec![0; MEMBERS as usize];
    priorities[BEST as usize] = 3;
    let group = Plan {
        founders: (0..VOTERS).collect(),
        witnesses: vec![WITNESS],
        priorities,
        drift: 200_000,
        ..plan(MEMBERS, network, ms(until), faults)
    };
    let mut world = World::<LocalLeader>::new(params(replaces).layered());
    world.run(&group, RunSeed::new(seed, 0), &mut ());
    let live = || (0..MEMBERS).filter(|node| world.node(*node).is_some());
    let named = |node: u32| {
        let state = world.node(node)?;
        state.leadership(world.clock(node)).leaders.first().copied()
    };
    let leads = live().find(|node| named(*node) == Some(NodeId(u64::from(*node))));
    let (mut voters, mut committed) = (Vec::new(), false);
    if let Some(node) = leads {
        world.node(node).expect("it runs").facts(world.clock(node), &mut |fact| match fact {
            Fact::List { committed: is, .. } => committed = is,
            Fact::Voter { peer } => voters.push(peer.0 as u32),
            _ => {}
        });
    }
    let leader = leads.map(|node| NodeId(u64::from(node)));
    let alive = voters.iter().filter(|node| world.node(**node).is_some()).count();
    let named_by = live().filter(|node| leader.is_some() && named(*node) == leader).count();
    End { leader, voters, committed, alive, named_by }
}

#[test]
fn voters_that_are_gone_are_replaced_by_the_best_observers_and_the_group_goes_on() {
    for seed in 1..=5 {
        for (crashed, until) in [(1, 6_500), (2, 11_500), (3, 18_000)] {
            let end = run(true, until, seed);
            let what = format!("seed {seed}, {crashed} crashed: {end:?}");
            assert!(end.leader.is_some() && end.committed, "{what}");
            assert_eq!((end.voters.len(), end.alive), (5, 5), "the voters are whole; {what}");
            assert_eq!(end.named_by, MEMBERS as usize - crashed, "{what}");
            assert!(end.voters.contains(&BEST) && !end.voters.contains(&WITNESS), "{what}");
        }
    }
}

#[test]
fn without_replacements_three_of_five_stop_the_group() {
    assert_eq!(run(false, 18_000, 1).leader, None);
    let end = run(false, 11_500, 1);
    assert_eq!((end.voters, end.alive), ((0..VOTERS).collect(), 3), "nobody is replaced");
}
