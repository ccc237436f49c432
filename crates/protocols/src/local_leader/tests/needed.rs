//! What goes wrong without each of the finer rules of leases: the same input with and without it.

use super::rules::{candidate, supports};
use super::*;

/// The usual parameters, and those without this rule.
fn both(rule: Rule) -> [Params; 2] {
    [majority(), majority().without(rule)]
}

/// The results with the rule and without.
fn compare<T>(rule: Rule, mut say: impl FnMut(Params) -> T) -> [T; 2] {
    both(rule).map(&mut say)
}

/// Process 1 of five, which asked at 20, has the votes of 2 and 3 for it at 25, and asked again.
fn elected(params: Params) -> Process {
    let mut process = start(1, params);
    process.ring();
    until(&mut process, 25);
    hear(&mut process, 2, yes(20));
    hear(&mut process, 3, yes(20));
    process
}

fn leads(process: &Process) -> bool {
    led_until(process).is_some()
}

#[test]
fn without_the_oldest_grant_a_lease_outlives_the_lock_of_who_granted_only_that() {
    let ends = compare(Rule::LeaseFromOldestGrant, |params| {
        let mut process = elected(params);
        hear(&mut process, 2, yes(25));
        led_until(&process)
    });
    assert_eq!(ends, [Some(at(170)), Some(at(175))], "3 granted what was asked for at 20");
}

#[test]
fn without_granted_requests_a_lease_rests_on_one_that_nobody_has_heard_yet() {
    let ends = compare(Rule::LeaseFromGrantedRequest, |params| led_until(&elected(params)));
    assert_eq!(ends, [Some(at(170)), Some(at(175))]);
}

#[test]
fn without_an_end_by_resigning_a_leader_frees_those_on_whose_locks_it_leads() {
    let still = compare(Rule::ResignEndsLease, |params| {
        let mut process = elected(params);
        process.command(Command::Resign).expect("it leads");
        leads(&process)
    });
    assert_eq!(still, [false, true]);
}

/// What a leader started may still run after its crash.
#[test]
fn without_locks_that_outlive_crashes_the_next_life_of_a_leader_frees_its_supporters() {
    let locks = compare(Rule::CrashFreesNobody, |params| {
        let mut process = start(3, params);
        hear(&mut process, 1, renew(10, &[1, 3, 4]));
        hear(&mut process, 2, ask(10));
        process.peer(2, Reach::Up);
        assert_eq!(lock_of(&process), Some((1, at(150))), "it is locked to another");
        process.peer(1, Reach::Up);
        lock_of(&process)
    });
    assert_eq!(locks, [Some((1, at(150))), None]);
}

#[test]
fn without_senders_of_releases_anybody_frees_from_anybody() {
    let locked = compare(Rule::ReleaseNamesSender, |params| {
        let mut process = start(3, params);
        hear(&mut process, 1, renew(10, &[1, 3, 4]));
        hear(&mut process, 2, release(5));
        lock_of(&process).is_some()
    });
    assert_eq!(locked, [true, false]);
}

#[test]
fn without_being_bound_itself_whoever_begins_again_supports_itself_at_once() {
    let asks = compare(Rule::QuarantineBindsItself, |params| {
        boot(1, 5, 2, params).command(Command::Campaign).is_ok()
    });
    assert_eq!(asks, [false, true]);
}

#[test]
fn without_a_whole_quarantine_a_promise_of_the_former_life_may_still_run() {
    let granted = compare(Rule::WholeQuarantine, |params| {
        let mut process = boot(3, 5, 2, params);
        until(&mut process, 100);
        supports(&mut process, 1, ask(100))
    });
    assert_eq!(granted, [false, true]);
}

#[test]
fn without_later_requests_one_release_means_two_of_them() {
    let asks = compare(Rule::LaterRequests, |params| {
        let mut process = candidate(3, params);
        hear(&mut process, 2, no(20, Duration::ZERO));
        hear(&mut process, 3, no(20, Duration::ZERO));
        process.command(Command::Campaign).is_ok()
    });
    assert_eq!(asks, [false, true], "at 20 again, when it gave up what it asked for at 20");
}

#[test]
fn without_more_than_half_two_halves_elect_one_each() {
    let elected = compare(Rule::MoreThanHalf, |params| {
        let mut process = candidate(4, params);
        hear(&mut process, 2, yes(20));
        leads(&process)
    });
    assert_eq!(elected, [false, true]);
}

/// Process 1 of five, whose request of 20 failed at 40 though enough answered, asks again.
fn second_try(process: &mut Process) {
    hear(process, 4, no(20, Duration::ZERO));
    hear(process, 5, no(20, Duration::ZERO));
    process.ring();
    process.command(Command::Campaign).expect("it is free");
    assert_eq!(process.now(), at(40));
}

