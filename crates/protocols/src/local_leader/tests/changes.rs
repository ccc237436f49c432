//! Changes of the voters, as commands to a leader.
//!
//! The address book has 1 to 5; the founding list names 1, 2 and 3.

use super::lists::{
    begin, committed, founding, holding, list_of, member, named, whole, with_4, without_3,
};
use super::tokens::token;
use super::*;
use bellwether_core::Members;
use bellwether_core::harness::Scripted;

/// Process 1, which leads by the votes of all three.
fn leader(params: Params) -> Process {
    let mut process = member(1, params);
    process.ring();
    until(&mut process, 25);
    hear(&mut process, 2, yes(20));
    hear(&mut process, 3, yes(20));
    assert_eq!((led_until(&process), supporters(&process)), (Some(at(170)), vec![1, 2, 3]));
    process
}

fn refused(process: &mut Process, command: Command) -> Refused {
    process.command(command).expect_err("it is refused")
}

fn add(id: u64) -> Command {
    Command::Add(NodeId(id))
}

fn remove(id: u64) -> Command {
    Command::Remove(NodeId(id))
}

fn replace(old: u64, new: u64) -> Command {
    Command::Replace(NodeId(old), NodeId(new))
}

/// The answer of a process that was invited.
fn ready(highest: Option<u64>) -> Message {
    Message::Record { asker: 1, round: 0, life: 1, highest, list: None }
}

fn record(highest: u64, node: u64, list: &List) -> Effect {
    Effect::Store(Stored { highest, granted: Some((NodeId(node), 1)) }.encode(Some(list)))
}

#[test]
fn a_voter_is_added_once_it_says_that_it_has_a_record() {
    let mut process = leader(majority());
    process.command(add(4)).unwrap();
    let invite = tell(4, Message::Invite { life: 1 });
    assert_eq!(process.effects(), core::slice::from_ref(&invite));
    hear(&mut process, 4, ready(None));
    hear(&mut process, 5, ready(Some(1)));
    expect(&process, &[], Some((1, 170)));
    process.ring();
    assert_eq!(process.effects()[1], invite, "with each request");
    assert_eq!(process.now(), at(45));
    hear(&mut process, 4, ready(Some(0)));
    let request = say(whole(&with_4(), renew(45, &[1, 2, 3])));
    let effects = [record(1, 1, &with_4()), disarm(Timer::Ask), request, arm(Timer::Count, 65)];
    expect(&process, &effects, Some((1, 170)));
    hear(&mut process, 2, yes(45));
    hear(&mut process, 3, yes(45));
    assert_eq!(led_until(&process), Some(at(170)), "these were by the old list");
    hear(&mut process, 2, named(&with_4(), yes(45)));
    assert_eq!(list_of(&process), Some((1, false, vec![1, 2, 3, 4])), "two of four");
    hear(&mut process, 4, named(&with_4(), yes(45)));
    assert!(process.effects().contains(&record(1, 1, &committed(with_4()))));
    assert_eq!((led_until(&process), supporters(&process)), (Some(at(195)), vec![1, 2, 4]));
    assert_eq!(token(&process), Some(1), "it goes on to lead");
    process.ring();
    let request = whole(&committed(with_4()), renew(95, &[1, 2, 4]));
    assert_eq!(process.effects()[0], say(request), "now its requests say so");
}

#[test]
fn the_leader_asks_for_a_term_that_the_new_voter_can_grant() {
    let mut process = leader(majority());
    process.command(add(4)).unwrap();
    hear(&mut process, 4, ready(Some(1)));
    let stored = Stored { highest: 2, granted: Some((NodeId(1), 1)) };
    assert!(process.effects().contains(&Effect::Store(stored.encode(Some(&with_4())))));
    let mut voter = begin(Memory::Lost, 4, 2, majority());
    voter.ring();
    for from in [1, 2] {
        let (asker, round, life, highest, list) = (2, 0, 1, Some(1), None);
        hear(&mut voter, from, Message::Record { asker, round, life, highest, list });
    }
    hear(&mut voter, 1, whole(&with_4(), renew(25, &[1, 2])));
    assert_eq!(lock_of(&voter), None, "it only read the first one");
    hear(&mut voter, 1, whole(&with_4(), in_term(2, renew(25, &[1, 2]))));
    assert_eq!(lock_of(&voter).map(|(to, _)| to), Some(1));
}

