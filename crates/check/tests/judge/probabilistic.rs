//! The probabilistic election, where its promise is certain, under random faults and then calm: in
//! a group no larger than K everyone is a relay, so all that are connected name the same live
//! process (the promise *eventually one*).
//!
//! A failure tells the command that runs its schedule again.

use crate::fuzz;
use bellwether_check::{Report, Trial};
use bellwether_core::Duration;
use bellwether_protocols::choice::{Choice, Config, Promise};
use bellwether_protocols::probabilistic::{self, Reinitiate, WokenBy};

/// What a message takes in `bellwether check`.
const HOP: Duration = Duration::from_millis(100);
/// The group of `bellwether check`.
const NODES: u32 = 5;

fn usual() -> probabilistic::Config {
    probabilistic::Config::restless(HOP)
}

fn judged(seed: u64, config: probabilistic::Config, nodes: u32, schedules: u64) -> (Trial, Report) {
    let choice = Choice::try_from(Config::Probabilistic(config)).expect("the rules are kept");
    let trial = Trial::new(&choice, nodes, None, seed);
    let report = fuzz(&trial, &choice, 0..schedules, 0);
    (trial, report)
}

/// Whether so many schedules break nothing; `flags` are those that the configuration stands for.
fn survives(config: probabilistic::Config, nodes: u32, schedules: u64, flags: &str) {
    for (seed, schedules) in [(2, schedules / 10), (3, schedules / 10), (1, schedules)] {
        let (trial, report) = judged(seed, config.clone(), nodes, schedules);
        if let Some(violation) = report.violation {
            let flags = format!("{flags} --seed {seed} --schedule {}", violation.number);
            panic!("{}\nbellwether check probabilistic{flags}", violation.breach);
        }
        assert_eq!((trial.promise, report.tally.schedules), (Promise::EventuallyOne, schedules));
        for (name, counts) in trial.invariants().iter().zip(&report.tally.checks) {
            assert!(counts.checks > schedules, "{name} was looked at {} times", counts.checks);
        }
    }
}

#[test]
fn the_usual_one() {
    survives(usual(), NODES, 10_000, "");
}

#[test]
fn seven_of_seven() {
    survives(usual(), 7, 2_000, " --nodes 7");
}

#[test]
fn whoever_the_hash_lets_through_begins_again() {
    let config = probabilistic::Config { reinitiate: Reinitiate::Hash, ..usual() };
    survives(config, NODES, 2_000, " --reinitiate hash");
}

#[test]
fn where_ids_decide_the_dead_are_given_up_one_after_the_other() {
    for (choice, name) in [
        (probabilistic::Choice::LowestId, "lowest-id"),
        (probabilistic::Choice::HighestId, "highest-id"),
        (probabilistic::Choice::Lot, "lot"),
    ] {
        let config = probabilistic::Config { choice, ..usual() };
        survives(config, NODES, 2_000, &format!(" --choice {name}"));
    }
}

#[test]
fn a_preference_may_wake_whoever_missed_the_beginning() {
    let config = probabilistic::Config { woken_by: WokenBy::Preference, ..usual() };
    survives(config, NODES, 2_000, " --woken-by preference");
}

/// One run proves nothing about a probability.
#[test]
fn what_is_only_probable_is_not_judged() {
    for (config, nodes) in [
        (usual(), 8),
        (probabilistic::Config { k: 3, ..usual() }, NODES),
        (probabilistic::Config { size: probabilistic::Size::Given(1_000), ..usual() }, NODES),
        (probabilistic::Config::default(), NODES),
    ] {
        let (trial, report) = judged(1, config, nodes, 10);
        assert_eq!(trial.promise, Promise::ProbablyOne);
        assert!(trial.invariants().is_empty() && report.violation.is_none());
    }
}

/// Without words of its leader a group does not miss it, and the judge sees that.
#[test]
fn a_group_that_does_not_keep_in_touch_breaks_the_promise() {
    let config = probabilistic::Config::default();
    let choice = Choice::try_from(Config::Probabilistic(config)).expect("the rules are kept");
    let trial = Trial::new(&choice, NODES, Some(Promise::EventuallyOne), 1);
    let report = fuzz(&trial, &choice, 0..100, 0);
    let breach = report.violation.expect("a schedule in which it matters").breach;
    assert_eq!(breach.invariant, "agreement", "{breach}");
}
