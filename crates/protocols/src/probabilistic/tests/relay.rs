//! How relays agree.

use super::*;

/// A relay in the first round.
fn begun(me: u64, peers: &[u64]) -> Process {
    let mut process = relay(me, peers);
    process.message(9, Message::Initiate(FIRST));
    process
}

#[test]
fn a_better_choice_is_taken_and_passed_on() {
    let mut process = begun(3, &[4, 5]);
    assert_eq!(process.packets()[0], to(4, Message::Prefer(FIRST, itself(3))), "of its view");
    process.message(5, prefer(2));
    assert_eq!(process.effects(), [to(4, prefer(2)), to(5, prefer(2))], "as printed, also back");
    process.ring();
    assert_eq!(process.packets(), [to_all(named(2))]);
}

#[test]
fn only_a_strictly_worse_choice_is_answered() {
    let mut process = begun(4, &[1, 6]);
    process.message(6, prefer(1));
    assert_eq!(process.effects(), [], "or two that agree would answer each other for ever");
    process.message(6, prefer(4));
    assert_eq!(process.effects(), [to(6, prefer(1))]);
}

#[test]
fn whoever_turns_to_a_relay_is_a_contact_from_then_on() {
    let mut process = begun(4, &[6]);
    let choice = Message::Prefer(FIRST, itself(4));
    process.message(7, prefer(5));
    assert_eq!(process.effects(), [to(7, choice)]);
    process.message(6, prefer(2));
    assert_eq!(process.effects(), [to(6, prefer(2)), to(7, prefer(2))]);
    process.message(9, Message::Initiate(SECOND));
    let next = Message::Prefer(SECOND, itself(4));
    assert_eq!(process.packets(), [to(6, next.clone()), to(7, next)], "in its view for good");
}

#[test]
fn what_was_said_late_or_twice_changes_nothing() {
    let mut process = begun(4, &[6]);
    process.message(6, prefer(2));
    process.message(6, prefer(2));
    assert_eq!(process.effects(), []);
    process.message(9, Message::Initiate(SECOND));
    for message in [prefer(1), named(1)] {
        process.message(6, message);
        assert_eq!((process.effects(), round(&process)), (vec![], in_round(2)));
    }
}

#[test]
fn after_its_final_word_a_relay_answers_but_changes_its_mind_no_more() {
    let mut process = begun(4, &[2, 6]);
    process.ring();
    process.message(6, prefer(3));
    assert_eq!(process.effects(), [to(6, prefer(2))]);
    process.message(6, prefer(1));
    assert_eq!(process.effects(), []);
    process.ring();
    assert_eq!(process.leader(), Some(2));
    process.message(6, prefer(3));
    assert_eq!(process.effects(), [], "it is no relay any more");
}

#[test]
fn who_missed_the_beginning_is_no_relay_unless_a_preference_wakes_it() {
    let mut process = relay(4, &[2]);
    process.message(6, prefer(1));
    assert_eq!((process.effects(), round(&process)), (vec![], in_round(0)));
    let (size, woken_by) = (Size::Given(5), WokenBy::Preference);
    let mut process = start_with(4, &[2], Config { size, woken_by, ..config() });
    process.message(6, prefer(1));
    assert_eq!(process.packets(), [to(2, prefer(2)), to(2, prefer(1)), to(6, prefer(1))]);
}

#[test]
fn whoever_was_not_let_through_does_not_relay() {
    let mut process = bystander();
    process.message(9, Message::Initiate(FIRST));
    process.message(1, prefer(1));
    assert_eq!(process.effects(), []);
}

#[test]
fn each_choice_has_its_order() {
    let first_told = |choice, peers: &[u64]| {
        let size = Size::Given(5);
        let mut process = start_with(3, peers, Config { choice, size, ..config() });
        process.message(9, Message::Initiate(FIRST));
        process.packets()[0].clone()
    };
    assert_eq!(first_told(Choice::LowestId, &[1, 5]), to(1, prefer(1)));
    assert_eq!(first_told(Choice::HighestId, &[1, 5]), to(1, prefer(5)));
    let own = Message::Prefer(FIRST, itself(3));
    assert_eq!(first_told(Choice::Rank, &[1, 5]), to(1, own), "it knows no other rank");
}

#[test]
fn among_ranks_the_greater_wins_and_the_lower_id_among_equals() {
    let size = Size::Given(5);
    let mut process = start_with(3, &[4], Config { choice: Choice::Rank, size, ..config() });
    process.message(9, Message::Initiate(FIRST));
    let ranked = |id, rank| Message::Prefer(FIRST, Candidate { id: NodeId(id), rank });
    process.message(4, ranked(4, 3));
    assert_eq!(process.effects(), [to(4, ranked(3, 3))], "equal rank, higher id");
    process.message(4, ranked(9, 8));
    assert_eq!(process.effects(), [to(4, ranked(9, 8))]);
}

#[test]
fn lots_favour_somebody_else_in_every_election() {
    let params = params(Config { choice: Choice::Lot, ..config() });
    let best = |election| (0..50).max_by_key(|id| params.merit(someone(*id), 0, election));
    let winners: alloc::collections::BTreeSet<_> = (1..=200).map(best).collect();
    assert!(winners.len() > 40, "{}", winners.len());
}

#[test]
fn an_observer_sees_relays_contacts_and_choices() {
    let process = begun(4, &[1, 6]);
    let contacts = [1, 6].map(|id| Fact::Contact { peer: NodeId(id) });
    let facts = [in_round(1), Fact::Relay { choice: NodeId(1) }, contacts[0], contacts[1]];
    assert_eq!(process.facts(), facts);
}