#[test]
fn a_voter_that_can_vote_says_so() {
    let kept = Stored { highest: 7, granted: None }.encode(Some(&founding()));
    let mut process = begin(Memory::Kept(&kept), 4, 2, majority());
    hear(&mut process, 1, Message::Invite { life: 9 });
    let (asker, round, life, highest, list) = (9, 0, 2, Some(7), None);
    let record = Message::Record { asker, round, life, highest, list };
    assert_eq!(process.effects(), [tell(1, record)]);
    let mut process = begin(Memory::Lost, 4, 2, majority());
    hear(&mut process, 1, Message::Invite { life: 9 });
    assert_eq!(process.effects(), []);
}

#[test]
fn a_voter_is_removed_at_once() {
    let mut process = leader(majority());
    process.command(remove(3)).unwrap();
    let request = say(whole(&without_3(), renew(25, &[1, 2, 3])));
    let effects = [record(1, 1, &without_3()), disarm(Timer::Ask), request, arm(Timer::Count, 45)];
    expect(&process, &effects, Some((1, 170)));
    assert!(process.facts().contains(&Fact::Removed { peer: NodeId(3) }));
    // Two of the three before would be 1 and 3; of the two voters it takes both.
    hear(&mut process, 3, named(&without_3(), yes(25)));
    assert_eq!(list_of(&process), Some((1, false, vec![1, 2])));
    hear(&mut process, 2, named(&without_3(), yes(25)));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2])));
}

#[test]
fn a_voter_is_replaced_in_one_step() {
    let mut process = leader(majority());
    process.command(replace(3, 5)).unwrap();
    hear(&mut process, 5, ready(Some(0)));
    let next = founding().next(Some(NodeId(5)), Some(NodeId(3))).unwrap();
    assert_eq!(process.effects()[0], record(1, 1, &next));
    hear(&mut process, 5, named(&next, yes(25)));
    assert_eq!(list_of(&process), Some((1, false, vec![1, 2, 5])), "one of the three before");
    hear(&mut process, 3, named(&next, yes(25)));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2, 5])), "with who is to go");
}

#[test]
fn a_change_is_refused_with_its_reason_and_changes_nothing() {
    let mut process = leader(majority());
    let before = process.node().clone();
    for (command, why) in [
        (add(9), Refused::UnknownMember(NodeId(9))),
        (remove(9), Refused::UnknownMember(NodeId(9))),
        (replace(3, 9), Refused::UnknownMember(NodeId(9))),
        (add(2), Refused::AlreadyMember(NodeId(2))),
        (add(1), Refused::AlreadyMember(NodeId(1))),
        (replace(3, 2), Refused::AlreadyMember(NodeId(2))),
        (replace(3, 3), Refused::AlreadyMember(NodeId(3))),
        (remove(4), Refused::NotVoter(NodeId(4))),
        (replace(4, 5), Refused::NotVoter(NodeId(4))),
        (remove(1), Refused::Leads(NodeId(1))),
        (replace(1, 4), Refused::Leads(NodeId(1))),
    ] {
        assert_eq!(refused(&mut process, command), why, "{command:?}");
        assert_eq!(*process.node(), before);
    }
    let mut follower = member(2, majority());
    assert_eq!(refused(&mut follower, add(4)), Refused::NotLeading);
    until(&mut process, 170);
    assert_eq!(refused(&mut process, add(4)), Refused::NotLeading, "its lease is over");
    assert_eq!(refused(&mut local_leader(local()), add(4)), Refused::Unsupported);
    let volatile = Config { tokens: Tokens::Volatile, drift_ppm: Some(0), ..Config::default() };
    assert_eq!(refused(&mut leader(valid(volatile)), remove(3)), Refused::Volatile);
}

#[test]
fn the_last_voter_stays() {
    let mut process = boot(1, 1, 1, majority());
    process.ring();
    assert_eq!(refused(&mut process, remove(1)), Refused::LastVoter(NodeId(1)));
}

#[test]
fn one_change_is_made_at_a_time() {
    let mut process = leader(majority());
    process.command(add(4)).unwrap();
    assert_eq!(refused(&mut process, remove(3)), Refused::ChangePending, "it waits for 4");
    hear(&mut process, 4, ready(Some(0)));
    assert_eq!(refused(&mut process, add(5)), Refused::ChangePending, "it is not committed");
    hear(&mut process, 2, named(&with_4(), yes(25)));
    hear(&mut process, 3, named(&with_4(), yes(25)));
    process.command(add(5)).unwrap();
}

#[test]
fn without_one_change_at_a_time_two_lists_may_have_no_voter_in_common() {
    let made = [majority(), majority().without(Rule::OneChangeAtATime)].map(|params| {
        let mut process = leader(params);
        process.command(replace(3, 4)).unwrap();
        hear(&mut process, 4, ready(Some(0)));
        process.command(replace(2, 5)).is_ok()
    });
    assert_eq!(made, [false, true]);
}

