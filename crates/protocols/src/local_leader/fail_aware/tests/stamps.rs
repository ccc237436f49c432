//! The effects of a received frame: a bound, a row, an answer, or nothing.

use super::talker::HELLO;
use super::*;

#[test]
fn a_bound_is_the_round_trip_less_what_the_peer_held_it_and_less_the_fastest_way_there() {
    let mut process = start(Params { fastest: ms(1), ..params() });
    process.wait(ms(9)).message(2, said(5006, &[for_me(0, 5000)], Some(HELLO)));
    assert_eq!(last(&process), Some((NodeId(2), Some(ms(2) + CUTS))));
    assert_eq!(process.effects(), [], "what can be bounded needs no answer");
}

#[test]
fn drift_makes_our_share_longer_and_the_peers_shorter() {
    let mut process = start(Params { drift_ppm: 100_000, ..params() });
    process.wait(ms(90)).message(2, said(5055, &[for_me(0, 5000)], Some(HELLO)));
    // 90 ms / 0.9 − 55 ms / 1.1 = 50 ms; a nanosecond on either side, 1 / 0.9 + 1 / 1.1 = 2.02.
    let bound = Duration::from_nanos(50_000_003);
    assert_eq!(last(&process), Some((NodeId(2), Some(bound))));
}

#[test]
fn a_frame_without_a_row_is_unbounded_and_answered_first() {
    let mut process = start(params());
    process.wait(ms(9)).message(2, said(70, &[row(3, 0, 0)], Some(talker::QUESTION)));
    assert_eq!(last(&process), Some((NodeId(2), None)));
    let mine = [row(2, 70, 9)];
    let answers = [sends(to(2), 9, &mine, None), sends(to(2), 9, &mine, Some(talker::ANSWER))];
    assert_eq!(process.effects(), answers);
}

#[test]
fn an_empty_frame_without_a_row_is_answered_and_not_passed_on() {
    let mut process = start(params());
    process.wait(ms(9)).message(2, said(70, &[], None));
    assert_eq!(process.effects(), [sends(to(2), 9, &[row(2, 70, 9)], None)]);
    assert_eq!(last(&process), None);
}

#[test]
fn an_empty_frame_with_a_row_is_noted_and_that_is_all() {
    let mut process = start(params());
    process.wait(ms(9)).message(2, said(70, &[for_me(0, 65)], None));
    assert_eq!((process.effects(), last(&process)), (vec![], None));
    process.command(Command::Transfer(NodeId(2))).unwrap();
    assert_eq!(process.effects(), [sends(to(2), 9, &[row(2, 70, 9)], Some(HELLO))]);
}

#[test]
fn a_body_that_is_not_fast_is_answered_and_an_empty_frame_is_not() {
    // A delay of at most 4 ms, and the rounding: 9 ms away, held for 5.
    for (fast, answered) in [(ms(4), true), (ms(4) + CUTS, false)] {
        let mut process = start(Params { fast, ..params() });
        process.wait(ms(9)).message(2, said(70, &[for_me(0, 65)], Some(HELLO)));
        let answer = sends(to(2), 9, &[row(2, 70, 9)], None);
        assert_eq!(process.effects(), Vec::from_iter(answered.then_some(answer)), "{fast}");
        process.message(2, said(70, &[for_me(0, 65)], None));
        assert_eq!(process.effects(), [], "or two that are slow would answer for ever");
    }
}

#[test]
fn stamps_that_contradict_themselves_bound_nothing() {
    for (sent, mine) in [(70, for_me(10, 65)), (70, for_me(0, 71)), (70, for_me(u64::MAX, 65))] {
        let mut process = start(params());
        process.wait(ms(9)).message(2, said(sent, &[mine], Some(HELLO)));
        assert_eq!(last(&process), Some((NodeId(2), None)), "{mine:?}");
        assert_eq!(process.effects(), [sends(to(2), 9, &[row(2, 70, 9)], None)]);
    }
}

#[test]
fn strangers_and_whoever_goes_by_our_own_name_are_ignored() {
    let mut process = start(params());
    for stranger in [0, 1, 4, u64::MAX] {
        process.ignores(stranger, said(70, &[], Some(HELLO)));
        process.ignores(stranger, said(70, &[for_me(0, 70)], None));
    }
}

#[test]
fn a_row_that_a_former_life_asked_for_is_no_row() {
    let former = Echo { life: LIFE - 1, ..for_me(0, 5000) };
    let later = Echo { life: LIFE + 1, ..for_me(0, 5000) };
    for mine in [former, later] {
        let mut process = start(params());
        process.wait(ms(9)).message(2, said(5006, &[mine], Some(HELLO)));
        assert_eq!(last(&process), Some((NodeId(2), None)));
        assert_eq!(process.effects(), [sends(to(2), 9, &[row(2, 5006, 9)], None)]);
    }
    // Why: it asked when its clock showed zero, was restarted 51 ms later with its clock at zero
    // again, and now hears a message sent 54 ms ago. It would compute 3 ms.
    let mut process = start(Params { rules: Rules::ALL.without(Rule::Lives), ..params() });
    process.wait(ms(9)).message(2, said(5006, &[former], Some(HELLO)));
    assert_eq!(last(&process), Some((NodeId(2), Some(ms(3) + CUTS))));
}

