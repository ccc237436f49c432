//! What goes wrong without each rule: the same input with it and without.

use super::*;

/// Whether a process supports this request.
pub(super) fn supports(process: &mut Process, from: u64, body: Message) -> bool {
    hear(process, from, body);
    let Some(Effect::Send(_, Packet { body: Message::Reply { support, .. }, .. })) =
        process.effects().pop()
    else {
        panic!("no answer: {:?}", process.effects())
    };
    support
}

/// The candidate 1 of `n`, which asked at 20.
pub(super) fn candidate(n: u64, params: Params) -> Process {
    let mut process = boot(1, n, 1, params);
    process.ring();
    process
}

#[test]
fn without_room_for_scheduling_a_lock_may_outlast_the_time_between_two_requests() {
    // 3 locks to 2 just before a request of 1, the next of which may come EP-σ-Δ later.
    let params = Config { mode: Mode::Local, drift_ppm: Some(0), ..Config::default() };
    let with = valid(params);
    let without = with.clone().without(Rule::RoomForScheduling);
    for (params, expected) in [(with, true), (without, false)] {
        let lock = params.lock();
        let asks = |sent| {
            let (request, supporters) = (request(sent), Ids::new());
            Message::Election {
                request,
                term: 1,
                lock,
                supporters,
                farewell: None,
                token: None,
                list: None,
                answerers: None,
                tree: None,
            }
        };
        let mut process = start(3, params);
        assert!(supports(&mut process, 2, asks(0)));
        assert!(!supports(&mut process, 1, asks(0)));
        until(&mut process, 151);
        assert_eq!(supports(&mut process, 1, asks(161)), expected);
    }
}

#[test]
fn without_quarantine_a_process_forgets_its_promises_by_a_crash() {
    for (params, expected) in [(majority(), false), (majority().without(Rule::Quarantine), true)] {
        assert_eq!(supports(&mut boot(3, 5, 2, params), 1, ask(0)), expected);
    }
}

#[test]
fn without_stepping_down_a_leader_frees_those_on_whose_locks_it_leads() {
    // As published there is one attempt per lease.
    let with = majority().without(Rule::Retry);
    for (params, leads) in [(with.clone(), false), (with.without(Rule::StepDown), true)] {
        let mut process = candidate(3, params);
        hear(&mut process, 2, yes(20));
        assert_eq!(process.effects(), [disarm(Timer::Count), arm(Timer::Ask, 130)]);
        process.ring().ring();
        assert_eq!(process.now(), at(150));
        assert_eq!(process.effects()[1], say(release(130)));
        assert_eq!(led_until(&process).is_some(), leads);
    }
}

#[test]
fn without_one_s_own_vote_deciding_a_process_alone_waits_for_its_alarm() {
    for (params, leads) in [(majority(), true), (majority().without(Rule::OwnVoteDecides), false)] {
        let mut process = candidate(1, params);
        assert_eq!(led_until(&process).is_some(), leads);
        process.timeout();
        until(&mut process, 40).timeout();
        assert!(led_until(&process).is_some());
    }
    // And a leader whose own vote is the last one waits, as figure 31 has it.
    for (params, renewed) in [(local(), 331), (local().without(Rule::OwnVoteDecides), 311)] {
        let mut process = start(1, params);
        process.ring().ring().ring().ring();
        assert_eq!((process.now(), led_until(&process)), (at(181), Some(at(renewed))));
    }
}

#[test]
fn without_answers_and_lives_the_layer_below_does_without() {
    let (answers, lives) = (majority().without(Rule::Answer), majority().without(Rule::Lives));
    let kept =
        |params: Params| [Rule::Answer, Rule::Lives].map(|rule| params.layered().rules.keep(rule));
    assert_eq!((kept(answers), kept(lives)), ([false, true], [true, false]));
}

#[test]
fn without_retries_one_lost_vote_deposes_a_leader() {
    let mut process = leader(majority());
    process.ring();
    assert_eq!(led_until(&process), Some(at(170)));
    assert_eq!(process.effects(), [say(renew(45, &[1, 2, 3])), arm(Timer::Count, 65)]);
    let mut process = candidate(3, majority().without(Rule::Retry));
    hear(&mut process, 2, yes(20));
    process.ring().ring();
    assert_eq!(led_until(&process), None);
    let effects = [disarm(Timer::Count), say(release(130)), arm(Timer::Ask, 130 + 161 + 80)];
    assert_eq!(process.effects(), effects);
}

#[test]
fn without_counting_from_the_sending_a_lease_outlives_the_locks_it_rests_on() {
    let without = majority().without(Rule::LeaseFromSending);
    for (params, until_ms) in [(majority(), 170), (without, 189)] {
        let mut process = candidate(3, params);
        until(&mut process, 39);
        hear(&mut process, 2, yes(20));
        assert_eq!(led_until(&process), Some(at(until_ms)));
    }
    // The voter is locked for 150 from 20 or later.
}

#[test]
fn without_names_in_releases_an_old_one_ends_a_lock_that_a_lease_rests_on() {
    let without = majority().without(Rule::ReleaseNamesRequest);
    for (params, locked) in [(majority(), true), (without, false)] {
        let mut process = start(3, params);
        hear(&mut process, 1, renew(10, &[1, 3, 4]));
        hear(&mut process, 1, release(5));
        assert_eq!(lock_of(&process).is_some(), locked);
    }
}

