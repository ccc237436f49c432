//! Counting votes, and the lease they give.

use super::*;
use crate::testing::fixed;
use proptest::prelude::*;

/// Process 1 of a group of `n` that asked at 20.
fn candidate(n: u64) -> Process {
    let mut process = boot(1, n, 1, majority());
    process.ring();
    process
}

#[test]
fn a_majority_is_more_than_half_oneself_included() {
    for (n, needed) in [(2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3)] {
        let mut process = candidate(n);
        for voter in 2..2 + needed {
            assert_eq!(led_until(&process), None, "{voter} has not voted");
            hear(&mut process, voter, yes(20));
        }
        assert_eq!(led_until(&process), Some(at(170)), "{needed} of {n} did");
    }
}

#[test]
fn voters_are_counted_and_not_votes() {
    let mut process = candidate(5);
    for _ in 0..4 {
        hear(&mut process, 2, yes(20));
        expect(&process, &[], None);
    }
}

#[test]
fn votes_for_other_requests_and_of_other_lives_and_slow_ones_do_not_count() {
    let mut process = candidate(3);
    hear(&mut process, 2, yes(19));
    hear(&mut process, 2, yes(21));
    for life in [0, 2, u64::MAX] {
        let request = Request { life, sent: at(20) };
        hear(
            &mut process,
            2,
            Message::Reply { request, support: true, remaining: ms(0), highest: 1, list: None },
        );
    }
    hear_slow(&mut process, 2, yes(20));
    process.message(2, Packet { bound: Some(ms(10) + NANO), body: yes(20) });
    expect(&process, &[], None);
    process.message(2, Packet { bound: Some(ms(10)), body: yes(20) });
    assert_eq!(led_until(&process), Some(at(170)));
}

#[test]
fn a_late_vote_for_a_request_that_was_released_never_counts() {
    let mut process = candidate(3);
    process.ring();
    assert_eq!(process.effects()[1], say(release(20)));
    hear(&mut process, 2, yes(20));
    expect(&process, &[], None);
    process.ring();
    hear(&mut process, 2, yes(20));
    expect(&process, &[], None);
}

#[test]
fn a_lease_runs_from_the_sending_of_the_request_however_late_the_votes_are() {
    let mut process = candidate(3);
    until(&mut process, 39);
    hear(&mut process, 2, yes(20));
    assert_eq!(led_until(&process), Some(at(170)));
}

#[test]
fn votes_that_come_after_the_lease_they_would_give_is_over_give_none() {
    let mut process = candidate(3);
    until(&mut process, 170);
    hear(&mut process, 2, yes(20));
    expect(&process, &[], None);
    process.timeout();
    assert_eq!(process.effects()[1], say(release(20)));
}

#[test]
fn a_lost_vote_deposes_nobody_and_the_request_is_made_again() {
    let mut process = leader(majority());
    hear(&mut process, 2, yes(25));
    process.ring();
    expect(&process, &[say(renew(45, &[1, 2, 3])), arm(Timer::Count, 65)], Some((1, 170)));
}

#[test]
fn each_voter_s_latest_grant_counts_and_the_lease_runs_from_the_earliest_it_needs() {
    let mut process = leader(majority());
    process.ring();
    hear(&mut process, 2, yes(25));
    expect(&process, &[], Some((1, 170)));
    hear(&mut process, 3, yes(45));
    // 1 and 3 granted the request of 45, 2 that of 25.
    expect(&process, &[], Some((1, 175)));
    hear(&mut process, 2, yes(45));
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 95)], Some((1, 195)));
}

#[test]
fn a_vote_that_a_later_one_overtook_takes_nothing_away() {
    let mut process = leader(majority());
    process.ring();
    hear(&mut process, 2, yes(45));
    hear(&mut process, 2, yes(25));
    hear(&mut process, 3, yes(45));
    assert_eq!(led_until(&process), Some(at(195)));
    for (voter, sent) in [(2, 25), (3, 25), (4, 25), (5, 25), (2, 20)] {
        hear(&mut process, voter, yes(sent));
        expect(&process, &[], Some((1, 195)));
    }
}

#[test]
fn whoever_votes_after_the_decision_is_a_supporter_too() {
    let mut process = leader(majority());
    assert_eq!(supporters(&process), [1, 2, 3]);
    hear(&mut process, 4, yes(20));
    expect(&process, &[], Some((1, 170)));
    assert_eq!(supporters(&process), [1, 2, 3, 4]);
    hear(&mut process, 2, yes(25));
    assert_eq!(supporters(&process), [1, 2, 3, 4], "who granted this one or a later one");
    hear(&mut process, 5, yes(25));
    assert_eq!(supporters(&process), [1, 2, 5], "the lease is longer than the locks of 3 and 4");
}

#[test]
fn a_leader_whose_lease_ran_out_gives_up_and_releases_its_supporters() {
    let mut process = leader(majority());
    // Requests at 45, 65, 85, 105, 125, 145, 165, and one that is given up.
    for _ in 0..7 {
        process.ring();
    }
    assert_eq!((process.now(), led_until(&process)), (at(165), Some(at(170))));
    process.ring();
    expect(&process, &[], None);
    assert_eq!(process.now(), at(170), "it is woken for the end of its lease");
    process.ring();
    let again = arm(Timer::Ask, 165 + 161);
    expect(&process, &[disarm(Timer::Count), say(release(165)), again], None);
    hear(&mut process, 2, yes(165));
    hear(&mut process, 3, yes(165));
    expect(&process, &[], None);
}

