//! Supporting candidates.

use super::*;

#[test]
fn a_free_process_supports_whoever_asks_and_waits_for_its_turn_after_that_lock() {
    let mut process = start(3, majority());
    until(&mut process, 5);
    hear(&mut process, 4, ask(0));
    // Of those before it, 1 and 2, each has its turn.
    let turn = arm_after(Timer::Ask, 155 + 2 * 40);
    expect(&process, &[store(1, 4), turn, tell(4, yes(0))], None);
    assert_eq!(lock_of(&process), Some((4, at(155))));
    assert_eq!(alive(&process), [4]);
}

#[test]
fn the_next_in_line_does_not_wait_for_the_one_it_supports() {
    let mut process = start(2, majority());
    until(&mut process, 5);
    hear(&mut process, 1, ask(0));
    expect(&process, &[store(1, 1), arm_after(Timer::Ask, 155), tell(1, yes(0))], None);
}

#[test]
fn a_supporter_follows_once_the_candidate_says_that_it_leads() {
    let mut process = start(2, majority());
    until(&mut process, 5);
    hear(&mut process, 1, ask(0));
    until(&mut process, 9);
    hear(&mut process, 1, renew(7, &[1, 2, 4]));
    expect(&process, &[arm_after(Timer::Ask, 159), tell(1, yes(7))], Some((1, 159)));
    assert_eq!(members(&process), [1, 2, 4]);
    assert_eq!(supporters(&process), [0; 0], "it does not lead");
}

#[test]
fn a_message_is_fast_if_it_took_no_more_than_delta() {
    let process = start(2, majority());
    let packet = |bound| Packet { bound, body: ask(0) };
    let mut just = process.clone();
    just.message(1, packet(Some(ms(10))));
    expect(&just, &[store(1, 1), arm_after(Timer::Ask, 150), tell(1, yes(0))], None);
    for bound in [Some(ms(10) + NANO), Some(Duration::MAX), None] {
        process.clone().ignores(1, packet(bound));
    }
}

#[test]
fn a_slow_request_of_whom_it_supports_does_not_renew_the_lock() {
    let mut process = start(2, majority());
    hear(&mut process, 1, ask(0));
    until(&mut process, 50);
    process.ignores(1, Packet { bound: None, body: renew(45, &[1, 2, 3]) });
    assert_eq!(lock_of(&process), Some((1, at(150))));
}

#[test]
fn each_request_of_whom_it_supports_renews_the_lock() {
    let mut process = start(2, majority());
    hear(&mut process, 1, ask(0));
    until(&mut process, 52);
    hear(&mut process, 1, renew(50, &[1, 2, 3]));
    expect(&process, &[arm_after(Timer::Ask, 202), tell(1, yes(50))], Some((1, 202)));
    assert_eq!(lock_of(&process), Some((1, at(202))));
}

#[test]
fn a_request_that_a_later_one_overtook_renews_the_lock_and_says_nothing_new() {
    let mut process = start(2, majority());
    until(&mut process, 10);
    hear(&mut process, 1, renew(8, &[1, 2, 3]));
    until(&mut process, 12);
    hear(&mut process, 1, ask(5));
    expect(&process, &[arm_after(Timer::Ask, 162), tell(1, yes(5))], Some((1, 162)));
    assert_eq!(members(&process), [1, 2, 3]);
    hear(&mut process, 1, release(5));
    assert_eq!(lock_of(&process), Some((1, at(162))), "the later one is still granted");
}

#[test]
fn of_the_two_requests_a_new_leader_makes_at_once_the_second_counts_whichever_comes_last() {
    let mut process = start(2, majority());
    hear(&mut process, 1, ask(0));
    let mut in_order = process.clone();
    hear(&mut in_order, 1, renew(0, &[1, 2]));
    assert_eq!((in_order.leadership().until, members(&in_order)), (at(150), alloc::vec![1, 2]));
    hear(&mut in_order, 1, ask(0));
    assert_eq!((in_order.leadership().until, members(&in_order)), (at(150), alloc::vec![1, 2]));
}

#[test]
fn whoever_asks_anew_after_its_lock_lapsed_is_not_taken_for_a_leader() {
    let mut process = start(2, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 151);
    hear(&mut process, 1, ask(0));
    expect(&process, &[arm_after(Timer::Ask, 301), tell(1, yes(0))], None);
    assert_eq!(members(&process), [0; 0]);
}

#[test]
fn in_local_mode_only_the_first_of_those_alive_is_supported() {
    let mut process = start(3, local());
    until(&mut process, 5);
    hear(&mut process, 2, ask(0));
    expect(&process, &[tell(2, yes(0))], None);
    let mut process = start(3, local());
    hear_slow(&mut process, 1, ask(0));
    hear(&mut process, 2, ask(0));
    expect(&process, &[tell(2, yes(0))], None);
    let mut process = start(3, local());
    hear(&mut process, 1, no(0, Duration::ZERO)); // whatever it says, it is alive
    hear(&mut process, 2, ask(0));
    expect(&process, &[tell(2, no(0, Duration::ZERO))], None);
    assert_eq!(lock_of(&process), None);
}

#[test]
fn in_local_mode_nobody_supports_who_comes_after_itself() {
    let mut process = start(3, local());
    hear(&mut process, 4, ask(0));
    expect(&process, &[tell(4, no(0, Duration::ZERO))], None);
    assert_eq!((lock_of(&process), alive(&process)), (None, alloc::vec![4]));
}

#[test]
fn in_local_mode_a_slow_request_is_not_supported_though_nobody_is_alive() {
    start(3, local()).ignores(1, Packet { bound: None, body: ask(0) });
}

#[test]
fn in_local_mode_a_leader_is_followed_too() {
    let mut process = start(3, local());
    hear(&mut process, 1, renew(0, &[1, 3]));
    expect(&process, &[tell(1, yes(0))], Some((1, 150)));
    assert_eq!(members(&process), [1, 3]);
}
