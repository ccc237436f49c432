//! Lists of voters: who votes by which list, and what goes wrong without each of their rules.
//!
//! The address book has 1 to 5; the founding list names 1, 2 and 3.

use super::rules::supports;
use super::*;
use bellwether_core::Members;
use bellwether_core::harness::Scripted;

/// The list that the group begins with.
pub(super) fn founding() -> List {
    List::founding([1, 2, 3].map(NodeId)).expect("it has voters")
}

/// The list after it, with 4 as another voter.
pub(super) fn with_4() -> List {
    founding().next(Some(NodeId(4)), None).expect("a change")
}

/// The list after it, without 3.
pub(super) fn without_3() -> List {
    founding().next(None, Some(NodeId(3))).expect("a change")
}

/// The list once it is committed.
pub(super) fn committed(mut list: List) -> List {
    list.committed = true;
    list
}

/// One of the five, with what is left of its record.
pub(super) fn begin(memory: Memory<'_>, id: u64, life: u64, params: Params) -> Process {
    begin_of(5, memory, id, life, params)
}

/// One of so many.
pub(super) fn begin_of(
    size: u64,
    memory: Memory<'_>,
    id: u64,
    life: u64,
    params: Params,
) -> Process {
    let boot = Boot { incarnation: life, memory, ..Boot::first(NodeId(id)) };
    let peers: Members = others(id, size).into_iter().collect();
    let peers = peers.founded_by([1, 2, 3].map(NodeId).into());
    Process::begin(boot, params, peers, Instant::ZERO, Scripted::default())
}

pub(super) fn member(id: u64, params: Params) -> Process {
    begin(Memory::First, id, 1, params)
}

/// A member whose record has this list.
pub(super) fn holding(list: &List, id: u64, params: Params) -> Process {
    let record = Stored::FOUNDING.encode(Some(list));
    let mut process = begin(Memory::Kept(&record), id, 2, params);
    until(&mut process, 151);
    process
}

pub(super) fn by(told: ListTold, mut body: Message) -> Message {
    match &mut body {
        Message::Election { list, .. } | Message::Reply { list, .. } => *list = Some(told),
        Message::Record { list, .. } => *list = Some(told),
        other => panic!("{other:?} has no list"),
    }
    body
}

/// The message with this list in full.
pub(super) fn whole(list: &List, body: Message) -> Message {
    by(list.clone().into(), body)
}

/// The message with the name of this list.
pub(super) fn named(list: &List, body: Message) -> Message {
    by(ListTold::Name(list.id(), list.committed), body)
}

/// The list that the facts tell: its version, whether it is committed, and its voters.
pub(super) fn list_of(process: &Process) -> Option<(u64, bool, Vec<u64>)> {
    let facts = process.facts();
    let voter = |fact: &Fact| if let Fact::Voter { peer } = fact { Some(peer.0) } else { None };
    let voters = facts.iter().filter_map(voter).collect();
    facts
        .iter()
        .find_map(|fact| match fact {
            Fact::List { version, committed } => Some((*version, *committed)),
            _ => None,
        })
        .map(|(version, committed)| (version, committed, voters))
}

fn stores(process: &Process) -> Vec<Option<List>> {
    let list = |effect: Effect| match effect {
        Effect::Store(bytes) => Some(Stored::decode(&bytes).expect("a record").1),
        _ => None,
    };
    process.effects().into_iter().filter_map(list).collect()
}

/// The results with the rule and without.
fn compare<T>(rule: Rule, say: impl FnMut(Params) -> T) -> [T; 2] {
    [majority(), majority().without(rule)].map(say)
}

#[test]
fn where_all_vote_and_always_did_no_list_is_told() {
    assert_eq!(list_of(&start(1, majority())), None);
    assert_eq!(list_of(&member(1, majority())), Some((0, true, vec![1, 2, 3])));
    assert_eq!(list_of(&member(1, local())), None, "in local mode there is none");
}

