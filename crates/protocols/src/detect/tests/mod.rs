//! The layer, input by input.

mod messages;
mod params;
mod signs_of_life;
mod teller;
mod wire;

use super::{Body, Config, Detect, Frame, Params, Pulse};
use crate::testing::ms;
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::harness::Harness;
use bellwether_core::{Boot, Dest, Duration, Effect, Layered, NodeId, Reach};
use teller::{Teller, Word};

type Process = Harness<Detect<Teller>>;
type Asked = Effect<Detect<Teller>>;

/// The life of the process under test.
const LIFE: u64 = 4;

fn params() -> Params<()> {
    let config = Config { beat: ms(100), suspect: ms(350), resend: ms(40), tries: 3 };
    config.around(()).expect("the rules are kept")
}

/// Process 1 among 2 and 3.
fn start() -> Process {
    let boot = Boot { incarnation: LIFE, ..Boot::first(NodeId(1)) };
    Process::boot(boot, params(), &[2, 3].map(NodeId), &[])
}

/// A frame that a peer sends in this incarnation.
fn frame(life: u64, body: Body<Word>) -> Frame<Word> {
    Frame { life, body }
}

fn one(number: u64, settled: u64, word: u64) -> Body<Word> {
    Body::One { number, settled, message: Word(word) }
}

/// What the process sends.
fn sent(to: u64, body: Body<Word>) -> Asked {
    Effect::Send(Dest::Node(NodeId(to)), frame(LIFE, body))
}

fn armed(process: &Process, pulse: Pulse, from_now: Duration) -> Asked {
    process.armed(Layered::Own(pulse), from_now)
}

/// What the inner protocol was told since the last call.
fn reports(process: &Process) -> Vec<(u64, Reach)> {
    process.node().protocol().inner().reports.clone()
}

/// Lets time pass, and fires all timers that are due.
fn pass(process: &mut Process, millis: u64) {
    let end = process.now() + ms(millis);
    while process.node().poll_timeout() <= end {
        process.ring();
    }
    let rest = end.since(process.now());
    process.wait(rest);
}

#[test]
fn it_begins_with_a_sign_of_life_and_no_opinion() {
    let process = start();
    let beat = Effect::Send(Dest::Everyone, frame(LIFE, Body::Beat));
    let timers = [(Pulse::Beat, 100), (Pulse::Silence, 350)];
    let [next, silence] = timers.map(|(pulse, millis)| armed(&process, pulse, ms(millis)));
    assert_eq!(process.effects(), vec![beat, next, silence]);
    assert_eq!((reports(&process), process.facts()), (vec![], vec![]));
}
