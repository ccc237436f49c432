//! Leadership that goes round.

use super::*;
use bellwether_core::Unfit;

fn rotating(mode: Mode) -> Params {
    let config = Config { drift_ppm: Some(0), mode, preempt: true, ..Config::default() };
    valid(Config { rotate_after: Some(ms(100)), ..config })
}

/// Whom it names when it gives up its requests, and the last of those.
fn hands_over(process: &mut Process) -> Option<(u64, u64)> {
    process.ring();
    process.effects().into_iter().find_map(|effect| match effect {
        Effect::Send(
            Dest::Everyone,
            Packet { body: Message::Release { request, leaving, nominee }, .. },
        ) => {
            let sent = request.sent.since(Instant::ZERO).as_nanos() / 1_000_000;
            nominee.filter(|_| leaving).map(|nominee| (nominee.0, sent))
        }
        _ => None,
    })
}

#[test]
fn a_leader_that_has_led_for_so_long_lets_its_lease_end_and_names_the_next() {
    for (voters, next) in [([2, 3, 5], 2), ([3, 4, 5], 3), ([4, 4, 5], 4)] {
        let mut process = leader(rotating(Mode::Majority));
        grant(&mut process, 25, &voters);
        process.ring();
        assert_eq!(process.now(), at(75), "it asks for longer");
        grant(&mut process, 75, &voters);
        process.ring();
        assert_eq!(process.now(), at(125), "it has led since 25");
        expect(&process, &[arm(Timer::Ask, 225)], Some((1, 225)));
        assert_eq!(process.node().successor(process.now()), Some(NodeId(next)));
        assert_eq!(hands_over(&mut process), Some((next, 75)));
        assert_eq!((process.now(), led_until(&process)), (at(225), None));
    }
}

#[test]
fn with_an_application_it_leads_on_and_says_who_is_next() {
    let config = Config { drift_ppm: Some(0), preempt: true, ..Config::default() };
    let config = Config { preempt_asks: true, rotate_after: Some(ms(100)), ..config };
    let params = valid(config);
    assert_eq!(params.rotation(), None, "nobody knows when the application hands over");
    assert!(rotating(Mode::Majority).rotation().is_some());
    let mut process = leader(params);
    for sent in [25, 75, 125] {
        grant(&mut process, sent, &[2, 3]);
        process.ring();
        assert_eq!(process.now(), at(sent + 50));
        let next = (sent >= 75).then_some(NodeId(2));
        assert_eq!(process.node().successor(process.now()), next);
    }
    assert_eq!(led_until(&process), Some(at(275)));
}

/// Its lease lapses because nobody answers. It was not told to hand over, so it keeps its place.
#[test]
fn with_an_application_it_does_not_step_back_if_its_lease_lapses() {
    for mode in [Mode::Majority, Mode::Local] {
        let config = Config { drift_ppm: Some(0), mode, preempt: true, ..Config::default() };
        let config = Config { preempt_asks: true, rotate_after: Some(ms(100)), ..config };
        let (mut process, sent) = match mode {
            Mode::Majority => (leader(valid(config)), [25, 75]),
            Mode::Local => (local_leader(valid(config)), [181, 231]),
        };
        for sent in sent {
            grant(&mut process, sent, &[2, 3]);
            process.ring();
            assert_eq!(process.now(), at(sent + 50));
        }
        let named = |process: &Process| process.node().successor(process.now());
        assert_eq!(named(&process), Some(NodeId(2)), "{mode:?}");
        while led_until(&process).is_some() {
            process.ring();
        }
        let over = process.now();
        let mut said = Vec::new();
        while process.now() < over + ms(800) {
            process.ring();
            said.extend(process.effects().into_iter().filter_map(|effect| match effect {
                Effect::Send(_, Packet { body, .. }) => Some(body),
                _ => None,
            }));
        }
        let steps_back = |body: &Message| matches!(body, Message::Release { leaving: true, .. });
        assert!(!said.iter().any(steps_back), "{mode:?}: {said:?}");
        let asks = |body: &Message| matches!(body, Message::Election { .. });
        assert!(said.iter().any(asks), "{mode:?}: {said:?}");
    }
}

