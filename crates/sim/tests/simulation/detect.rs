//! The failure detector in a world that loses, duplicates and reorders: a unicast arrives once, and
//! a stopped process is reported.

use crate::support::ping::Tick;
use crate::support::{crash, ms, p};
use bellwether_core::{
    Boot, Cx, Instant, Leadership, Malformed, Message, NodeId, Protocol, Reach, Reader, Rebase,
    WireWrite,
};
use bellwether_protocols::detect::{Config, Detect};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Plan, RunSeed, Timed, World};
use std::borrow::Cow;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Word(u64);

impl Message for Word {
    fn kind(&self) -> &'static str {
        "word"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.0);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        input.u64().map(Self)
    }
}

/// Sends another number to each peer ten times a second, and remembers what it hears.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Teller {
    said: u64,
    heard: BTreeSet<(NodeId, u64)>,
    twice: u64,
    down: BTreeSet<NodeId>,
    ever_down: bool,
}

const WORDS: u64 = 100;

impl Protocol for Teller {
    const NAME: &'static str = "teller";
    type Params = ();
    type Message = Word;
    type Timer = Tick;

    fn start(_boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        cx.arm(Tick, cx.now());
        let (heard, down) = (BTreeSet::new(), BTreeSet::new());
        Self { said: 0, heard, twice: 0, down, ever_down: false }
    }

    fn on_message(&mut self, from: NodeId, word: Cow<'_, Word>, _cx: &mut Cx<'_, Self>) {
        self.twice += u64::from(!self.heard.insert((from, word.0)));
    }

    fn on_timer(&mut self, _tick: Tick, cx: &mut Cx<'_, Self>) {
        cx.peers().iter().for_each(|peer| cx.send(peer, Word(self.said)));
        self.said += 1;
        if self.said < WORDS {
            cx.arm(Tick, cx.now() + ms(100));
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, _cx: &mut Cx<'_, Self>) {
        match reach {
            Reach::Down => self.down.insert(peer),
            Reach::Up => self.down.remove(&peer),
        };
        self.ever_down |= reach == Reach::Down;
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}

/// Four processes in a bad network, at the end of and during one run.
fn run(tries: u32, faults: Vec<Timed>, run: u64) -> World<Detect<Teller>> {
    let config = Config { beat: ms(200), suspect: ms(2_000), resend: ms(250), tries };
    let delay = Delay::Exponential { min: ms(1), mean: ms(50) };
    let network = Network {
        duplicate: p(0.3),
        reorder: p(0.3),
        ..Network::uniform(delay, Loss::Uncorrelated(p(0.3)))
    };
    let plan = Plan { network, faults, horizon: ms(40_000), ..Plan::new(4) };
    let mut world = World::new(config.around(()).expect("the rules are kept"));
    world.run(&plan, RunSeed::new(11, run), &mut ());
    world
}

fn inside(world: &World<Detect<Teller>>, node: u32) -> &Teller {
    world.node(node).expect("it lives").protocol().inner()
}

#[test]
fn every_message_arrives_once_where_nobody_is_given_up() {
    for round in 0..20 {
        let world = run(40, Vec::new(), round);
        for teller in (0..4).map(|node| inside(&world, node)) {
            assert!(!teller.ever_down, "nobody is silent for ten beats");
            let (heard, twice) = (teller.heard.len() as u64, teller.twice);
            assert_eq!((heard, twice), (3 * WORDS, 0), "run {round}");
        }
    }
}

#[test]
fn a_message_may_be_given_up_but_none_comes_twice_and_who_lives_is_up_in_the_end() {
    let mut given_up = 0;
    for round in 0..20 {
        let world = run(3, Vec::new(), round);
        for teller in (0..4).map(|node| inside(&world, node)) {
            assert_eq!((teller.twice, teller.down.len()), (0, 0), "run {round}");
            given_up += u64::from(teller.ever_down);
        }
    }
    assert!(given_up > 0, "with so few tries somebody must have been");
}

#[test]
fn who_is_gone_is_down_for_everyone() {
    for round in 0..20 {
        let world = run(40, vec![crash(5_000, 2)], round);
        for teller in [0, 1, 3].map(|node| inside(&world, node)) {
            assert_eq!(teller.down, BTreeSet::from([NodeId(2)]), "run {round}");
        }
    }
}
