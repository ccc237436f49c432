//! A test harness for one process: give it an input, compare the exact effects.
//!
//! The [crate page](crate) ends with an example.

use crate::cx::{Cx, Env};
use crate::effect::Effect;
use crate::entropy::Entropy;
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::{Change, Leadership};
use crate::node::{Input, Node};
use crate::peers::Members;
use crate::protocol::{Boot, Command, Message, Protocol, Reach, Refused};
use crate::time::{Duration, Instant};
use crate::wire::{Malformed, Reader};
use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Scripted random choices. The test fails if the protocol draws more.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    draws: VecDeque<u64>,
}

impl Entropy for Scripted {
    fn below(&mut self, n: u64) -> u64 {
        let draw = self.draws.pop_front().expect("the protocol drew more than the test scripted");
        assert!(draw < n, "the test wrote {draw} for a draw below {n}");
        draw
    }
}

/// One process, its clock and its scripted random choices.
#[derive(Clone, Debug)]
pub struct Harness<P: Protocol> {
    node: Node<P>,
    params: P::Params,
    now: Instant,
    peers: Members,
    entropy: Scripted,
    effects: Vec<Effect<P>>,
    change: Change,
}

impl<P: Protocol> Harness<P> {
    /// Starts `me` for the first time at time zero, with these scripted draws.
    pub fn start(me: NodeId, params: P::Params, draws: &[u64]) -> Self {
        Self::boot(Boot::first(me), params, &[], draws)
    }

    /// Starts a process with any boot information.
    pub fn boot(boot: Boot<'_>, params: P::Params, peers: &[NodeId], draws: &[u64]) -> Self {
        let peers: Members = peers.iter().copied().collect();
        let mut entropy = Scripted { draws: draws.iter().copied().collect() };
        let mut effects = Vec::new();
        let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut entropy };
        let mut node = Node::<P>::begin(boot, &mut env, &params, &mut effects);
        node.absorb(&mut effects.clone());
        let change = Change::Changed;
        Self { node, params, now: Instant::ZERO, peers, entropy, effects, change }
    }

    /// Adds scripted draws.
    pub fn draws(&mut self, draws: &[u64]) -> &mut Self {
        self.entropy.draws.extend(draws);
        self
    }

    /// Lets time pass without waking the process.
    pub fn wait(&mut self, length: Duration) -> &mut Self {
        self.now += length;
        self
    }

    /// Lets time pass up to the next deadline and fires its timer.
    ///
    /// # Panics
    /// If nothing is armed.
    pub fn ring(&mut self) -> &mut Self {
        let at = self.node.poll_timeout();
        assert_ne!(at, Instant::NEVER, "nothing is armed");
        self.now = self.now.max(at);
        self.timeout()
    }

    /// Calls the process with [`Input::Timeout`].
    pub fn timeout(&mut self) -> &mut Self {
        self.step(Input::Timeout)
    }

    /// Delivers a message, also if it is below `min_weight`.
    pub fn message(&mut self, from: u64, message: P::Message) -> &mut Self {
        self.step(Input::Message(NodeId(from), Cow::Owned(message)))
    }

    /// Reports a change of a peer's reachability.
    pub fn peer(&mut self, peer: u64, reach: Reach) -> &mut Self {
        self.step(Input::Peer(NodeId(peer), reach))
    }

    /// Gives a command.
    ///
    /// # Errors
    /// [`Refused`] as the protocol says; then there are no effects.
    ///
    /// # Panics
    /// If the protocol refuses after it has changed its state.
    pub fn command(&mut self, command: Command) -> Result<&mut Self, Refused> {
        self.effects.clear();
        let before = self.node.clone();
        let Self { node, params, now, peers, entropy, effects, .. } = self;
        let mut env = Env { now: *now, peers: &*peers, entropy };
        // Like `Node::command`, but keeps the timer effects for the test.
        let mut protocol = node.protocol().clone();
        let answer = protocol.on_command(command, &mut Cx::new(&mut env, params, effects));
        if let Err(refused) = answer {
            assert_eq!(&protocol, before.protocol(), "a refused command must change nothing");
            effects.clear();
            return Err(refused);
        }
        node.replace(protocol);
        self.settle();
        Ok(self)
    }

    /// All effects of the last input, including timers.
    pub fn effects(&self) -> Vec<Effect<P>> {
        self.effects.clone()
    }

    /// Whether the last input changed what the process believes.
    pub fn change(&self) -> Change {
        self.change
    }

    /// What it believes.
    pub fn leadership(&self) -> Leadership<'_> {
        self.node.leadership(self.now)
    }

    /// All its facts.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.node.facts(self.now, &mut |fact| facts.push(fact));
        facts
    }

    /// The process itself.
    pub fn node(&self) -> &Node<P> {
        &self.node
    }

    /// Its clock.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The effect that arms `timer` for this long from now.
    pub fn armed(&self, timer: P::Timer, from_now: Duration) -> Effect<P> {
        Effect::Arm(timer, self.now + from_now)
    }

    fn step(&mut self, input: Input<'_, P>) -> &mut Self {
        self.effects.clear();
        let Self { node, params, now, peers, entropy, effects, .. } = self;
        let mut env = Env { now: *now, peers: &*peers, entropy };
        node.step(input, &mut env, params, effects);
        self.settle();
        self
    }

    fn settle(&mut self) {
        self.node.absorb(&mut self.effects.clone());
        self.change = self.node.look(self.now);
    }
}

/// Checks what every message type must do: decode exactly what it encodes, and reject truncated
/// bytes.
///
/// # Panics
/// If the message does not.
pub fn assert_survives_the_wire<M: Message>(message: &M) {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    let mut reader = Reader::new(&bytes);
    assert_eq!(M::decode(&mut reader).as_ref(), Ok(message));
    assert_eq!(reader.finish(), Ok(()), "{message:?} left bytes over");
    for cut in 0..bytes.len() {
        let mut reader = Reader::new(&bytes[..cut]);
        let read = M::decode(&mut reader).and_then(|read| reader.finish().map(|()| read));
        assert_eq!(read, Err(Malformed), "{message:?} cut to {cut} bytes was accepted");
    }
}
