//! LE-A and LE-S: announcing, giving way, listening and starting anew.

use super::*;

#[test]
fn le_a_begins_by_announcing_itself() {
    let process = start(5, config(Variant::LeA), &[]);
    process.expect(&[say(5), arm(Timer::Announce, 1000)], &[5], Stage::Decided);
    // Program 5.1, lines 1-3.
}

#[test]
fn a_leader_announces_again_after_every_interval() {
    let mut process = start(5, config(Variant::LeA), &[]);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2000)], &[5], Stage::Decided);
    assert_eq!(process.change(), Change::Same);
    process.wait(ms(1250)).timeout();
    process.expect(&[say(5), arm(Timer::Announce, 3250)], &[5], Stage::Decided);
    // Program 5.1, lines 10-14.
}

#[test]
fn a_timeout_before_its_time_is_harmless() {
    let mut process = start(5, config(Variant::LeA), &[]);
    process.wait(ms(999)).timeout();
    process.expect(&[], &[5], Stage::Decided);
}

#[test]
fn a_leader_gives_way_to_a_greater_address() {
    let mut process = start(5, config(Variant::LeA), &[]);
    hear(process.wait(ms(400)), 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3400)];
    process.expect(&effects, &[9], Stage::Decided);
    assert_eq!(process.change(), Change::Changed);
    // Program 5.1, lines 5-9.
}

#[test]
fn with_an_infinite_listen_interval_nobody_waits_for_the_leader() {
    let mut process = start(5, Config::new(Variant::LeA), &[]);
    hear(&mut process, 9);
    process.expect(&[disarm(Timer::Announce)], &[9], Stage::Decided);
    assert_eq!(process.node().poll_timeout(), Instant::NEVER);
    process.ignores(9, Message::Announce(plain(9)));
    assert_eq!(
        process.node().min_weight(),
        plain(9) + 1,
        "the leader itself has nothing new to say"
    );
    hear(&mut process, 12);
    process.expect(&[], &[12], Stage::Decided);
}

#[test]
fn a_leader_ignores_a_smaller_address() {
    let mut process = start(5, config(Variant::LeA), &[]);
    process.ignores(4, Message::Announce(plain(4)));
    process.expect(&[], &[5], Stage::Decided);
    // Program 5.1, line 6.
}

#[test]
fn a_listener_ignores_whoever_is_smaller_than_its_leader() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.wait(ms(700)).ignores(7, Message::Announce(plain(7)));
    process.expect(&[], &[9], Stage::Decided);
    // Program 5.1, line 6: the comparison is with the leader, not with the process itself.
}

#[test]
fn a_listener_follows_whoever_is_greater_than_its_leader() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    hear(process.wait(ms(700)), 12);
    process.expect(&[arm(Timer::Listen, 3700)], &[12], Stage::Decided);
    // Program 5.1, lines 6-8.
}

#[test]
fn le_a_announces_itself_when_its_leader_falls_silent() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.ring();
    assert_eq!(process.now(), Instant::ZERO + ms(3000));
    let effects = [say(5), arm(Timer::Announce, 4000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
    // Program 5.1, lines 11-14.
}

#[test]
fn a_former_leader_that_was_given_up_is_followed_again() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    hear(process.ring(), 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 6000)];
    process.expect(&effects, &[9], Stage::Decided);
}

#[test]
fn le_s_begins_by_waiting_and_believes_in_itself() {
    let process = start(5, config(Variant::LeS), &[luck(300)]);
    process.expect(&[arm(Timer::Wake, 300)], &[5], Stage::Undecided);
    // Program 5.2, lines 1-3.
}

#[test]
fn le_s_announces_itself_when_it_wakes_unchallenged() {
    let mut process = start(5, config(Variant::LeS), &[luck(300)]);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 1300)], &[5], Stage::Decided);
    assert_eq!(process.change(), Change::Changed, "now it is decided");
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2300)], &[5], Stage::Decided);
    // Program 5.2, lines 15-18.
}

