//! Resigning, leaving, and carrying farewells.

use super::*;

#[test]
fn a_leader_that_resigns_frees_its_supporters_and_comes_last() {
    let mut process = leader(majority());
    process.command(Command::Resign).unwrap();
    let effects = [disarm(Timer::Count), say(farewell(25)), arm(Timer::Ask, 175 + 4 * 40)];
    expect(&process, &effects, None);
    assert_eq!(lock_of(&process), None, "it may support another");
    let mut process = local_leader(local());
    process.command(Command::Resign).unwrap();
    let effects = [disarm(Timer::Count), say(farewell(181)), arm(Timer::Ask, 181 + 181)];
    expect(&process, &effects, None);
}

#[test]
fn only_a_leader_resigns() {
    let mut process = start(1, majority());
    assert_eq!(process.command(Command::Resign).unwrap_err(), Refused::NotLeading);
    process.ring();
    assert_eq!(process.command(Command::Resign).unwrap_err(), Refused::NotLeading);
    let mut process = leader(majority());
    until(&mut process, 170);
    assert_eq!(
        process.command(Command::Resign).unwrap_err(),
        Refused::NotLeading,
        "its lease is over"
    );
}

#[test]
fn votes_for_whoever_resigned_come_too_late() {
    let mut process = leader(majority());
    process.command(Command::Resign).unwrap();
    for from in [2, 3, 4, 5] {
        hear(&mut process, from, yes(25));
        expect(&process, &[], None);
    }
}

#[test]
fn whoever_resigned_leads_again_if_nobody_else_does() {
    let mut process = leader(majority());
    process.command(Command::Resign).unwrap();
    process.ring();
    let request = say(in_term(2, ask(335)));
    expect(&process, &[store(2, 1), request, arm(Timer::Count, 355)], None);
    hear(&mut process, 2, in_term(2, yes(335)));
    hear(&mut process, 3, in_term(2, yes(335)));
    assert_eq!(led_until(&process), Some(at(485)));
}

#[test]
fn whoever_left_and_begins_again_has_its_place_again() {
    for (back, turn) in [(true, 50 + 40), (false, 50)] {
        let mut process = start(3, majority());
        until(&mut process, 20);
        hear(&mut process, 1, renew(20, &[1, 2, 3]));
        hear(&mut process, 1, farewell(20));
        if back {
            process.peer(1, Reach::Up);
        }
        until(&mut process, 40);
        hear(&mut process, 2, renew(40, &[2, 3, 4]));
        until(&mut process, 50);
        hear(&mut process, 2, farewell(40));
        expect(&process, &[arm(Timer::Ask, turn)], None);
    }
}

#[test]
fn when_the_leader_leaves_the_next_in_line_asks_at_once() {
    for (id, turn) in [(2, 30), (3, 70), (5, 150)] {
        let mut process = start(id, majority());
        until(&mut process, 20);
        hear(&mut process, 1, renew(20, &[1, 2, 3]));
        until(&mut process, 30);
        hear(&mut process, 1, farewell(20));
        expect(&process, &[arm(Timer::Ask, turn)], None);
        assert_eq!((lock_of(&process), alive(&process)), (None, Vec::new()));
    }
}

#[test]
fn the_next_candidate_carries_the_news_on_for_the_time_of_a_lock() {
    let mut process = start(2, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 30);
    hear(&mut process, 1, farewell(0));
    let mut at_once = process.clone();
    at_once.ring();
    let request = say(in_term(2, ask_with_news(30, 1, 0)));
    expect(&at_once, &[store(2, 2), request, arm(Timer::Count, 50)], None);
    for (now, news) in [(179, true), (180, false)] {
        let mut process = process.clone();
        until(&mut process, now).command(Command::Campaign).unwrap();
        let election = if news { ask_with_news(now, 1, 0) } else { ask(now) };
        assert_eq!(process.effects()[1..3], [store(2, 2), say(in_term(2, election))]);
    }
}

#[test]
fn news_that_overtakes_the_farewell_frees_and_the_candidate_has_the_vote() {
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 30);
    let mut without = process.clone();
    hear(&mut without, 2, ask(28));
    assert_eq!(without.effects().last(), Some(&tell(2, in_term(1, no(28, ms(120) + NANO)))));
    hear(&mut process, 2, in_term(2, ask_with_news(28, 1, 0)));
    let reply = tell(2, in_term(2, yes(28)));
    let effects = [arm(Timer::Ask, 70), store(2, 2), arm_after(Timer::Ask, 180), reply];
    expect(&process, &effects, None);
    hear(&mut process, 1, farewell(0));
    expect(&process, &[], None);
    assert_eq!(lock_of(&process), Some((2, at(180))));
}

