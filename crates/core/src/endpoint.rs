//! A process of any protocol behind bytes, for a live runtime.

use crate::cx::Env;
use crate::effect::{Dest, Effect};
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::{Change, Leadership};
use crate::node::{Input, Node};
use crate::protocol::{Boot, Command, Message, Protocol, Reach};
use crate::refused::Refused;
use crate::time::{Duration, Instant};
use crate::wire::{Malformed, Reader};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// An output of an endpoint. Within a step stores come first, then messages, then changes of
/// leadership; the driver executes them in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Make these bytes durable, replacing the earlier ones, before going on.
    Store(Vec<u8>),
    /// Send these bytes.
    Send {
        /// The destination.
        to: Dest,
        /// The kind of the message.
        message: &'static str,
        /// The message.
        bytes: Vec<u8>,
    },
    /// What the process believes has changed: ask [`Endpoint::leadership`].
    Leadership,
}

/// Why a datagram was not handled. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unheard {
    /// It is not a message of this protocol.
    Malformed,
    /// It carries a number that cannot have been reached yet: see [`Message::latest`].
    Future,
}

impl From<Malformed> for Unheard {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl fmt::Display for Unheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => Malformed.fmt(f),
            Self::Future => f.write_str("a number that cannot have been reached; nothing changed"),
        }
    }
}

impl core::error::Error for Unheard {}

/// [`Node`] without the type parameter. See the [crate page](crate) for the run loop.
pub trait Endpoint: Send {
    /// The protocol's name.
    fn name(&self) -> &'static str;

    /// From now on messages with a later number than this are not heard: see [`Message::latest`].
    /// Without a call all are.
    ///
    /// To drop one is as safe as to lose it. It matters only if somebody who has the group's key
    /// wants to use up the numbers.
    fn set_latest(&mut self, latest: u64);

    /// Handles a datagram; returns the kind of its message.
    ///
    /// # Errors
    /// [`Unheard`]; nothing changed.
    fn datagram(
        &mut self,
        from: NodeId,
        bytes: &[u8],
        env: &mut Env<'_>,
    ) -> Result<&'static str, Unheard>;

    /// Handles a change of a peer's reachability.
    fn peer(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>);

    /// Handles a command of the application.
    ///
    /// # Errors
    /// [`Refused`] as the protocol says; nothing changed.
    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused>;

    /// Why the protocol would refuse this command now; see [`Protocol::refusal`].
    fn refusal(&self, command: Command, env: &mut Env<'_>) -> Option<Refused>;

    /// The process that is asked whether it can vote; see [`Protocol::invited`].
    fn invited(&self, now: Instant) -> Option<NodeId>;

    /// The process that should lead instead of this one; see [`Protocol::successor`].
    fn successor(&self, now: Instant) -> Option<NodeId>;

    /// The number of the partition that it belongs to; see [`Protocol::partition`].
    fn partition(&self, now: Instant) -> Option<u64>;

    /// The processes of that partition, in order.
    fn partition_members(&self, now: Instant) -> Vec<NodeId> {
        let mut members = Vec::new();
        self.facts(now, &mut |fact| match fact {
            Fact::Supporter { peer } | Fact::Member { peer } => members.push(peer),
            _ => {}
        });
        members.sort_unstable();
        members
    }

    /// Until when the lease of its leader may last; see [`Protocol::lease_end`].
    fn lease_end(&self, now: Instant) -> Option<Instant>;

    /// The bound on the delay of the last handled message; see [`Protocol::last_delay_bound`].
    fn last_delay_bound(&self) -> Option<Duration> {
        None
    }

    /// Handles the passing of time. Fires at most one timer; early calls are harmless.
    fn timeout(&mut self, env: &mut Env<'_>);

    /// The name of the timer that the next [`timeout`](Self::timeout) fires at this time.
    fn due(&self, now: Instant) -> Option<String>;

    /// When to call [`timeout`](Self::timeout) at the latest.
    fn poll_timeout(&self) -> Instant;

    /// The next output, until there is none.
    fn poll_output(&mut self) -> Option<Output>;

    /// Takes back the bytes of an output that was sent, so that a later one needs no allocation.
    fn recycle(&mut self, bytes: Vec<u8>) {
        drop(bytes);
    }

    /// What the process believes now.
    fn leadership(&self, now: Instant) -> Leadership<'_>;

    /// Other facts about its state.
    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact));
}