#[test]
fn without_distinct_voters_one_is_a_majority() {
    let without = majority().without(Rule::DistinctVoters);
    for (params, leads) in [(majority(), false), (without, true)] {
        let mut process = candidate(5, params);
        hear(&mut process, 2, yes(20));
        hear(&mut process, 2, yes(20));
        assert_eq!(led_until(&process).is_some(), leads);
    }
}

#[test]
fn without_lives_votes_for_and_releases_of_a_former_life_count() {
    let former = Request { life: 0, sent: at(20) };
    let vote = Message::Reply {
        request: former,
        support: true,
        remaining: Duration::ZERO,
        highest: 1,
        list: None,
    };
    let release = Message::Release { request: former, leaving: false, nominee: None };
    for (params, kept) in [(majority(), true), (majority().without(Rule::Lives), false)] {
        let mut process = candidate(3, params.clone());
        hear(&mut process, 2, vote.clone());
        assert_eq!(led_until(&process).is_none(), kept);
        let mut process = start(3, params);
        hear(&mut process, 1, ask(10));
        hear(&mut process, 1, release.clone());
        assert_eq!(lock_of(&process).is_some(), kept);
    }
}

#[test]
fn without_strict_expiry_a_lock_ends_while_the_lease_on_it_runs() {
    let without = majority().without(Rule::StrictExpiry);
    for (params, strict) in [(majority(), true), (without, false)] {
        // Both at 170: what was asked for at 20 and granted in the same instant.
        let mut voter = boot(2, 3, 1, params.clone());
        until(&mut voter, 20);
        assert!(supports(&mut voter, 1, ask(20)));
        until(&mut voter, 170);
        assert_eq!(supports(&mut voter, 3, in_term(2, ask(170))), !strict);
        let mut process = candidate(3, params);
        hear(&mut process, 2, yes(20));
        until(&mut process, 170);
        assert_eq!(led_until(&process).is_none(), strict);
    }
}

#[test]
fn without_self_support_a_leader_may_support_another() {
    let without = majority().without(Rule::SelfSupport);
    for (params, other) in [(majority(), false), (without, true)] {
        let mut process = leader(params);
        assert_eq!(supports(&mut process, 2, ask(24)), other);
    }
    // In local mode a process that is not free would lead by the votes of the rest.
    let bound = || local().with_lock(ms(400));
    for (params, leads) in [(bound(), false), (bound().without(Rule::SelfSupport), true)] {
        let mut process = boot(1, 5, 2, params);
        process.ring().ring().ring();
        assert_eq!(process.now(), at(161), "it asked for the second time");
        let request = Request { life: 2, sent: at(161) };
        let support = true;
        hear(
            &mut process,
            2,
            Message::Reply { request, support, remaining: Duration::ZERO, highest: 1, list: None },
        );
        process.ring();
        assert_eq!(led_until(&process).is_some(), leads);
    }
}

#[test]
fn without_that_rule_a_leader_releases_those_on_whose_locks_it_leads() {
    let without = majority().without(Rule::NoReleaseWhileLeading);
    for (params, releases) in [(majority(), false), (without, true)] {
        let mut process = leader(params);
        process.ring();
        assert_eq!(led_until(&process), Some(at(170)));
        assert_eq!(process.effects().contains(&say(release(25))), releases);
    }
}

#[test]
fn without_equal_locks_a_voter_promises_less_than_the_candidate_counts_on() {
    let shorter = || majority().with_lock(ms(100));
    let without = shorter().without(Rule::EqualLocks);
    for (params, granted) in [(shorter(), false), (without, true)] {
        let mut process = start(3, params);
        assert_eq!(supports(&mut process, 1, ask(0)), granted);
        let locked = granted.then_some((1, at(100)));
        assert_eq!(lock_of(&process), locked);
    }
}

#[test]
fn without_a_margin_for_drift_a_lease_is_as_long_as_a_lock() {
    let with = valid(Config::default());
    let without = with.clone().without(Rule::DriftMargin);
    for (params, lease) in [(with, 149_740_000), (without, 150_000_000)] {
        let mut process = candidate(3, params);
        let sent = process.now();
        let request = Request { life: 1, sent };
        let support = true;
        hear(
            &mut process,
            2,
            Message::Reply { request, support, remaining: Duration::ZERO, highest: 1, list: None },
        );
        assert_eq!(led_until(&process), Some(sent + Duration::from_nanos(lease)));
    }
}

#[test]
fn what_was_published_lacks_five_corrections_and_nothing_else() {
    let lacks = |rule: &Rule| !Rules::PUBLISHED.keep(*rule);
    let lacking: Vec<Rule> = Rule::ALL.into_iter().filter(lacks).collect();
    let five = [
        Rule::RoomForScheduling,
        Rule::Quarantine,
        Rule::StepDown,
        Rule::OwnVoteDecides,
        Rule::Retry,
    ];
    assert_eq!(lacking, five);
    assert!(Rule::ALL.into_iter().all(|rule| Rules::ALL.keep(rule)));
}
