//! What a handler wants done, as data.

use crate::id::NodeId;
use crate::protocol::Protocol;
use crate::time::Instant;
use alloc::vec::Vec;

/// One wish of a handler. A test compares whole lists of them; a layer keeps an empty one, for the
/// wishes of what it wraps, in its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<P: Protocol> {
    /// Call `on_timer` with this kind at this instant; replaces an earlier arming of the kind.
    Arm(P::Timer, Instant),
    /// Forget this kind of timer; harmless if it is not armed.
    Disarm(P::Timer),
    /// Put this message on the network.
    Send(Dest, P::Message),
    /// Keep these bytes through a crash; durable before any message of the same step leaves.
    Store(Vec<u8>),
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dest {
    /// All the medium reaches, except the sender. One effect, whatever the size of the group; not
    /// the same as everyone in `peers()`.
    Everyone,
    /// One process.
    Node(NodeId),
}
