//! Which messages are believed.

use super::*;

fn coordinator_of(availability: Availability, round: u64) -> Message {
    Message { availability, says: Says::Coordinator { round } }
}

#[test]
fn a_lesser_leader_provokes_an_election_or_is_put_right() {
    let mut process = start(3);
    process.message(2, coordinator(4));
    assert_eq!(process.packets(), sent_to(&[4, 5], election(1)));
    process.message(1, coordinator(4));
    assert_eq!(process.effects(), [], "it holds one already");
    let mut top = start(5);
    top.command(Command::Campaign).unwrap();
    top.message(2, coordinator(4));
    assert_eq!(top.effects(), [sent(2, coordinator(1))]);
    assert_eq!(top.leader(), Some(5));
}

#[test]
fn a_greater_leader_is_believed_and_a_lesser_one_if_it_is_news() {
    let mut process = start(1);
    process.message(4, coordinator(3));
    process.message(3, coordinator(3));
    assert_eq!(process.leader(), Some(4), "late");
    process.message(5, coordinator(0));
    assert_eq!(process.leader(), Some(5), "recovered");
    process.message(2, coordinator(4));
    assert_eq!(process.leader(), Some(2), "a newer election");
}

#[test]
fn the_dead_are_not_followed_and_their_next_lives_are() {
    let mut process = start(1);
    process.peer(5, Reach::Down);
    process.message(5, coordinator(9));
    assert_eq!((process.leader(), process.effects()), (None, vec![]));
    process.message(5, coordinator_of(Availability::new(2), 0));
    assert_eq!(process.leader(), Some(5), "before it is reported");
    process.message(5, coordinator_of(FIRST, 0));
    process.peer(5, Reach::Up);
    assert_eq!(process.leader(), Some(5));
}

#[test]
fn what_was_said_before_a_change_of_mind_is_late() {
    let mut process = start(1);
    process.message(5, Message { availability: RETIRED, says: Says::Resign });
    process.message(5, coordinator(1));
    assert_eq!(process.leader(), None);
    process.message(5, coordinator_of(Availability { changes: 2, ..FIRST }, 1));
    assert_eq!(process.leader(), Some(5));
}

#[test]
fn strangers_and_echoes_are_ignored() {
    for from in [3, 0, 9, u64::MAX] {
        let mut process = start(3);
        for says in [election(1), coordinator(9), ok(0), QUERY] {
            process.message(from, says);
            assert_eq!((process.effects(), process.leader()), (vec![], None));
        }
        process.peer(3, Reach::Down);
        assert_eq!(process.effects(), []);
    }
}

#[test]
fn what_comes_twice_does_no_more_than_what_comes_once() {
    let mut process = start(3);
    process.message(5, coordinator(1));
    let before = process.node().clone();
    process.message(5, coordinator(1));
    process.message(4, ok(1));
    process.message(4, message(Says::Leader(Some(NodeId(4)))));
    assert_eq!((process.node(), process.effects()), (&before, vec![]));
}

#[test]
fn a_leader_tells_whoever_turns_out_to_be_lesser() {
    let mut process = boot(4, 2, Config::default());
    process.ring();
    let told = coordinator_of(Availability::new(2), 0);
    assert_eq!(process.packets(), sent_to(&[1, 2, 3], told), "5 did not answer");
    process.message(5, Message { availability: RETIRED, says: Says::Resign });
    assert_eq!(process.effects(), [sent(5, told)], "it may follow somebody else");
    process.message(5, Message { availability: RETIRED, says: Says::Resign });
    assert_eq!(process.effects(), [], "once");
}
