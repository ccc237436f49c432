//! Processes without a record: reading those of others, and founding a group.

use super::rules::supports;
use super::tokens::token;
use super::*;

/// The second life of a process of a group of `n`, which lost its record.
fn lost(id: u64, n: u64) -> Process {
    boot_with(Memory::Lost, id, n, 2, majority())
}

/// One that has asked for the first time.
fn inquiring(id: u64, n: u64) -> Process {
    let mut process = lost(id, n);
    process.ring();
    assert_eq!(process.effects()[0], say(inquiry(0)));
    process
}

fn inquiry(round: u64) -> Message {
    Message::Inquiry { life: 2, round, founding: None, needs: false }
}

/// The answer of the first life of a process.
fn told(round: u64, highest: Option<u64>) -> Message {
    Message::Record { asker: 2, round, life: 1, highest, list: None }
}

fn learnt(highest: u64) -> Effect {
    Effect::Store(Stored { highest, granted: None }.encode(None))
}

fn lacks_record(process: &Process) -> bool {
    process.facts().contains(&Fact::NoRecord)
}

#[test]
fn whoever_lost_its_record_grants_nothing_and_asks_for_nothing() {
    let mut process = lost(3, 5);
    expect(&process, &[arm_after(Timer::Ask, 150)], None);
    let life = Fact::Life { number: 2 };
    assert_eq!(process.facts(), [Fact::Bound { until: at(150) }, Fact::NoRecord, life]);
    until(&mut process, 160);
    hear(&mut process, 1, in_term(9, ask(155)));
    expect(&process, &[tell(1, no(155, Duration::ZERO))], None);
    hear(&mut process, 1, release(155));
    expect(&process, &[], None);
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    hear(&mut process, 1, in_term(0, ask(156)));
    expect(&process, &[], None); // A probe asks who could vote.
}

#[test]
fn a_damaged_record_is_none() {
    let record = Stored { highest: 7, granted: Some((NodeId(4), 1)) }.encode(None);
    for bytes in [&record[..record.len() / 2], &[], &[7; 33]] {
        let process = boot_with(Memory::Kept(bytes), 3, 5, 2, majority());
        expect(&process, &[arm_after(Timer::Ask, 150)], None);
        assert!(lacks_record(&process));
    }
}

#[test]
fn it_inquires_after_its_quarantine_and_again_after_every_period() {
    let mut process = lost(3, 5);
    process.ring();
    assert_eq!(process.now(), at(150) + NANO);
    expect(&process, &[say(inquiry(0)), arm_after(Timer::Ask, 150 + 181)], None);
    process.ring();
    expect(&process, &[say(inquiry(0)), arm_after(Timer::Ask, 150 + 2 * 181)], None);
}

/// The tokens of two leaders, one after the other. 2 votes for 1 and loses its record; then 3 votes
/// for 1, which leads by both votes; then 4, which has heard of nothing, asks 2 and 5.
fn story(params: &Params) -> [Option<u64>; 2] {
    let mut first = start(1, params.clone());
    first.ring();
    assert!(supports(&mut start(2, params.clone()), 1, ask(20)));
    let mut voter = boot_with(Memory::Lost, 2, 5, 2, params.clone());
    until(&mut voter, 20).timeout();
    if voter.effects().contains(&say(inquiry(0))) {
        for other in [3, 4, 5] {
            hear(&mut voter, other, told(0, Some(0)));
        }
    }
    assert!(supports(&mut start(3, params.clone()), 1, ask(20)));
    until(&mut first, 25);
    hear(&mut first, 2, yes(20));
    hear(&mut first, 3, yes(20));
    // That lease is over now, and so is the quarantine.
    until(&mut voter, 200);
    if lacks_record(&voter) {
        voter.timeout();
        for (other, highest) in [(3, 1), (4, 0), (5, 0)] {
            hear(&mut voter, other, told(0, Some(highest)));
        }
    }
    let mut second = start(4, params.clone());
    until(&mut second, 200).timeout();
    until(&mut second, 205);
    if supports(&mut voter, 4, ask(200)) {
        hear(&mut second, 2, yes(200));
    }
    assert!(supports(&mut start(5, params.clone()), 4, ask(200)));
    hear(&mut second, 5, yes(200));
    [token(&first), token(&second)]
}

