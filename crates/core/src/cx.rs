//! A handler's surroundings: what it may read, and where its wishes go.

use crate::effect::{Dest, Effect};
use crate::entropy::Entropy;
use crate::id::NodeId;
use crate::peers::Peers;
use crate::protocol::Protocol;
use crate::time::{Duration, Instant};
use crate::timer::{Layered, TimerKind};
use alloc::vec::Vec;

/// What a driver brings to a step.
pub struct Env<'a> {
    /// The node's own clock, read once for this step; for a datagram, at the socket.
    pub now: Instant,
    /// Who else is in the group.
    pub peers: &'a dyn Peers,
    /// Where random choices come from.
    pub entropy: &'a mut dyn Entropy,
}

/// What a handler sees of a step.
pub struct Cx<'a, P: Protocol> {
    now: Instant,
    peers: &'a dyn Peers,
    entropy: &'a mut dyn Entropy,
    bound: Option<Duration>,
    params: &'a P::Params,
    effects: &'a mut Vec<Effect<P>>,
}

impl<'a, P: Protocol> Cx<'a, P> {
    /// The surroundings of one step.
    #[inline(always)]
    pub fn new(
        env: &'a mut Env<'_>,
        params: &'a P::Params,
        effects: &'a mut Vec<Effect<P>>,
    ) -> Self {
        Cx { now: env.now, peers: env.peers, entropy: env.entropy, bound: None, params, effects }
    }

    /// Sends to everyone the medium reaches.
    pub fn broadcast(&mut self, message: P::Message) {
        self.dispatch(Dest::Everyone, message);
    }

    /// Sends to one process.
    pub fn send(&mut self, to: NodeId, message: P::Message) {
        self.dispatch(Dest::Node(to), message);
    }

    /// Sends to whom a layer was told to: the same destination that [`lift`](Self::lift) gave.
    pub fn dispatch(&mut self, to: Dest, message: P::Message) {
        self.effects.push(Effect::Send(to, message));
    }

    /// Asks to be woken; replaces an earlier arming of the same kind.
    pub fn arm(&mut self, timer: P::Timer, at: Instant) {
        self.effects.push(Effect::Arm(timer, at));
    }

    /// Takes an arming back.
    pub fn disarm(&mut self, timer: P::Timer) {
        self.effects.push(Effect::Disarm(timer));
    }

    /// Asks for bytes to be kept through a crash, before this step's messages leave.
    pub fn store(&mut self, bytes: Vec<u8>) {
        self.effects.push(Effect::Store(bytes));
    }

    /// Where random choices come from.
    pub fn entropy(&mut self) -> &mut dyn Entropy {
        self.entropy
    }

    /// The node's own clock at this step.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The parameters. They outlive the step, so they can be held while sending.
    pub fn params(&self) -> &'a P::Params {
        self.params
    }

    /// Who else is in the group. Outlives the step too.
    pub fn peers(&self) -> &'a dyn Peers {
        self.peers
    }

    /// An upper bound on how long the message being handled was under way, if a layer below knows.
    pub fn delay_bound(&self) -> Option<Duration> {
        self.bound
    }

    /// A layer's way in: the surroundings for the protocol inside it.
    pub fn inner<'b, Q: Protocol>(
        &'b mut self,
        params: &'b Q::Params,
        bound: Option<Duration>,
        effects: &'b mut Vec<Effect<Q>>,
    ) -> Cx<'b, Q> {
        Cx { now: self.now, peers: self.peers, entropy: self.entropy, bound, params, effects }
    }

    /// A layer's way out: timers and stores of the protocol inside pass through, a message comes
    /// back to be wrapped and dispatched.
    pub fn lift<Q: Protocol, O: TimerKind>(
        &mut self,
        effect: Effect<Q>,
    ) -> Option<(Dest, Q::Message)>
    where
        P: Protocol<Timer = Layered<O, Q::Timer>>,
    {
        match effect {
            Effect::Arm(timer, at) => self.arm(Layered::Inner(timer), at),
            Effect::Disarm(timer) => self.disarm(Layered::Inner(timer)),
            Effect::Store(bytes) => self.store(bytes),
            Effect::Send(to, message) => return Some((to, message)),
        }
        None
    }
}
