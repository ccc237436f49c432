//! Hostile datagrams and files, against groups of real processes.
//!
//! **What is promised.** Whoever has no key changes a counter and nothing else: the leader, the
//! state file, memory and the log stay as they are, nobody is answered, and a failover comes in
//! time while a flood goes on. Whoever has the key cannot use up terms or incarnations. No secret
//! is shown anywhere.
//!
//! **How.** The attacker reads what goes over the loopback and writes datagrams with any source
//! address through raw sockets, which takes root. One at a time: each test takes the [`stage`].

mod attacker;
mod attacks;
mod files;
mod floods;
#[allow(dead_code, reason = "the live tests use the rest")]
#[path = "../live/lab/mod.rs"]
mod lab;
mod multicast;
mod replays;
mod scene;
mod secrets;

use lab::stage;