/// Starts a process of protocol `P` behind an [`Endpoint`].
pub fn endpoint<P: Protocol>(
    boot: Boot<'_>,
    env: &mut Env<'_>,
    params: P::Params,
) -> Box<dyn Endpoint> {
    let mut effects = Vec::new();
    let node = Node::<P>::start(boot, env, &params, &mut effects);
    let (outputs, spare) = (VecDeque::new(), Vec::new());
    let mut endpoint = Bytes { node, params, effects, outputs, spare, latest: u64::MAX };
    endpoint.emit(Change::Changed);
    Box::new(endpoint)
}

struct Bytes<P: Protocol> {
    node: Node<P>,
    params: P::Params,
    effects: Vec<Effect<P>>,
    outputs: VecDeque<Output>,
    /// Empty buffers for messages.
    spare: Vec<Vec<u8>>,
    /// The latest number that a message may carry.
    latest: u64,
}

/// The most empty buffers that are kept: a step sends few messages.
const SPARE_MAX: usize = 8;

// `Env` is not `Send` and is never stored; the node, its parameters and its buffers are `Send`.
impl<P: Protocol> Bytes<P> {
    fn step(&mut self, input: Input<'_, P>, env: &mut Env<'_>) {
        let change = self.node.handle(input, env, &self.params, &mut self.effects);
        self.emit(change);
    }

    fn emit(&mut self, change: Change) {
        for effect in &mut self.effects {
            if let Effect::Store(bytes) = effect {
                self.outputs.push_back(Output::Store(core::mem::take(bytes)));
            }
        }
        for effect in self.effects.drain(..) {
            if let Effect::Send(to, message) = effect {
                let mut bytes = self.spare.pop().unwrap_or_default();
                message.encode(&mut bytes);
                let message = message.kind();
                self.outputs.push_back(Output::Send { to, message, bytes });
            }
        }
        if change == Change::Changed {
            self.outputs.push_back(Output::Leadership);
        }
    }
}

impl<P: Protocol> Endpoint for Bytes<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn datagram(
        &mut self,
        from: NodeId,
        bytes: &[u8],
        env: &mut Env<'_>,
    ) -> Result<&'static str, Unheard> {
        let mut reader = Reader::new(bytes);
        let message = P::Message::decode(&mut reader)?;
        reader.finish()?;
        if message.latest() > self.latest {
            return Err(Unheard::Future);
        }
        let kind = message.kind();
        if message.weight() >= self.node.min_weight() {
            self.step(Input::Message(from, Cow::Owned(message)), env);
        }
        Ok(kind)
    }

    fn set_latest(&mut self, latest: u64) {
        self.latest = latest;
    }

    fn peer(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>) {
        self.step(Input::Peer(peer, reach), env);
    }

    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused> {
        let change = self.node.command(command, env, &self.params, &mut self.effects)?;
        self.emit(change);
        Ok(())
    }

    fn refusal(&self, command: Command, env: &mut Env<'_>) -> Option<Refused> {
        self.node.refusal(command, env, &self.params)
    }

    fn invited(&self, now: Instant) -> Option<NodeId> {
        self.node.invited(now)
    }

    fn successor(&self, now: Instant) -> Option<NodeId> {
        self.node.successor(now)
    }

    fn partition(&self, now: Instant) -> Option<u64> {
        self.node.partition(now)
    }

    fn lease_end(&self, now: Instant) -> Option<Instant> {
        self.node.lease_end(now)
    }

    fn last_delay_bound(&self) -> Option<Duration> {
        self.node.last_delay_bound()
    }

    fn timeout(&mut self, env: &mut Env<'_>) {
        self.step(Input::Timeout, env);
    }

    fn due(&self, now: Instant) -> Option<String> {
        self.node.due(now).map(|timer| format!("{timer:?}"))
    }

    fn poll_timeout(&self) -> Instant {
        self.node.poll_timeout()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn recycle(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < SPARE_MAX {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.node.leadership(now)
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.node.facts(now, tell);
    }
}

/// An operation on a protocol chosen at run time; see `Choice::visit` of the protocols crate.
pub trait Visitor {
    /// Its result.
    type Output;

    /// Runs the operation with the protocol as a type.
    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output;
}

/// The bytes of the [last will](Protocol::last_will) of this incarnation.
pub fn last_will<P: Protocol>(life: u64, params: &P::Params) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    P::last_will(life, params)?.encode(&mut bytes);
    Some(bytes)
}
