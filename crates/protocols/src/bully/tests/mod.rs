//! Bully, input by input.

mod asking;
mod believing;
mod call_after;
mod commands;
mod elections;
mod params;
mod stamps;
mod wire;

use super::*;
use crate::testing::others;
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::harness::Harness;
use bellwether_core::{Dest, Effect};

type Process = Harness<Bully>;
type Asked = Effect<Bully>;

const FIRST: Availability = Availability { life: 1, changes: 0 };
const RETIRED: Availability = Availability { life: 1, changes: 1 };

const REPLY: Duration = Duration::from_secs(1);
const WAIT: Duration = Duration::from_secs(3);
const CALL_AFTER: Duration = Duration::from_secs(10);

/// What is always answered with a leader's name.
const QUERY: Message = Message { availability: FIRST, says: Says::Query };

/// A process of 1 to 5, in its first life, and its parameters.
fn start_with(me: u64, config: Config) -> Process {
    boot(me, 1, config)
}

fn start(me: u64) -> Process {
    start_with(me, Config::default())
}

fn boot(me: u64, incarnation: u64, config: Config) -> Process {
    let params = Params::try_from(config).expect("the rules are kept");
    Process::boot(Boot { incarnation, ..Boot::first(NodeId(me)) }, params, &others(me, 5), &[])
}

fn message(says: Says) -> Message {
    Message { availability: FIRST, says }
}

fn election(round: u64) -> Message {
    message(Says::Election { round, stamp: None })
}

fn ok(round: u64) -> Message {
    message(Says::Ok { round, of: round })
}

fn coordinator(round: u64) -> Message {
    message(Says::Coordinator { round })
}

/// The effect of sending.
fn sent(to: u64, message: Message) -> Asked {
    Effect::Send(Dest::Node(NodeId(to)), message)
}

fn sent_to(receivers: &[u64], message: Message) -> Vec<Asked> {
    receivers.iter().map(|to| sent(*to, message)).collect()
}