#[test]
fn slow_news_is_news() {
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    hear_slow(&mut process, 2, ask_with_news(28, 1, 0));
    assert_eq!(lock_of(&process), None);
}

#[test]
fn news_of_a_request_before_the_one_granted_frees_nobody_and_sends_nobody_back() {
    for (body, from) in [(farewell(5), 1), (ask_with_news(28, 1, 5), 2)] {
        let mut process = start(3, local());
        hear(&mut process, 1, renew(10, &[1, 2, 3]));
        until(&mut process, 30);
        hear(&mut process, from, body);
        assert_eq!(lock_of(&process), Some((1, at(150))));
        assert!(alive(&process).contains(&1));
        assert!(!is_last(&process, 1), "it has come back since");
    }
}

/// Whether `id` has stepped back in the view of this process.
fn is_last(process: &Process, id: u64) -> bool {
    process.node().protocol().0.line.place(NodeId(id)).is_last()
}

#[test]
fn news_of_strangers_and_of_oneself_is_none() {
    let mut process = leader(majority());
    let facts = process.facts();
    for node in [1, 0, 6, u64::MAX] {
        hear(&mut process, 2, ask_with_news(24, node, u64::MAX));
        assert_eq!(process.facts().len(), facts.len());
        assert!(!is_last(&process, node));
        assert_eq!(led_until(&process), Some(at(170)));
    }
}

#[test]
fn a_request_that_its_farewell_overtook_is_not_granted() {
    for params in [majority(), local()] {
        let mut process = start(3, params);
        until(&mut process, 5);
        hear(&mut process, 1, farewell(2));
        let before = process.node().clone();
        for sent in [0, 2] {
            hear(&mut process, 1, ask(sent));
            assert_eq!((process.effects(), process.node()), (Vec::new(), &before));
        }
        hear(&mut process, 1, ask(3));
        let vote = tell(1, fit(&process, yes(3)));
        assert_eq!(process.effects().last(), Some(&vote), "it came back");
        assert!(!is_last(&process, 1));
    }
}

#[test]
fn in_local_mode_whoever_left_is_not_waited_for() {
    let mut process = start(2, local());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    process.timeout();
    expect(&process, &[arm(Timer::Ask, 302)], Some((1, 150)));
    hear(&mut process, 1, farewell(0));
    assert_eq!(alive(&process), [0; 0]);
    // 3, which has not heard of it, supports 2 all the same.
    let mut third = start(3, local());
    hear(&mut third, 1, renew(0, &[1, 2, 3]));
    until(&mut third, 10);
    hear(&mut third, 2, ask_with_news(8, 1, 0));
    expect(&third, &[tell(2, yes(8))], None);
    assert_eq!(alive(&third), [2]);
}

#[test]
fn whoever_stepped_back_says_so_again_to_candidates_but_not_to_leaders() {
    let mut process = leader(majority());
    process.command(Command::Resign).unwrap();
    hear(&mut process, 2, renew(24, &[2, 4, 5]));
    assert!(!process.effects().contains(&tell(2, farewell(25))));
    hear(&mut process, 2, release(24));
    hear(&mut process, 3, ask(24));
    assert!(process.effects().contains(&tell(3, farewell(25))));
    // A repeated farewell removes nobody from the alive-set.
    let mut third = start(3, local());
    hear(&mut third, 1, farewell(25));
    hear(&mut third, 1, yes(20));
    assert_eq!(alive(&third), [1]);
    hear(&mut third, 1, farewell(25));
    assert_eq!(alive(&third), [1]);
}

#[test]
fn in_local_mode_whoever_resigned_supports_those_after_it() {
    let mut process = local_leader(local());
    process.command(Command::Resign).unwrap();
    until(&mut process, 190);
    hear(&mut process, 2, ask(188));
    // It says again that it stepped back: the candidate may have missed it.
    expect(&process, &[tell(2, farewell(181)), tell(2, yes(188))], None);
    // And does not compete, as long as anybody else is alive.
    process.ring();
    expect(&process, &[arm(Timer::Ask, 190 + 302)], None);
}

#[test]
fn whoever_leaves_says_so_and_does_nothing_more() {
    for (mut process, last) in
        [(start(3, majority()), 0), (leader(majority()), 25), (local_leader(local()), 181)]
    {
        process.command(Command::Leave).unwrap();
        let effects = [disarm(Timer::Count), say(farewell(last)), disarm(Timer::Ask)];
        expect(&process, &effects, None);
        assert_eq!(process.node().poll_timeout(), Instant::NEVER);
    }
}

