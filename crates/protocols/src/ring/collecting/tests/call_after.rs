//! Time-outs.

use super::*;

#[test]
fn who_has_no_leader_holds_an_election_in_the_end() {
    let mut process = start(3, patient());
    assert_eq!(process.effects(), [process.armed(Timer::CallAfter, CALL_AFTER)]);
    process.ring();
    assert_eq!(process.packets(), [sent(4, election(call(3, 1), 0, &[3]))]);
}

#[test]
fn who_heard_of_an_election_waits_for_its_end_and_not_for_ever() {
    for config in [patient(), careful()] {
        let mut process = start(3, config);
        process.message(2, election(call(2, 1), 0, &[2]));
        assert!(process.effects().contains(&process.armed(Timer::CallAfter, WAIT * 2)));
        process.clone().ring();
        process.message(2, coordinator(call(2, 1), 1, 5, &[]));
        assert!(process.is_quiet());
    }
    let mut process = start(3, ring());
    process.message(2, election(call(2, 1), 0, &[2]));
    assert!(process.is_quiet(), "unless call-after is infinite");
}

#[test]
fn a_greater_process_that_came_up_should_have_been_asked() {
    let mut process = start(1, patient());
    process.message(5, coordinator(call(5, 1), 1, 3, &[]));
    process.peer(2, Reach::Up);
    assert!(process.is_quiet(), "a lesser");
    process.peer(5, Reach::Up);
    assert_eq!(process.effects(), [process.armed(Timer::CallAfter, CALL_AFTER)]);
    let mut asked = process.clone();
    asked.message(5, coordinator(call(5, 2), 2, 3, &[1, 3, 5]));
    assert!(asked.is_quiet(), "it was, and has retired");
    let mut gone = process.clone();
    gone.peer(5, Reach::Down);
    gone.ring();
    assert_eq!((gone.effects(), gone.leader()), (vec![], Some(3)), "it is gone");
    process.message(5, coordinator(call(5, 2), 2, 3, &[1, 3, 4]));
    assert!(!process.is_quiet(), "it was not");
    process.ring();
    assert_eq!(process.packets(), [sent(2, election(call(1, 1), 2, &[1]))]);
    let all = [retired(5), key(1), key(3)].to_vec();
    process.message(5, Message::Election { call: call(1, 1), round: 2, keys: all });
    process.message(5, coordinator(call(1, 1), 3, 3, &[]));
    assert_eq!((process.leader(), process.is_quiet()), (Some(3), true), "it has asked");
}

#[test]
fn the_next_is_told_who_leads_if_it_is_another_than_before() {
    let mut process = start(1, patient());
    process.message(5, coordinator(call(5, 1), 6, 4, &[]));
    process.peer(3, Reach::Down);
    assert_eq!(process.effects(), [], "that falls to 2");
    process.peer(2, Reach::Down);
    assert_eq!(process.packets(), [sent(4, coordinator(call(1, 1), 6, 4, &[]))]);
    process.message(5, coordinator(call(1, 1), 6, 4, &[]));
    assert_eq!(process.effects(), [], "it has gone round");
    process.peer(2, Reach::Up);
    assert_eq!(process.packets(), [sent(2, coordinator(call(1, 2), 6, 4, &[]))]);
    process.peer(3, Reach::Up);
    assert_eq!(process.effects(), []);
    let mut plain = start(1, ring());
    plain.message(5, coordinator(call(5, 1), 6, 4, &[]));
    plain.peer(2, Reach::Down);
    plain.peer(2, Reach::Up);
    assert_eq!(plain.effects(), []);
}