#[test]
fn a_majority_is_one_of_the_voters_not_of_all_members() {
    let mut process = member(1, majority());
    process.ring();
    hear(&mut process, 4, yes(20));
    hear(&mut process, 5, yes(20));
    assert_eq!(led_until(&process), None, "they are no voters");
    hear(&mut process, 2, yes(20));
    assert_eq!(led_until(&process), Some(at(170)));
    assert_eq!(supporters(&process), [1, 2, 4, 5]);
}

#[test]
fn turns_are_those_of_voters() {
    let five = founding().next(Some(NodeId(5)), None).map(committed).unwrap();
    let process = holding(&five, 5, majority());
    // Before 5 come 1, 2 and 3, and not 4.
    assert_eq!(process.node().deadline(Timer::Ask), at(150 + 3 * 40) + NANO);
}

#[test]
fn a_newer_list_is_stored_before_the_vote_for_it_leaves() {
    let mut process = member(2, majority());
    hear(&mut process, 1, whole(&with_4(), ask(0)));
    assert_eq!(stores(&process), [Some(with_4()), Some(with_4())], "the list, then the term");
    let reply = named(&with_4(), yes(0));
    assert_eq!(process.effects().last(), Some(&tell(1, reply)));
    assert_eq!(list_of(&process), Some((1, false, vec![1, 2, 3, 4])));
    assert!(process.facts().contains(&Fact::Added { peer: NodeId(4) }));
    let mut process = holding(&with_4(), 2, majority());
    assert_eq!(list_of(&process), Some((1, false, vec![1, 2, 3, 4])), "after a restart too");
    hear(&mut process, 1, named(&committed(with_4()), ask(150)));
    assert_eq!(stores(&process)[0], Some(committed(with_4())));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2, 3, 4])));
}

#[test]
fn whoever_is_asked_by_a_newer_list_that_it_has_not_seen_refuses_and_tells_its_own() {
    let mut process = member(2, majority());
    hear(&mut process, 1, named(&committed(with_4()), ask(0)));
    assert_eq!(process.effects(), [tell(1, no(0, Duration::ZERO))], "the founding list");
    assert!(process.facts().contains(&Fact::OtherList { peer: NodeId(1), requests: 1 }));
    hear(&mut process, 1, whole(&committed(with_4()), ask(0)));
    assert!(!process.facts().iter().any(|fact| matches!(fact, Fact::OtherList { .. })));
    assert!(lock_of(&process).is_some());
}

#[test]
fn a_candidate_that_is_refused_for_its_older_list_asks_by_the_newer_one() {
    let mut process = member(1, majority());
    process.ring();
    until(&mut process, 25);
    let newer = committed(with_4());
    hear(&mut process, 2, whole(&newer, in_term(1, no(20, Duration::ZERO))));
    assert_eq!(stores(&process), [Some(newer.clone())]);
    assert_eq!(process.effects()[2], say(release(20)));
    process.ring();
    assert_eq!(process.now(), at(25));
    let request = whole(&newer, in_term(1, ask(25)));
    assert_eq!(process.effects()[0], say(request), "its term is its own still");
}

#[test]
fn a_candidate_whose_list_others_lack_sends_it_in_full() {
    let newer = committed(with_4());
    let mut process = holding(&newer, 1, majority());
    // It has a record of a founder, so it probes first.
    process.ring();
    let Some(Effect::Send(_, Packet { body, .. })) = process.effects().first().cloned() else {
        panic!("it asks: {:?}", process.effects());
    };
    let Message::Election { request, list, .. } = body else { panic!("it asks: {body:?}") };
    assert_eq!(list, Some(ListTold::Name(newer.id(), true)));
    let (support, remaining, highest) = (false, Duration::ZERO, 0);
    for (from, list) in [(2, founding()), (3, newer.clone())] {
        let list = Some(list.into());
        hear(&mut process, from, Message::Reply { request, support, remaining, highest, list });
    }
    process.ring();
    let Some(Effect::Send(_, Packet { body, .. })) = process.effects().get(1).cloned() else {
        panic!("it asks: {:?}", process.effects());
    };
    assert!(matches!(body, Message::Election { list: Some(ListTold::Whole(_)), .. }), "{body:?}");
}

