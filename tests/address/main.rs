//! The address that moves, on real hosts: namespaces on a bridge, one of which is a client that
//! sends a numbered packet every millisecond.
//!
//! **What is promised.** Whatever is killed, stopped or cut, no two hosts have the address at once,
//! and the client reaches the next leader in time. An address that somebody else answers for is not
//! taken. What was left behind is removed.
//!
//! One at a time, since timing is what they are about: each test takes the [`stage`].

mod announcements;
#[allow(dead_code, reason = "the live tests use the rest")]
#[path = "../live/lab/mod.rs"]
mod lab;
mod leftovers;
mod moves;
mod owners;
mod privileges;
mod refusals;
mod scene;
mod settings;
mod telling;
mod traffic;

use lab::stage;