#[test]
fn a_frame_of_a_former_life_is_ignored_and_one_of_a_later_life_replaces_what_is_known() {
    let mut process = start(params());
    let of_life = |life, sent, body| Frame { life, ..said(sent, &[for_me(0, sent)], body) };
    process.message(2, of_life(3, 9000, None));
    process.ignores(2, of_life(2, 9500, Some(HELLO)));
    // Its clock was set back: by offsets alone this would be the slowest message ever.
    process.message(2, of_life(4, 10, None));
    process.command(Command::Transfer(NodeId(2))).unwrap();
    let new = Echo { life: 4, ..row(2, 10, 0) };
    assert_eq!(process.effects(), [sends(to(2), 0, &[new], Some(HELLO))]);
    process.ignores(2, of_life(3, 9600, Some(HELLO)));
}

#[test]
fn without_lives_the_dead_are_heard() {
    let mut process = start(Params { rules: Rules::ALL.without(Rule::Lives), ..params() });
    process.message(2, Frame { life: 3, ..said(9000, &[for_me(0, 9000)], None) });
    process.message(2, Frame { life: 2, ..said(9500, &[for_me(0, 9500)], Some(HELLO)) });
    assert_eq!(last(&process), Some((NodeId(2), Some(CUTS))));
}

#[test]
fn a_datagram_that_is_replayed_is_slow_by_construction() {
    let mut process = start(params());
    let frame = said(5006, &[for_me(0, 5000)], Some(HELLO));
    process.wait(ms(9)).message(2, frame.clone());
    assert_eq!(last(&process), Some((NodeId(2), Some(ms(3) + CUTS))));
    process.wait(ms(1000)).message(2, frame);
    assert_eq!(last(&process), Some((NodeId(2), Some(ms(1003) + CUTS))));
}

/// The frames of two processes until both are silent, a millisecond each.
fn converse(one: &mut Process, two: &mut Process, opening: Said) -> Vec<Said> {
    let (mut next, mut frames) = (Some(opening), Vec::new());
    while let Some(frame) = next {
        assert!(frames.len() < 10, "they talk for ever: {frames:?}");
        frames.push(frame.clone());
        let (hearer, from) = if frames.len() % 2 == 1 { (&mut *two, 1) } else { (&mut *one, 2) };
        hearer.wait(ms(1)).message(from, frame);
        next = hearer.effects().into_iter().find_map(|effect| match effect {
            Effect::Send(Dest::Node(_), frame) => Some(frame),
            _ => None,
        });
    }
    frames
}

fn opening(process: &Process) -> Said {
    let Some(Effect::Send(_, frame)) = process.effects().into_iter().next() else {
        panic!("it says hello when it starts");
    };
    frame
}

#[test]
fn an_answer_is_not_answered_unless_its_receiver_was_restarted() {
    let (mut one, mut two) = (start(params()), start_as(2, 1, params()));
    let hello = opening(&one);
    assert_eq!(converse(&mut one, &mut two, hello.clone()).len(), 2, "hello and its answer");
    let mut one = start_as(1, LIFE + 1, params());
    let frames = converse(&mut one, &mut two, hello.clone());
    assert_eq!(frames.len(), 3, "the answer to the dead is answered by the living");
    let mut one = start_as(1, LIFE + 2, params());
    assert_eq!(converse(&mut one, &mut two, hello).len(), 1, "the dead are known to be dead");
}

#[test]
fn without_answers_whoever_comes_late_to_the_silent_is_never_bounded() {
    let words_until_bounded = |rules| {
        let params = Params { rules, refresh: Duration::MAX, ..params() };
        let (mut late, mut silent) = (start(params.clone()), start_as(2, 1, params));
        (1..10).find(|_| {
            late.command(Command::Transfer(NodeId(2))).unwrap();
            let word = opening(&late);
            converse(&mut late, &mut silent, word);
            matches!(last(&silent), Some((_, Some(_))))
        })
    };
    assert_eq!(words_until_bounded(Rules::ALL), Some(2), "the first one is answered");
    assert_eq!(words_until_bounded(Rules::ALL.without(Rule::Answer)), None);
}

#[test]
fn whoever_is_known_to_have_lived_later_than_it_does_says_so() {
    let mut process = start(params());
    let rows = |life| [Echo { life, ..for_me(0, 1) }];
    for former in [LIFE - 1, LIFE] {
        process.message(2, said(2, &rows(former), None));
        assert!(!process.facts().iter().any(|fact| matches!(fact, Fact::Outlived { .. })));
    }
    process.message(3, said(3, &rows(LIFE + 4), None));
    process.message(2, said(4, &rows(LIFE + 2), None));
    assert!(process.facts().contains(&Fact::Outlived { life: LIFE + 4 }));
}

#[test]
fn a_last_will_is_passed_on_unbounded_and_its_stamp_never_serves() {
    let will = Layer::last_will(1, &params()).expect("the inner protocol has one");
    assert_eq!(will, said(0, &[], Some(Word(1))));
    let mut process = start(params());
    process.wait(ms(9)).message(2, said(70, &[for_me(0, 65)], None));
    process.wait(ms(1)).message(2, will.clone());
    assert_eq!(last(&process), Some((NodeId(2), None)));
    let stamp = [sends(to(2), 10, &[row(2, 70, 9)], None)];
    assert_eq!(process.effects(), stamp, "the stamps that it had are better");
    // A later incarnation is known: the will of the former one says nothing new.
    process.message(2, Frame { life: 2, ..said(5, &[for_me(0, 65)], None) });
    process.ignores(2, will);
    let silent = Params { inner: Temper { speaks_first: true }, ..params() };
    assert_eq!(Layer::last_will(1, &silent), None, "the inner protocol has none");
}
