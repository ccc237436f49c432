//! Aging (section 5.1.3, footnote 1): a silent leader is still followed, but no longer keeps out a
//! claim better than the listener's own.

use super::*;

/// T_L = 3 s, and a leader is old after one and a half.
fn aging(variant: Variant) -> Config {
    Config { aging: Some(ms(1500)), ..config(variant) }
}

/// Process 5, which follows 9 and has not heard it for 1.5 s.
fn with_an_old_leader() -> Process {
    let mut process = follower(5, 9, aging(Variant::LeA), &[]);
    process.ring();
    process
}

#[test]
fn the_listen_timer_first_waits_for_the_age_of_the_leader() {
    let process = follower(5, 9, aging(Variant::LeA), &[]);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 1500)];
    process.expect(&effects, &[9], Stage::Decided);
    // Section 5.1.3, footnote 1.
}

#[test]
fn an_old_leader_is_still_followed_until_trust_ends() {
    let mut process = with_an_old_leader();
    process.expect(&[arm(Timer::Listen, 3000)], &[9], Stage::Decided);
    process.ring();
    let effects = [say(5), arm(Timer::Announce, 4000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn an_old_leader_does_not_keep_out_a_claim_better_than_one_s_own() {
    let mut young = follower(5, 9, aging(Variant::LeA), &[]);
    young.ignores(7, Message::Announce(plain(7)));
    let mut process = with_an_old_leader();
    hear(&mut process, 7);
    process.expect(&[arm(Timer::Listen, 3000)], &[7], Stage::Decided);
    assert_eq!(process.node().deadline(Timer::Listen), Instant::ZERO + ms(3000), "7 ages too");
}

#[test]
fn an_old_leader_still_keeps_out_a_claim_worse_than_one_s_own() {
    let mut process = with_an_old_leader();
    process.ignores(3, Message::Announce(plain(3)));
}

#[test]
fn an_old_leader_that_speaks_is_as_good_as_ever() {
    let mut process = with_an_old_leader();
    hear(&mut process, 9);
    process.expect(&[arm(Timer::Listen, 3000)], &[9], Stage::Decided);
    process.ignores(7, Message::Announce(plain(7)));
    process.ring();
    process.expect(&[arm(Timer::Listen, 4500)], &[9], Stage::Decided);
}

#[test]
fn the_bar_falls_with_the_age_of_the_leader() {
    let process = follower(5, 9, aging(Variant::LeA), &[]);
    assert_eq!(process.node().min_weight(), plain(9));
    assert_eq!(with_an_old_leader().node().min_weight(), plain(5));
}

#[test]
fn of_several_leaders_only_the_silent_one_ages() {
    let mut process = start(5, Config { leaders: 2, ..aging(Variant::LeA) }, &[]);
    hear(&mut process, 12);
    hear(process.wait(ms(600)), 9);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 1500)];
    process.expect(&effects, &[12, 9], Stage::Decided);
    process.ring();
    process.expect(&[arm(Timer::Listen, 2100)], &[9, 12], Stage::Decided);
    hear(&mut process, 7);
    process.expect(&[arm(Timer::Listen, 2100)], &[9, 7], Stage::Decided);
}

#[test]
fn aging_off_leaves_one_wait() {
    let mut process = follower(5, 9, config(Variant::LeA), &[]);
    process.wait(ms(2999)).timeout();
    process.ignores(7, Message::Announce(plain(7)));
}

#[test]
fn a_lower_rank_brings_the_age_of_better_leaders_into_play() {
    // 7 leads beside 5, which is better. Once 5 sinks below it, the age of 7 counts.
    let mut process = start_ranked(5, 8, Config { leaders: 2, ..aging(Variant::LeA) }, &[]);
    hear(&mut process, 7);
    process.expect(&[arm(Timer::Listen, 3000)], &[5, 7], Stage::Decided);
    process.wait(ms(100)).command(Command::Rank(2)).unwrap();
    let effects = [
        bye(),
        disarm(Timer::Announce),
        say(2),
        arm(Timer::Announce, 1100),
        arm(Timer::Listen, 1500),
    ];
    process.expect(&effects, &[7, 5], Stage::Decided);
}

/// Process 5 of rank 5, which follows a leader of this rank that has aged.
fn ranked_with_an_old_leader(leader: u64, rank: u64) -> Process {
    let mut process = start_ranked(5, 5, aging(Variant::LeA), &[]);
    process.message(leader, Message::Announce(plain(rank)));
    process.ring();
    process.expect(&[arm(Timer::Listen, 3000)], &[leader], Stage::Decided);
    process
}

#[test]
fn an_old_leader_counts_as_one_s_own_claim_to_the_id() {
    // A claim that is let in keeps the listener out, so it must be better than the listener.
    let mut process = ranked_with_an_old_leader(2, 9);
    process.ignores(4, Message::Announce(plain(5)));
    process.message(6, Message::Announce(plain(5)));
    process.expect(&[arm(Timer::Listen, 3000)], &[6], Stage::Decided);
}

#[test]
fn a_leader_that_is_better_by_its_id_alone_ages_too() {
    let mut process = ranked_with_an_old_leader(9, 5);
    let mut renewed = process.clone();
    renewed.message(9, Message::Announce(plain(5)));
    renewed.expect(&[arm(Timer::Listen, 3000)], &[9], Stage::Decided);
    renewed.ignores(7, Message::Announce(plain(5)));
    process.message(7, Message::Announce(plain(5)));
    process.expect(&[arm(Timer::Listen, 3000)], &[7], Stage::Decided);
}

#[test]
fn an_old_leader_may_come_back_with_a_lighter_claim_if_it_is_better_than_one_s_own() {
    let mut process = ranked_with_an_old_leader(2, 9);
    process.ignores(2, Message::Announce(plain(5)));
    let mut lighter = process.clone();
    lighter.message(2, Message::Announce(plain(6)));
    lighter.expect(&[arm(Timer::Listen, 3000)], &[2], Stage::Decided);
    process.ring();
    let effects = [say(5), arm(Timer::Announce, 4000), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn an_old_leader_ranks_behind_oneself() {
    let mut process = start(5, Config { leaders: 2, ..aging(Variant::LeA) }, &[]);
    hear(&mut process, 9);
    process.ring().ring(); // an announcement at 1 s, then the age of 9
    process.expect(&[arm(Timer::Listen, 3000)], &[5, 9], Stage::Decided);
    hear(&mut process, 7);
    process.expect(&[arm(Timer::Listen, 3000)], &[7, 5], Stage::Decided);
}