#[test]
fn a_change_after_which_too_few_would_answer_is_refused() {
    let mut process = member(1, majority());
    process.ring();
    hear(&mut process, 2, yes(20));
    assert_eq!(supporters(&process), [1, 2]);
    assert_eq!(refused(&mut process, remove(2)), Refused::WouldStop, "3 is silent");
    process.command(replace(3, 4)).unwrap();
}

#[test]
fn a_change_is_given_up_if_the_new_voter_does_not_answer_or_the_leader_resigns() {
    let mut process = leader(majority());
    process.command(add(4)).unwrap();
    while process.now() < at(25 + 4 * 181) {
        process.ring();
        if let Some(sent) = process.node().protocol().0.votes.last_request() {
            let sent = sent.since(Instant::ZERO).as_nanos() / 1_000_000;
            hear(&mut process, 2, yes(sent));
        }
    }
    hear(&mut process, 4, ready(Some(0)));
    assert_eq!(list_of(&process), Some((0, true, vec![1, 2, 3])));
    process.command(remove(3)).unwrap();
    let mut process = leader(majority());
    process.command(add(4)).unwrap();
    process.command(Command::Resign).unwrap();
    hear(&mut process, 4, ready(Some(0)));
    assert_eq!(process.effects(), []);
}

/// A list that nobody could commit: those that have it are witnesses, and the new voter missed it.
#[test]
fn a_witness_tells_a_new_voter_of_its_list_when_there_is_no_leader() {
    let record = Stored::FOUNDING.encode(Some(&with_4()));
    let boot = Boot { candidacy: WITNESS, memory: Memory::Kept(&record), ..Boot::first(NodeId(2)) };
    let peers: Members = others(2, 5).into_iter().collect();
    let peers = peers.founded_by([1, 2, 3].map(NodeId).into());
    let mut witness = Process::begin(boot, majority(), peers, Instant::ZERO, Scripted::default());
    let standing = say(Message::Standing(WITNESS));
    until(&mut witness, 490);
    hear(&mut witness, 1, whole(&with_4(), renew(490, &[1, 2, 3])));
    witness.ring();
    assert_eq!(witness.now(), at(500));
    assert_eq!(witness.effects(), [standing.clone(), arm(Timer::Announce, 1000)], "1 leads");
    while witness.now() < at(1000) {
        witness.ring(); // that its lock is over means nothing to a witness
    }
    let probe = whole(&with_4(), in_term(0, ask(1000)));
    assert_eq!(witness.effects(), [standing, say(probe.clone()), arm(Timer::Announce, 1500)]);

    let mut newcomer = holding(&founding(), 4, majority());
    until(&mut newcomer, 1000);
    hear_slow(&mut newcomer, 2, probe.clone());
    assert_eq!(list_of(&newcomer), Some((0, true, vec![1, 2, 3])), "2 may ask itself");
    hear_slow(&mut newcomer, 2, Message::Standing(WITNESS));
    hear_slow(&mut newcomer, 1, renew(990, &[1, 2, 3]));
    hear_slow(&mut newcomer, 2, probe.clone());
    assert_eq!(list_of(&newcomer), Some((0, true, vec![1, 2, 3])), "1 leads, and will tell it");
    until(&mut newcomer, 1200);
    hear_slow(&mut newcomer, 2, probe);
    assert_eq!(list_of(&newcomer), Some((1, false, vec![1, 2, 3, 4])));
    let turn = newcomer.node().deadline(Timer::Ask);
    assert_eq!(turn, at(1200 + 2 * 40), "after 1 and 3");
}

/// A voter that missed the last change asks without stamps for a new voter that it does not know:
/// for that one it is slow.
#[test]
fn a_witness_tells_a_voter_of_its_newer_list_when_there_is_no_leader() {
    let list = committed(with_4());
    let record = Stored::FOUNDING.encode(Some(&list));
    let boot = Boot { candidacy: WITNESS, memory: Memory::Kept(&record), ..Boot::first(NodeId(4)) };
    let peers: Members = others(4, 5).into_iter().collect();
    let peers = peers.founded_by([1, 2, 3].map(NodeId).into());
    let mut witness = Process::begin(boot, majority(), peers, Instant::ZERO, Scripted::default());
    until(&mut witness, 490);
    witness.ring();
    let probe = whole(&list, in_term(0, ask(500)));
    let standing = say(Message::Standing(WITNESS));
    assert_eq!(witness.effects(), [standing, say(probe.clone()), arm(Timer::Announce, 1000)]);

    let mut voter = holding(&founding(), 3, majority());
    until(&mut voter, 500);
    hear_slow(&mut voter, 4, probe);
    assert_eq!(list_of(&voter), Some((1, true, vec![1, 2, 3, 4])));
}
