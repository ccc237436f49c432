//! Bye (section 5.7, "Reducing Re-establishment Delay") and leaving the group.

use super::*;

const TIMERS_OFF: [Effect; 3] =
    [Effect::Disarm(Timer::Wake), Effect::Disarm(Timer::Announce), Effect::Disarm(Timer::Listen)];

fn saying(bye_copies: u32, variant: Variant) -> Config {
    Config { bye_copies, ..config(variant) }
}

/// The effects of leaving with this many Byes.
fn farewell(copies: usize) -> Vec<Effect> {
    let byes = core::iter::repeat_n(bye(), copies);
    byes.chain(TIMERS_OFF).collect()
}

#[track_caller]
fn leaves(mut process: Process, copies: usize) {
    process.command(Command::Leave).unwrap();
    process.expect(&farewell(copies), &[], Stage::Suppressed);
    assert_eq!(process.node().poll_timeout(), Instant::NEVER);
}

#[test]
fn a_goodbye_of_the_leader_opens_the_election_at_once() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.wait(ms(400)).message(9, Message::Bye);
    let effects = [say(5), arm(Timer::Announce, 1400), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
    // Section 5.7, Bye.
}

#[test]
fn a_goodbye_of_the_leader_is_followed_by_a_fresh_wait_in_le_s() {
    let mut process = follower(5, 9, config(Variant::LeS), &[luck(300), luck(800)]);
    process.wait(ms(400)).message(9, Message::Bye);
    let effects = [arm(Timer::Wake, 1200), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
    // Section 5.7, Bye.
}

#[test]
fn a_goodbye_is_heard_though_trust_never_ends() {
    let mut process = follower(5, 9, Config::new(Variant::LeA), &[]);
    process.wait(ms(400)).message(9, Message::Bye);
    process.expect(&[say(5), arm(Timer::Announce, 1400)], &[5], Stage::Decided);
}

#[test]
fn a_second_copy_of_a_goodbye_says_nothing_new() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.message(9, Message::Bye);
    process.ignores(9, Message::Bye);
}

#[test]
fn a_goodbye_of_somebody_not_followed_concerns_nobody() {
    let mut listening = follower(5, 9, config(Variant::LeA), &[]);
    listening.ignores(7, Message::Bye);
    let mut leading = start(5, config(Variant::LeA), &[]);
    leading.ignores(9, Message::Bye);
    // Section 5.7: of a non-leader the announcement of departure is unnecessary.
}

#[test]
fn a_leader_leaves_with_as_many_goodbyes_as_configured() {
    for copies in [0, 1, 4] {
        leaves(start(5, saying(copies as u32, Variant::LeA), &[]), copies);
    }
    // Section 5.7: the number of Bye messages follows from the loss.
}

#[test]
fn a_follower_leaves_without_a_word() {
    leaves(follower(5, 9, saying(4, Variant::LeA), &[]), 0);
    leaves(start(5, saying(4, Variant::LeS), &[luck(300)]), 0);
    // Section 5.7: from a non-leader it is unnecessary.
}

#[test]
fn where_membership_is_tracked_everyone_says_goodbye() {
    let config = |variant| Config { bye_from_all: true, ..saying(4, variant) };
    leaves(follower(5, 9, config(Variant::LeA), &[]), 4);
    leaves(start(5, config(Variant::LeS), &[luck(300)]), 4);
    leaves(start(5, config(Variant::Sup), &[luck(300)]), 4);
    // Section 5.7, footnote 3.
}

#[test]
fn whoever_asked_who_leads_may_be_followed_and_says_goodbye() {
    leaves(start(5, saying(2, Variant::Query), &[]), 2);
    // Section 5.7: a Query functions like an announcement.
}

#[test]
fn an_announcer_that_follows_another_is_no_leader_and_leaves_without_a_word() {
    leaves(follower(5, 9, saying(2, Variant::Al), &[]), 0);
    leaves(start(5, saying(2, Variant::Al), &[]), 2);
}

#[test]
fn a_building_block_that_elects_nobody_has_no_leader_to_say_goodbye() {
    let mut process = start(5, saying(2, Variant::Sup), &[luck(300)]);
    process.ring();
    leaves(process, 0);
}

#[test]
fn a_process_that_left_leads_no_more() {
    for variant in Variant::ALL {
        let mut process = start(5, config(variant), &[luck(300)]);
        process.command(Command::Leave).unwrap();
        process.expect(&farewell(0), &[], Stage::Suppressed);
    }
}