/// Where messages take no time, a refusal comes at the instant of the request: the next one, EP
/// later, has the list in full.
#[test]
fn a_list_that_is_lacked_is_told_in_full_also_after_a_period() {
    let mut process = candidate(&committed(with_4()), majority());
    let (request, support) = (Request { life: 2, sent: process.now() }, false);
    for from in [1, 2] {
        let list = Some(founding().into());
        let remaining = Duration::ZERO;
        hear(&mut process, from, Message::Reply { request, support, remaining, highest: 1, list });
    }
    until(&mut process, 171);
    process.ring();
    let asked = |effect: &Effect| match effect {
        Effect::Send(_, Packet { body: Message::Election { list, .. }, .. }) => list.clone(),
        _ => None,
    };
    while process.effects().iter().find_map(asked).is_none() {
        process.ring();
    }
    let told = process.effects().iter().find_map(asked);
    assert!(process.now() > request.sent + ms(150), "{}", process.now());
    assert!(matches!(told, Some(ListTold::Whole(_))), "{told:?}");
}

/// Two leaders made one list each, and each has a voter that refuses the other one: whoever is
/// refused for that waits for a period, and a release is no reason to ask sooner.
#[test]
fn whoever_is_refused_for_another_open_list_of_its_version_waits() {
    let mut process = candidate(&with_4(), majority());
    let (request, support) = (Request { life: 2, sent: process.now() }, false);
    let (asked, remaining) = (process.now(), Duration::ZERO);
    for from in [1, 2] {
        let list = Some(without_3().into());
        hear(&mut process, from, Message::Reply { request, support, remaining, highest: 1, list });
    }
    let again = process.node().deadline(Timer::Ask);
    assert!(again >= asked + ms(161), "{again}");
    hear(&mut process, 1, release(150));
    assert_eq!(process.node().deadline(Timer::Ask), again);
    hear(&mut process, 1, whole(&committed(without_3()), in_term(9, ask(150))));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2])), "one of them is committed");
}

/// Process 1 asks by a list that 2 and 3 lack and would take, but they are locked: they refuse it
/// also when it comes in full, and then it waits for its turn.
#[test]
fn whoever_refuses_a_list_in_full_is_not_asked_again_at_once() {
    let record = Stored { highest: 1, granted: None }.encode(Some(&with_4()));
    let mut process = begin(Memory::Kept(&record), 1, 2, majority());
    process.ring();
    let (request, support) = (Request { life: 2, sent: process.now() }, false);
    let asked = process.now();
    for from in [2, 3] {
        let (remaining, highest, list) = (ms(40), 1, None);
        hear(&mut process, from, Message::Reply { request, support, remaining, highest, list });
    }
    assert_eq!(process.node().deadline(Timer::Ask), asked + ms(40));
}

#[test]
fn another_founding_list_is_refused_and_counted_and_changes_nothing() {
    let typo = List::founding([1, 2, 4].map(NodeId)).unwrap();
    let mut process = member(3, majority());
    for requests in 1..=3 {
        hear(&mut process, 2, whole(&typo, ask(0)));
        assert_eq!(process.effects(), [tell(2, no(0, Duration::ZERO))]);
        assert!(process.facts().contains(&Fact::OtherList { peer: NodeId(2), requests }));
    }
    assert_eq!(list_of(&process), Some((0, true, vec![1, 2, 3])));
    assert!(supports(&mut process, 1, ask(0)), "the group goes on");
}

#[test]
fn without_refusing_older_lists_a_voter_of_the_new_one_helps_the_old_one() {
    let granted = compare(Rule::OlderListsRefused, |params| {
        let mut process = holding(&committed(with_4()), 2, params);
        supports(&mut process, 3, ask(150))
    });
    assert_eq!(granted, [false, true]);
}

