//! The alive-set.

use super::*;

#[test]
fn every_fast_message_but_a_release_shows_that_its_sender_is_alive() {
    for body in [ask(0), yes(0), no(0, Duration::ZERO)] {
        let mut process = start(3, majority());
        hear(&mut process, 4, body);
        assert_eq!(alive(&process), [4]);
    }
    let mut process = start(3, majority());
    hear(&mut process, 4, release(0));
    assert_eq!(alive(&process), [0; 0]);
}

#[test]
fn slow_messages_show_nothing_but_let_the_dead_be_forgotten() {
    let mut process = start(3, majority());
    hear_slow(&mut process, 4, no(0, Duration::ZERO));
    assert_eq!(alive(&process), [0; 0]);
    hear(&mut process, 4, no(0, Duration::ZERO));
    until(&mut process, 302);
    let before = process.node().clone();
    hear_slow(&mut process, 5, no(0, Duration::ZERO));
    assert_ne!(*process.node(), before, "4 was purged");
}

#[test]
fn whoever_is_not_heard_for_the_time_of_expiry_is_gone_at_its_end() {
    let mut process = start(3, local());
    hear(&mut process, 1, ask(0));
    until(&mut process, 301);
    assert_eq!(alive(&process), [1]);
    until(&mut process, 302);
    assert_eq!(alive(&process), [0; 0]);
}

#[test]
fn whoever_is_heard_again_lives_from_then_on() {
    let mut process = start(3, local());
    hear(&mut process, 1, ask(0));
    until(&mut process, 200);
    hear(&mut process, 1, ask(198));
    until(&mut process, 501);
    assert_eq!(alive(&process), [1]);
}

#[test]
fn in_local_mode_the_next_one_is_supported_once_the_first_has_expired() {
    let mut process = start(3, local());
    hear(&mut process, 1, no(0, Duration::ZERO));
    until(&mut process, 301);
    hear(&mut process, 2, ask(300));
    expect(&process, &[tell(2, no(300, Duration::ZERO))], None);
    until(&mut process, 302);
    hear(&mut process, 2, ask(301));
    expect(&process, &[tell(2, yes(301))], None);
}

#[test]
fn in_local_mode_a_leader_need_not_have_the_support_of_who_has_expired() {
    let mut process = local_leader(local());
    // 2 falls silent, and was last heard at 161: it counts until 463.
    assert_eq!(alive(&process), [1, 2]);
    while process.now() < at(462) {
        process.ring();
    }
    assert_eq!(led_until(&process), None);
    while led_until(&process).is_none() {
        process.ring();
    }
    assert!(process.now() >= at(463));
    assert_eq!(supporters(&process), [1]);
}
