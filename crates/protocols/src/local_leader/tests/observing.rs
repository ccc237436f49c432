//! Observers: members that do not vote.

use super::lists::{begin, committed, founding, list_of, member, named, whole, with_4, without_3};
use super::tokens::token;
use super::*;

/// Process 5, which is no voter.
fn observer() -> Process {
    member(5, majority())
}

#[test]
fn an_observer_follows_the_leader_and_says_nothing() {
    let mut process = observer();
    hear(&mut process, 1, ask(0));
    expect(&process, &[], None); // a candidate does not lead
    hear_slow(&mut process, 1, renew(5, &[1, 2]));
    expect(&process, &[], Some((1, 150)));
    assert_eq!((token(&process), members(&process)), (Some(1), vec![1, 2]));
    until(&mut process, 60);
    hear_slow(&mut process, 1, renew(55, &[1, 2, 3]));
    expect(&process, &[], Some((1, 210)));
    hear(&mut process, 2, in_term(0, ask(60)));
    let inquiry = Message::Inquiry { life: 8, round: 5, founding: None, needs: false };
    hear(&mut process, 2, inquiry);
    expect(&process, &[], Some((1, 210)));
    until(&mut process, 210);
    expect(&process, &[], None);
}

#[test]
fn requests_of_a_former_leader_and_overtaken_ones_say_nothing_new() {
    let mut process = observer();
    hear(&mut process, 1, in_term(2, renew(50, &[1, 2])));
    until(&mut process, 10);
    for old in [in_term(2, renew(50, &[1, 2])), in_term(2, renew(40, &[1, 2]))] {
        hear(&mut process, 1, old);
        expect(&process, &[], Some((1, 150)));
    }
    hear(&mut process, 2, renew(60, &[2, 3]));
    expect(&process, &[], Some((1, 150)));
    hear(&mut process, 3, in_term(3, renew(5, &[2, 3])));
    expect(&process, &[], Some((3, 160)));
    until(&mut process, 170);
    hear(&mut process, 1, in_term(2, renew(90, &[1, 2])));
    expect(&process, &[], None);
}

#[test]
fn an_observer_tells_the_token_and_not_the_term_that_is_asked_for() {
    let mut process = observer();
    let mut raising = in_term(9, renew(50, &[1, 2]));
    if let Message::Election { token, .. } = &mut raising {
        *token = Some(2);
    }
    hear(&mut process, 1, raising);
    assert_eq!(token(&process), Some(2));
    hear(&mut process, 2, in_term(3, renew(5, &[2, 3])));
    assert_eq!((token(&process), process.leadership().leaders), (Some(3), &[NodeId(2)][..]));
}

#[test]
fn a_leader_that_raises_its_token_tells_observers_the_one_it_leads_with() {
    for (mut process, told) in [(member(1, majority()), Some(1)), (start(1, majority()), None)] {
        process.ring();
        until(&mut process, 25);
        hear(&mut process, 2, yes(20));
        hear(&mut process, 3, yes(20));
        hear(&mut process, 2, in_term(6, no(25, Duration::ZERO)));
        process.ring();
        let asked = process.sends().find_map(|(_, packet)| match &packet.body {
            Message::Election { term, token, .. } => Some((*term, *token)),
            _ => None,
        });
        assert_eq!(asked, Some((7, told)), "where all vote there are none");
    }
}

#[test]
fn an_observer_takes_no_part() {
    let record = Stored { highest: 3, granted: None }.encode(Some(&founding()));
    let mut process = begin(Memory::Kept(&record), 5, 2, majority());
    expect(&process, &[], None); // it arms nothing
    until(&mut process, 151);
    hear(&mut process, 1, ask(150));
    expect(&process, &[], None);
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotVoter(NodeId(5)));
    let remove = Command::Remove(NodeId(2));
    assert_eq!(process.command(remove).unwrap_err(), Refused::NotLeading);
}

#[test]
fn an_observer_with_an_older_list_asks_for_the_newer_one() {
    let record = Stored { highest: 3, granted: None }.encode(Some(&founding()));
    let mut process = begin(Memory::Kept(&record), 4, 2, majority());
    until(&mut process, 151);
    let newer = committed(with_4());
    hear(&mut process, 1, in_term(4, named(&newer, renew(150, &[1, 2]))));
    expect(&process, &[tell(1, in_term(3, no(150, Duration::ZERO)))], Some((1, 301)));
    hear(&mut process, 1, in_term(4, whole(&newer, renew(160, &[1, 2]))));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2, 3, 4])));
    assert_eq!(lock_of(&process), Some((1, at(301))), "it votes now");
}

#[test]
fn whoever_is_removed_votes_until_that_is_committed_and_then_follows() {
    let mut process = member(3, majority());
    hear(&mut process, 1, whole(&without_3(), renew(0, &[1, 2])));
    let reply = named(&without_3(), yes(0));
    assert_eq!(process.effects().last(), Some(&tell(1, reply)), "of the old list it is a voter");
    until(&mut process, 50);
    hear(&mut process, 1, whole(&committed(without_3()), renew(50, &[1, 2])));
    assert!(process.sends().count() == 0, "{:?}", process.effects());
    expect(&process, &process.effects(), Some((1, 200)));
    assert_eq!(lock_of(&process), Some((1, at(150))), "its promise holds");
    until(&mut process, 151);
    process.timeout();
    assert!(process.sends().count() == 0, "it does not ask: {:?}", process.effects());
}

#[test]
fn a_voter_that_missed_a_change_asks_for_the_list_even_if_nothing_is_fast() {
    let mut process = member(3, majority());
    let newer = committed(without_3());
    hear_slow(&mut process, 1, named(&newer, renew(0, &[1, 2])));
    expect(&process, &[tell(1, no(0, Duration::ZERO))], None);
    hear_slow(&mut process, 1, whole(&newer, renew(50, &[1, 2])));
    assert_eq!(list_of(&process), Some((1, true, vec![1, 2])));
    assert_eq!((process.sends().count(), token(&process)), (0, Some(1)), "now it follows");
}

#[test]
fn an_observer_hears_that_its_leader_resigns() {
    let mut process = observer();
    hear(&mut process, 1, renew(5, &[1, 2]));
    hear(&mut process, 1, release(4));
    hear(&mut process, 2, farewell(5));
    expect(&process, &[], Some((1, 150)));
    hear(&mut process, 1, farewell(5));
    expect(&process, &[], None);
}

/// It is silent, so nobody knows its stamps, and no request is fast before it has said something.
#[test]
fn an_observer_that_is_to_vote_answers_a_slow_request_so_that_the_next_one_is_fast() {
    let record = Stored { highest: 0, granted: None }.encode(Some(&founding()));
    let mut process = begin(Memory::Kept(&record), 4, 2, majority());
    until(&mut process, 151);
    hear_slow(&mut process, 1, whole(&with_4(), ask(150)));
    assert_eq!(process.sends().count(), 1, "{:?}", process.effects());
    assert_eq!((lock_of(&process), list_of(&process)), (None, Some((0, true, vec![1, 2, 3]))));
    hear(&mut process, 1, whole(&with_4(), ask(160)));
    assert_eq!(lock_of(&process).map(|(to, _)| to), Some(1));
}