#[test]
fn without_refusing_forks_both_lists_of_one_version_have_a_voter() {
    let granted = compare(Rule::ForksRefused, |params| {
        let mut process = holding(&with_4(), 2, params);
        supports(&mut process, 3, whole(&without_3(), ask(150)))
    });
    assert_eq!(granted, [false, true]);
    let mut process = holding(&with_4(), 2, majority());
    assert!(supports(&mut process, 1, whole(&committed(without_3()), ask(150))));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2])));
    // A list that is committed yields to no other one of its version.
    let mut process = holding(&committed(with_4()), 2, majority());
    assert!(!supports(&mut process, 1, whole(&committed(without_3()), ask(150))));
}

#[test]
fn without_storing_lists_the_next_life_has_the_founding_one() {
    let lists = compare(Rule::ListsAreStored, |params| {
        let mut process = member(2, params.clone());
        hear(&mut process, 1, whole(&committed(with_4()), ask(0)));
        let Some(Effect::Store(record)) = process.effects().first().cloned() else {
            panic!("it stores");
        };
        list_of(&begin(Memory::Kept(&record), 2, 2, params)).map(|(version, ..)| version)
    });
    assert_eq!(lists, [Some(1), Some(0)]);
}

/// Candidate 3, which holds this list and asks by it.
fn candidate(list: &List, params: Params) -> Process {
    let record = Stored { highest: 1, granted: None }.encode(Some(list));
    let mut process = begin(Memory::Kept(&record), 3, 2, params);
    until(&mut process, 151);
    process.command(Command::Campaign).expect("it is free");
    process
}

/// A vote for what it asked for.
fn vote(process: &mut Process, from: u64, list: &List) {
    let (request, support) = (Request { life: 2, sent: process.now() }, true);
    let list = Some(ListTold::Name(list.id(), false));
    let remaining = Duration::ZERO;
    hear(process, from, Message::Reply { request, support, remaining, highest: 2, list });
}

#[test]
fn without_both_majorities_a_new_list_decides_alone() {
    // Of five voters, of whom 5 is new, it has three votes; of the four before, two.
    let four = committed(with_4());
    let five = four.next(Some(NodeId(5)), None).unwrap();
    let leads = compare(Rule::BothMajorities, |params| {
        let mut process = candidate(&five, params);
        vote(&mut process, 4, &five);
        vote(&mut process, 5, &five);
        led_until(&process).is_some()
    });
    assert_eq!(leads, [false, true]);
    let mut process = candidate(&five, majority());
    vote(&mut process, 5, &five);
    vote(&mut process, 4, &five);
    vote(&mut process, 1, &five);
    assert!(led_until(&process).is_some());
    assert_eq!(stores(&process), [Some(committed(five))], "and that commits the list");
}

#[test]
fn without_one_list_per_lease_votes_for_two_lists_make_a_leader() {
    let leads = compare(Rule::OneListPerLease, |params| {
        let mut process = candidate(&with_4(), params);
        vote(&mut process, 1, &with_4());
        vote(&mut process, 2, &founding());
        led_until(&process).is_some()
    });
    assert_eq!(leads, [false, true]);
}

#[test]
fn a_voter_and_an_observer_tell_a_candidate_that_its_list_is_committed() {
    let list = committed(with_4());
    for (id, answer) in [(2, yes(150)), (5, no(150, Duration::ZERO))] {
        let record = Stored { highest: 0, granted: None }.encode(Some(&list));
        let mut process = begin(Memory::Kept(&record), id, 2, majority());
        until(&mut process, 151);
        hear(&mut process, 1, whole(&with_4(), ask(150)));
        assert_eq!(process.effects().last(), Some(&tell(1, named(&list, answer))), "{id}");
    }
    // Of five voters, of whom 5 is new, it has three votes; of the four before, two. But one says
    // that the list is committed.
    let four = committed(with_4());
    let five = four.next(Some(NodeId(5)), None).unwrap();
    let mut process = candidate(&five, majority());
    vote(&mut process, 4, &five);
    let (request, support) = (Request { life: 2, sent: process.now() }, true);
    let list = Some(ListTold::Name(five.id(), true));
    let remaining = Duration::ZERO;
    hear(&mut process, 5, Message::Reply { request, support, remaining, highest: 2, list });
    assert!(led_until(&process).is_some());
}

