//! A test harness for one process: give it an input, compare the exact effects.
//!
//! The [crate page](crate) ends with an example.

use crate::cx::{Cx, Env};
use crate::effect::{Dest, Effect};
use crate::entropy::Entropy;
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::{Change, Leadership, Stage};
use crate::node::{Input, Node};
use crate::peers::Members;
use crate::protocol::{Boot, Command, Message, Protocol, Reach};
use crate::rebase::Rebase;
use crate::refused::Refused;
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

/// One process, its clock and its random choices, which a handler test scripts.
#[derive(Clone, Debug)]
pub struct Harness<P: Protocol, E = Scripted> {
    node: Node<P>,
    params: P::Params,
    now: Instant,
    peers: Members,
    entropy: E,
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
        let entropy = Scripted { draws: draws.iter().copied().collect() };
        Self::begin(boot, params, peers.iter().copied().collect(), Instant::ZERO, entropy)
    }

    /// Adds scripted draws.
    pub fn draws(&mut self, draws: &[u64]) -> &mut Self {
        self.entropy.draws.extend(draws);
        self
    }
}

impl<P: Protocol, E: Entropy> Harness<P, E> {
    /// Starts a process at any reading of its clock, with any source of random choices.
    pub fn begin(
        boot: Boot<'_>,
        params: P::Params,
        peers: Members,
        now: Instant,
        mut entropy: E,
    ) -> Self {
        let mut effects = Vec::new();
        let mut env = Env { now, peers: &peers, entropy: &mut entropy };
        let mut node = Node::<P>::begin(boot, &mut env, &params, &mut effects);
        node.absorb(&mut timers(&effects));
        Self { node, params, now, peers, entropy, effects, change: Change::Changed }
    }

    /// Starts it again with nothing but what `boot` says.
    pub fn restart(&mut self, boot: Boot<'_>, now: Instant)
    where
        E: Clone,
    {
        let (params, peers) = (self.params.clone(), self.peers.clone());
        *self = Self::begin(boot, params, peers, now, self.entropy.clone());
    }

    /// Lets time pass without waking the process.
    pub fn wait(&mut self, length: Duration) -> &mut Self {
        self.set_clock(self.now + length)
    }

    /// Sets its clock without waking the process.
    pub fn set_clock(&mut self, now: Instant) -> &mut Self {
        self.now = now;
        self
    }

    /// Changes the peers that it knows, without telling it.
    pub fn set_peers(&mut self, peers: &[NodeId]) -> &mut Self {
        self.peers = peers.iter().copied().collect();
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

    /// Delivers a message that must change nothing.
    ///
    /// # Panics
    /// If it does.
    #[track_caller]
    pub fn ignores(&mut self, from: u64, message: P::Message) -> &mut Self {
        let before = self.node.clone();
        self.message(from, message);
        assert_eq!(self.effects, [], "effects");
        assert_eq!(self.node, before, "state");
        self
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
        let Self { node, params, now, peers, entropy, effects, .. } = self;
        let mut env = Env { now: *now, peers: &*peers, entropy };
        // Like `Node::command`, but keeps the timer effects for the test.
        let mut protocol = node.protocol().clone();
        let answer = protocol.on_command(command, &mut Cx::new(&mut env, params, effects));
        if let Err(refused) = answer {
            assert_eq!(&protocol, node.protocol(), "a refused command must change nothing");
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

    /// The effects of the last input that send something.
    pub fn packets(&self) -> Vec<Effect<P>> {
        let sends = |effect: &&Effect<P>| matches!(effect, Effect::Send(..));
        self.effects.iter().filter(sends).cloned().collect()
    }

    /// What the last input sent, and to whom.
    pub fn sends(&self) -> impl Iterator<Item = (Dest, &P::Message)> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Send(to, message) => Some((*to, message)),
            _ => None,
        })
    }

    /// Checks the whole outcome of the last input: the effects and the belief.
    ///
    /// # Panics
    /// If the outcome is another one.
    #[track_caller]
    pub fn expect(&self, effects: &[Effect<P>], leaders: &[u64], stage: Stage) {
        assert_eq!(self.effects, effects, "effects");
        let leaders: Vec<NodeId> = leaders.iter().copied().map(NodeId).collect();
        assert_eq!(self.leadership(), Leadership::of(&leaders, stage), "belief");
    }

    /// Whether the last input changed what the process believes.
    pub fn change(&self) -> Change {
        self.change
    }

    /// What it believes.
    pub fn leadership(&self) -> Leadership<'_> {
        self.node.leadership(self.now)
    }

    /// The first leader that it names.
    pub fn leader(&self) -> Option<u64> {
        self.leadership().leaders.first().map(|leader| leader.0)
    }

    /// Whether no timer is armed.
    pub fn is_quiet(&self) -> bool {
        self.node.poll_timeout() == Instant::NEVER
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

    /// Its parameters.
    pub fn params(&self) -> &P::Params {
        &self.params
    }

    /// The state of its protocol.
    pub fn state(&self) -> &P {
        self.node.protocol()
    }

    /// Its clock.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Its source of random choices.
    pub fn entropy(&self) -> &E {
        &self.entropy
    }

    /// Moves its clock to [`Rebase::ORIGIN`], and all instants in its state with it.
    pub fn rebase(&mut self) -> &mut Self {
        self.node.instants(&Rebase::new(self.now));
        self.set_clock(Rebase::ORIGIN)
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
        self.node.absorb(&mut timers(&self.effects));
        self.change = self.node.look(self.now);
    }
}

/// The effects that a node takes for itself.
fn timers<P: Protocol>(effects: &[Effect<P>]) -> Vec<Effect<P>> {
    let timer = |effect: &&Effect<P>| matches!(effect, Effect::Arm(..) | Effect::Disarm(_));
    effects.iter().filter(timer).cloned().collect()
}

/// The bytes of a message.
pub fn bytes_of<M: Message>(message: &M) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// The message that these bytes are, all of them.
///
/// # Errors
/// [`Malformed`] if they are none.
pub fn decoded<M: Message>(bytes: &[u8]) -> Result<M, Malformed> {
    let mut reader = Reader::new(bytes);
    let message = M::decode(&mut reader)?;
    reader.finish().map(|()| message)
}

/// The message that these bytes are, if they are one. Whatever can be read at their beginning must
/// be written as the same bytes, and [survive the wire](assert_survives_the_wire).
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn read_as_written<M: Message>(bytes: &[u8]) -> Option<M> {
    let mut reader = Reader::new(bytes);
    let message = M::decode(&mut reader).ok()?;
    let written = bytes_of(&message);
    assert!(bytes.starts_with(&written), "{message:?} was read from {bytes:?}, not {written:?}");
    assert_survives_the_wire(&message);
    reader.finish().is_ok().then_some(message)
}

/// Checks what every message type must do: decode exactly what it encodes, and reject truncated
/// bytes.
///
/// # Panics
/// If the message does not.
#[track_caller]
pub fn assert_survives_the_wire<M: Message>(message: &M) {
    let bytes = bytes_of(message);
    assert_eq!(decoded(&bytes).as_ref(), Ok(message));
    for cut in 0..bytes.len() {
        let read = decoded::<M>(&bytes[..cut]);
        assert_eq!(read, Err(Malformed), "{message:?} cut to {cut} bytes was accepted");
    }
}
