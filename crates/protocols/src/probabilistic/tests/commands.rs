//! Calling an election, resigning, leaving.

use super::*;

/// A leader, whose name is 3.
fn leading() -> Process {
    let mut process = relay(3, &[4, 5]);
    process.command(Command::Campaign).unwrap();
    process.ring().ring();
    assert_eq!(process.leader(), Some(3));
    process
}

const NEXT: RoundId = RoundId::first_of(2);

#[test]
fn a_leader_that_resigns_calls_an_election_without_itself() {
    let mut process = leading();
    process.command(Command::Resign).unwrap();
    let withdrawal = to_all(Message::Withdraw(NodeId(3), 2));
    assert_eq!(process.packets(), [withdrawal, to_all(Message::Initiate(NEXT))]);
    assert_eq!(process.leader(), None);
    process.message(4, Message::Final(NEXT, NodeId(3)));
    process.message(5, Message::Final(NEXT, NodeId(4)));
    process.ring();
    assert_eq!(process.leader(), Some(4), "by those who did not know it would not");
    process.command(Command::Campaign).unwrap();
    process.ring().ring();
    assert_eq!(process.leader(), Some(3), "it resigned from one election");
}

#[test]
fn who_followed_it_drops_it_and_does_not_choose_it() {
    let mut process = relay(4, &[3, 5]);
    process.message(3, named(3));
    process.ring();
    process.message(3, Message::Withdraw(NodeId(3), 2));
    assert_eq!((process.leader(), stage(&process)), (None, Stage::Undecided));
    process.message(3, Message::Initiate(NEXT));
    let mine = Message::Prefer(NEXT, itself(4));
    assert_eq!(process.packets(), [to(3, mine.clone()), to(5, mine)]);
    process.message(5, Message::Prefer(NEXT, someone(3)));
    let rather_not = Message::Withdraw(NodeId(3), 2);
    assert_eq!(process.effects(), [to(5, rather_not)], "the other must have missed it");
}

#[test]
fn a_relay_that_hears_that_its_choice_does_not_stand_chooses_again() {
    let mut process = relay(4, &[1, 2]);
    process.message(9, Message::Initiate(FIRST));
    process.message(2, Message::Withdraw(NodeId(1), 1));
    assert_eq!(process.effects(), [to(1, prefer(2)), to(2, prefer(2))]);
    process.message(2, named(1));
    process.ring().ring();
    assert_eq!(process.leader(), Some(2), "a final message for it counts for nothing");
}

#[test]
fn one_that_was_elected_by_those_who_did_not_know_is_reason_for_doubt() {
    let mut process = relay(4, &[1, 2]);
    process.message(2, named(1));
    process.ring();
    process.draws(&[0]).message(2, Message::Withdraw(NodeId(1), 1));
    assert_eq!(process.leader(), None);
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(SECOND)));
}

#[test]
fn whoever_leaves_says_so_and_calls_an_election_if_it_led() {
    let mut process = leading();
    process.command(Command::Leave).unwrap();
    let gone = to_all(Message::Withdraw(NodeId(3), u32::MAX));
    assert_eq!(process.packets(), [gone.clone(), to_all(Message::Initiate(NEXT))]);
    assert_eq!((process.leader(), process.is_quiet()), (None, true));
    let mut process = relay(3, &[4, 5]);
    process.command(Command::Leave).unwrap();
    assert_eq!(process.packets(), [gone]);
}

#[test]
fn who_left_is_not_chosen_until_it_is_back() {
    let mut process = relay(4, &[1, 5]);
    process.message(1, Message::Withdraw(NodeId(1), u32::MAX));
    process.message(9, Message::Initiate(FIRST));
    assert_eq!(process.packets()[0], to(1, Message::Prefer(FIRST, itself(4))));
    process.message(1, Message::Join(1));
    process.message(9, Message::Initiate(SECOND));
    assert_eq!(process.packets()[0], to(1, Message::Prefer(SECOND, someone(1))));
}

#[test]
fn a_campaign_of_one_that_waits_for_others_in_vain_is_a_new_election() {
    let config = Config { reinitiate: Reinitiate::Hash, size: Size::Given(u64::MAX), ..config() };
    let mut process = start_with(4, &[5], config);
    process.message(5, named(1)).message(5, named(2)).ring();
    assert!(process.is_quiet());
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets(), [to_all(Message::Initiate(NEXT))]);
}

#[test]
fn what_it_cannot_do_it_refuses() {
    let mut process = relay(3, &[4]);
    for command in [Command::Resign, Command::Rank(7), Command::Transfer(NodeId(4))] {
        assert!(process.command(command).is_err());
    }
    process.message(4, Message::Initiate(RoundId::first_of(u32::MAX)));
    process.ring().ring();
    assert!(process.command(Command::Campaign).is_err(), "numbers have come to an end");
}

#[test]
fn a_rank_counts_from_the_next_round_on() {
    let config = Config { choice: Choice::Rank, size: Size::Given(5), ..config() };
    let mut process = start_with(3, &[4], config);
    process.command(Command::Rank(77)).unwrap();
    process.command(Command::Campaign).unwrap();
    let choice = Candidate { id: NodeId(3), rank: 77 };
    assert_eq!(process.packets()[1], to(4, Message::Prefer(FIRST, choice)));
}

#[test]
fn whoever_is_alone_elects_itself() {
    let mut process = start_with(3, &[], Config::default());
    process.command(Command::Campaign).unwrap();
    process.ring().ring();
    assert_eq!(process.leader(), Some(3));
}
