//! Processes that go down, and what the next process takes over.

use super::*;

#[test]
fn the_dead_are_skipped() {
    let mut process = start(3, ring());
    process.peer(4, Reach::Down);
    process.message(2, election(call(1, 1), 0, &[1, 2]));
    assert_eq!(process.packets(), [sent(5, election(call(1, 1), 0, &[1, 2, 3]))]);
    process.peer(4, Reach::Up);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets(), [sent(4, election(call(3, 1), 0, &[3]))]);
}

#[test]
fn whoever_went_down_since_is_not_picked() {
    let mut process = start(1, ring());
    process.command(Command::Campaign).unwrap();
    process.peer(5, Reach::Down);
    process.message(4, election(call(1, 1), 0, &[1, 2, 3, 4, 5]));
    assert_eq!(process.leader(), Some(4));
}

#[test]
fn the_loss_of_the_leader_is_reason_enough() {
    let mut process = start(3, ring());
    process.message(2, coordinator(call(1, 1), 1, 5, &[]));
    process.peer(4, Reach::Down);
    assert_eq!((process.effects(), process.leader()), (vec![], Some(5)));
    process.peer(5, Reach::Down);
    assert_eq!(process.packets(), [sent(1, election(call(3, 1), 1, &[3]))]);
    assert_eq!(process.leader(), None);
}

#[test]
fn a_message_to_one_that_goes_down_is_sent_again_past_it() {
    let mut process = start(3, ring());
    process.command(Command::Campaign).unwrap();
    process.peer(5, Reach::Down);
    assert_eq!(process.effects(), []);
    process.peer(4, Reach::Down);
    assert_eq!(process.packets(), [sent(1, election(call(3, 2), 0, &[3]))]);
    process.message(2, election(call(3, 2), 0, &[3, 1, 2]));
    process.peer(1, Reach::Down);
    assert_eq!(process.packets(), [sent(2, election(call(3, 3), 1, &[3]))], "the announcement too");
}

#[test]
fn the_next_after_a_dead_initiator_retires_its_messages() {
    let mut heir = start(3, ring());
    heir.peer(2, Reach::Down);
    heir.peer(1, Reach::Down);
    heir.message(5, election(call(1, 1), 0, &[1, 4, 5]));
    assert_eq!(heir.packets(), [sent(4, election(call(3, 1), 0, &[3]))], "and holds its own");
    heir.message(5, election(call(1, 1), 0, &[1, 4, 5]));
    assert_eq!(heir.effects(), [], "once");
    let told = coordinator(call(2, 1), 1, 5, &[]);
    heir.message(5, told.clone());
    assert_eq!(
        (heir.packets(), heir.leader()),
        (vec![sent(4, passed(told.clone(), 1))], Some(5)),
        "news"
    );
    heir.message(5, told);
    assert_eq!((heir.packets(), heir.leader()), (vec![], Some(5)), "it has gone round");
    let mut other = start(4, ring());
    other.peer(1, Reach::Down);
    other.message(3, election(call(1, 1), 0, &[1, 2, 3]));
    assert_eq!(other.packets().len(), 1, "3 is between them, and up");
}

#[test]
fn the_next_after_a_dead_initiator_holds_its_election_if_that_is_not_over() {
    let mut heir = start(2, ring());
    heir.message(1, election(call(1, 1), 0, &[1]));
    heir.peer(1, Reach::Down);
    assert_eq!(heir.packets(), [sent(3, election(call(2, 1), 0, &[2]))]);
    let mut told = start(2, ring());
    told.message(1, election(call(1, 1), 0, &[1]));
    told.message(1, coordinator(call(1, 1), 1, 5, &[]));
    told.peer(1, Reach::Down);
    assert_eq!(told.effects(), [], "it is over");
    let mut far = start(4, ring());
    far.message(3, election(call(1, 1), 0, &[1, 2, 3]));
    far.peer(1, Reach::Down);
    assert_eq!(far.effects(), [], "that falls to others");
    far.peer(2, Reach::Down);
    far.peer(3, Reach::Down);
    assert_eq!(far.packets(), [sent(5, election(call(4, 1), 0, &[4]))], "until they are gone too");
}
