//! The HTTP face of members: real processes, real sockets, a real Prometheus.
//!
//! **Assumptions.** A shared machine may stall for a while, so what is waited for may take long,
//! and leases are those of a wide-area network.

mod answers;
mod bounds;
mod changing;
mod client;
mod events;
mod prometheus;

#[path = "../run/member.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod member;