/// Process 2 asks when its lock to 1 has lapsed, at 150; by the clock of 3 that is a moment too
/// early, and so many of 4 and 5 that it fails.
#[test]
fn whoever_asked_a_moment_too_early_asks_again_at_once() {
    let mut process = start(2, rotating(Mode::Majority));
    hear(&mut process, 1, renew(0, &[1, 2, 3, 4, 5]));
    for (remaining, again) in [(1, true), (120, false)] {
        let mut process = process.clone();
        while lock_of(&process).is_none_or(|(to, _)| to != 2) {
            process.ring();
        }
        assert_eq!(process.now(), at(150) + NANO, "it asked when its lock had lapsed");
        let sent = Request { life: 1, sent: process.now() };
        let refusal = Message::Reply {
            request: sent,
            support: false,
            remaining: ms(remaining),
            highest: 1,
            list: None,
        };
        hear(&mut process, 3, refusal);
        process.ring();
        let now = process.now();
        let asks = process.effects().contains(&Effect::Arm(Timer::Ask, now));
        assert_eq!(asks, again, "{:?}", process.effects());
    }
}

/// Process 2 asks when its lock to 1 has lapsed, and the others say that they are locked for 1 ms
/// more. Their clocks may be slow and its own fast, each by ρ, and each shows an instant within ε.
#[test]
fn whoever_is_told_when_others_are_free_asks_when_they_are_by_any_clock() {
    for (rotate_after, wait) in [(Some(ms(100)), 1_200_481), (None, 1_000_000)] {
        let config = Config { preempt: true, rotate_after, ..Config::default() };
        let mut process = start(2, valid(config));
        hear(&mut process, 1, renew(0, &[1, 2, 3, 4, 5]));
        while lock_of(&process).is_none_or(|(to, _)| to != 2) {
            process.ring();
        }
        let now = process.now();
        for voter in [3, 4, 5] {
            let request = Request { life: 1, sent: now };
            let (support, remaining, highest, list) = (false, ms(1), 1, None);
            let refusal = Message::Reply { request, support, remaining, highest, list };
            hear(&mut process, voter, refusal);
        }
        let again = Effect::Arm(Timer::Ask, now + Duration::from_nanos(wait));
        assert!(process.effects().contains(&again), "{:?}", process.effects());
    }
}

#[test]
fn without_it_a_leader_leads_on() {
    let mut process = leader(majority());
    for sent in [25, 75, 125, 175] {
        grant(&mut process, sent, &[2, 3]);
        process.ring();
        assert_eq!((process.now(), led_until(&process)), (at(sent + 50), Some(at(sent + 150))));
    }
    let lone = Config { rotate_after: Some(ms(100)), ..Config::default() };
    assert_eq!(valid(lone).rotate_after(), None, "a leader gives way only with `preempt`");
}

#[test]
fn in_local_mode_it_names_the_next_too_which_asks_at_once() {
    let mut process = local_leader(rotating(Mode::Local));
    for sent in [181, 231] {
        hear(&mut process, 2, yes(sent));
        process.ring();
        assert_eq!(process.now(), at(sent + 50));
    }
    expect(&process, &[arm(Timer::Ask, 381)], Some((1, 381)));
    assert_eq!(hands_over(&mut process), Some((2, 231)));
    assert_eq!((process.now(), led_until(&process)), (at(381), None));
    // The next one does not wait until the former leader counts as dead.
    let mut process = start(2, rotating(Mode::Local));
    hear(&mut process, 1, renew(0, &[1, 2]));
    until(&mut process, 100);
    hear(&mut process, 1, hand_over(50, 2));
    expect(&process, &[arm(Timer::Ask, 100)], None);
    process.ring();
    assert!(process.effects().contains(&arm(Timer::Count, 120)), "it asks");
    let mut process = start(3, rotating(Mode::Local));
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 100);
    hear(&mut process, 1, hand_over(50, 2));
    expect(&process, &[], None);
    // It supports the one that was named, whatever others it hears.
    assert!(rules::supports(&mut process, 2, ask(101)));
}

