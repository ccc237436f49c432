//! Refusing, and being refused.

use super::*;

/// Process 1 that asked at 20.
fn candidate(n: u64) -> Process {
    let mut process = boot(1, n, 1, majority());
    process.ring();
    process
}

#[test]
fn whoever_is_locked_to_another_says_for_how_long() {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(0));
    until(&mut process, 30);
    hear(&mut process, 2, ask(25));
    expect(&process, &[tell(2, in_term(1, no(25, ms(120) + NANO)))], None);
    assert_eq!(lock_of(&process), Some((1, at(150))));
}

#[test]
fn a_candidate_refuses_everybody_else() {
    let mut process = candidate(5);
    until(&mut process, 30);
    hear(&mut process, 2, ask(25));
    expect(&process, &[tell(2, in_term(1, no(25, ms(140) + NANO)))], None);
}

#[test]
fn a_leader_refuses_everybody_else_but_in_local_mode_it_knows_who_comes_before_it() {
    let mut process = leader(majority());
    hear(&mut process, 2, ask(25));
    expect(&process, &[tell(2, in_term(1, no(25, ms(150) + NANO)))], Some((1, 170)));
    let mut process = start(2, local());
    process.ring().ring().ring().ring();
    assert_eq!(led_until(&process), Some(at(331)));
    hear(&mut process, 1, ask(181));
    expect(&process, &[tell(1, no(181, ms(150) + NANO))], Some((2, 331)));
    process.ring();
    // It must not lead a process that it does not support, so it waits until 1 would expire.
    expect(&process, &[arm(Timer::Ask, 181 + 302)], Some((2, 331)));
}

#[test]
fn a_request_with_another_lock_time_is_refused() {
    for lock in [ms(150) + NANO, ms(149), Duration::ZERO, Duration::MAX] {
        let (request, supporters) = (request(0), Ids::new());
        let body = Message::Election {
            request,
            term: 1,
            lock,
            supporters,
            farewell: None,
            token: None,
            list: None,
            answerers: None,
            tree: None,
        };
        for params in [majority(), local()] {
            let mut process = start(2, params);
            hear(&mut process, 1, body.clone());
            expect(&process, &[tell(1, no(0, Duration::ZERO))], None);
            assert_eq!(lock_of(&process), None);
        }
    }
}

#[test]
fn whoever_hears_of_a_leader_it_cannot_support_does_not_compete() {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(0));
    until(&mut process, 140);
    hear(&mut process, 2, renew(135, &[2, 4, 5]));
    let turn = arm(Timer::Ask, 140 + 150 + 40);
    expect(&process, &[turn, tell(2, in_term(1, no(135, ms(10) + NANO)))], None);
}

#[test]
fn a_candidate_that_cannot_have_a_majority_gives_up_and_asks_when_all_are_free() {
    let mut process = candidate(5);
    until(&mut process, 25);
    hear(&mut process, 2, no(20, ms(70)));
    expect(&process, &[], None);
    hear(&mut process, 3, no(20, ms(90)));
    expect(&process, &[], None);
    hear(&mut process, 4, no(20, ms(80)));
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 115)], None);
    assert_eq!(lock_of(&process), None, "it released itself as well");
}

#[test]
fn a_process_that_refuses_twice_counts_once() {
    let mut process = candidate(5);
    for _ in 0..5 {
        hear(&mut process, 2, no(20, ms(70)));
        expect(&process, &[], None);
    }
}

#[test]
fn whoever_refused_may_be_free_when_the_round_is_over_and_is_asked_at_once() {
    let mut process = candidate(5);
    until(&mut process, 25);
    hear(&mut process, 2, no(20, ms(4)));
    process.ring();
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 40)], None);
    // With EP-σ instead a failover would take longer than promised.
}

#[test]
fn whoever_refuses_without_being_bound_is_asked_again_after_a_period() {
    let mut process = candidate(5);
    until(&mut process, 25);
    hear(&mut process, 2, no(20, Duration::ZERO));
    process.ring();
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 181)], None);
}

#[test]
fn whoever_got_too_few_votes_asks_again_after_a_period() {
    let mut process = candidate(5);
    hear(&mut process, 2, yes(20));
    process.ring();
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 181)], None);
}

#[test]
fn a_candidate_whom_nobody_answers_lets_the_others_have_their_turns_first() {
    // It may be unable to receive: all would lock to it again and again, before the turn of most.
    let mut process = candidate(5);
    process.ring();
    let again = arm(Timer::Ask, 181 + 4 * 40);
    expect(&process, &[disarm(Timer::Count), say(release(20)), again], None);
}

#[test]
fn no_refusal_makes_a_candidate_wait_longer_than_a_lock() {
    let mut process = candidate(3);
    hear(&mut process, 2, no(20, Duration::MAX));
    hear(&mut process, 3, no(20, Duration::MAX));
    expect(&process, &[disarm(Timer::Count), say(release(20)), arm(Timer::Ask, 170)], None);
}

#[test]
fn refusals_of_other_requests_of_former_lives_and_slow_ones_do_not_count() {
    let mut process = candidate(3);
    until(&mut process, 25);
    let former = Request { life: 0, sent: at(20) };
    for from in [2, 3] {
        hear(&mut process, from, no(19, ms(50)));
        expect(&process, &[], None);
        let remaining = ms(50);
        hear(
            &mut process,
            from,
            Message::Reply { request: former, support: false, remaining, highest: 1, list: None },
        );
        expect(&process, &[], None);
        hear_slow(&mut process, from, no(20, ms(50)));
        expect(&process, &[], None);
    }
    process.ring();
    let again = arm(Timer::Ask, 181 + 2 * 40);
    expect(&process, &[disarm(Timer::Count), say(release(20)), again], None);
}

#[test]
fn refusals_depose_nobody() {
    let mut process = leader(majority());
    for from in [2, 3, 4, 5] {
        hear(&mut process, from, no(25, ms(100)));
        expect(&process, &[], Some((1, 170)));
    }
    process.ring();
    expect(&process, &[say(renew(45, &[1, 2, 3])), arm(Timer::Count, 65)], Some((1, 170)));
}

#[test]
fn in_local_mode_one_refusal_is_one_too_many() {
    let mut process = start(1, local());
    process.ring().ring().ring();
    hear(&mut process, 2, yes(161));
    hear(&mut process, 3, no(161, ms(50)));
    expect(&process, &[], None);
    process.ring();
    let again = arm(Timer::Ask, 161 + 161);
    expect(&process, &[disarm(Timer::Count), say(release(161)), again], None);
}

#[test]
fn a_voter_that_refuses_after_enough_others_granted_is_asked_for_a_higher_term() {
    let asked = |refusal: Message| {
        let mut process = leader(majority());
        until(&mut process, 30);
        grant(&mut process, 25, &[2, 3]);
        hear(&mut process, 4, refusal);
        match rung(&mut process) {
            Message::Election { term, .. } => term,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(asked(in_term(7, no(25, Duration::ZERO))), 8);
    assert_eq!(asked(in_term(1, no(25, Duration::ZERO))), 2, "it granted term 1 to another");
    // It refuses for another reason.
    assert_eq!(asked(in_term(7, no(25, ms(20)))), 1, "it is locked");
    assert_eq!(asked(in_term(0, no(25, Duration::ZERO))), 1, "it has granted nothing");
}
