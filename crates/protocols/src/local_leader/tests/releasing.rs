//! Giving up requests, and releasing supporters.

use super::*;

/// Process 3, which granted requests of 1 at 0 and 50, each the moment it was made.
fn supporter(params: Params) -> Process {
    let mut process = start(3, params);
    hear(&mut process, 1, ask(0));
    until(&mut process, 50);
    hear(&mut process, 1, renew(50, &[1, 2, 3]));
    until(&mut process, 60);
    assert_eq!(lock_of(&process), Some((1, at(200))));
    process
}

#[test]
fn a_release_frees_and_whoever_is_free_asks_in_its_turn() {
    let mut process = supporter(majority());
    hear(&mut process, 1, release(50));
    expect(&process, &[arm(Timer::Ask, 60 + 2 * 40)], None);
    assert_eq!((lock_of(&process), members(&process)), (None, Vec::new()));
    let mut process = supporter(local());
    hear(&mut process, 1, release(50));
    expect(&process, &[], None);
    assert_eq!((lock_of(&process), members(&process)), (None, Vec::new()));
}

#[test]
fn a_release_may_be_slow() {
    let mut process = supporter(majority());
    hear_slow(&mut process, 1, release(50));
    assert_eq!(lock_of(&process), None);
}

#[test]
fn a_release_of_an_earlier_request_frees_nobody() {
    for params in [majority(), local(), published()] {
        let mut process = supporter(params);
        process.ignores(1, Packet { bound: AT_ONCE, body: release(0) });
        process.ignores(1, Packet { bound: AT_ONCE, body: release(49) });
    }
}

#[test]
fn a_release_of_a_request_that_never_came_frees_from_those_before_it() {
    let mut process = supporter(majority());
    hear(&mut process, 1, release(55));
    assert_eq!(lock_of(&process), None);
    // As published it must be the very same.
    let mut process = supporter(published());
    hear(&mut process, 1, release(55));
    assert_eq!(lock_of(&process).map(|(to, _)| to), Some(1));
    hear(&mut process, 1, release(50));
    assert_eq!(lock_of(&process), None);
}

#[test]
fn a_release_by_another_process_or_of_another_life_frees_nobody() {
    let process = supporter(majority());
    for from in [2, 4] {
        process.clone().ignores(from, Packet { bound: AT_ONCE, body: release(50) });
    }
    for life in [0, 2] {
        let request = Request { life, sent: at(50) };
        let body = Message::Release { request, leaving: false, nominee: None };
        process.clone().ignores(1, Packet { bound: AT_ONCE, body });
    }
}

#[test]
fn a_release_that_comes_before_its_request_frees_nobody() {
    let mut process = start(3, majority());
    hear(&mut process, 1, release(0));
    hear(&mut process, 1, ask(0));
    assert_eq!(lock_of(&process), Some((1, at(150))), "for no longer than a lock");
}

#[test]
fn the_release_of_others_is_a_reason_to_ask_sooner_but_not_later() {
    // 3 asked for itself, failed, and waits until 361; others are free earlier.
    let mut process = start(3, majority());
    process.ring().ring();
    assert_eq!(process.effects()[2], arm(Timer::Ask, 100 + 161 + 4 * 40 + 2 * 40));
    until(&mut process, 130);
    hear(&mut process, 4, release(90));
    expect(&process, &[arm(Timer::Ask, 130 + 2 * 40)], None);
    // However often a process gives up, its turn comes.
    for now in [150, 180, 209] {
        until(&mut process, now);
        hear(&mut process, 4, release(now - 5));
        expect(&process, &[arm(Timer::Ask, 210)], None);
    }
    process.ring();
    // Nobody answered its last request, so this one is a probe.
    expect(&process, &[say(in_term(0, ask(210))), arm(Timer::Count, 230)], None);
}

#[test]
fn the_release_of_others_changes_nothing_for_a_candidate_a_leader_and_who_is_bound() {
    let mut candidate = start(1, majority());
    candidate.ring();
    candidate.ignores(2, Packet { bound: AT_ONCE, body: release(5) });
    leader(majority()).ignores(2, Packet { bound: AT_ONCE, body: release(5) });
    supporter(majority()).ignores(2, Packet { bound: AT_ONCE, body: release(5) });
}

/// A leader that resigns, and is told to lead again at the same reading of its clock. The cool-down
/// would refuse that for another reason.
#[test]
fn a_release_means_one_request_because_the_next_one_is_made_later() {
    let mut process = leader(majority().without(Rule::CoolDown));
    process.command(Command::Resign).unwrap();
    assert_eq!(process.effects()[1], say(farewell(25)));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    // A request of 25 would be ended by the release of 25, if that came later, though it led.
    process.wait(NANO).command(Command::Campaign).unwrap();
    let request = Request { life: 1, sent: at(25) + NANO };
    let (lock, supporters) = (ms(150), Ids::new());
    let election = Message::Election {
        request,
        term: 2,
        lock,
        supporters,
        farewell: None,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    };
    let count = Effect::Arm(Timer::Count, at(45) + NANO);
    expect(&process, &[disarm(Timer::Ask), store(2, 1), say(election), count], None);
}

#[test]
fn a_turn_that_comes_at_the_instant_of_a_release_comes_one_later() {
    let mut process = boot(1, 3, 1, majority());
    process.ring();
    hear(&mut process, 2, no(20, NANO));
    hear(&mut process, 3, no(20, NANO));
    assert_eq!(process.effects()[1], say(release(20)));
    hear(&mut process, 2, release(19));
    expect(&process, &[arm(Timer::Ask, 20)], None);
    process.timeout();
    expect(&process, &[arm_after(Timer::Ask, 20)], None);
    process.ring();
    assert_eq!((process.now(), process.effects().len()), (at(20) + NANO, 2));
}
