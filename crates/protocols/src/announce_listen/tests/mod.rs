//! Handler tests: one process, one input, the whole list of effects and the whole belief.
//!
//! The clock of every test starts at zero and is read in milliseconds. Unless a test says otherwise
//! T_S = T_A = 1 s and T_L = 3 s, and a process's standing is its id.

mod aging;
mod commands;
mod convergence;
mod corrections;
mod departures;
mod earliest_wake_up;
mod elections;
mod params;
mod properties;
mod queries;
mod ranks;
mod several_leaders;
mod suppression;
mod timers;
mod wire;

use super::*;
use crate::testing::ms;
use alloc::vec::Vec;
use bellwether_core::harness::Harness;
use bellwether_core::{Change, Dest, Reach};

type Process = Harness<AnnounceListen>;
type Effect = bellwether_core::Effect<AnnounceListen>;

/// The random draw that makes a uniform timer wake after this many milliseconds.
const fn luck(wake: u64) -> u64 {
    wake * 1_000_000
}

/// The usual configuration, with a finite T_L.
fn config(variant: Variant) -> Config {
    Config { listen: ms(3000), ..Config::new(variant) }
}

fn valid(config: Config) -> Params {
    Params::try_from(config).expect("the test's configuration is valid")
}

fn start(id: u64, config: Config, draws: &[u64]) -> Process {
    Process::start(NodeId(id), valid(config), draws)
}

fn start_ranked(id: u64, rank: u64, config: Config, draws: &[u64]) -> Process {
    let config = Config { criterion: Some(Criterion::Rank), ..config };
    Process::boot(Boot { rank, ..Boot::first(NodeId(id)) }, valid(config), &[], draws)
}

/// A process of this variant that follows `leader`, heard at the instant zero.
fn follower(id: u64, leader: u64, config: Config, draws: &[u64]) -> Process {
    let mut process = start(id, config, draws);
    hear(&mut process, leader);
    process
}

/// The weight of an ordinary claim.
fn plain(standing: u64) -> u64 {
    weigh(Class::Ordinary, standing)
}

/// Delivers an ordinary announcement of `from`, whose standing is its id.
fn hear(process: &mut Process, from: u64) {
    process.message(from, Message::Announce(plain(from)));
}

fn say(standing: u64) -> Effect {
    say_weight(plain(standing))
}

fn say_weight(weight: u64) -> Effect {
    Effect::Send(Dest::Everyone, Message::Announce(weight))
}

fn ask(standing: u64) -> Effect {
    Effect::Send(Dest::Everyone, Message::Query(plain(standing)))
}

fn bye() -> Effect {
    Effect::Send(Dest::Everyone, Message::Bye)
}

fn arm(timer: Timer, at: u64) -> Effect {
    Effect::Arm(timer, Instant::ZERO + ms(at))
}

fn disarm(timer: Timer) -> Effect {
    Effect::Disarm(timer)
}
