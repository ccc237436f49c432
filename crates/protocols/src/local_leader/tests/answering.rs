//! Who answers a renewal, if not everybody does.

use super::*;
use alloc::string::ToString;
use bellwether_core::{Message as _, Reader, Unfit};

fn spare(spare: u32) -> Params {
    valid(Config { drift_ppm: Some(0), spare: Some(spare), ..Config::default() })
}

/// The request of leader 1 that so many voters are to answer, from this place of 2 to 5 on.
fn named(sent: u64, first: u16, count: u16) -> Message {
    let mut body = renew(sent, &[1, 2, 3]);
    if let Message::Election { answerers, .. } = &mut body {
        *answerers = Some(Answerers { first, count });
    }
    body
}

/// Process 3, which granted leader 1 a renewal at 20, and is asked again at 70.
fn follower(params: Params) -> Process {
    let mut process = start(3, params);
    until(&mut process, 20);
    hear(&mut process, 1, renew(20, &[1, 2, 3]));
    let effects = [store(1, 1), arm_after(Timer::Ask, 170 + 40), tell(1, yes(20))];
    expect(&process, &effects, Some((1, 170)));
    until(&mut process, 70);
    process
}

#[test]
fn who_is_not_named_grants_the_renewal_and_says_nothing() {
    // The voters beside 1 are 2, 3, 4 and 5.
    for (first, count, answers) in [(0, 2, true), (1, 1, true), (3, 3, true), (2, 2, false)] {
        // Whether it would name some itself makes no difference.
        for params in [majority(), spare(0)] {
            let mut process = follower(params);
            hear(&mut process, 1, named(70, first, count));
            let mut effects = vec![arm_after(Timer::Ask, 220 + 40)];
            effects.extend(answers.then(|| tell(1, yes(70))));
            expect(&process, &effects, Some((1, 220)));
            assert_eq!(lock_of(&process), Some((1, at(220))), "it is locked, like any other");
        }
    }
}

#[test]
fn who_grants_its_first_renewal_or_another_term_answers_though_it_is_not_named() {
    let mut process = start(3, majority());
    until(&mut process, 20);
    hear(&mut process, 1, named(20, 2, 2));
    assert!(process.effects().contains(&tell(1, yes(20))), "{:?}", process.effects());
    let mut process = follower(majority());
    hear(&mut process, 1, in_term(2, named(70, 2, 2)));
    assert!(process.effects().contains(&tell(1, in_term(2, yes(70)))), "{:?}", process.effects());
    // It was locked to a candidate, and hears only now that it leads.
    let mut process = start(3, majority());
    until(&mut process, 20);
    hear(&mut process, 1, ask(20));
    hear(&mut process, 1, named(25, 2, 2));
    assert!(process.effects().contains(&tell(1, yes(25))), "{:?}", process.effects());
}

#[test]
fn a_refusal_is_always_sent() {
    let mut process = follower(majority());
    hear(&mut process, 2, named(70, 0, 0));
    let refusal = in_term(1, no(70, at(170).since(at(70)) + NANO));
    assert!(process.effects().contains(&tell(2, refusal)), "{:?}", process.effects());
}

/// The request that it sends when its timer rings, and who is to answer.
fn asks(process: &mut Process) -> (u64, Option<(u16, u16)>) {
    let Message::Election { request, answerers, .. } = rung(process) else { panic!("it asks") };
    (
        request.sent.since(Instant::ZERO).as_nanos() / 1_000_000,
        answerers.map(|Answerers { first, count }| (first, count)),
    )
}

/// Leader 1, whose first two requests of its reign, at 25 and 75, all granted.
fn settled(params: Params) -> Process {
    let mut process = leader(params);
    grant(&mut process, 25, &[2, 3, 4, 5]);
    assert_eq!(asks(&mut process), (75, None), "everybody answers at first");
    grant(&mut process, 75, &[2, 3, 4, 5]);
    process
}

