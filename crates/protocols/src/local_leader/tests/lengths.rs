//! Changes of lockTime and ρ, and what goes wrong without each of their rules.
//!
//! The address book has 1 to 5; the founding list names 1, 2 and 3, and has a lockTime of 150 ms.

use super::lists::{begin, committed, founding, list_of, member, named, whole};
use super::*;
use alloc::string::ToString;

/// The list after the founding one, with this lockTime.
pub(super) fn lasting(lock: u64) -> List {
    founding().lasting(Some(Lengths { lock: ms(lock), drift_ppm: 0 })).expect("a change")
}

/// Process 1, which leads until 170 by the votes of all three.
pub(super) fn leader(params: Params) -> Process {
    let mut process = member(1, params);
    process.ring();
    until(&mut process, 25);
    hear(&mut process, 2, yes(20));
    hear(&mut process, 3, yes(20));
    assert_eq!(led_until(&process), Some(at(170)));
    process
}

pub(super) fn set(process: &mut Process, lock: u64) -> Result<(), Refused> {
    process.command(Command::Lengths(Some(ms(lock)), None)).map(|_| ())
}

/// The message as a request for locks of this length.
fn for_lock(length: u64, mut body: Message) -> Message {
    if let Message::Election { lock, .. } = &mut body {
        *lock = ms(length);
    }
    body
}

/// For how long the requests ask that the process has just sent.
fn asked(process: &Process) -> Vec<Duration> {
    let lock = |effect: Effect| match effect {
        Effect::Send(_, Packet { body: Message::Election { lock, .. }, .. }) => Some(lock),
        _ => None,
    };
    process.effects().into_iter().filter_map(lock).collect()
}

/// Until when it is in quarantine.
fn bound_until(process: &Process) -> Option<Instant> {
    process.facts().iter().find_map(|fact| match fact {
        Fact::Bound { until } => Some(*until),
        _ => None,
    })
}

fn compare<T>(rule: Rule, say: impl FnMut(Params) -> T) -> [T; 2] {
    [majority(), majority().without(rule)].map(say)
}

#[test]
fn a_longer_lock_is_asked_for_once_its_list_is_committed() {
    let mut process = leader(majority());
    set(&mut process, 300).unwrap();
    assert_eq!(asked(&process), [ms(150)], "while it may be open");
    assert_eq!(list_of(&process), Some((1, false, vec![1, 2, 3])));
    hear(&mut process, 2, named(&lasting(300), yes(25)));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2, 3])));
    assert_eq!(led_until(&process), Some(at(175)));
    let told = Fact::Lengths { lock: ms(300), drift_ppm: 0, longest: ms(300) };
    assert!(process.facts().contains(&told));
    process.ring();
    assert_eq!(asked(&process), [ms(300)]);
    hear(&mut process, 2, named(&lasting(300), yes(75)));
    assert_eq!(led_until(&process), Some(at(375)));
}

#[test]
fn without_waiting_for_the_commit_an_open_list_lasts_longer_than_others_know() {
    let locks = compare(Rule::OpenListsLastNoLonger, |params| {
        let mut process = leader(params);
        set(&mut process, 300).unwrap();
        asked(&process)
    });
    assert_eq!(locks, [[ms(150)], [ms(300)]]);
}

#[test]
fn without_its_own_length_a_lease_outlives_the_locks_it_rests_on() {
    let ends = compare(Rule::LeaseAsAsked, |params| {
        let mut process = leader(params);
        set(&mut process, 300).unwrap();
        hear(&mut process, 2, named(&lasting(300), yes(25)));
        hear(&mut process, 3, named(&lasting(300), yes(25)));
        led_until(&process)
    });
    assert_eq!(ends, [Some(at(175)), Some(at(325))]);
}

#[test]
fn a_list_with_a_shorter_lock_is_committed_when_the_lease_before_it_is_over() {
    let lists = compare(Rule::ToldEndsAreKept, |params| {
        let mut process = leader(params);
        set(&mut process, 100).unwrap();
        assert_eq!(asked(&process), [ms(100)]);
        hear(&mut process, 2, named(&lasting(100), yes(25)));
        assert_eq!(led_until(&process), Some(at(170)), "it told that end");
        list_of(&process)
    });
    assert_eq!(lists.map(|list| list.map(|list| list.1)), [Some(false), Some(true)]);
    let mut process = leader(majority());
    set(&mut process, 100).unwrap();
    hear(&mut process, 2, named(&lasting(100), yes(25)));
    process.ring();
    assert_eq!(process.now(), at(75));
    hear(&mut process, 2, named(&lasting(100), yes(75)));
    assert_eq!(led_until(&process), Some(at(175)));
    assert_eq!(list_of(&process).map(|list| list.1), Some(true));
}

#[test]
fn a_voter_is_locked_for_as_long_as_it_is_asked() {
    let list = committed(lasting(300));
    let locks = compare(Rule::LockAsAsked, |params| {
        let mut process = member(2, params);
        until(&mut process, 30);
        hear(&mut process, 1, for_lock(300, whole(&list, renew(25, &[1, 3]))));
        lock_of(&process)
    });
    assert_eq!(locks, [Some((1, at(330))), Some((1, at(180)))]);
    let mut process = member(2, majority());
    hear(&mut process, 1, for_lock(200, whole(&list, renew(25, &[1, 3]))));
    assert_eq!(lock_of(&process), None, "its list does not allow that");
}

