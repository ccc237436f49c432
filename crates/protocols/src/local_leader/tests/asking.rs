//! Asking for support.

use super::*;

#[test]
fn in_majority_mode_processes_begin_one_after_the_other() {
    for (id, turn) in [(1, 20), (2, 60), (5, 180)] {
        expect(&start(id, majority()), &[arm(Timer::Ask, turn)], None);
    }
}

#[test]
fn in_local_mode_everybody_begins_at_once() {
    expect(&start(5, local()), &[arm(Timer::Ask, 0)], None);
}

#[test]
fn a_candidate_asks_everyone_supports_itself_and_waits_for_a_round_trip() {
    let mut process = start(1, majority());
    process.ring();
    expect(&process, &[store(1, 1), say(ask(20)), arm(Timer::Count, 40)], None);
    assert_eq!(lock_of(&process), Some((1, at(170))));
    assert_eq!(alive(&process), [1]);
    let mut process = start(1, local());
    process.ring();
    expect(&process, &[say(ask(0)), arm(Timer::Count, 20)], None);
    assert_eq!(lock_of(&process), Some((1, at(150))));
    assert_eq!(alive(&process), [1]);
}

#[test]
fn a_new_leader_asks_again_at_once_so_that_its_members_know_it() {
    let mut process = start(1, majority());
    process.ring();
    until(&mut process, 25);
    hear(&mut process, 2, yes(20));
    expect(&process, &[], None);
    hear(&mut process, 3, yes(20));
    let effects = [disarm(Timer::Count), say(renew(25, &[1, 2, 3])), arm(Timer::Count, 45)];
    expect(&process, &effects, Some((1, 170)));
}

#[test]
fn whoever_is_alone_leads_at_once() {
    let mut process = boot(1, 1, 1, majority());
    process.ring();
    let effects = [
        store(1, 1),
        say(ask(20)),
        arm(Timer::Count, 40),
        disarm(Timer::Count),
        say(renew(20, &[1])),
        arm(Timer::Count, 40),
        disarm(Timer::Count),
        arm(Timer::Ask, 70),
    ];
    expect(&process, &effects, Some((1, 170)));
    process.ring();
    let effects =
        [say(renew(70, &[1])), arm(Timer::Count, 90), disarm(Timer::Count), arm(Timer::Ask, 120)];
    expect(&process, &effects, Some((1, 220)));
}

#[test]
fn a_leader_asks_again_one_period_after_the_request_its_lease_rests_on() {
    let mut process = leader(majority());
    until(&mut process, 30);
    hear(&mut process, 4, yes(25));
    expect(&process, &[], Some((1, 170)));
    hear(&mut process, 5, yes(25));
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 75)], Some((1, 175)));
    process.ring();
    expect(&process, &[say(renew(75, &[1, 4, 5])), arm(Timer::Count, 95)], Some((1, 175)));
}

#[test]
fn a_leader_that_was_paused_past_its_renewal_asks_at_once() {
    let mut process = leader(majority());
    until(&mut process, 90);
    hear(&mut process, 2, yes(25));
    hear(&mut process, 3, yes(25));
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 90)], Some((1, 175)));
}

#[test]
fn in_local_mode_nobody_asks_before_those_before_it_have_expired() {
    let mut process = start(3, local());
    until(&mut process, 5);
    hear(&mut process, 2, ask(0));
    until(&mut process, 7);
    hear(&mut process, 4, ask(2));
    process.timeout();
    expect(&process, &[arm(Timer::Ask, 307)], None);
    process.ring();
    expect(&process, &[say(ask(307)), arm(Timer::Count, 327)], None);
}

#[test]
fn a_candidate_that_slept_through_its_round_gives_it_up_and_waits_for_whom_it_supports() {
    let mut process = boot(1, 3, 1, majority());
    process.ring();
    // Its own lock has lapsed, so that it is free to support another before it wakes.
    until(&mut process, 200);
    hear(&mut process, 2, in_term(2, ask(195)));
    expect(&process, &[store(2, 2), tell(2, in_term(2, yes(195)))], None);
    process.timeout();
    // EP-σ after its request has passed; the two others have their turns first.
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 280)], None);
    assert_eq!(lock_of(&process), Some((2, at(350))), "its lock to another stays");
    process.ring();
    expect(&process, &[arm_after(Timer::Ask, 350)], None);
}
