//! Changes of the voters: a group of three becomes five and then three other ones, one at a time.

use crate::support::{fault, ms, p, plan};
use bellwether_core::{Dest, Duration, Event, Fact, Message, NodeId, Record, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Scene, Timed, Who, World, id};
use std::collections::BTreeMap;

/// Who leads, for how long nobody did, and what each process sent.
#[derive(Default)]
struct Seen {
    leader: Option<u32>,
    /// When nobody led any longer, except at the beginning.
    vacant: Option<SimTime>,
    /// The longest time without a leader.
    longest: Duration,
    two: bool,
    refused: Vec<String>,
    sent: BTreeMap<(u32, &'static str), u64>,
}

impl Observer<LocalLeader> for Seen {
    const TRACES: bool = true;
    const LOOKS: bool = true;

    fn on_send(
        &mut self,
        _at: SimTime,
        from: u32,
        _to: Dest,
        message: &<LocalLeader as bellwether_core::Protocol>::Message,
        _number: u32,
    ) {
        *self.sent.entry((from, message.kind())).or_default() += 1;
    }

    fn on_record(&mut self, record: Record) {
        if let Event::Command { command, taken: false } = record.event {
            self.refused.push(command);
        }
    }

    fn on_step(&mut self, _node: u32, scene: &Scene<'_, LocalLeader>) {
        let leads = |node: &u32| {
            let state = scene.node(*node);
            state.is_some_and(|state| state.leadership(scene.clock(*node)).names(id(*node)))
        };
        let leaders: Vec<u32> = (0..scene.len()).filter(leads).collect();
        self.two |= leaders.len() > 1;
        match (self.leader, leaders.first()) {
            (Some(_), None) => self.vacant = Some(scene.at()),
            (None, Some(_)) => {
                if let Some(vacant) = self.vacant.take() {
                    self.longest = self.longest.max(scene.at().since(vacant));
                }
            }
            _ => {}
        }
        self.leader = leaders.first().copied();
    }
}

/// The list that a process holds: its version, whether it is committed, and its voters.
fn list(world: &World<LocalLeader>, node: u32) -> (u64, bool, Vec<u64>) {
    let (mut list, mut voters) = ((0, false), Vec::new());
    world.node(node).expect("it runs").facts(world.clock(node), &mut |fact| match fact {
        Fact::List { version, committed } => list = (version, committed),
        Fact::Voter { peer: NodeId(peer) } => voters.push(peer),
        _ => {}
    });
    (list.0, list.1, voters)
}

fn params() -> Params {
    Config::default().try_into().expect("valid parameters")
}

/// From 0, 1 and 2 to five, and then to 3, 4 and 5.
fn becomes_others() -> Vec<Timed> {
    let node = Who::Leader;
    vec![
        fault(1_000, Fault::Add { node, voter: 3 }),
        fault(2_000, Fault::Add { node, voter: 4 }),
        fault(3_000, Fault::Replace { node, voter: 1, with: 5 }),
        fault(4_000, Fault::Remove { node, voter: 2 }),
        fault(5_000, Fault::Resign { node }),
        fault(6_000, Fault::Remove { node, voter: 0 }),
    ]
}

fn founded(nodes: u32, network: Network, horizon: u64, faults: Vec<Timed>) -> Plan {
    let founders = vec![0, 1, 2];
    Plan { founders, ..plan(nodes, network, ms(horizon), faults) }
}

#[test]
fn three_become_five_and_then_three_others_and_always_one_leads() {
    let delay = Delay::Uniform { min: ms(1), max: ms(4) };
    let network = Network::uniform(delay, Loss::Uncorrelated(p(0.01)));
    let kappa = params().failover() + params().stagger() * 6;
    let mut longest = Duration::ZERO;
    for seed in 0..200 {
        let mut world = World::<LocalLeader>::new(params().layered());
        let mut seen = Seen::default();
        let plan = founded(6, network.clone(), 7_000, becomes_others());
        world.run(&plan, RunSeed::new(seed, 0), &mut seen);
        assert!(!seen.two, "seed {seed}: two led at once");
        assert_eq!(seen.refused, [""; 0], "seed {seed}");
        for node in [3, 4, 5] {
            assert_eq!(list(&world, node), (5, true, vec![3, 4, 5]), "seed {seed}, {node}");
        }
        assert!(seen.leader.is_some_and(|leader| leader >= 3), "seed {seed}: {:?}", seen.leader);
        longest = longest.max(seen.longest);
    }
    assert!(longest < kappa, "{longest} without a leader, and κ is {kappa}");
}

#[test]
fn an_observer_sends_nothing_but_its_inquiry_and_costs_the_leader_nothing() {
    let network = Network::uniform(Delay::Constant(ms(1)), Loss::None);
    let sent = |nodes: u32| {
        let mut world = World::<LocalLeader>::new(params().layered());
        let mut seen = Seen::default();
        let plan = founded(nodes, network.clone(), 3_000, Vec::new());
        world.run(&plan, RunSeed::new(1, 0), &mut seen);
        for node in 3..nodes {
            let state = world.node(node).expect("it runs");
            let belief = state.leadership(world.clock(node));
            assert!(belief.names(id(0)) && belief.term.is_some(), "{node} follows");
        }
        seen.sent
    };
    // With more observers than these, they tell each other (`large.rs`).
    let (few, many) = (sent(4), sent(7));
    for node in 3..7 {
        let of = |kind| many.get(&(node, kind)).copied().unwrap_or(0);
        assert_eq!(of("inquiry"), 1);
        assert_eq!(many.iter().filter(|((from, _), _)| *from == node).count(), 1, "{node}");
    }
    // What voters send per observer is the answer to its inquiry.
    let by_voters = |sent: &BTreeMap<(u32, &'static str), u64>, kind| -> u64 {
        (0..3).filter_map(|node| sent.get(&(node, kind))).sum()
    };
    for kind in ["election", "reply"] {
        assert_eq!(by_voters(&few, kind), by_voters(&many, kind), "{kind}");
    }
    assert_eq!((by_voters(&few, "record"), by_voters(&many, "record")), (3, 3 * 4));
}
