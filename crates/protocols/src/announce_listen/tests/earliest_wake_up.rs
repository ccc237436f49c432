//! LE-M: the earliest wake-up leads, and a lucky draw does not displace an established leader.

use super::*;

/// The standing of a process that wakes this many milliseconds after its start.
fn waking(after: u64) -> u64 {
    STANDING_MAX - luck(after)
}

fn established(after: u64) -> u64 {
    weigh(Class::Established, waking(after))
}

/// A process that woke after 300 ms and has announced this often.
fn leader(announcements: usize) -> Process {
    let mut process = start(5, config(Variant::LeM), &[luck(300)]);
    (0..announcements).for_each(|_| _ = process.ring());
    process
}

#[test]
fn the_first_wake_up_is_drawn_once_and_travels_in_the_announcement() {
    let mut process = start(5, config(Variant::LeM), &[luck(300)]);
    process.expect(&[arm(Timer::Wake, 300)], &[5], Stage::Undecided);
    process.ring();
    let effects = [say_weight(plain(waking(300))), arm(Timer::Announce, 1300)];
    process.expect(&effects, &[5], Stage::Decided);
    // Section 5.4.3.
}

#[test]
fn an_earlier_wake_up_beats_a_greater_id() {
    let mut process = start(5, config(Variant::LeM), &[luck(300)]);
    process.ignores(9, Message::Announce(plain(waking(301))));
    process.message(2, Message::Announce(plain(waking(299))));
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[2], Stage::Decided);
    // Section 5.4.3.
}

#[test]
fn equal_wake_ups_are_told_apart_by_id() {
    let mut process = start(5, config(Variant::LeM), &[luck(300)]);
    process.ignores(4, Message::Announce(plain(waking(300))));
    process.message(6, Message::Announce(plain(waking(300))));
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[6], Stage::Decided);
    // Section 5.4.3.
}

#[test]
fn later_elections_wait_the_first_wake_up_again_without_drawing() {
    let mut process = start(5, config(Variant::LeM), &[luck(300)]);
    process.message(2, Message::Announce(plain(waking(100))));
    process.ring();
    let effects = [arm(Timer::Wake, 3300), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
    process.ring();
    let effects = [say_weight(plain(waking(300))), arm(Timer::Announce, 4300)];
    process.expect(&effects, &[5], Stage::Decided);
    // Section 5.4.3; that the key is kept is our choice.
}

#[test]
fn a_leader_is_established_by_the_announcement_that_fills_the_listen_interval() {
    let mut process = leader(2);
    let effects = [say_weight(plain(waking(300))), arm(Timer::Announce, 2300)];
    process.expect(&effects, &[5], Stage::Decided);
    process.ring();
    let effects = [disarm(Timer::Listen), say_weight(established(300)), arm(Timer::Announce, 3300)];
    process.expect(&effects, &[5], Stage::Decided);
    process.ring();
    let effects = [say_weight(established(300)), arm(Timer::Announce, 4300)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn a_part_of_an_interval_counts_as_a_whole_one() {
    let config = Config { listen: ms(1001), ..config(Variant::LeM) };
    let mut process = start(5, config, &[luck(300)]);
    process.ring();
    assert_eq!(process.effects()[0], say_weight(plain(waking(300))));
    process.ring(); // the second, ⌈1.001⌉
    let effects = [disarm(Timer::Listen), say_weight(established(300)), arm(Timer::Announce, 2300)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn an_established_leader_is_not_displaced_by_an_earlier_newcomer() {
    leader(3).ignores(9, Message::Announce(plain(waking(0))));
    let mut unestablished = leader(2);
    unestablished.message(9, Message::Announce(plain(waking(0))));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 4300)];
    unestablished.expect(&effects, &[9], Stage::Decided);
}

#[test]
fn a_newcomer_with_an_earlier_wake_up_defers_to_an_established_leader() {
    let mut process = start(5, config(Variant::LeM), &[luck(300)]);
    process.message(9, Message::Announce(established(999)));
    let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[9], Stage::Decided);
}

#[test]
fn among_established_leaders_the_earlier_wake_up_leads() {
    let mut process = leader(3);
    process.ignores(9, Message::Announce(established(301)));
    process.message(2, Message::Announce(established(299)));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 5300)];
    process.expect(&effects, &[2], Stage::Decided);
}

#[test]
fn a_displaced_leader_has_to_establish_itself_anew() {
    let mut process = leader(3);
    process.message(2, Message::Announce(established(299)));
    assert_eq!(process.facts()[0], Fact::Claim { weight: plain(waking(300)) });
    process.ring().ring();
    let effects = [say_weight(plain(waking(300))), arm(Timer::Announce, 6600)];
    process.expect(&effects, &[5], Stage::Decided);
    process.ring().ring();
    let effects = [disarm(Timer::Listen), say_weight(established(300)), arm(Timer::Announce, 8600)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn nobody_is_established_when_trust_never_ends() {
    let mut process = start(5, Config::new(Variant::LeM), &[luck(300)]);
    for round in 0..20 {
        process.ring();
        let effects = [say_weight(plain(waking(300))), arm(Timer::Announce, 1300 + 1000 * round)];
        process.expect(&effects, &[5], Stage::Decided);
    }
}

#[test]
fn an_announcer_that_never_gives_way_is_established_beneath_its_betters() {
    // Announcing on does not make it better than the established leader it knows.
    let config = Config {
        criterion: Some(Criterion::EarliestWakeUp),
        listen: ms(1000),
        ..config(Variant::SupAlSpread)
    };
    let mut process = start(5, config, &[luck(300)]);
    process.message(2, Message::Announce(established(100)));
    process.ring();
    let effects =
        [arm(Timer::Listen, 1000), say_weight(established(300)), arm(Timer::Announce, 1300)];
    process.expect(&effects, &[2], Stage::Decided);
}

#[test]
fn an_announcer_that_never_gives_way_displaces_whom_it_outlasted_to_be_established() {
    let config = Config {
        criterion: Some(Criterion::EarliestWakeUp),
        listen: ms(1000),
        ..config(Variant::SupAlSpread)
    };
    let mut process = start(5, config, &[luck(300)]);
    process.message(2, Message::Announce(plain(waking(100))));
    process.ring();
    let effects = [disarm(Timer::Listen), say_weight(established(300)), arm(Timer::Announce, 1300)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn a_building_block_that_elects_nobody_establishes_nobody() {
    let criterion = Some(Criterion::EarliestWakeUp);
    let config = Config { criterion, listen: ms(1000), ..config(Variant::Sup) };
    let mut process = start(5, config, &[luck(300)]);
    process.ring();
    process.expect(&[say_weight(established(300))], &[], Stage::Decided);
}

#[test]
fn a_resigned_leader_is_never_established() {
    let mut process = leader(3);
    process.command(Command::Resign).unwrap();
    let retired = weigh(Class::Retired, waking(300));
    for _ in 0..5 {
        process.ring();
        assert_eq!(process.effects()[0], say_weight(retired), "any newcomer is better");
    }
}

#[test]
fn an_established_leader_takes_its_claim_back_before_it_campaigns_with_a_lighter_one() {
    // Its followers would take the lighter claim for an old one, and time out.
    let mut process = leader(3);
    process.command(Command::Campaign).unwrap();
    let effects = [bye(), disarm(Timer::Announce), arm(Timer::Wake, 2600), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
    process.ring();
    assert_eq!(process.effects()[0], say_weight(plain(waking(300))));
}
