//! A few thousand inputs for every target; the long run is in CONTRIBUTING.md.

use bellwether_fuzz::{fuzz, run_once, targets};
use std::collections::BTreeSet;

/// Of each target.
const EXECUTIONS: u64 = 20_000;

#[test]
fn no_bytes_break_a_rule() {
    for target in targets() {
        let outcome = fuzz(&target, EXECUTIONS, 1);
        let _ = std::panic::take_hook(); // which keeps messages to itself
        assert_eq!(outcome.findings, [], "{}", target.name);
        assert!(outcome.read > 0, "{}: nothing could be read", target.name);
        println!("{}: {} of {} read", target.name, outcome.read, outcome.executions);
    }
}

#[test]
fn every_target_has_its_own_name_and_seeds_that_it_can_read() {
    let all = targets();
    let names: BTreeSet<&str> = all.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    for target in &all {
        let read = target.seeds.iter().filter(|seed| run_once(target, seed) == Ok(true)).count();
        assert!(read > 0, "{}: of {} seeds none can be read", target.name, target.seeds.len());
    }
}