#[test]
fn without_waiting_it_reads_before_the_votes_of_its_former_life_are_over() {
    assert_eq!(story(&majority()), [Some(1), None]);
    let early = majority().without(Rule::ReadAfterQuarantine);
    assert_eq!(story(&early), [Some(1), Some(1)], "one token for two leaders");
}

#[test]
fn without_reading_whoever_lost_its_record_votes_at_once() {
    let lacks = [majority(), majority().without(Rule::LostRecordsAreRead)]
        .map(|params| lacks_record(&boot_with(Memory::Lost, 3, 5, 2, params)));
    assert_eq!(lacks, [true, false]);
}

#[test]
fn without_reading_enough_the_word_of_one_is_taken() {
    let lacks = [majority(), majority().without(Rule::ReadsEnough)].map(|params| {
        let mut process = boot_with(Memory::Lost, 1, 3, 2, params);
        process.ring();
        hear(&mut process, 2, told(0, Some(4)));
        lacks_record(&process)
    });
    assert_eq!(lacks, [true, false]);
}

#[test]
fn a_leader_that_renews_its_lease_does_not_keep_it_from_inquiring() {
    let mut process = lost(3, 5);
    for now in [50, 100, 149] {
        until(&mut process, now);
        hear(&mut process, 1, renew(now, &[1, 2, 4]));
        assert_eq!(process.node().deadline(Timer::Ask), at(150) + NANO);
    }
}

#[test]
fn everybody_answers_an_inquiry() {
    let answer = |mut process: Process, life, highest| {
        hear(&mut process, 4, Message::Inquiry { life: 8, round: 5, founding: None, needs: false });
        let record = Message::Record { asker: 8, round: 5, life, highest, list: None };
        assert_eq!(process.effects(), [tell(4, record)]);
    };
    answer(start(3, majority()), 1, Some(0));
    answer(leader(majority()), 1, Some(1));
    answer(lost(3, 5), 2, None);
    let mut process = start(3, local());
    hear(&mut process, 4, inquiry(0));
    expect(&process, &[], None);
}

#[test]
fn it_reads_from_so_many_that_every_majority_it_was_in_has_another_among_them() {
    for (n, needed) in [(2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4)] {
        let mut process = inquiring(1, n);
        for other in 2..=needed {
            hear(&mut process, other, told(0, Some(other)));
            hear(&mut process, other, told(0, Some(other)));
            assert!(lacks_record(&process), "{other} of {n}");
        }
        hear(&mut process, needed + 1, told(0, Some(3)));
        assert_eq!(process.effects()[0], learnt(needed.max(3)), "the highest of all");
        assert!(!lacks_record(&process));
    }
}

#[test]
fn whoever_read_a_record_probes_first_and_asks_for_a_higher_term() {
    let mut process = inquiring(1, 3);
    hear(&mut process, 2, told(0, Some(4)));
    hear(&mut process, 3, told(0, Some(6)));
    let turn = Effect::Arm(Timer::Ask, at(170) + NANO);
    expect(&process, &[learnt(6), turn], None);
    process.ring();
    let Some(Effect::Send(_, Packet { body, .. })) = process.effects().first().cloned() else {
        panic!("it asks: {:?}", process.effects());
    };
    let Message::Election { request, term: 0, .. } = body else { panic!("a probe: {body:?}") };
    process.wait(ms(5));
    let (support, remaining) = (false, Duration::ZERO);
    hear(&mut process, 2, Message::Reply { request, support, remaining, highest: 4, list: None });
    process.ring();
    let granted = Some((NodeId(1), 2));
    assert_eq!(process.effects()[0], Effect::Store(Stored { highest: 7, granted }.encode(None)));
}

#[test]
fn answers_that_come_in_its_quarantine_do_not_count() {
    let mut process = lost(1, 3);
    for now in [0, 150] {
        until(&mut process, now);
        for other in [2, 3] {
            process.ignores(other, Packet { bound: AT_ONCE, body: told(0, Some(4)) });
        }
    }
}

#[test]
fn answers_to_a_former_life_and_after_it_has_a_record_do_not_count() {
    let mut process = inquiring(1, 3);
    for other in [2, 3] {
        hear(
            &mut process,
            other,
            Message::Record { asker: 1, round: 0, life: 1, highest: Some(4), list: None },
        );
        expect(&process, &[], None);
    }
    let mut process = start(1, majority());
    process.ignores(
        2,
        Packet {
            bound: AT_ONCE,
            body: Message::Record { asker: 1, round: 0, life: 1, highest: Some(4), list: None },
        },
    );
}