/// Process 5 without a record, which asks after its quarantine.
fn newcomer(id: u64, params: Params) -> Process {
    let mut process = begin(Memory::Lost, id, 2, params);
    process.ring();
    process
}

fn told(process: &mut Process, from: u64, highest: u64, list: &List) {
    let (asker, round, life) = (2, 0, 1);
    let list = Some(list.clone().into());
    let record = Message::Record { asker, round, life, highest: Some(highest), list };
    hear(process, from, record);
}

fn lacks_record(process: &Process) -> bool {
    process.facts().contains(&Fact::NoRecord)
}

#[test]
fn whoever_is_to_join_reads_its_record_and_stays_silent() {
    let mut process = member(5, majority());
    assert_eq!(process.effects(), [arm(Timer::Ask, 20)], "its first life inquires too");
    process.ring();
    let inquiry = Message::Inquiry { life: 1, round: 0, founding: None, needs: false };
    assert_eq!(process.effects()[0], say(inquiry));
    for (from, lacks) in [(1, true), (2, false)] {
        let (asker, round, life, list) = (1, 0, 1, None);
        let highest = Some(7);
        hear(&mut process, from, Message::Record { asker, round, life, highest, list });
        assert_eq!(lacks_record(&process), lacks, "half of three, rounded up");
    }
    let record = Stored { highest: 7, granted: None }.encode(None);
    expect(&process, &[Effect::Store(record)], None); // and it does not ask
}

#[test]
fn a_joining_process_without_a_founding_list_reads_it() {
    let boot = Boot::first(NodeId(5));
    let peers: Members = others(5, 5).into_iter().collect();
    let (peers, now) = (peers.founded_by(Vec::new()), Instant::ZERO);
    let mut process = Process::begin(boot, majority(), peers, now, Scripted::default());
    process.ring();
    assert_eq!(
        process.effects()[0],
        say(Message::Inquiry { life: 1, round: 0, founding: None, needs: false }),
        "it knows no founding list"
    );
    for from in [1, 2] {
        let list = Some(founding().into());
        let (asker, round, life, highest) = (1, 0, 1, Some(7));
        hear(&mut process, from, Message::Record { asker, round, life, highest, list });
    }
    assert_eq!(stores(&process), [Some(founding())]);
}

#[test]
fn without_the_newest_list_whoever_reads_has_one_that_is_out_of_force() {
    let lists = compare(Rule::ReadsNewestList, |params| {
        let mut process = newcomer(3, params);
        told(&mut process, 2, 6, &founding());
        told(&mut process, 1, 4, &committed(without_3()));
        (lacks_record(&process), list_of(&process).map(|(version, ..)| version))
    });
    assert_eq!(lists, [(false, Some(1)), (false, Some(0))]);
}

#[test]
fn without_the_list_before_whoever_reads_misses_its_last_token() {
    // 4 has the next list of 1, which is not committed; by the old one 2 leads with the vote of 3.
    let removed = founding().next(Some(NodeId(4)), Some(NodeId(1))).unwrap();
    let lacks = compare(Rule::ReadsParentList, |params| {
        let mut process = newcomer(3, params);
        told(&mut process, 4, 1, &removed);
        told(&mut process, 2, 1, &founding());
        lacks_record(&process)
    });
    assert_eq!(lacks, [true, false], "of 1 and 2 both must tell");
}

