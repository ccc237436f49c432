//! Elections that somebody calls, under random faults and then calm: all that are connected name
//! the same live process, and the best (the promise *eventually one*).
//!
//! A failure tells the command that runs its schedule again.

use bellwether_check::{Fuzz, Trial};
use bellwether_protocols::called::{self, Called};
use bellwether_protocols::choice::{Choice, Config};
use bellwether_protocols::ring::{self, Variant};

/// How many schedules each protocol must survive.
const SCHEDULES: u64 = 10_000;
/// The group of `bellwether check`.
const NODES: u32 = 5;

fn survives(called: Called) {
    let config = Config::Called(called.restless(called.usual_hop(), NODES));
    let choice = Choice::try_from(config).expect("the usual parameters keep the rules");
    let trial = Trial::new(&choice, NODES, None, 1);
    let report = Fuzz { trial: &trial, numbers: 0..SCHEDULES, threads: 0, progress: &|| {} }
        .run_choice(choice)
        .expect("threads can be started");
    if let Some(violation) = report.violation {
        let (name, number) = (called.name(), violation.number);
        panic!("{}\nbellwether check {name} --seed 1 --schedule {number}", violation.breach);
    }
    assert_eq!(report.tally.schedules, SCHEDULES);
    let names = trial.invariants();
    for (name, counts) in names.iter().zip(&report.tally.checks) {
        assert!(counts.checks > SCHEDULES, "{name} was looked at {} times", counts.checks);
    }
    assert!(names.contains(&"best-leads"));
}

#[test]
fn bully() {
    survives(Called::Bully);
}

#[test]
fn ring() {
    survives(Called::Ring(Variant::Ring));
}

#[test]
fn chang_roberts() {
    survives(Called::Ring(Variant::ChangRoberts));
}

#[test]
fn merea() {
    survives(Called::Ring(Variant::Merea));
}

#[test]
fn hirschberg_sinclair() {
    survives(Called::Ring(Variant::HirschbergSinclair));
}

#[test]
fn ad_hoc() {
    survives(Called::AdHoc);
}

/// Table 3 as printed lets the greatest go unnoticed, and the judge sees it.
#[test]
fn merea_as_printed_elects_the_wrong_one() {
    let merea = Called::Ring(Variant::Merea);
    let called::Config::Ring(config) = merea.restless(merea.usual_hop(), NODES) else {
        panic!("MEREA is a ring")
    };
    let config = called::Config::Ring(ring::Config { as_printed: true, ..config });
    let choice = Choice::try_from(Config::Called(config)).unwrap();
    let trial = Trial::new(&choice, NODES, None, 1);
    let report = Fuzz { trial: &trial, numbers: 0..SCHEDULES, threads: 0, progress: &|| {} }
        .run_choice(choice)
        .unwrap();
    let breach = report.violation.expect("a schedule in which it matters").breach;
    assert_eq!(breach.invariant, "best-leads", "{breach}");
}
