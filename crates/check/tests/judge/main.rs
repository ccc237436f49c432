//! The judge: protocols keep their promises under random faults, what does not keep one is found,
//! and so it is in the traces of live members.
//!
//! They are one program, because each program that runs a protocol compiles the world for it again.

mod announce_listen;
mod answering;
mod called;
mod clocks;
mod collating;
mod explore;
mod large;
mod leases;
mod lengths;
mod live;
mod membership;
mod misfits;
mod mutants;
mod probabilistic;
mod rotating;
mod tiny;

use bellwether_check::{BrokenInvariant, Fuzz, Judge, Report, Trial};
use bellwether_core::{Duration, Protocol};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Config, Mode, Params};
use std::ops::Range;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The usual leases in a local network.
fn lan(mode: Mode) -> Params {
    Params::try_from(Config { mode, ..Config::default() }).expect("a preset is valid")
}

/// Runs these schedules, on all processors if `threads` is 0.
fn fuzz(trial: &Trial, choice: &Choice, numbers: Range<u64>, threads: usize) -> Report {
    let fuzz = Fuzz { trial, numbers, threads, progress: &|| () };
    fuzz.run_choice(choice.clone()).expect("threads can be started")
}

/// How many steps were held against the proved model.
fn steps_compared(trial: &Trial, report: &Report) -> u64 {
    let place = trial.invariants().iter().position(|name| *name == "follows-the-proof");
    place.map_or(0, |place| report.tally.checks[place].checks)
}

/// The first breach among so many schedules, and its number.
fn first_breach<P: Protocol>(
    mut judge: Judge<P>,
    schedules: u64,
) -> Option<(u64, BrokenInvariant)> {
    (0..schedules).find_map(|number| Some((number, judge.run(number).breach?)))
}

/// The same in a group with a member that the others do not vote for: that it costs time is no
/// breach.
fn first_unsafe<P: Protocol>(
    mut judge: Judge<P>,
    schedules: u64,
) -> Option<(u64, BrokenInvariant)> {
    let mut unsafe_in = |number| judge.run(number).breach.filter(|it| it.invariant != "timeliness");
    (0..schedules).find_map(|number| Some((number, unsafe_in(number)?)))
}