#[test]
fn a_lease_that_ran_out_is_over_and_the_votes_for_the_request_under_way_give_none() {
    let mut process = leader(majority());
    for _ in 0..7 {
        process.ring();
    }
    until(&mut process, 172);
    hear(&mut process, 2, yes(165));
    expect(&process, &[], None);
    hear(&mut process, 3, yes(165));
    expect(&process, &[], None);
    process.ring();
    let again = arm(Timer::Ask, 165 + 161);
    expect(&process, &[disarm(Timer::Count), say(release(165)), again], None);
    process.ring();
    let request = say(in_term(2, ask(326)));
    expect(&process, &[store(2, 1), request, arm(Timer::Count, 346)], None);
}

#[test]
fn whoever_asks_without_leading_begins_to_count_anew() {
    let mut process = leader(majority());
    hear(&mut process, 2, yes(25));
    hear(&mut process, 3, yes(25));
    until(&mut process, 180);
    process.timeout();
    let request = say(in_term(2, ask(180)));
    expect(&process, &[store(2, 1), request, arm(Timer::Count, 200)], None);
    hear(&mut process, 2, yes(25));
    hear(&mut process, 3, in_term(2, yes(180)));
    expect(&process, &[], None);
    hear(&mut process, 2, in_term(2, yes(180)));
    assert_eq!(led_until(&process), Some(at(330)));
}

#[test]
fn in_local_mode_a_candidate_waits_until_all_have_had_the_time_to_answer() {
    let mut process = start(1, local());
    process.ring().ring().ring();
    until(&mut process, 165);
    hear(&mut process, 2, yes(161));
    expect(&process, &[], None);
    process.ring();
    let effects = [disarm(Timer::Count), say(renew(181, &[1, 2])), arm(Timer::Count, 201)];
    expect(&process, &effects, Some((1, 311)));
    assert_eq!(supporters(&process), [1, 2]);
}

#[test]
fn in_local_mode_a_candidate_must_have_counted_itself_as_alive_when_it_asked() {
    let mut process = start(1, local());
    process.ring();
    hear(&mut process, 2, yes(0));
    process.ring();
    expect(&process, &[disarm(Timer::Count), say(release(0)), arm(Timer::Ask, 161)], None);
    // Section IX-D: so that every process that hears it has had time to be heard.
}

#[test]
fn in_local_mode_a_leader_renews_as_soon_as_all_alive_support_it() {
    let mut process = local_leader(local());
    hear(&mut process, 2, yes(181));
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 231)], Some((1, 331)));
}

#[test]
fn in_local_mode_whoever_is_heard_has_to_support_the_leader() {
    let mut process = local_leader(local());
    hear(&mut process, 3, ask(180));
    assert_eq!(process.effects(), [tell(3, no(180, ms(150) + NANO))]);
    hear(&mut process, 2, yes(181));
    expect(&process, &[], Some((1, 311)));
    hear(&mut process, 3, yes(181));
    expect(&process, &[disarm(Timer::Count), arm(Timer::Ask, 231)], Some((1, 331)));
    assert_eq!(supporters(&process), [1, 2, 3]);
}

#[test]
fn in_local_mode_a_request_that_failed_is_made_again_while_the_lease_runs() {
    let mut process = local_leader(local());
    process.ring();
    expect(&process, &[say(renew(201, &[1, 2])), arm(Timer::Count, 221)], Some((1, 311)));
    hear(&mut process, 2, yes(181));
    expect(&process, &[], Some((1, 331)));
}

#[test]
fn as_published_a_majority_is_a_number_of_those_alive() {
    let config = Config { drift_ppm: Some(0), as_published: true, ..Config::default() };
    let mut process = start(1, valid(config));
    process.ring().ring().ring();
    assert_eq!(process.now(), at(161));
    hear(&mut process, 2, yes(161));
    let mut with_two = process.clone();
    with_two.ring();
    assert_eq!(led_until(&with_two), None, "2 of 5");
    hear(&mut process, 3, yes(161));
    process.ring();
    assert_eq!(led_until(&process), Some(at(161 + 171)), "3 of 5");
}

proptest! {
    #![proptest_config(fixed(500))]

    /// A leader counts all votes again only where that may change something. If any rule is taken
    /// away, here one that is not of the candidate, it counts them at each vote.
    #[test]
    fn a_vote_at_which_nothing_is_counted_would_have_changed_nothing(
        steps in prop::collection::vec((0_u64..9, 0_usize..4), 1..80),
    ) {
        let lead = |params| {
            let mut process = boot(1, 7, 1, params);
            process.ring();
            for voter in 2..5 {
                hear(&mut process, voter, yes(20));
            }
            process
        };
        let mut quick = lead(majority());
        let mut thorough = lead(majority().without(Rule::Answer));
        let mut asked = vec![20];
        for (voter, back) in steps {
            let sent = asked[asked.len().saturating_sub(1 + back)];
            for process in [&mut quick, &mut thorough] {
                match voter {
                    0 | 1 => process.ring(),
                    voter => hear(process, voter, yes(sent)),
                };
            }
            if voter < 2 {
                asked.push(quick.now().as_nanos() / 1_000_000);
            }
            prop_assert_eq!(quick.effects(), thorough.effects());
            prop_assert_eq!(quick.node(), thorough.node());
        }
    }
}