#[test]
fn le_s_is_suppressed_by_a_greater_address() {
    let mut process = start(5, config(Variant::LeS), &[luck(300)]);
    hear(process.wait(ms(100)), 9);
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3100)];
    process.expect(&effects, &[9], Stage::Decided);
    // Program 5.2, lines 5-10.
}

#[test]
fn le_s_gives_way_to_a_greater_address_after_it_announced() {
    let mut process = start(5, config(Variant::LeS), &[luck(300)]);
    hear(process.ring(), 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3300)];
    process.expect(&effects, &[9], Stage::Decided);
    // Program 5.2, lines 5-10.
}

#[test]
fn le_s_waits_a_fresh_time_when_its_leader_falls_silent() {
    let mut process = follower(5, 9, config(Variant::LeS), &[luck(300)]);
    process.draws(&[luck(750)]).ring();
    let effects = [arm(Timer::Wake, 3750), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
    // Program 5.2, lines 11-14.
}

#[test]
fn a_smaller_claim_of_the_leader_does_not_renew_its_trust() {
    // The leader's own lighter claim is an older one, or that of a former life.
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.wait(ms(700)).ignores(9, Message::Announce(weigh(Class::Retired, 9)));
    process.ignores(9, Message::Announce(plain(8)));
}

#[test]
fn a_greater_claim_of_the_leader_replaces_its_smaller_one() {
    let ranked = Config { criterion: Some(Criterion::Rank), ..config(Variant::LeA) };
    let mut process = follower(5, 9, ranked, &[]);
    process.wait(ms(700)).message(9, Message::Announce(plain(20)));
    process.expect(&[arm(Timer::Listen, 3700)], &[9], Stage::Decided);
    process.ignores(15, Message::Announce(plain(15)));
}

#[test]
fn where_the_id_decides_nobody_can_claim_to_be_more_than_its_id() {
    for message in [Message::Announce(plain(20)), Message::Query(plain(20))] {
        let mut process = follower(5, 9, config(Variant::LeA), &[]);
        process.ignores(7, message);
    }
}

#[test]
fn a_message_under_the_own_name_leaves_no_trace() {
    for variant in Variant::ALL {
        let mut process = start(5, config(variant), &[luck(300)]);
        for message in [Message::Announce(plain(7)), Message::Query(plain(7)), Message::Bye] {
            process.ignores(5, message.clone());
            process.clone().draws(&[luck(1), luck(1)]).ring().ignores(5, message);
        }
    }
}

#[test]
fn ids_too_large_for_a_weight_are_still_told_apart() {
    let mut process = start(u64::MAX - 1, config(Variant::LeA), &[]);
    let weight = plain(STANDING_MAX);
    assert_eq!(process.effects()[0], say_weight(weight));
    process.ignores(u64::MAX - 2, Message::Announce(weight));
    process.message(u64::MAX, Message::Announce(weight));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[u64::MAX], Stage::Decided);
}

#[test]
fn a_process_tells_its_claim_and_its_rounds() {
    let mut process = start(5, config(Variant::LeS), &[luck(300)]);
    let facts = |number| [Fact::Claim { weight: plain(5) }, Fact::Round { number }];
    assert_eq!(process.facts(), facts(0));
    process.ring().ring();
    assert_eq!(process.facts(), facts(2));
    hear(&mut process, 9);
    assert_eq!(process.facts(), facts(0), "it no longer leads");
}

#[test]
fn rumours_about_reachability_change_nothing() {
    let mut process = follower(5, 9, config(Variant::LeS), &[luck(300)]);
    let before = process.node().clone();
    process.peer(9, Reach::Down);
    process.expect(&[], &[9], Stage::Decided);
    assert_eq!(*process.node(), before);
    // The programs know no failure detector but the listen timer.
}