#[test]
fn without_waiting_whoever_reads_of_a_fork_may_take_the_wrong_one() {
    let lacks = compare(Rule::NoOpenFork, |params| {
        let mut process = newcomer(3, params);
        told(&mut process, 1, 1, &with_4());
        told(&mut process, 2, 1, &without_3());
        lacks_record(&process)
    });
    assert_eq!(lacks, [true, false]);
    let mut process = newcomer(3, majority());
    told(&mut process, 1, 1, &with_4());
    told(&mut process, 2, 1, &committed(without_3()));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2])), "it was told which one is");
}

/// Process 3 lost its record. 1 has made a list with 4, which nobody else saw: 4 is an observer
/// by its own list, and has to tell its record, since it is a voter of that one.
#[test]
fn whoever_reads_asks_the_voters_of_the_newest_list_even_if_they_are_observers() {
    let next = founding().next(Some(NodeId(4)), Some(NodeId(2))).unwrap();
    let mut process = newcomer(3, majority());
    told(&mut process, 1, 4, &next);
    let inquiry = |needs| Message::Inquiry { life: 2, round: 1, founding: None, needs };
    assert_eq!(process.effects(), [tell(4, inquiry(true)), tell(2, inquiry(true))]);
    let record = Stored { highest: 3, granted: None }.encode(Some(&founding()));
    let mut observer = begin(Memory::Kept(&record), 4, 2, majority());
    hear(&mut observer, 3, inquiry(false));
    assert_eq!(observer.effects(), []);
    hear(&mut observer, 3, inquiry(true));
    assert_eq!(observer.sends().count(), 1);
    process.ring();
    assert_eq!(process.sends().count(), 3, "again with every inquiry");
}

/// The voters were 1 and 2, then 2 alone, then 2 and 4. 2 lost its record, and 4 does not know that
/// the last list is committed: 2 may have voted alone, by the one before. An observer knows.
#[test]
fn whoever_was_the_only_voter_asks_observers_whether_its_list_is_committed() {
    let pair = List::founding([1, 2].map(NodeId)).expect("it has voters");
    let alone = committed(committed(pair).next(None, Some(NodeId(1))).unwrap());
    let list = alone.next(Some(NodeId(4)), None).unwrap();
    let mut process = newcomer(2, majority());
    told(&mut process, 4, 6, &list);
    assert!(lacks_record(&process));
    process.ring();
    let inquiry = Message::Inquiry { life: 2, round: 0, founding: None, needs: true };
    assert_eq!(process.effects()[0], say(inquiry));
    told(&mut process, 5, 6, &committed(list));
    assert_eq!(list_of(&process), Some((2, true, vec![2, 4])));
}

#[test]
fn founders_whose_lists_differ_found_nothing() {
    let typo = List::founding([1, 2, 4].map(NodeId)).unwrap();
    let mut process = newcomer(3, majority());
    let told = |process: &mut Process, from: u64, list: &List| {
        let list = Some(ListTold::Name(list.id(), true));
        let (asker, life, highest) = (2, 1, None);
        for round in 0..=2 {
            hear(
                process,
                from,
                Message::Record { asker, round, life, highest, list: list.clone() },
            );
        }
    };
    told(&mut process, 1, &founding());
    told(&mut process, 2, &typo);
    told(&mut process, 1, &founding());
    assert!(lacks_record(&process));
    told(&mut process, 2, &founding());
    told(&mut process, 1, &founding());
    assert!(!lacks_record(&process));
}

#[test]
fn the_only_founder_founds_nothing_by_the_word_of_observers() {
    let boot = Boot { incarnation: 2, memory: Memory::Lost, ..Boot::first(NodeId(1)) };
    let peers: Members = others(1, 3).into_iter().collect();
    let (peers, now) = (peers.founded_by([NodeId(1)].into()), Instant::ZERO);
    let mut process = Process::begin(boot, majority(), peers, now, Scripted::default());
    process.ring();
    let (asker, life, highest) = (2, 1, None);
    for (from, round) in [(2, 0), (3, 0), (2, 1), (3, 1), (2, 2), (3, 2)] {
        hear(&mut process, from, Message::Record { asker, round, life, highest, list: None });
        assert!(lacks_record(&process));
    }
}
