//! Handler tests: one process, one input, the whole list of effects and what the inner protocol was
//! told.
//!
//! The process under test is 1 of 1, 2 and 3, in its fifth life, and its clock starts at zero.
//! Its peers' clocks are read in milliseconds too. Unless a test says otherwise ρ = 0, δmin = 0,
//! and stamps are refreshed every second.

mod bound;
mod frames;
mod heard;
mod stamps;
mod talker;
mod transparent;
mod wire;

use super::super::rules::Rules;
use super::*;
use crate::testing::{ms, others};
use alloc::vec;
use bellwether_core::harness::Harness;
use talker::{Talker, Temper, Word};

type Layer = FailAware<Talker>;
type Process = Harness<Layer>;
type Said = Frame<Word>;

/// The incarnation of the process under test.
const LIFE: u64 = 5;

/// What rounding and the truncated readings add to an exact bound without drift.
const CUTS: Duration = Duration::from_nanos(2);

fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

fn params() -> Params<Temper> {
    Params {
        drift_ppm: 0,
        clock_error: Duration::ZERO,
        fastest: Duration::ZERO,
        refresh: ms(1000),
        rows_max: 16,
        fast: Duration::MAX,
        rules: Rules::ALL,
        inner: Temper { speaks_first: false },
    }
}

fn start(params: Params<Temper>) -> Process {
    start_as(1, LIFE, params)
}

fn start_as(me: u64, incarnation: u64, params: Params<Temper>) -> Process {
    Process::boot(Boot { incarnation, ..Boot::first(NodeId(me)) }, params, &others(me, 3), &[])
}

/// What process 1 says of `node`'s first life: sent at A, received at B.
fn row(node: u64, sent: u64, received: u64) -> Echo {
    Echo { node: NodeId(node), life: 1, sent: at(sent), received: at(received) }
}

/// What a peer says of process 1, which asked at A and was heard at B.
fn for_me(sent: u64, received: u64) -> Echo {
    Echo { life: LIFE, ..row(1, sent, received) }
}

/// A frame of a peer in its first life.
fn said(sent: u64, echoes: &[Echo], body: Option<Word>) -> Said {
    Frame { life: 1, sent: at(sent), echoes: echoes.into(), body }
}

/// What process 1 sends.
fn sends(to: Dest, sent: u64, echoes: &[Echo], body: Option<Word>) -> Effect<Layer> {
    Effect::Send(to, Frame { life: LIFE, ..said(sent, echoes, body) })
}

fn to(node: u64) -> Dest {
    Dest::Node(NodeId(node))
}

fn refresh(millis: u64) -> Effect<Layer> {
    Effect::Arm(Layered::Own(Refresh), at(millis))
}

/// What the talker heard last: the sender, and the bound.
fn last(process: &Process) -> Option<(NodeId, Option<Duration>)> {
    process.node().protocol().inner().heard
}
