//! Election in an ad hoc network: a diffusing computation (Vasudevan, Kurose and Towsley).
//!
//! Election floods a tree, the first sender being the parent; acknowledgements bring back the best
//! of each subtree; Leader goes down the tree. The case it makes: a protocol that knows nobody but
//! those whom link events name, and that goes by a rank given at the start.

use crate::world::{Drive, Setup, both, typed};
use bellwether_core::harness::{Harness, assert_survives_the_wire};
use bellwether_core::*;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// One election among several: the higher number wins, then the higher starter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Wave {
    number: u64,
    starter: NodeId,
}

/// A process and what it is worth; the greatest is elected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Worth {
    rank: u64,
    id: NodeId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    /// Whom to acknowledge to; nobody for the starter.
    parent: Option<NodeId>,
    /// Who owes an acknowledgement.
    waiting: BTreeSet<NodeId>,
    /// Who acknowledged with a subtree of its own.
    children: BTreeSet<NodeId>,
    /// The best of the subtree so far.
    best: Worth,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AdHoc {
    me: Worth,
    neighbours: BTreeSet<NodeId>,
    /// The greatest wave seen.
    wave: Wave,
    /// What this process does in it, until it knows the outcome.
    part: Option<Part>,
    leader: Option<Worth>,
}

#[derive(Clone, Debug)]
pub(crate) struct Params {
    /// How long a process lets its links settle before it starts an election.
    pub(crate) settle: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    Election(Wave),
    /// With the best of the subtree, or without if the sender has another parent.
    Ack(Wave, Option<Worth>),
    Leader(Wave, Worth),
}