/// Process 3 of three, which has met both others and asks again.
fn founder() -> Process {
    let mut process = inquiring(3, 3);
    hear(&mut process, 1, told(0, None));
    expect(&process, &[], None);
    hear(&mut process, 2, told(0, None));
    expect(&process, &[say(inquiry(2)), arm_after(Timer::Ask, 150 + 181)], None);
    process
}

#[test]
fn a_group_is_founded_if_all_others_have_voted_for_nobody() {
    let mut process = founder();
    hear(&mut process, 1, told(2, None));
    expect(&process, &[], None);
    hear(&mut process, 2, told(2, Some(0)));
    expect(&process, &[learnt(0), arm_after(Timer::Ask, 150 + 20 + 80)], None);
    // It grants itself a term only if a majority has records, from which the others can read it.
    process.ring();
    assert!(matches!(
        &process.effects()[..],
        [Effect::Send(_, Packet { body: Message::Election { term: 0, .. }, .. }), _]
    ));
}

#[test]
fn answers_count_for_founding_only_if_all_lives_were_known_when_it_asked() {
    let mut process = founder();
    hear(&mut process, 1, told(0, None));
    hear(&mut process, 2, told(1, None));
    assert!(lacks_record(&process), "they answered earlier questions");
    hear(&mut process, 1, told(2, None));
    // 2 begins again: the first may have been repaired with its help before.
    let reborn = |round| Message::Record { asker: 2, round, life: 2, highest: None, list: None };
    hear(&mut process, 2, reborn(2));
    expect(&process, &[say(inquiry(3)), arm_after(Timer::Ask, 150 + 181)], None);
    hear(&mut process, 2, reborn(3));
    assert!(lacks_record(&process), "1 has not answered this question");
    hear(&mut process, 1, told(3, None));
    assert_eq!(process.effects()[0], learnt(0));
}

#[test]
fn without_all_founders_being_clean_one_that_knows_of_no_vote_is_enough() {
    // 1 lost its record, too; 2, which has not answered yet, granted a term.
    let lacks = [majority(), majority().without(Rule::AllFoundersClean)].map(|params| {
        let mut process = boot_with(Memory::Lost, 3, 3, 2, params);
        process.ring();
        for round in 0..3 {
            hear(&mut process, 1, told(round, None));
        }
        lacks_record(&process)
    });
    assert_eq!(lacks, [true, false]);
}

#[test]
fn without_lives_known_before_an_answer_counts_that_is_older_than_another_life() {
    // 1 had voted for nobody when it answered. Then it voted with 2, which lost its record since.
    let lacks = [majority(), majority().without(Rule::LivesKnownBefore)].map(|params| {
        let mut process = boot_with(Memory::Lost, 3, 3, 2, params);
        process.ring();
        hear(&mut process, 1, told(0, Some(0)));
        hear(&mut process, 2, told(0, None));
        lacks_record(&process)
    });
    assert_eq!(lacks, [true, false]);
}

#[test]
fn whoever_hears_of_a_term_founds_nothing_and_reads_instead() {
    let mut process = founder();
    hear(&mut process, 1, told(2, Some(5)));
    hear(&mut process, 2, told(2, None));
    assert!(lacks_record(&process));
    hear(&mut process, 2, told(2, Some(5)));
    assert_eq!(process.effects()[0], learnt(5));
}

#[test]
fn a_founder_that_begins_again_probes_first_too() {
    let record = Stored::FOUNDING.encode(None);
    let mut process = boot_with(Memory::Kept(&record), 1, 5, 2, majority());
    process.ring();
    assert!(matches!(
        &process.effects()[..],
        [Effect::Send(_, Packet { body: Message::Election { term: 0, .. }, .. }), _]
    ));
}

#[test]
fn a_process_alone_in_its_group_waits_since_nobody_can_tell_it_anything() {
    let mut process = lost(1, 1);
    for _ in 0..5 {
        process.ring();
        assert_eq!(process.effects()[0], say(inquiry(0)));
    }
    assert!(lacks_record(&process));
    // With a record it need not ask who is there.
    let record = Stored::FOUNDING.encode(None);
    let mut process = boot_with(Memory::Kept(&record), 1, 1, 2, majority());
    process.ring();
    assert!(led_until(&process).is_some());
}
