//! The last will of a process that has ended: somebody else frees its supporters at once.

use super::lists::member;
use super::*;
use bellwether_core::Protocol;

/// What is sent in the name of this life.
fn will(life: u64) -> Message {
    Hall::last_will(life, &majority()).expect("leases have one")
}

/// Process 2, which granted a request of 1 at 50, the moment it was made.
fn supporter(params: Params) -> Process {
    let mut process = start(2, params);
    hear(&mut process, 1, renew(50, &[1, 2, 3]));
    until(&mut process, 60);
    assert_eq!(lock_of(&process).map(|(to, _)| to), Some(1));
    process
}

/// A request of the first life, made later than any other that the tests write.
fn latest() -> Message {
    let mut body = ask(0);
    if let Message::Election { request, .. } = &mut body {
        request.sent = Instant::NEVER;
    }
    body
}

#[test]
fn a_will_names_every_request_of_its_life_and_no_other_life() {
    let request = Request { life: 7, sent: Instant::NEVER };
    assert_eq!(will(7), Message::Release { request, leaving: true, nominee: None });
    assert_eq!(will(7), Hall::last_will(7, &local()).unwrap());
}

#[test]
fn a_voter_is_free_at_once_and_the_first_in_line_asks_at_once() {
    let mut process = supporter(majority());
    hear_slow(&mut process, 1, will(1));
    expect(&process, &[arm(Timer::Ask, 60)], None);
    assert_eq!((lock_of(&process), members(&process), alive(&process)), (None, vec![], vec![]));
    process.ring();
    let Effect::Send(_, Packet { body: Message::Election { farewell, .. }, .. }) =
        &process.effects()[1]
    else {
        panic!("it asks: {:?}", process.effects())
    };
    let request = Request { life: 1, sent: Instant::NEVER };
    assert_eq!(*farewell, Some(Farewell { node: NodeId(1), request }), "for whoever missed it");
}

#[test]
fn in_local_mode_a_supporter_is_free_at_once_and_waits_for_the_dead_no_longer() {
    let mut process = supporter(local());
    hear_slow(&mut process, 1, will(1));
    expect(&process, &[], None);
    assert_eq!((lock_of(&process), alive(&process)), (None, vec![]));
    hear(&mut process, 3, ask(60));
    assert_ne!(lock_of(&process).map(|(to, _)| to), Some(1));
}

#[test]
fn no_request_of_that_life_is_granted_after_its_will() {
    for params in [majority(), local()] {
        let mut process = supporter(params);
        hear_slow(&mut process, 1, will(1));
        let before = process.node().clone();
        for late in [ask(0), renew(50, &[1, 2, 3]), ask(59), latest()] {
            hear(&mut process, 1, late);
            assert_eq!((process.effects(), process.node()), (Vec::new(), &before));
        }
    }
}

#[test]
fn a_will_that_comes_before_any_request_of_its_life_keeps_the_later_ones_out() {
    for params in [majority(), local()] {
        let mut process = start(2, params);
        until(&mut process, 5);
        hear_slow(&mut process, 1, will(1));
        hear(&mut process, 1, ask(4));
        assert_eq!(lock_of(&process), None);
    }
}

#[test]
fn the_next_life_is_granted_what_it_asks_for_and_an_old_will_does_not_free_it() {
    for params in [majority(), local()] {
        let mut process = supporter(params);
        hear_slow(&mut process, 1, will(1));
        until(&mut process, 220);
        process.peer(1, Reach::Up);
        let mut again = in_term(2, ask(220));
        if let Message::Election { request, .. } = &mut again {
            request.life = 2;
        }
        hear(&mut process, 1, again);
        assert_eq!(lock_of(&process), Some((1, at(370))), "to the second life");
        hear_slow(&mut process, 1, will(1));
        assert_eq!(lock_of(&process), Some((1, at(370))), "which the will does not name");
        hear_slow(&mut process, 1, will(2));
        assert_eq!(lock_of(&process), None);
    }
}

#[test]
fn the_will_of_another_process_or_of_another_life_frees_nobody() {
    for params in [majority(), local()] {
        let mut process = supporter(params);
        let lock = lock_of(&process);
        for (from, life) in [(3, 1), (4, 1), (1, 0), (1, 2)] {
            hear_slow(&mut process, from, will(life));
            assert_eq!(lock_of(&process), lock, "life {life} of {from}");
        }
    }
}

#[test]
fn a_repeated_will_is_no_news() {
    for params in [majority(), local()] {
        let mut process = supporter(params);
        hear_slow(&mut process, 1, will(1));
        let before = process.node().clone();
        until(&mut process, 65);
        hear_slow(&mut process, 1, will(1));
        assert_eq!((process.effects(), process.node()), (Vec::new(), &before));
    }
}

#[test]
fn a_will_frees_nobody_from_its_quarantine() {
    for params in [majority(), local()] {
        let mut process = boot(3, 5, 2, params);
        until(&mut process, 10);
        for (from, life) in [(1, 1), (2, 1), (3, 1), (3, 2)] {
            hear_slow(&mut process, from, will(life));
        }
        assert!(process.facts().contains(&Fact::Bound { until: at(150) }));
        hear(&mut process, 4, ask(10));
        let refusal = tell(4, no(10, ms(140) + NANO));
        assert_eq!(process.effects().last(), Some(&fitted(&process, refusal)));
    }
}

/// The effect as processes of this one's group have it.
fn fitted(process: &Process, effect: Effect) -> Effect {
    match effect {
        Effect::Send(to, Packet { bound, body }) => {
            Effect::Send(to, Packet { bound, body: fit(process, body) })
        }
        other => other,
    }
}

#[test]
fn the_will_of_another_ends_no_lease_and_no_round() {
    let mut candidate = start(1, majority());
    candidate.ring();
    let asking = candidate.node().protocol().0.round.clone();
    hear_slow(&mut candidate, 2, will(1));
    assert_eq!(candidate.node().protocol().0.round, asking, "it goes on asking");
    let mut process = leader(majority());
    hear_slow(&mut process, 2, will(1));
    assert_eq!(led_until(&process), Some(at(170)), "2 had promised its vote until then");
}

#[test]
fn an_observer_follows_the_dead_no_longer() {
    let mut process = member(5, majority());
    hear_slow(&mut process, 1, renew(5, &[1, 2]));
    expect(&process, &[], Some((1, 150)));
    until(&mut process, 10);
    hear_slow(&mut process, 1, will(0));
    expect(&process, &[], Some((1, 150)));
    hear_slow(&mut process, 1, will(1));
    expect(&process, &[], None);
    hear_slow(&mut process, 1, renew(9, &[1, 2]));
    expect(&process, &[], None); // it was under way
}

#[test]
fn whoever_missed_a_will_hears_of_it_from_the_next_candidate() {
    for params in [majority(), local()] {
        let mut process = start(3, params);
        hear(&mut process, 1, renew(0, &[1, 2, 3]));
        until(&mut process, 30);
        let mut news = in_term(2, ask_with_news(28, 1, 0));
        if let Message::Election { farewell: Some(farewell), .. } = &mut news {
            farewell.request.sent = Instant::NEVER;
        }
        hear(&mut process, 2, news);
        assert_eq!(lock_of(&process), Some((2, at(180))), "it votes for the candidate at once");
    }
}
