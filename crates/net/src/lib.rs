//! The runtime: leadership for real, between processes that share nothing but a network.
//!
//! **What it is.** The only crate with sockets and the machine's clock. One thread per member owns
//! the socket and the protocol, behind the same [`Endpoint`](bellwether_core::Endpoint) that the
//! simulator's tests drive; the application holds a handle.

pub mod guardian;
