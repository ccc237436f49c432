//! Leadership that goes round: nobody leads beside another one, and everybody leads in turn.

use crate::{fuzz, hold, lan, looked, ms, valid};
use bellwether_check::Trial;
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Config, Mode, Params};

fn rotating(mode: Mode, tree: u32) -> Params {
    valid(Config { mode, tree, preempt: true, rotate_after: Some(ms(200)), ..Config::default() })
}

#[test]
fn everybody_leads_in_turn_once_there_are_no_more_faults() {
    for (nodes, mode, tree, seed) in [
        (3, Mode::Majority, 0, 61),
        (5, Mode::Majority, 0, 62),
        (3, Mode::Majority, 1, 67),
        (5, Mode::Majority, 2, 68),
        (3, Mode::Local, 0, 63),
        (5, Mode::Local, 0, 64),
        (3, Mode::Local, 1, 69),
        (5, Mode::Local, 2, 70),
    ] {
        let choice = Choice::from(rotating(mode, tree));
        let trial = Trial::new(&choice, nodes, None, seed);
        let what = format!("{mode:?}, tree {tree}");
        let report = hold(&trial, &choice, 300, &what);
        let names = trial.invariants();
        assert!(!names.contains(&"minimum-leads"), "the least does not lead all the time");
        let looked = looked(&trial, &report, "everyone-leads");
        println!("{what}: looked {looked} times");
        assert!(looked > 10_000, "{what}: {looked}");
    }
    let usual = Choice::from(lan(Mode::Majority));
    assert!(!Trial::new(&usual, 3, None, 1).invariants().contains(&"everyone-leads"));
}

/// Where a leader leads on, the others wait for their turn longer than they may.
#[test]
fn whoever_is_passed_over_is_found() {
    let choice = Choice::from(lan(Mode::Majority));
    let mut trial = Trial::new(&choice, 5, None, 65);
    trial.time_scales.rotates = rotating(Mode::Majority, 0).rotation();
    let report = fuzz(&trial, &choice, 0..32, 2);
    let found = report.violation.expect("a leader leads on").breach;
    assert_eq!(found.invariant, "everyone-leads", "{found}");
}

/// Parameters with which a leader leads on until its application hands over.
fn asking(mode: Mode) -> Params {
    let config = Config { mode, preempt: true, preempt_asks: true, ..Config::default() };
    valid(Config { rotate_after: Some(ms(200)), ..config })
}

/// With `preempt-asks` a leader leads on until its application hands over, and here is none.
#[test]
fn without_an_application_that_hands_over_nobody_is_asked_for_turns() {
    for (mode, seed) in [(Mode::Majority, 66), (Mode::Local, 66)] {
        let choice = Choice::from(asking(mode));
        let trial = Trial::new(&choice, 3, None, seed);
        let names = trial.invariants();
        assert!(!names.contains(&"everyone-leads"));
        assert_eq!(names.contains(&"minimum-leads"), mode == Mode::Local);
        assert_eq!(fuzz(&trial, &choice, 0..300, 2).violation, None, "{mode:?}");
    }
}

/// Schedules that broke a promise. 163: a member that had not heard the next leader yet asked
/// beside it, again and again. 67: a leader that lost its lease stepped back, although its
/// application had not handed over. 602: what a process said before it asked again arrived after
/// that, and it was taken for gone. 606: by a slower clock a voter was not free yet when the next
/// one asked, again and again. 9005: the next one waited for as long as that voter had said, by its
/// own faster clock. 9006: a supporter heard another one whose answer it relayed, took it for the
/// first in line, and refused to support the leader, again and again.
#[test]
fn schedules_that_broke_it_keep_it_now() {
    for (params, nodes, seed, number) in [
        (rotating(Mode::Local, 0), 3, 163, 352),
        (asking(Mode::Local), 3, 67, 12),
        (rotating(Mode::Local, 0), 5, 602, 21_100),
        (rotating(Mode::Majority, 0), 5, 606, 18_698),
        (rotating(Mode::Majority, 0), 5, 9_005, 6_370),
        (rotating(Mode::Local, 2), 5, 9_006, 2_103),
    ] {
        let choice = Choice::from(params);
        let trial = Trial::new(&choice, nodes, None, seed);
        let report = fuzz(&trial, &choice, number..number + 1, 1);
        assert_eq!(report.violation, None, "seed {seed}, schedule {number}");
    }
}
