//! The context of a handler: what it may read, and where it writes its effects.

use crate::effect::{Dest, Effect};
use crate::entropy::Entropy;
use crate::id::NodeId;
use crate::peers::Peers;
use crate::protocol::Protocol;
use crate::time::{Duration, Instant};
use crate::timer::{Layered, TimerKind};
use alloc::vec::Vec;

/// What a driver provides for a step.
pub struct Env<'a> {
    /// The time on the node's own clock, read once for this step; for a datagram, at the socket.
    pub now: Instant,
    /// The other members of the group.
    pub peers: &'a dyn Peers,
    /// The source of random choices.
    pub entropy: &'a mut dyn Entropy,
}

/// The context of a handler.
pub struct Cx<'a, P: Protocol> {
    now: Instant,
    peers: &'a dyn Peers,
    entropy: &'a mut dyn Entropy,
    bound: Option<Duration>,
    params: &'a P::Params,
    effects: &'a mut Vec<Effect<P>>,
}

impl<'a, P: Protocol> Cx<'a, P> {
    /// The context of one step.
    #[inline(always)]
    pub fn new(
        env: &'a mut Env<'_>,
        params: &'a P::Params,
        effects: &'a mut Vec<Effect<P>>,
    ) -> Self {
        Cx { now: env.now, peers: env.peers, entropy: env.entropy, bound: None, params, effects }
    }

    /// Sends to every process that the medium reaches.
    #[inline]
    pub fn broadcast(&mut self, message: P::Message) {
        self.dispatch(Dest::Everyone, message);
    }

    /// Sends to one process.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: P::Message) {
        self.dispatch(Dest::Node(to), message);
    }

    /// Sends a wrapped message to the destination that [`lift`](Self::lift) returned.
    #[inline]
    pub fn dispatch(&mut self, to: Dest, message: P::Message) {
        self.append(|| Effect::Send(to, message));
    }

    /// The same with a message that is made where it stays.
    #[inline]
    pub fn dispatch_with(&mut self, to: Dest, make: impl FnOnce() -> P::Message) {
        self.append(|| Effect::Send(to, make()));
    }

    /// Arms a timer; replaces an earlier arming of the same kind.
    #[inline]
    pub fn arm(&mut self, timer: P::Timer, at: Instant) {
        self.append(|| Effect::Arm(timer, at));
    }

    /// Disarms a timer.
    #[inline]
    pub fn disarm(&mut self, timer: P::Timer) {
        self.append(|| Effect::Disarm(timer));
    }

    /// Stores bytes durably, before this step's messages are sent.
    #[inline]
    pub fn store(&mut self, bytes: Vec<u8>) {
        self.append(|| Effect::Store(bytes));
    }

    /// Appends an effect. It is made where it stays: an effect has room for the longest message,
    /// and one made elsewhere would be copied with all of that room.
    #[inline]
    fn append(&mut self, make: impl FnOnce() -> Effect<P>) {
        self.effects.extend(core::iter::once_with(make));
    }

    /// The source of random choices.
    #[inline]
    pub fn entropy(&mut self) -> &mut dyn Entropy {
        self.entropy
    }

    /// The time of this step on the node's own clock.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The parameters. They outlive the step, so they can be borrowed while sending.
    #[inline]
    pub fn params(&self) -> &'a P::Params {
        self.params
    }

    /// The other members of the group. It outlives the step too.
    #[inline]
    pub fn peers(&self) -> &'a dyn Peers {
        self.peers
    }

    /// An upper bound on the delay of the message being handled, if a layer below knows one.
    #[inline]
    pub fn delay_bound(&self) -> Option<Duration> {
        self.bound
    }

    /// For layers: the context for the inner protocol.
    #[inline]
    pub fn inner<'b, Q: Protocol>(
        &'b mut self,
        params: &'b Q::Params,
        bound: Option<Duration>,
        effects: &'b mut Vec<Effect<Q>>,
    ) -> Cx<'b, Q> {
        Cx { now: self.now, peers: self.peers, entropy: self.entropy, bound, params, effects }
    }

    /// For layers: passes on timers and stores of the inner protocol, and returns each message to
    /// be wrapped and dispatched.
    #[inline]
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
