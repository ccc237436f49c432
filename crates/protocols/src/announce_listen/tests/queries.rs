//! Query and Suppress-then-Query (section 5.7, "Extensions to LE").

use super::*;

/// A leader of the variant Query: it asked at zero and announced itself at 200 ms.
fn leader(reply_spread: u64) -> Process {
    let mut process = start(5, spread(reply_spread), &[]);
    process.ring();
    process
}

fn spread(reply_spread: u64) -> Config {
    let reply_spread = ms(reply_spread);
    Config { reply_spread, patience: reply_spread + ms(200), ..config(Variant::Query) }
}

fn asks(process: &mut Process, from: u64) {
    process.message(from, Message::Query(plain(from)));
}

#[test]
fn a_query_opens_the_election() {
    let process = start(5, config(Variant::Query), &[]);
    process.expect(&[ask(5), arm(Timer::Wake, 200)], &[5], Stage::Undecided);
    // Section 5.7, Query.
}

#[test]
fn whoever_gets_no_answer_announces_itself() {
    let mut process = start(5, config(Variant::Query), &[]);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 1200)], &[5], Stage::Decided);
    // Section 5.7, Query.
}

#[test]
fn an_answer_of_a_greater_leader_ends_the_question() {
    let mut process = start(5, config(Variant::Query), &[]);
    hear(process.wait(ms(100)), 9);
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3100)];
    process.expect(&effects, &[9], Stage::Decided);
    // Section 5.7, Query.
}

#[test]
fn an_answer_of_a_smaller_leader_does_not_end_the_question() {
    let mut process = start(5, config(Variant::Query), &[]);
    process.ignores(3, Message::Announce(plain(3)));
}

#[test]
fn the_question_is_asked_again_when_the_leader_falls_silent() {
    let mut process = follower(5, 9, config(Variant::Query), &[]);
    process.ring();
    let effects = [ask(5), arm(Timer::Wake, 3200), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn suppress_then_query_waits_asks_and_announces() {
    let mut process = start(5, config(Variant::SuppressQuery), &[luck(300)]);
    process.expect(&[arm(Timer::Wake, 300)], &[5], Stage::Undecided);
    process.ring();
    process.expect(&[ask(5), arm(Timer::Wake, 500)], &[5], Stage::Undecided);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 1500)], &[5], Stage::Decided);
    // Section 5.7, Suppress, then Query.
}

#[test]
fn the_question_of_a_greater_process_suppresses() {
    let mut process = start(5, config(Variant::SuppressQuery), &[luck(300)]);
    asks(&mut process, 9);
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[9], Stage::Decided);
    // Section 5.7: a Query functions like an announcement.
}

#[test]
fn the_question_of_a_smaller_process_does_not_suppress() {
    let mut waiting = start(5, config(Variant::SuppressQuery), &[luck(300)]);
    waiting.ignores(3, Message::Query(plain(3)));
    let mut asking = start(5, config(Variant::Query), &[]);
    asking.ignores(3, Message::Query(plain(3)));
    // Section 5.7: only leaders answer, and neither is one yet.
}

#[test]
fn a_leader_that_is_asked_announces_at_once() {
    let mut process = leader(0);
    asks(process.wait(ms(100)), 3);
    process.expect(&[arm(Timer::Announce, 300)], &[5], Stage::Decided);
    process.timeout();
    process.expect(&[say(5), arm(Timer::Announce, 1300)], &[5], Stage::Decided);
    // Section 5.7: a Query generates a reply from the leader.
}

#[test]
fn a_follower_that_is_asked_keeps_quiet() {
    let mut process = follower(5, 9, config(Variant::Query), &[]);
    process.ignores(3, Message::Query(plain(3)));
}

#[test]
fn a_leader_asked_by_a_greater_process_gives_way_instead_of_answering() {
    let mut process = leader(0);
    asks(&mut process, 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3200)];
    process.expect(&effects, &[9], Stage::Decided);
    // Section 5.7: a Query shares leadership information like an announcement.
}

#[test]
fn answers_are_spread_at_random() {
    let mut process = leader(100);
    let asked = process.now();
    asks(process.draws(&[luck(40)]), 3);
    let effects = [Effect::Arm(Timer::Announce, asked + ms(40))];
    process.expect(&effects, &[5], Stage::Decided);
    // Section 5.7: suppression is also used when responding to a Query.
}

#[test]
fn several_questions_are_answered_once_and_as_early_as_the_first() {
    let mut process = leader(100);
    asks(process.draws(&[luck(40)]), 3);
    process.wait(ms(20)).ignores(4, Message::Query(plain(4)));
    process.ring();
    assert_eq!(process.now(), Instant::ZERO + ms(340));
    process.expect(&[say(5), arm(Timer::Announce, 1340)], &[5], Stage::Decided);
}

#[test]
fn a_question_never_puts_an_announcement_off() {
    let mut process = leader(100);
    process.wait(ms(900)).ignores(3, Message::Query(plain(3)));
    let next = process.node().deadline(Timer::Announce);
    assert_eq!(next, Instant::ZERO + ms(1300), "the announcement that is due is the answer");
}

#[test]
fn a_leader_that_gives_way_while_its_answer_is_due_does_not_answer() {
    let mut process = leader(100);
    asks(process.draws(&[luck(40)]), 3);
    hear(&mut process, 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3300)];
    process.expect(&effects, &[9], Stage::Decided);
    // Section 5.7: suppression is also used when responding to a Query.
}

#[test]
fn leaders_of_every_periodic_kind_answer() {
    for variant in [Variant::LeA, Variant::Al] {
        let mut process = start(5, config(variant), &[]);
        asks(process.wait(ms(400)), 3);
        process.expect(&[arm(Timer::Announce, 400)], &[5], Stage::Decided);
    }
}

#[test]
fn one_of_several_leaders_answers_a_newcomer_that_joins_them() {
    let mut process = start(5, Config { leaders: 2, ..spread(0) }, &[]);
    asks(process.ring(), 3);
    let effects = [arm(Timer::Listen, 3200), arm(Timer::Announce, 200)];
    process.expect(&effects, &[5, 3], Stage::Decided);
}
