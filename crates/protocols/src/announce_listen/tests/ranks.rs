//! Choosing by rank, and ranks that change.

use super::*;

/// Process 5 of this rank, under LE-A.
fn ranked(rank: u64) -> Process {
    start_ranked(5, rank, config(Variant::LeA), &[])
}

/// Process 5 of rank 10 that follows process 2 of rank 20.
fn ranked_follower(config: Config, draws: &[u64]) -> Process {
    let mut process = start_ranked(5, 10, config, draws);
    process.message(2, Message::Announce(plain(20)));
    process
}

fn take(process: &mut Process, rank: u64) {
    process.command(Command::Rank(rank)).unwrap();
}

#[test]
fn a_higher_rank_beats_a_greater_id() {
    let mut process = ranked(10);
    process.expect(&[say(10), arm(Timer::Announce, 1000)], &[5], Stage::Decided);
    process.ignores(9, Message::Announce(plain(8)));
    process.message(2, Message::Announce(plain(20)));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[2], Stage::Decided);
    // Section 5.7, Other Definitions of Leadership.
}

#[test]
fn equal_ranks_are_told_apart_by_id() {
    let mut process = ranked(10);
    process.ignores(4, Message::Announce(plain(10)));
    process.message(6, Message::Announce(plain(10)));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[6], Stage::Decided);
}

#[test]
fn ranks_mean_nothing_where_ids_or_wake_ups_govern() {
    for variant in [Variant::LeA, Variant::LeM] {
        let mut process = start(5, config(variant), &[luck(300)]);
        let before = process.node().clone();
        assert_eq!(process.command(Command::Rank(9)).map(|_| ()), Err(Refused::Unsupported));
        assert_eq!(*process.node(), before);
    }
}

#[test]
fn a_leader_whose_rank_rises_says_so_with_its_next_announcement() {
    let mut process = ranked(10);
    take(&mut process, 30);
    process.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);
    process.ignores(9, Message::Announce(plain(20)));
    process.ring();
    process.expect(&[say(30), arm(Timer::Announce, 2000)], &[5], Stage::Decided);
}

#[test]
fn a_leader_whose_rank_falls_takes_its_claim_back_first() {
    let mut process = ranked(10);
    take(process.wait(ms(400)), 7);
    let effects =
        [bye(), disarm(Timer::Announce), say(7), arm(Timer::Announce, 1400), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
    process.message(2, Message::Announce(plain(8)));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3400)];
    process.expect(&effects, &[2], Stage::Decided);
}

#[test]
fn a_waiting_process_changes_its_rank_without_a_word() {
    for rank in [7, 30] {
        let mut process = start_ranked(5, 10, config(Variant::LeS), &[luck(300)]);
        take(&mut process, rank);
        process.expect(&[disarm(Timer::Listen)], &[5], Stage::Undecided);
        process.ring();
        process.expect(&[say(rank), arm(Timer::Announce, 1300)], &[5], Stage::Decided);
    }
}

#[test]
fn a_process_that_asked_has_told_its_claim_and_takes_it_back_when_its_rank_falls() {
    let mut process = start_ranked(5, 10, config(Variant::Query), &[]);
    take(process.wait(ms(100)), 7);
    let effects =
        [bye(), disarm(Timer::Wake), ask(7), arm(Timer::Wake, 300), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
    // Section 5.7: a Query functions like an announcement, so somebody may follow it already.
}

#[test]
fn a_follower_whose_rank_rises_above_its_leader_s_stands() {
    let mut process = ranked_follower(config(Variant::LeA), &[]);
    take(process.wait(ms(400)), 30);
    let effects = [say(30), arm(Timer::Announce, 1400), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn a_follower_whose_rank_stays_below_its_leader_s_follows_on() {
    for rank in [0, 7, 19] {
        let mut process = ranked_follower(config(Variant::LeA), &[]);
        take(process.wait(ms(400)), rank);
        process.expect(&[arm(Timer::Listen, 3000)], &[2], Stage::Decided);
        process.ring();
        let effects = [say(rank), arm(Timer::Announce, 4000), disarm(Timer::Listen)];
        process.expect(&effects, &[5], Stage::Decided);
    }
}

#[test]
fn at_an_equal_rank_the_greater_id_stands() {
    let mut process = ranked_follower(config(Variant::LeA), &[]);
    take(&mut process, 20);
    let effects = [say(20), arm(Timer::Announce, 1000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn the_same_rank_again_changes_nothing() {
    let mut process = ranked(10);
    let before = process.node().clone();
    take(&mut process, 10);
    process.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);
    assert_eq!(*process.node(), before);
}

#[test]
fn a_resigned_process_stays_resigned_whatever_its_rank() {
    let mut process = ranked(10);
    process.command(Command::Resign).unwrap();
    take(&mut process, 1000);
    assert_eq!(process.facts()[0], Fact::Claim { weight: weigh(Class::Retired, 1000) });
    process.message(2, Message::Announce(plain(0)));
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 3000)];
    process.expect(&effects, &[2], Stage::Decided);
}

#[test]
fn a_rank_too_large_to_tell_is_as_good_as_the_largest() {
    let mut process = ranked(10);
    take(&mut process, u64::MAX);
    assert_eq!(process.facts()[0], Fact::Claim { weight: plain(STANDING_MAX) });
}

#[test]
fn where_everyone_announces_a_rank_moves_a_process_on_its_own_board_only() {
    for (variant, next) in [(Variant::Al, 1000), (Variant::SupAlSpread, 1300)] {
        let mut process = ranked_follower(config(variant), &[luck(300)]);
        if variant == Variant::SupAlSpread {
            process.ring();
        }
        take(&mut process, 7);
        process.expect(&[arm(Timer::Listen, 3000)], &[2], Stage::Decided);
        take(&mut process, 30);
        process.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);
        process.ring();
        process.expect(&[say(30), arm(Timer::Announce, next + 1000)], &[5], Stage::Decided);
    }
}

#[test]
fn where_everyone_announces_the_greatest_takes_its_claim_back_when_its_rank_falls() {
    let mut process = start_ranked(5, 10, config(Variant::Al), &[]);
    take(&mut process, 7);
    let effects =
        [bye(), disarm(Timer::Announce), say(7), arm(Timer::Announce, 1000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn where_any_message_silences_a_rank_silences_nobody_and_wakes_nobody() {
    let mut leading = start_ranked(5, 10, config(Variant::SupAlElect), &[luck(300)]);
    take(leading.ring(), 7);
    leading.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);
    leading.ring();
    leading.expect(&[say(7), arm(Timer::Announce, 2300)], &[5], Stage::Decided);

    let mut following = ranked_follower(config(Variant::SupAlElect), &[luck(300)]);
    take(&mut following, 30);
    following.expect(&[arm(Timer::Listen, 3000)], &[2], Stage::Decided);

    let mut done = start_ranked(5, 10, config(Variant::Sup), &[luck(300)]);
    take(done.ring(), 7);
    done.expect(&[disarm(Timer::Listen)], &[], Stage::Decided);
    // Section 5.7: SUP+AL elects with the simple receipt of a message.
}

#[test]
fn a_rank_that_rises_moves_one_of_several_leaders_up() {
    let mut process = start_ranked(5, 5, Config { leaders: 3, ..config(Variant::LeA) }, &[]);
    hear(&mut process, 9);
    take(&mut process, 10);
    process.expect(&[arm(Timer::Listen, 3000)], &[5, 9], Stage::Decided);
}