#[test]
fn without_forgetting_votes_those_who_were_released_still_count() {
    let elected = compare(Rule::VotesEndWithCampaign, |params| {
        let mut process = candidate(5, params);
        hear(&mut process, 2, yes(20));
        second_try(&mut process);
        hear(&mut process, 3, yes(40));
        leads(&process)
    });
    assert_eq!(elected, [false, true]);
}

#[test]
fn without_votes_of_one_campaign_a_late_one_counts_of_who_was_released() {
    let elected = compare(Rule::CampaignVotesOnly, |params| {
        let mut process = candidate(5, params);
        second_try(&mut process);
        hear(&mut process, 2, yes(20));
        hear(&mut process, 3, yes(40));
        leads(&process)
    });
    assert_eq!(elected, [false, true]);
}

#[test]
fn without_binding_renewals_a_lock_ends_before_the_lease_that_was_renewed() {
    let locks = compare(Rule::RenewalBinds, |params| {
        let mut process = start(3, params);
        hear(&mut process, 1, ask(0));
        until(&mut process, 100);
        hear(&mut process, 1, renew(100, &[1, 3, 4]));
        lock_of(&process)
    });
    assert_eq!(locks, [Some((1, at(250))), Some((1, at(150)))]);
}

#[test]
fn without_refusals_being_none_they_are_votes() {
    let elected = compare(Rule::RefusalIsNoVote, |params| {
        let mut process = candidate(3, params);
        hear(&mut process, 2, in_term(1, no(20, ms(10))));
        leads(&process)
    });
    assert_eq!(elected, [false, true]);
}

#[test]
fn without_one_lock_at_a_time_a_process_supports_two() {
    let granted = compare(Rule::OneLock, |params| {
        let mut process = start(3, params);
        assert!(supports(&mut process, 1, ask(0)));
        supports(&mut process, 2, in_term(2, ask(0)))
    });
    assert_eq!(granted, [false, true]);
}

#[test]
fn without_lives_in_locks_two_processes_of_one_id_share_a_supporter() {
    let granted = compare(Rule::LockNamesLife, |params| {
        let mut process = start(3, params);
        assert!(supports(&mut process, 1, ask(0)));
        let (request, supporters) = (Request { life: 2, sent: at(0) }, Ids::new());
        let other = Message::Election {
            request,
            term: 2,
            lock: ms(150),
            supporters,
            farewell: None,
            token: None,
            list: None,
            answerers: None,
            tree: None,
        };
        supports(&mut process, 1, other)
    });
    assert_eq!(granted, [false, true]);
}

#[test]
fn without_locks_a_vote_promises_nothing() {
    let locked = compare(Rule::VoteLocks, |params| {
        let mut process = start(3, params);
        assert!(supports(&mut process, 1, ask(0)));
        lock_of(&process).is_some()
    });
    assert_eq!(locked, [true, false]);
}

#[test]
fn without_an_end_a_lease_outlives_every_lock() {
    let leads = compare(Rule::LeaseEnds, |params| {
        let mut process = elected(params);
        until(&mut process, 171);
        leads(&process)
    });
    assert_eq!(leads, [false, true]);
}

#[test]
fn without_cooling_down_whoever_resigned_asks_at_once() {
    let asks = compare(Rule::CoolDown, |params| {
        let mut process = elected(params);
        process.command(Command::Resign).expect("it leads");
        process.wait(ms(1)).command(Command::Campaign).is_ok()
    });
    assert_eq!(asks, [false, true]);
}

#[test]
fn without_putting_the_nominee_first_another_asks_at_the_same_time() {
    let turns = compare(Rule::NomineeFirst, |params| {
        let mut process = start(2, params);
        until(&mut process, 20);
        hear(&mut process, 1, renew(20, &[1, 2, 3]));
        until(&mut process, 30);
        hear(&mut process, 1, hand_over(20, 4));
        process.node().deadline(Timer::Ask)
    });
    assert_eq!(turns, [at(70), at(30)]);
}

#[test]
fn without_witnesses_that_never_ask_one_does() {
    let asks = compare(Rule::WitnessNeverAsks, |params| {
        boot_as(WITNESS, 1, 3, params).node().deadline(Timer::Ask) != Instant::NEVER
    });
    assert_eq!(asks, [false, true]);
}

#[test]
fn without_priorities_the_least_id_asks_first() {
    let turns = compare(Rule::PriorityFirst, |params| {
        let mut process = start(1, params);
        hear(&mut process, 5, Message::Standing(priority(7)));
        process.node().deadline(Timer::Ask)
    });
    assert_eq!(turns, [at(60), at(20)]);
}

#[test]
fn without_drift_or_rounding_the_layer_below_bounds_delays_too_tightly() {
    for rule in [Rule::DriftInBounds, Rule::OutwardRounding] {
        assert_eq!(both(rule).map(|params| params.layered().rules.keep(rule)), [true, false]);
    }
}
