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
use bellwether_core::{Duration, Fact, Protocol};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::{Observer, Scene, World};
use std::ops::Range;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Leases with this configuration.
fn valid(config: Config) -> Params {
    Params::try_from(config).expect("they are valid")
}

/// The usual leases in a local network.
fn lan(mode: Mode) -> Params {
    valid(Config { mode, ..Config::default() })
}

/// Runs these schedules, on all processors if `threads` is 0.
fn fuzz(trial: &Trial, choice: &Choice, numbers: Range<u64>, threads: usize) -> Report {
    let fuzz = Fuzz { trial, numbers, threads, progress: &|| () };
    fuzz.run_choice(choice.clone()).expect("threads can be started")
}

/// Runs the first so many schedules, in which nothing breaks.
fn hold(trial: &Trial, choice: &Choice, schedules: u64, what: &str) -> Report {
    let report = fuzz(trial, choice, 0..schedules, 2);
    let number = report.violation.as_ref().map_or(0, |violation| violation.number);
    let Trial { nodes, seed, .. } = trial;
    assert_eq!(report.violation, None, "{what}: {nodes} processes, seed {seed}, {number}");
    report
}

/// The same; of each schedule more than so many steps, on average, were held against the model.
fn follow_the_proof(
    trial: &Trial,
    choice: &Choice,
    (schedules, steps): (u64, u64),
    what: &str,
) -> Report {
    let report = hold(trial, choice, schedules, what);
    let compared = looked(trial, &report, "follows-the-proof");
    println!("{what}: {} processes, {compared} steps compared", trial.nodes);
    assert!(compared > steps * schedules, "{what}: {compared} steps compared");
    report
}

/// How often this invariant was asked.
fn looked(trial: &Trial, report: &Report, invariant: &str) -> u64 {
    let place = trial.invariants().iter().position(|name| *name == invariant);
    place.map_or(0, |place| report.tally.checks[place].checks)
}

/// What an observer sees in each of the first so many schedules.
fn seen<O: Observer<LocalLeader> + Default>(
    trial: &Trial,
    params: &Params,
    schedules: u64,
) -> Vec<O> {
    let mut world = World::<LocalLeader>::new(params.layered());
    let run = |number| {
        let (schedule, mut seen) = (trial.schedule(number), O::default());
        world.run(&schedule.plan, schedule.run_seed(), &mut seen);
        seen
    };
    (0..schedules).map(run).collect()
}

/// The version of the newest list that this process knows to be committed.
fn newest_list(node: u32, scene: &Scene<'_, LocalLeader>) -> u64 {
    let mut newest = 0;
    if let Some(state) = scene.node(node) {
        state.facts(scene.clock(node), &mut |fact| {
            if let Fact::List { version, committed: true } = fact {
                newest = newest.max(version);
            }
        });
    }
    newest
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
