//! Handler tests: one process, one input, the whole list of effects and the whole belief.
//!
//! Unless a test says otherwise process 4 has the neighbours 2, 3 and 5, its id as value, and the
//! restless parameters.

mod commands;
mod neighbours;
mod news;
mod params;
mod properties;
mod tree;
mod wire;

use super::*;
use crate::testing::ms;
use alloc::vec::Vec;
use bellwether_core::Dest;
use bellwether_core::harness::Harness;

type Process = Harness<AdHoc>;
type Effect = bellwether_core::Effect<AdHoc>;

fn valid(config: Config) -> Params {
    Params::try_from(config).expect("the test's configuration is valid")
}

/// Process 4 in its first life.
fn start(config: Config) -> Process {
    boot(1, config)
}

/// Process 4 in any incarnation.
fn boot(incarnation: u64, config: Config) -> Process {
    let boot = Boot { incarnation, ..Boot::first(NodeId(4)) };
    Process::boot(boot, valid(config), &[2, 3, 5].map(NodeId), &[])
}

/// An election called by this process in its first life.
fn wave(number: u64, starter: u64) -> Wave {
    Wave { number, starter: NodeId(starter), life: 1 }
}

/// The claim of a process whose value is its id.
fn claim(id: u64) -> Claim {
    Claim { weight: weigh(true, id), id: NodeId(id) }
}

fn retired(id: u64) -> Claim {
    Claim { weight: weigh(false, id), id: NodeId(id) }
}

/// News of a leader that has not been heard yet.
fn news(wave: Wave, leader: u64) -> News {
    News { wave, leader: claim(leader), beat: Beat::default() }
}

fn beat(number: u64) -> Beat {
    Beat { life: 1, number }
}

fn send(to: u64, message: Message) -> Effect {
    Effect::Send(Dest::Node(NodeId(to)), message)
}

fn ask(to: u64, wave: Wave) -> Effect {
    send(to, Message::Election(wave))
}

/// Both timers, so many milliseconds from now; zero for never.
fn timers(process: &Process, wait: u64, repeat: u64) -> [Effect; 2] {
    [(Timer::Wait, wait), (Timer::Repeat, repeat)].map(|(timer, length)| match length {
        0 => Effect::Disarm(timer),
        length => process.armed(timer, ms(length)),
    })
}

/// What a process does that calls this election: it asks all neighbours and waits 2 s, asking again
/// after 100 ms.
fn calls(process: &Process, called: Wave) -> Vec<Effect> {
    let asks = [2, 3, 5].map(|peer| ask(peer, called));
    [&asks[..], &timers(process, 2_000, 100)].concat()
}

/// Process 4, which follows `leader` since the election (1, 2), in which 2 was its parent.
fn follower(leader: u64) -> Process {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(1, 2)));
    process.message(3, Message::Ack(wave(1, 2), None));
    process.message(5, Message::Ack(wave(1, 2), Some(claim(5))));
    process.message(2, Message::Leader(news(wave(1, 2), leader)));
    process
}