#[test]
fn a_vote_by_a_list_with_a_shorter_lock_does_not_end_the_lock_before_it() {
    let locks = compare(Rule::LocksNeverShrink, |params| {
        let mut process = member(2, params);
        until(&mut process, 25);
        hear(&mut process, 1, named(&founding(), ask(20)));
        until(&mut process, 30);
        hear(&mut process, 1, for_lock(100, whole(&lasting(100), renew(28, &[1, 2]))));
        lock_of(&process)
    });
    assert_eq!(locks, [Some((1, at(175))), Some((1, at(130)))]);
}

#[test]
fn a_quarantine_is_as_long_as_the_locks_of_the_lists_that_can_bind() {
    let bound = |list: &List, params: Params| {
        let record = Stored { highest: 3, granted: None }.encode(Some(list));
        bound_until(&begin(Memory::Kept(&record), 2, 2, params))
    };
    assert_eq!(bound(&committed(lasting(300)), majority()), Some(at(300)));
    assert_eq!(bound(&committed(lasting(100)), majority()), Some(at(100)));
    let open = compare(Rule::QuarantineByBothLists, |params| bound(&lasting(100), params));
    assert_eq!(open, [Some(at(150)), Some(at(100))]);
}

/// Process 2, which lost its record, asked after the founding lockTime, and was told of a list with
/// a longer one.
fn reader(params: Params) -> Process {
    let mut process = begin(Memory::Lost, 2, 2, params);
    process.ring();
    for from in [1, 3] {
        hear(&mut process, from, record(0, &committed(lasting(300))));
    }
    process
}

fn record(round: u64, list: &List) -> Message {
    let list = Some(list.clone().into());
    Message::Record { asker: 2, round, life: 1, highest: Some(4), list }
}

#[test]
fn whoever_lost_its_record_waits_for_as_long_as_the_list_that_it_reads_binds() {
    let lacks = compare(Rule::WaitsForWhatItReads, |params| {
        reader(params).facts().contains(&Fact::NoRecord)
    });
    assert_eq!(lacks, [true, false]);
    let mut process = reader(majority());
    assert_eq!(bound_until(&process), Some(at(300) + NANO));
    for from in [1, 3] {
        hear(&mut process, from, record(0, &committed(lasting(300))));
    }
    assert!(process.facts().contains(&Fact::NoRecord), "in its quarantine it asks nothing");
    process.ring();
    assert_eq!(process.now(), at(300) + NANO * 2);
    for from in [1, 3] {
        hear(&mut process, from, record(2, &committed(lasting(300))));
    }
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2, 3])));
}

/// What 1 and 3 answered to its question before that arrives late (0), or what they answered to a
/// former life with its number (7). Meanwhile a leader may have rested on a vote of a former life,
/// with a higher term than they knew.
#[test]
fn an_answer_to_a_question_from_before_the_whole_quarantine_does_not_count() {
    for round in [0, 7] {
        let lacks = compare(Rule::AnswersToOwnQuestions, |params| {
            let mut process = reader(params);
            process.ring();
            for from in [1, 3] {
                hear(&mut process, from, record(round, &committed(lasting(300))));
            }
            process.facts().contains(&Fact::NoRecord)
        });
        assert_eq!(lacks, [true, false], "question {round}");
    }
}

#[test]
fn a_change_that_breaks_a_constraint_is_refused_with_the_nearest_values() {
    let mut process = leader(majority());
    let refused = set(&mut process, 90).unwrap_err();
    let Refused::Lengths { rule, lock, drift_ppm } = refused else { panic!("{refused:?}") };
    assert_eq!((lock, drift_ppm), (Duration::from_micros(90_100), 0));
    assert!(rule.starts_with("lockTime(1-2ρ)-2ε > P+4Δ(1+ρ)"), "{rule}");
    assert_eq!(set(&mut process, 150), Err(Refused::SameLengths));
    let mut day = || set(&mut process, 90_000_000).unwrap_err().to_string();
    assert!(day().contains("lock = 86400s"), "{}", day());
    assert_eq!(list_of(&process), Some((0, true, vec![1, 2, 3])), "nothing changed");
    assert_eq!(set(&mut member(2, majority()), 200), Err(Refused::NotLeading));
    set(&mut process, 300).unwrap();
    assert_eq!(set(&mut process, 200), Err(Refused::ChangePending));
}

#[test]
fn a_drift_that_leaves_no_message_fast_is_refused_with_the_most_that_does() {
    let params = valid(Config { drift_ppm: Some(200), ..Config::default() });
    let drift = |ppm| params.refuses(Lengths { lock: ms(150), drift_ppm: ppm }, LAN);
    const LAN: Lengths = Lengths { lock: Duration::from_millis(150), drift_ppm: 200 };
    assert_eq!(drift(300), None);
    let Some(Refused::Lengths { drift_ppm, lock, .. }) = drift(50_000) else { panic!() };
    assert_eq!((drift(drift_ppm), lock), (None, ms(150)));
    assert!(drift(drift_ppm + 1).is_some());
    assert!(drift(0).is_some(), "real clocks drift");
}

/// EP and `expires` follow a longer lockTime, and are those of the parameters otherwise.
#[test]
fn what_follows_from_a_lock_keeps_every_constraint() {
    let params = valid(Config::default());
    for lock in [91, 100, 150, 151, 300, 1_000, 5_000] {
        for drift_ppm in [200, 400, 1_000] {
            let lengths = Lengths { lock: ms(lock), drift_ppm };
            let Some(rule) = params.rule_broken_by(lengths) else {
                let times = params.at(lengths);
                assert!(times.period() >= params.period() && times.expires() >= params.expires());
                continue;
            };
            assert!(rule.contains("δmin, or no") || lock < 100, "{lengths:?}: {rule}");
        }
    }
    assert_eq!(params.at(params.founding_lengths()), params);
}