#[test]
fn a_leader_names_as_many_as_it_needs_and_some_to_spare_in_turns() {
    let mut process = settled(spare(1));
    // The voters beside it by their places.
    for (sent, first) in [(125, 0), (175, 3), (225, 2), (275, 1), (325, 0)] {
        assert_eq!(asks(&mut process), (sent, Some((first, 3))));
        let answer: Vec<u64> = (0..3).map(|next| 2 + (u64::from(first) + next) % 4).collect();
        grant(&mut process, sent, &answer);
        assert_eq!(led_until(&process), Some(at(sent + 150)));
    }
    let mut process = settled(spare(0));
    assert_eq!(asks(&mut process), (125, Some((0, 2))));
    for params in [spare(2), spare(9), majority()] {
        assert_eq!(asks(&mut settled(params)), (125, None), "all of them are needed");
    }
}

#[test]
fn after_a_request_that_too_few_granted_everybody_answers() {
    let mut process = settled(spare(0));
    assert_eq!(asks(&mut process), (125, Some((0, 2))));
    grant(&mut process, 125, &[2]);
    assert_eq!(asks(&mut process), (145, None), "when its round is over");
    grant(&mut process, 145, &[2, 4]);
    assert_eq!(led_until(&process), Some(at(295)));
    assert_eq!(asks(&mut process), (195, Some((2, 2))), "as usual again");
}

#[test]
fn while_a_voter_is_not_heard_everybody_answers() {
    let mut process = settled(spare(1));
    for sent in [125, 175, 225, 275, 325] {
        let (at, _) = asks(&mut process);
        assert_eq!(at, sent);
        grant(&mut process, sent, &[2, 3, 4]);
    }
    // 5 was last heard at 75, and expires after 302.
    assert_eq!(asks(&mut process), (375, Some((3, 3))));
    grant(&mut process, 375, &[2, 3, 4]);
    assert_eq!(asks(&mut process), (425, None));
    grant(&mut process, 425, &[2, 3, 4, 5]);
    assert_eq!(asks(&mut process), (475, Some((2, 3))), "it is back");
}

/// Leader 1 after these renewals, each granted by some, when the last is counted.
fn renewed(granted: &[(u64, [u64; 3])]) -> Process {
    let mut process = settled(spare(1));
    for (sent, voters) in granted {
        assert_eq!(asks(&mut process).0, *sent);
        grant(&mut process, *sent, voters);
    }
    process.wait(ms(20));
    process
}

#[test]
fn who_was_not_to_answer_can_be_nominated_and_who_did_not_answer_twice_cannot() {
    let four = Command::Transfer(NodeId(4));
    let mut process = renewed(&[(125, [2, 3, 4]), (175, [5, 2, 3])]);
    assert!(process.command(four).is_ok(), "it granted the one before");
    let mut process = renewed(&[(125, [2, 3, 4]), (175, [5, 2, 3]), (225, [5, 2, 3])]);
    let behind = Refused::Nominee(NodeId(4), Unfit::Behind);
    assert_eq!(process.command(four).unwrap_err(), behind);
}

#[test]
fn answerers_come_back_from_the_wire_and_cost_nothing_where_all_answer() {
    for body in [named(70, 0, 1), named(70, 65535, 65535), renew(70, &[1, 2, 3])] {
        let mut bytes = Vec::new();
        body.encode(&mut bytes);
        let mut input = Reader::new(&bytes);
        assert_eq!(Message::decode(&mut input), Ok(body));
    }
    let length = |body: Message| {
        let mut bytes = Vec::new();
        body.encode(&mut bytes);
        (bytes[0], bytes.len())
    };
    let (all, some) = (length(renew(70, &[1, 2, 3])), length(named(70, 0, 1)));
    assert_eq!((all.0, some), (0, (8, all.1 + 4)));
}

#[test]
fn parameters_that_would_lose_sight_of_voters_are_refused() {
    let config = Config { spare: Some(1), ..Config::default() };
    let long = Config { renew: Some(ms(100)), lock: Some(ms(200)), ..config.clone() };
    let long = Config { period: Some(ms(240)), expires: Some(ms(400)), ..long };
    assert_eq!(Params::try_from(long.clone()).map(|params| params.spare()), Ok(Some(1)));
    for (config, words) in [
        (Config { spare: Some(1025), ..config }, "spare = 1025, but spare <= 1024 must hold"),
        (
            Config { renew: Some(ms(190)), lock: Some(ms(290)), period: Some(ms(330)), ..long },
            "answers every second request",
        ),
    ] {
        let bad = Params::try_from(config).unwrap_err().to_string();
        assert!(bad.contains(words), "{bad}");
    }
}
