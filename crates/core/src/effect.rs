//! Effects: what a handler asks its driver to do, as data.

use crate::id::NodeId;
use crate::protocol::Protocol;
use crate::time::Instant;
use alloc::vec::Vec;

/// One request of a handler to its driver. A test compares whole lists of them; a layer keeps an
/// empty list in its state, for the effects of its inner protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<P: Protocol> {
    /// Call `on_timer` with this kind at this instant; replaces an earlier arming of the kind.
    Arm(P::Timer, Instant),
    /// Disarm this kind of timer; harmless if it is not armed.
    Disarm(P::Timer),
    /// Send this message.
    Send(Dest, P::Message),
    /// Store these bytes durably, before any message of the same step is sent.
    Store(Vec<u8>),
}

/// The destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dest {
    /// All processes that the medium reaches, except the sender. One effect for any size of the
    /// group; not the same as all of `peers()`.
    Everyone,
    /// One process.
    Node(NodeId),
}
