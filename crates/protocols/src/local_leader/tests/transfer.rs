//! Handing over to a process that the leader names.

use super::*;
use bellwether_core::Unfit;

#[test]
fn a_leader_that_hands_over_names_the_next_one_and_comes_last() {
    let mut process = leader(majority());
    process.command(Command::Transfer(NodeId(3))).unwrap();
    let effects = [disarm(Timer::Count), say(hand_over(25, 3)), arm(Timer::Ask, 175 + 4 * 40)];
    expect(&process, &effects, None);
    assert_eq!(lock_of(&process), None, "it may support another");
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::CoolingDown);
    hear(&mut process, 3, in_term(2, ask(25)));
    assert_eq!(lock_of(&process), Some((3, at(175))));
}

/// A follower of 1, which hands over to `nominee` at 30.
fn follower(id: u64, nominee: u64, params: Params) -> Process {
    let mut process = start(id, params);
    until(&mut process, 20);
    hear(&mut process, 1, renew(20, &[1, 2, 3]));
    until(&mut process, 30);
    hear(&mut process, 1, hand_over(20, nominee));
    process
}

#[test]
fn the_nominee_asks_at_once_and_carries_the_news() {
    let mut process = follower(4, 4, majority());
    expect(&process, &[arm(Timer::Ask, 30)], None);
    process.ring();
    let request = say(in_term(2, ask_with_news(30, 1, 20)));
    expect(&process, &[store(2, 4), request, arm(Timer::Count, 50)], None);
}

#[test]
fn everybody_else_lets_the_nominee_go_first() {
    for (id, turns) in [(2, 1), (3, 2), (5, 3)] {
        let process = follower(id, 4, majority());
        expect(&process, &[arm(Timer::Ask, 30 + 40 * turns)], None);
    }
}

#[test]
fn a_nominee_that_does_not_ask_within_a_period_has_its_usual_place_again() {
    for (now, first) in [(30 + 180, true), (30 + 181, false)] {
        let mut process = follower(2, 4, majority());
        until(&mut process, now);
        hear_slow(&mut process, 5, yes(0));
        let line = &process.node().protocol().0.line;
        assert_eq!(line.place(NodeId(4)) < line.place(NodeId(2)), first);
    }
}

#[test]
fn a_nominee_that_had_resigned_is_first_all_the_same() {
    let mut process = start(2, majority());
    hear(&mut process, 4, farewell(0));
    until(&mut process, 20);
    hear(&mut process, 1, renew(20, &[1, 2, 3]));
    until(&mut process, 30);
    hear(&mut process, 1, hand_over(20, 4));
    expect(&process, &[arm(Timer::Ask, 30 + 40)], None);
}

#[test]
fn strangers_and_old_news_name_nobody() {
    for nominee in [0, 6, u64::MAX] {
        let process = follower(2, nominee, majority());
        expect(&process, &[arm(Timer::Ask, 30)], None);
    }
    let mut process = start(2, majority());
    until(&mut process, 20);
    hear(&mut process, 1, renew(20, &[1, 2, 3]));
    hear(&mut process, 1, hand_over(10, 4));
    assert_eq!(lock_of(&process), Some((1, at(170))), "it asked again since");
    let line = &process.node().protocol().0.line;
    assert!(line.place(NodeId(2)) < line.place(NodeId(4)));
}

#[track_caller]
fn refuses(process: &mut Process, nominee: u64, why: Refused) {
    let before = process.node().clone();
    assert_eq!(process.command(Command::Transfer(NodeId(nominee))).unwrap_err(), why);
    assert_eq!(*process.node(), before);
}

#[test]
fn a_nominee_that_cannot_lead_is_refused_with_the_reason() {
    let mut process = leader(majority());
    for (nominee, why) in [(1, Unfit::Itself), (9, Unfit::Unknown), (4, Unfit::Silent)] {
        refuses(&mut process, nominee, Refused::Nominee(NodeId(nominee), why));
    }
    // 4 is there, but does not vote: it has no record, or is bound to another.
    hear(&mut process, 4, no(25, Duration::ZERO));
    until(&mut process, 40);
    refuses(&mut process, 4, Refused::Nominee(NodeId(4), Unfit::Behind));
    process.command(Command::Transfer(NodeId(2))).expect("it voted");
}

#[test]
fn only_a_leader_hands_over_and_only_in_majority_mode() {
    refuses(&mut start(1, majority()), 2, Refused::NotLeading);
    let mut process = leader(majority());
    until(&mut process, 170);
    refuses(&mut process, 2, Refused::NotLeading);
    refuses(&mut local_leader(local()), 2, Refused::Unsupported);
}