impl Message for Said {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(_) => "election",
            Self::Ack(..) => "ack",
            Self::Leader(..) => "leader",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (tag, wave, worth) = match self {
            Self::Election(wave) => (0, wave, None),
            Self::Ack(wave, None) => (1, wave, None),
            Self::Ack(wave, best) => (2, wave, *best),
            Self::Leader(wave, best) => (3, wave, Some(*best)),
        };
        out.push(tag);
        out.put_u64(wave.number);
        out.put_node(wave.starter);
        if let Some(worth) = worth {
            out.put_u64(worth.rank);
            out.put_node(worth.id);
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let tag = input.u8()?;
        let wave = Wave { number: input.u64()?, starter: input.node()? };
        let mut worth = || Ok(Worth { rank: input.u64()?, id: input.node()? });
        match tag {
            0 => Ok(Self::Election(wave)),
            1 => Ok(Self::Ack(wave, None)),
            2 => Ok(Self::Ack(wave, Some(worth()?))),
            3 => Ok(Self::Leader(wave, worth()?)),
            _ => Err(Malformed),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Settled;

impl TimerKind for Settled {
    type Slots = [Instant; 1];

    fn slot(self) -> usize {
        0
    }

    fn at(_slot: usize) -> Self {
        Self
    }
}

impl AdHoc {
    fn begin(&mut self, cx: &mut Cx<'_, Self>) {
        let number = self.wave.number.saturating_add(1);
        self.join(Wave { number, starter: self.me.id }, None, cx);
    }

    fn join(&mut self, wave: Wave, parent: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        cx.disarm(Settled);
        let mut waiting = self.neighbours.clone();
        if let Some(parent) = parent {
            waiting.remove(&parent);
        }
        for &peer in &waiting {
            cx.send(peer, Said::Election(wave));
        }
        self.wave = wave;
        self.part = Some(Part { parent, waiting, children: BTreeSet::new(), best: self.me });
        self.report(cx);
    }

    /// Once nobody owes anything: tells the parent, or everybody if there is none.
    fn report(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(part) = self.part.as_ref().filter(|part| part.waiting.is_empty()) else { return };
        let best = part.best;
        match part.parent {
            Some(parent) => cx.send(parent, Said::Ack(self.wave, Some(best))),
            None => self.conclude(best, None, cx),
        }
    }

    /// Adopts a leader and passes the news on: down the tree after an election, otherwise to all.
    fn conclude(&mut self, leader: Worth, from: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        self.leader = Some(leader);
        cx.disarm(Settled);
        let told = match self.part.take() {
            Some(part) => part.children,
            None => self.neighbours.clone(),
        };
        for &peer in told.iter().filter(|peer| Some(**peer) != from) {
            cx.send(peer, Said::Leader(self.wave, leader));
        }
    }

    fn on_election(&mut self, from: NodeId, wave: Wave, cx: &mut Cx<'_, Self>) {
        if wave > self.wave {
            self.join(wave, Some(from), cx);
        } else if wave == self.wave {
            cx.send(from, Said::Ack(wave, None));
        } else if self.part.is_none() {
            // A lesser wave would wait for us for ever; while we are in one, its members have our
            // Election or will get it.
            self.begin(cx);
        }
    }

    fn on_leader(&mut self, from: NodeId, wave: Wave, best: Worth, cx: &mut Cx<'_, Self>) {
        let ours = wave == self.wave && self.part.is_some();
        let better = self.part.is_none() && self.leader.is_none_or(|leader| best > leader);
        if ours || better {
            self.wave = self.wave.max(wave);
            self.conclude(best, Some(from), cx);
        } else if let (Some(leader), None) = (self.leader.filter(|l| *l > best), &self.part) {
            cx.send(from, Said::Leader(self.wave, leader));
        }
    }
}

impl Protocol for AdHoc {
    const NAME: &'static str = "ad-hoc";
    type Params = Params;
    type Message = Said;
    type Timer = Settled;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        cx.arm(Settled, cx.now() + cx.params().settle);
        let me = Worth { rank: boot.rank, id: boot.me };
        let wave = Wave { number: 0, starter: boot.me };
        Self { me, neighbours: BTreeSet::new(), wave, part: None, leader: None }
    }

    fn on_message(&mut self, from: NodeId, said: Cow<'_, Said>, cx: &mut Cx<'_, Self>) {
        // A message may outlive the link it came by, and there is no way to answer it.
        if !self.neighbours.contains(&from) {
            return;
        }
        match *said {
            Said::Election(wave) => self.on_election(from, wave, cx),
            Said::Leader(wave, best) => self.on_leader(from, wave, best, cx),
            Said::Ack(wave, best) => {
                let Some(part) = self.part.as_mut().filter(|_| wave == self.wave) else { return };
                if part.waiting.remove(&from) {
                    if let Some(best) = best {
                        part.children.insert(from);
                        part.best = part.best.max(best);
                    }
                    self.report(cx);
                }
            }
        }
    }

    fn on_timer(&mut self, _settled: Settled, cx: &mut Cx<'_, Self>) {
        self.begin(cx);
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        match reach {
            Reach::Up => {
                self.neighbours.insert(peer);
                match (&mut self.part, self.leader) {
                    // Too late for this wave, but it shall know how it ended.
                    (Some(part), _) => {
                        part.children.insert(peer);
                    }
                    (None, Some(leader)) => cx.send(peer, Said::Leader(self.wave, leader)),
                    (None, None) => {}
                }
            }
            Reach::Down => {
                self.neighbours.remove(&peer);
                let lost_leader = self.leader.is_some_and(|leader| leader.id == peer);
                let orphaned = self.part.as_ref().is_some_and(|part| part.parent == Some(peer));
                if lost_leader || orphaned {
                    self.leader = None;
                    self.begin(cx);
                } else if self.part.as_mut().is_some_and(|part| part.waiting.remove(&peer)) {
                    self.report(cx);
                }
            }
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if command != Command::Campaign || self.part.is_some() {
            return Err(Refused);
        }
        self.begin(cx);
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let stage = if self.part.is_some() { Stage::Undecided } else { Stage::Decided };
        match &self.leader {
            Some(leader) => Leadership::of(std::slice::from_ref(&leader.id), stage),
            None => Leadership::NONE,
        }
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}

/// Links have 20 ms to settle.
pub(crate) fn params() -> Params {
    Params { settle: Duration::from_millis(20) }
}

/// One message of each shape.
pub(crate) fn samples() -> Vec<Said> {
    let wave = Wave { number: 3, starter: NodeId(5) };
    let worth = Worth { rank: 7, id: NodeId(9) };
    let acks = [None, Some(worth)].map(|best| Said::Ack(wave, best));
    [vec![Said::Election(wave), Said::Leader(wave, worth)], acks.to_vec()].concat()
}

/// A ring of six with one chord, whose links come up at the start.
fn ring_with_chord(world: &mut dyn Drive) {
    for (a, b) in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1), (2, 5)] {
        world.link(a, b, Reach::Up);
    }
}

fn apart(n: u64) -> Setup {
    Setup { linked: false, ..Setup::clique(n) }
}

#[test]
fn what_is_said_in_an_ad_hoc_network_survives_the_wire() {
    samples().iter().for_each(assert_survives_the_wire);
}

#[test]
fn a_leaf_acknowledges_at_once_and_a_second_sender_gets_no_value() {
    let mut node = Harness::<AdHoc>::start(NodeId(4), params(), &[]);
    node.peer(2, Reach::Up);
    let wave = Wave { number: 1, starter: NodeId(1) };
    node.message(2, Said::Election(wave));
    let best = Worth { rank: 4, id: NodeId(4) };
    let to = |id, said| Effect::Send(Dest::Node(NodeId(id)), said);
    assert_eq!(
        node.effects(),
        [Effect::Disarm(Settled), to(2, Said::Ack(wave, Some(best)))],
        "it has no other neighbour to wait for",
    );
    node.peer(3, Reach::Up).message(3, Said::Election(wave));
    assert_eq!(node.effects(), [to(3, Said::Ack(wave, None))]);
}

#[test]
fn the_best_of_a_connected_graph_leads_after_the_counted_messages() {
    both::<AdHoc>(&apart(6), Params { settle: Duration::MAX }, |world| {
        ring_with_chord(world);
        world.command(1, Command::Campaign).unwrap();
        world.run_for(Duration::from_millis(200));
        assert!(world.agreed_on(6));
        let (edges, nodes) = (7, 6);
        let (elections, acks, leaders) = (2 * edges - nodes + 1, 2 * edges - nodes + 1, nodes - 1);
        assert_eq!(world.sent(), elections + acks + leaders);
    });
}

#[test]
fn elections_that_all_start_at_once_merge_into_one() {
    both::<AdHoc>(&apart(6), params(), |world| {
        ring_with_chord(world);
        world.run_for(Duration::from_millis(200));
        assert!(world.agreed_on(6));
    });
}

#[test]
fn a_cut_leaves_each_side_with_a_leader_and_a_link_makes_them_one() {
    both::<AdHoc>(&apart(6), params(), |world| {
        ring_with_chord(world);
        world.run_for(Duration::from_millis(200));
        world.link(5, 6, Reach::Down);
        world.link(6, 1, Reach::Down);
        world.run_for(Duration::from_millis(200));
        assert_eq!(world.leading(), [NodeId(5), NodeId(6)]);
        world.link(3, 6, Reach::Up);
        world.run_for(Duration::from_millis(200));
        assert!(world.agreed_on(6), "the two components adopt the better leader");
    });
}

#[test]
fn a_child_lost_on_the_way_is_waited_for_no_longer() {
    let mut world = typed::<AdHoc>(&apart(3), params());
    world.link(1, 2, Reach::Up);
    world.link(2, 3, Reach::Up);
    // All three start at 20 ms; the messages take one to two more, so the link breaks under them.
    world.run_for(Duration::from_micros(20_500));
    world.link(2, 3, Reach::Down);
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.leading(), [NodeId(2), NodeId(3)]);
    assert!(world.beliefs().iter().all(|told| told.stage == Stage::Decided));
}
