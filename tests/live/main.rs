//! Groups of real processes on real sockets: what is simulated, explored and proved elsewhere has
//! to hold here as well.
//!
//! One at a time, since timing is what they are about: each test takes the [`stage`].

mod failovers;
mod identity;
#[allow(dead_code, reason = "the benchmark uses the rest")]
mod lab;
mod laboratory;
mod multicast;
mod protocols;
mod scenarios;
mod turns;
mod wills;

use lab::stage;
