//! A ring whose message collects ids (Tanenbaum's), over a layer that detects failures.
//!
//! The case it makes: a list that grows from hop to hop is moved, not copied, through a layer too;
//! and a protocol that assumes detectable failures gets its `on_peer` from heartbeats.

mod detect;

use crate::world::{Setup, both};
use bellwether_core::harness::{Harness, assert_survives_the_wire};
use bellwether_core::*;
pub(crate) use detect::{Detect, DetectParams, Frame};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The ring itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ring {
    me: NodeId,
    down: BTreeSet<NodeId>,
    leader: Option<NodeId>,
}

#[derive(Clone, Debug)]
pub(crate) struct RingParams {
    /// A starter whose message has not come back by then starts again.
    pub(crate) patience: Duration,
}

/// Both go once round, hand over hand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Token {
    /// Grows: who is alive, the starter first.
    Election(Vec<NodeId>),
    /// Shrinks: who is still to hear of the leader, so that it ends even if its starter dies.
    Coordinator(NodeId, Vec<NodeId>),
}

impl Message for Token {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(_) => "election",
            Self::Coordinator(..) => "coordinator",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let ids = match self {
            Self::Election(ids) => {
                out.push(0);
                ids
            }
            Self::Coordinator(leader, ids) => {
                out.push(1);
                out.put_node(*leader);
                ids
            }
        };
        out.put_list(ids, |out, id| out.put_node(*id));
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        match input.u8()? {
            0 => Ok(Self::Election(input.list(8, Reader::node)?)),
            1 => Ok(Self::Coordinator(input.node()?, input.list(8, Reader::node)?)),
            _ => Err(Malformed),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Again;

impl TimerKind for Again {
    type Slots = [Instant; 1];

    fn slot(self) -> usize {
        0
    }

    fn at(_slot: usize) -> Self {
        Self
    }
}

impl Ring {
    fn begin(&mut self, cx: &mut Cx<'_, Self>) {
        self.leader = None;
        cx.arm(Again, cx.now() + cx.params().patience);
        self.pass(Token::Election(vec![self.me]), cx);
    }

    /// Hands a token to the next process that is up; alone, there is nothing to ask.
    fn pass(&mut self, token: Token, cx: &mut Cx<'_, Self>) {
        let peers = cx.peers();
        let round = std::iter::successors(peers.successor(self.me), |id| peers.successor(*id));
        let next = round.take(peers.len()).find(|id| !self.down.contains(id));
        match next {
            Some(next) => cx.send(next, token),
            None => {
                self.leader = Some(self.me);
                cx.disarm(Again);
            }
        }
    }
}

impl Protocol for Ring {
    const NAME: &'static str = "ring";
    type Params = RingParams;
    type Message = Token;
    type Timer = Again;

    fn start(boot: Boot<'_>, _cx: &mut Cx<'_, Self>) -> Self {
        Self { me: boot.me, down: BTreeSet::new(), leader: None }
    }

    fn on_message(&mut self, _from: NodeId, token: Cow<'_, Token>, cx: &mut Cx<'_, Self>) {
        match token.into_owned() {
            Token::Election(ids) if ids.first() == Some(&self.me) => {
                let leader = ids.iter().copied().max().unwrap_or(self.me);
                self.pass(Token::Coordinator(leader, ids), cx);
            }
            Token::Election(mut ids) if !ids.contains(&self.me) => {
                ids.push(self.me);
                self.pass(Token::Election(ids), cx);
            }
            Token::Coordinator(leader, mut ids) if ids.contains(&self.me) => {
                ids.retain(|id| *id != self.me);
                self.leader = Some(leader);
                cx.disarm(Again);
                if !ids.is_empty() {
                    self.pass(Token::Coordinator(leader, ids), cx);
                }
            }
            // It has been here before, and whoever would have ended its round is gone.
            Token::Election(_) | Token::Coordinator(..) => {}
        }
    }

    fn on_timer(&mut self, _again: Again, cx: &mut Cx<'_, Self>) {
        self.begin(cx);
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        match reach {
            Reach::Up => self.down.remove(&peer),
            Reach::Down => self.down.insert(peer),
        };
        if reach == Reach::Down && self.leader == Some(peer) {
            self.begin(cx);
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if command != Command::Campaign {
            return Err(Refused);
        }
        self.begin(cx);
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        match &self.leader {
            Some(leader) => Leadership::of(std::slice::from_ref(leader), Stage::Decided),
            None => Leadership::NONE,
        }
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.down.iter().for_each(|&peer| tell(Fact::Suspect { peer }));
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}

/// Beats every 20 ms, down after 70 ms, again after 200 ms.
pub(crate) fn params() -> DetectParams<RingParams> {
    let [every, patience, again] = [20, 70, 200].map(Duration::from_millis);
    DetectParams { every, patience, inner: RingParams { patience: again } }
}

/// One message of each shape.
pub(crate) fn samples() -> Vec<Frame<Token>> {
    let ids = vec![NodeId(1), NodeId(4), NodeId(2)];
    let tokens = [Token::Election(ids.clone()), Token::Coordinator(NodeId(4), ids)];
    std::iter::once(Frame::Beat).chain(tokens.map(Frame::Inner)).collect()
}

#[test]
fn tokens_and_beats_survive_the_wire() {
    samples().iter().for_each(assert_survives_the_wire);
}

#[test]
fn the_list_moves_from_hop_to_hop_and_is_not_copied() {
    let peers = [1, 3].map(NodeId);
    let boot = Boot::first(NodeId(2));
    let mut effects = Vec::new();
    let (params, peers) = (params(), Members::from_iter(peers));
    let mut entropy = harness::Scripted::default();
    let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut entropy };
    let mut node = Node::<Detect<Ring>>::start(boot, &mut env, &params, &mut effects);
    effects.clear();

    let mut ids = Vec::with_capacity(8);
    ids.push(NodeId(1));
    let place = ids.as_ptr();
    let token = Cow::Owned(Frame::Inner(Token::Election(ids)));
    let _ = node.handle(Input::Message(NodeId(1), token), &mut env, &params, &mut effects);
    let [Effect::Send(Dest::Node(NodeId(3)), Frame::Inner(Token::Election(ids)))] = &effects[..]
    else {
        panic!("one message to the successor, not {effects:?}");
    };
    assert_eq!(ids[..], [1, 2].map(NodeId));
    assert_eq!(ids.as_ptr(), place, "the very same list goes on");
}

#[test]
fn silence_becomes_down_and_a_word_becomes_up() {
    let peers = [1, 3].map(NodeId);
    let boot = Boot::first(NodeId(2));
    let mut node = Harness::<Detect<Ring>>::boot(boot, params(), &peers, &[]);
    let down = |node: &Harness<Detect<Ring>>| {
        let inner = &node.node().protocol().inner;
        inner.down.iter().map(|id| id.0).collect::<Vec<_>>()
    };
    node.wait(Duration::from_millis(50)).message(3, Frame::Beat);
    node.wait(Duration::from_millis(20));
    while node.node().poll_timeout() <= node.now() {
        node.timeout();
    }
    assert_eq!(down(&node), [1], "three has been heard lately");
    assert!(node.facts().contains(&Fact::Suspect { peer: NodeId(1) }));
    node.message(1, Frame::Beat);
    assert_eq!(down(&node), [0; 0]);
}

#[test]
fn an_election_takes_two_rounds_of_messages() {
    let mut params = params();
    params.every = Duration::MAX; // no beats, so that the count is the ring's alone
    params.patience = Duration::MAX;
    both::<Detect<Ring>>(&Setup::clique(7), params, |world| {
        let before = world.sent();
        world.command(3, Command::Campaign).unwrap();
        world.run_for(Duration::from_millis(100));
        assert!(world.agreed_on(7));
        assert_eq!(world.sent() - before, 2 * 7);
    });
}

#[test]
fn a_dead_leader_is_replaced_and_a_dead_successor_skipped() {
    both::<Detect<Ring>>(&Setup::clique(5), params(), |world| {
        world.command(1, Command::Campaign).unwrap();
        world.run_for(Duration::from_millis(100));
        assert!(world.agreed_on(5));
        world.crash(2);
        world.crash(5);
        world.run_for(Duration::from_millis(500));
        assert!(world.agreed_on(4), "{:?}", world.beliefs());
        assert_eq!(world.beliefs().len(), 3);
    });
}

#[test]
fn a_token_that_dies_with_its_holder_is_sent_again() {
    both::<Detect<Ring>>(&Setup::clique(5), params(), |world| {
        world.command(1, Command::Campaign).unwrap();
        world.run_for(Duration::from_micros(500));
        world.crash(2); // while the first token is on its way to it
        world.run_for(Duration::from_millis(150));
        assert!(world.beliefs().iter().all(|told| told.stage == Stage::Undecided));
        world.run_for(Duration::from_millis(300));
        assert!(world.agreed_on(5));
    });
}
