//! A process of any protocol behind bytes, for a live runtime.

use crate::cx::Env;
use crate::effect::{Dest, Effect};
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::{Change, Leadership};
use crate::node::{Input, Node};
use crate::protocol::{Boot, Command, Message, Protocol, Reach, Refused};
use crate::time::Instant;
use crate::wire::{Malformed, Reader};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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

/// [`Node`] without the type parameter. See the [crate page](crate) for the run loop.
pub trait Endpoint: Send {
    /// The protocol's name.
    fn name(&self) -> &'static str;

    /// Handles a datagram; returns the kind of its message.
    ///
    /// # Errors
    /// [`Malformed`] if it is not a message of this protocol; nothing changed.
    fn datagram(
        &mut self,
        from: NodeId,
        bytes: &[u8],
        env: &mut Env<'_>,
    ) -> Result<&'static str, Malformed>;

    /// Handles a change of a peer's reachability.
    fn peer(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>);

    /// Handles a command of the application.
    ///
    /// # Errors
    /// [`Refused`] as the protocol says; nothing changed.
    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused>;

    /// Handles the passing of time. Fires at most one timer; early calls are harmless.
    fn timeout(&mut self, env: &mut Env<'_>);

    /// The name of the timer that the next [`timeout`](Self::timeout) fires at this time.
    fn due(&self, now: Instant) -> Option<String>;

    /// When to call [`timeout`](Self::timeout) at the latest.
    fn poll_timeout(&self) -> Instant;

    /// The next output, until there is none.
    fn poll_output(&mut self) -> Option<Output>;

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
    let mut endpoint = Bytes { node, params, effects, outputs: VecDeque::new() };
    endpoint.emit(Change::Changed);
    Box::new(endpoint)
}

struct Bytes<P: Protocol> {
    node: Node<P>,
    params: P::Params,
    effects: Vec<Effect<P>>,
    outputs: VecDeque<Output>,
}

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
                let mut bytes = Vec::new();
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
    ) -> Result<&'static str, Malformed> {
        let mut reader = Reader::new(bytes);
        let message = P::Message::decode(&mut reader)?;
        reader.finish()?;
        let kind = message.kind();
        if message.weight() >= self.node.min_weight() {
            self.step(Input::Message(from, Cow::Owned(message)), env);
        }
        Ok(kind)
    }

    fn peer(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>) {
        self.step(Input::Peer(peer, reach), env);
    }

    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused> {
        let change = self.node.command(command, env, &self.params, &mut self.effects)?;
        self.emit(change);
        Ok(())
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
