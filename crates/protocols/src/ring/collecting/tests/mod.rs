//! The collecting ring and MEREA, input by input.

mod call_after;
mod commands;
mod elections;
mod merea;
mod params;
mod reports;
mod wire;

use super::*;
use crate::ring::{BadConfig, Config};
use crate::testing::others;
use bellwether_core::harness::Harness;
use bellwether_core::{Dest, Effect};

type Process = Harness<Collecting>;
type Asked = Effect<Collecting>;

const RETRY: Duration = Duration::from_secs(1);
const CALL_AFTER: Duration = Duration::from_secs(7);
/// How long an initiator of the plain ring of five waits.
const WAIT: Duration = Duration::from_secs(10);

fn ring() -> Config {
    Config::default()
}

/// Holds a lost election again, without other time-outs.
fn careful() -> Config {
    Config { retry: RETRY, ..ring() }
}

fn patient() -> Config {
    Config { call_after: CALL_AFTER, ..careful() }
}

/// A process of the ring 1 2 3 4 5.
fn boot(me: u64, incarnation: u64, config: Config) -> Process {
    let params = Params::try_from(config).expect("the rules are kept");
    Process::boot(Boot { incarnation, ..Boot::first(NodeId(me)) }, params, &others(me, 5), &[])
}

fn start(me: u64, config: Config) -> Process {
    boot(me, 1, config)
}

fn key(id: u64) -> Key {
    Key::new(true, NodeId(id))
}

fn retired(id: u64) -> Key {
    Key::new(false, NodeId(id))
}

fn keys(ids: &[u64]) -> Vec<Key> {
    ids.iter().map(|id| key(*id)).collect()
}

/// The election with this number of a process in its first life.
fn call(by: u64, number: u64) -> Call {
    Call { at: None, by: NodeId(by), life: 1, number }
}

fn election(call: Call, round: u64, ids: &[u64]) -> Message {
    Message::Election { call, round, keys: keys(ids) }
}

fn coordinator(call: Call, round: u64, leader: u64, ids: &[u64]) -> Message {
    Message::Coordinator { call, round, leader: key(leader), living: keys(ids), hops: 0 }
}

/// The same Coordinator message after this many processes forwarded it.
fn passed(message: Message, by: u32) -> Message {
    match message {
        Message::Coordinator { call, round, leader, living, hops } => {
            Message::Coordinator { call, round, leader, living, hops: hops + by }
        }
        election @ Message::Election { .. } => election,
    }
}

/// The effect of sending.
fn sent(to: u64, message: Message) -> Asked {
    Effect::Send(Dest::Node(NodeId(to)), message)
}