/// In a local group, a follower of 1, which hands over to `nominee` at 100.
fn local_follower(id: u64, nominee: u64) -> Process {
    let mut process = start(id, rotating(Mode::Local));
    hear(&mut process, 1, renew(0, &[1, 2, 3, 4, 5]));
    until(&mut process, 100);
    hear(&mut process, 1, hand_over(50, nominee));
    assert_eq!(lock_of(&process), None);
    process
}

/// It has not heard the one that was named, since supporters are silent among themselves.
#[test]
fn in_local_mode_nobody_asks_before_the_one_that_was_named_has_had_its_time() {
    let mut process = local_follower(2, 3);
    process.ring();
    expect(&process, &[arm(Timer::Ask, 100 + 181 + 2 * 40)], None);
    let mut process = local_follower(2, 3);
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    process.ring().ring();
    assert_eq!(process.now(), at(361));
    let asks = process.effects().contains(&arm(Timer::Count, 381));
    assert!(asks, "the one that was named is gone");
}

#[test]
fn in_local_mode_whoever_was_named_is_first_until_it_has_asked_twice() {
    for (now, first) in [(360, true), (361, false)] {
        let mut process = local_follower(5, 3);
        until(&mut process, 200);
        hear(&mut process, 2, no(0, Duration::ZERO));
        until(&mut process, now);
        assert_eq!(rules::supports(&mut process, 3, ask(now)), first, "at {now}");
    }
}

/// Whoever stepped back says so to every candidate until it asks. What it said before that may
/// arrive after its request, and does not mean that it is gone.
#[test]
fn in_local_mode_a_farewell_from_before_the_last_request_is_old_news() {
    let farewell = || Message::Release { request: request(50), leaving: true, nominee: None };
    let follower = || {
        let mut process = start(5, rotating(Mode::Local));
        hear(&mut process, 1, renew(0, &[1, 2, 3, 4, 5]));
        until(&mut process, 100);
        hear(&mut process, 1, farewell());
        process
    };
    assert!(rules::supports(&mut follower(), 3, ask(101)), "whoever stepped back comes last");
    let mut process = follower();
    hear(&mut process, 1, ask(110));
    until(&mut process, 112);
    hear(
        &mut process,
        1,
        Message::Release { request: request(110), leaving: false, nominee: None },
    );
    hear(&mut process, 1, farewell());
    assert!(!rules::supports(&mut process, 3, ask(115)), "it is alive, and first in line again");
}

#[test]
fn in_local_mode_a_leader_leads_on_whomever_the_leader_of_others_names() {
    let mut process = local_leader(rotating(Mode::Local));
    hear(&mut process, 2, yes(181));
    hear(&mut process, 3, hand_over(150, 4));
    process.ring();
    assert_eq!(process.now(), at(231));
    assert!(process.effects().contains(&arm(Timer::Count, 251)), "it asks for longer");
}

/// It slept through the end of its lease, and another one asked first.
#[test]
fn whoever_supports_another_hands_over_to_nobody_later() {
    let mut process = leader(rotating(Mode::Majority));
    for sent in [25, 75] {
        grant(&mut process, sent, &[2, 3]);
        process.ring();
    }
    expect(&process, &[arm(Timer::Ask, 225)], Some((1, 225)));
    until(&mut process, 300);
    assert!(rules::supports(&mut process, 4, in_term(2, ask(300))));
    process.ring();
    assert!(process.now() > at(450), "its turn comes after that one is gone");
    let asks = |effect: &Effect| {
        matches!(effect, Effect::Send(_, Packet { body: Message::Election { .. }, .. }))
    };
    assert!(process.effects().iter().any(asks), "{:?}", process.effects());
}

#[test]
fn in_local_mode_only_the_next_can_be_named_and_only_if_leadership_goes_round() {
    let mut process = local_leader(local());
    let two = Command::Transfer(NodeId(2));
    assert_eq!(process.command(two).unwrap_err(), Refused::Unsupported);
    let mut process = local_leader(rotating(Mode::Local));
    hear(&mut process, 2, yes(181));
    hear(&mut process, 3, yes(181));
    let three = Command::Transfer(NodeId(3));
    let other = Refused::Nominee(NodeId(3), Unfit::NotNext);
    assert_eq!(process.command(three).unwrap_err(), other);
    assert!(process.command(two).is_ok());
    assert_eq!(led_until(&process), None);
}