#[test]
fn a_supporter_that_leaves_does_not_take_its_promise_along() {
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    process.command(Command::Leave).unwrap();
    assert_eq!(lock_of(&process), Some((1, at(150))));
}

#[test]
fn campaigning_is_asking_at_once_for_whoever_is_free() {
    let mut process = start(3, majority());
    process.wait(ms(5)).command(Command::Campaign).unwrap();
    let effects = [disarm(Timer::Ask), store(1, 3), say(ask(5)), arm(Timer::Count, 25)];
    expect(&process, &effects, None);
    hear(&mut process, 4, yes(5));
    // A process that is asking goes on: votes that came are not thrown away.
    process.wait(ms(5)).command(Command::Campaign).unwrap();
    expect(&process, &[], None);
    hear(&mut process, 5, yes(5));
    assert_eq!(led_until(&process), Some(at(155)));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow, "it leads");
}

#[test]
fn whoever_is_bound_to_another_cannot_campaign() {
    let mut process = start(3, majority());
    hear(&mut process, 4, ask(0));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    until(&mut process, 150);
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    process.wait(NANO).command(Command::Campaign).unwrap();
}

#[test]
fn in_local_mode_only_the_first_of_those_alive_can_campaign() {
    let mut process = start(2, local());
    hear(&mut process, 1, no(0, Duration::ZERO));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    until(&mut process, 302);
    process.command(Command::Campaign).unwrap();
    expect(&process, &[disarm(Timer::Ask), say(ask(302)), arm(Timer::Count, 322)], None);
}

#[test]
fn whoever_resigned_cannot_campaign_before_its_turn_or_its_cooldown_is_over() {
    for mut process in [leader(majority()), local_leader(local())] {
        process.command(Command::Resign).unwrap();
        let before = process.wait(ms(1)).node().clone();
        assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::CoolingDown);
        assert_eq!(*process.node(), before);
        assert!(is_last(&process, 1));
        // In its turn it asks, and has its place again; in local mode once nobody else is alive.
        (0..4).for_each(|_| _ = process.ring());
        assert!(!is_last(&process, 1));
    }
    let mut process = leader(majority());
    process.command(Command::Resign).unwrap();
    process.wait(ms(60_000).saturating_sub(NANO));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::CoolingDown);
    process.wait(NANO).command(Command::Campaign).unwrap();
    let mut process =
        leader(valid(Config { cooldown: Some(ms(200)), drift_ppm: Some(0), ..Config::default() }));
    process.command(Command::Resign).unwrap();
    process.wait(ms(200)).command(Command::Campaign).unwrap();
}

#[test]
fn whoever_resigned_and_is_alone_campaigns_at_once() {
    let mut process = boot(1, 1, 1, majority());
    process.ring();
    process.command(Command::Resign).unwrap();
    process.wait(ms(1)).command(Command::Campaign).unwrap();
    assert!(led_until(&process).is_some());
}

#[test]
fn whoever_resigned_has_its_place_again_when_it_has_cooled_down() {
    for (now, last) in [(60_019, true), (60_020, false)] {
        let mut process = start(3, majority());
        until(&mut process, 20);
        hear(&mut process, 1, farewell(20));
        until(&mut process, now);
        hear_slow(&mut process, 2, yes(0));
        assert_eq!(is_last(&process, 1), last);
    }
    // In local mode it would displace a leader.
    let mut process = start(3, local());
    hear(&mut process, 1, farewell(0));
    until(&mut process, 600_000);
    hear_slow(&mut process, 2, yes(0));
    assert!(is_last(&process, 1));
}

#[test]
fn the_last_one_that_resigned_is_not_waited_for() {
    let mut process = boot(2, 3, 1, majority());
    process.ring();
    hear(&mut process, 3, yes(60));
    process.command(Command::Resign).expect("it leads");
    until(&mut process, 100);
    hear(&mut process, 1, in_term(2, renew(100, &[1, 2, 3])));
    until(&mut process, 110);
    hear(&mut process, 1, farewell(100));
    // 3 comes before it; 1 would too, by its id, but resigned a moment ago.
    expect(&process, &[arm(Timer::Ask, 110 + 40)], None);
}

#[test]
fn a_rank_is_none_of_its_commands() {
    let mut process = leader(majority());
    assert_eq!(process.command(Command::Rank(7)).unwrap_err(), Refused::Unsupported);
}
