//! Several agreed leaders (section 5.7): the k best that are known, best first.

use super::*;

fn with(leaders: usize, variant: Variant) -> Config {
    Config { leaders, ..config(variant) }
}

/// LE-A, three leaders; process 5 has heard these, at the instant zero.
fn three(heard: &[u64]) -> Process {
    let mut process = start(5, with(3, Variant::LeA), &[]);
    heard.iter().for_each(|from| hear(&mut process, *from));
    process
}

#[test]
fn leaders_stand_in_order_whatever_order_they_are_heard_in() {
    for order in [[2, 9], [9, 2]] {
        three(&order).expect(&[arm(Timer::Listen, 3000)], &[9, 5, 2], Stage::Decided);
    }
    three(&[9, 12]).expect(&[arm(Timer::Listen, 3000)], &[12, 9, 5], Stage::Decided);
}

#[test]
fn the_worst_goes_when_the_board_is_full() {
    let mut process = three(&[2, 9]);
    process.ignores(1, Message::Announce(plain(1)));
    hear(&mut process, 4);
    process.expect(&[arm(Timer::Listen, 3000)], &[9, 5, 4], Stage::Decided);
}

#[test]
fn a_process_among_the_leaders_goes_on_announcing() {
    let mut process = three(&[9, 12]);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2000)], &[12, 9, 5], Stage::Decided);
}

#[test]
fn a_process_falls_silent_when_the_board_is_full_of_better_ones() {
    let mut process = three(&[9, 12]);
    hear(process.wait(ms(400)), 7);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[12, 9, 7], Stage::Decided);
}

#[test]
fn trust_ends_for_each_leader_on_its_own() {
    let mut process = three(&[9]);
    hear(process.wait(ms(400)), 12);
    process.expect(&[arm(Timer::Listen, 3000)], &[12, 9, 5], Stage::Decided);
    hear(process.wait(ms(400)), 9);
    process.expect(&[arm(Timer::Listen, 3400)], &[12, 9, 5], Stage::Decided);
    process.ring().ring(); // two announcements of its own
    process.wait(ms(1400)).timeout(); // and a third, late
    process.timeout();
    process.expect(&[arm(Timer::Listen, 3800)], &[9, 5], Stage::Decided);
}

#[test]
fn a_process_stands_again_for_the_place_of_a_silent_leader() {
    let mut process = three(&[9, 12]);
    hear(process.wait(ms(400)), 7);
    hear(process.wait(ms(1600)), 9);
    hear(&mut process, 12);
    process.ring();
    assert_eq!(process.now(), Instant::ZERO + ms(3400), "when 7 was last trusted");
    let effects = [say(5), arm(Timer::Announce, 4400), arm(Timer::Listen, 5000)];
    process.expect(&effects, &[12, 9, 5], Stage::Decided);
}

#[test]
fn two_leaders_silent_at_once_are_given_up_at_once() {
    let mut process = three(&[9, 12]);
    hear(process.wait(ms(400)), 7);
    process.wait(ms(2600)).timeout();
    let effects = [say(5), arm(Timer::Announce, 4000), arm(Timer::Listen, 3400)];
    process.expect(&effects, &[7, 5], Stage::Decided);
}

#[test]
fn a_goodbye_makes_room_for_oneself_in_order() {
    let mut process = start(5, with(2, Variant::LeS), &[luck(300)]);
    hear(&mut process, 9);
    hear(&mut process, 12);
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[12, 9], Stage::Decided);
    process.draws(&[luck(500)]).message(12, Message::Bye);
    let effects = [arm(Timer::Wake, 500), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[9, 5], Stage::Undecided);
}

#[test]
fn a_goodbye_to_a_process_that_leads_too_opens_no_election() {
    let mut process = three(&[9, 12]);
    process.message(12, Message::Bye);
    process.expect(&[arm(Timer::Listen, 3000)], &[9, 5], Stage::Decided);
    process.message(9, Message::Bye);
    process.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);
}

#[test]
fn a_place_left_empty_is_filled_by_a_worse_claim() {
    let mut process = three(&[9, 12]);
    process.message(9, Message::Bye);
    hear(&mut process, 1);
    process.expect(&[arm(Timer::Listen, 3000)], &[12, 5, 1], Stage::Decided);
}

#[test]
fn a_leader_that_grows_heavier_rises_on_the_board() {
    let mut process = start_ranked(5, 5, with(3, Variant::LeA), &[]);
    hear(&mut process, 2);
    hear(&mut process, 9);
    process.message(2, Message::Announce(plain(30)));
    process.expect(&[arm(Timer::Listen, 3000)], &[2, 9, 5], Stage::Decided);
}

#[test]
fn everyone_that_announces_for_ever_knows_the_best_few() {
    let mut process = start(5, with(2, Variant::Al), &[]);
    hear(&mut process, 9);
    process.expect(&[arm(Timer::Listen, 3000)], &[9, 5], Stage::Decided);
    hear(&mut process, 7);
    process.expect(&[arm(Timer::Listen, 3000)], &[9, 7], Stage::Decided);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2000)], &[9, 7], Stage::Decided);
    process.message(7, Message::Bye);
    process.expect(&[arm(Timer::Listen, 3000)], &[9, 5], Stage::Decided);
}

#[test]
fn the_bar_is_the_worst_claim_of_a_full_board() {
    let mut process = three(&[]);
    assert_eq!(process.node().min_weight(), 0, "there is room");
    hear(&mut process, 9);
    assert_eq!(process.node().min_weight(), 0);
    hear(&mut process, 2);
    assert_eq!(process.node().min_weight(), plain(2));
    process.message(9, Message::Bye);
    assert_eq!(process.node().min_weight(), 0);
}
