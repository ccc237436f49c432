//! Resigning, standing again, leaving.

use super::*;

/// 5, after it was elected.
fn elected() -> Process {
    let mut process = start(5, ring());
    process.message(4, coordinator(call(1, 1), 1, 5, &[]));
    process
}

#[test]
fn a_leader_that_resigns_holds_an_election_and_comes_last() {
    let mut process = elected();
    assert_eq!(process.facts()[0], Fact::Claim { weight: (1 << 63) | 5 });
    process.command(Command::Resign).unwrap();
    let keys = vec![retired(5)];
    let first = Message::Election { call: call(5, 1), round: 1, keys };
    assert_eq!((process.packets(), process.leader()), (vec![sent(1, first)], None));
    assert_eq!(process.facts()[0], Fact::Claim { weight: 5 });
    let keys = vec![retired(5), key(1), key(2)];
    process.message(4, Message::Election { call: call(5, 1), round: 1, keys });
    assert_eq!(process.leader(), Some(2));
    assert!(process.command(Command::Resign).is_err(), "it does not lead");
}

#[test]
fn it_leads_again_if_nobody_else_would() {
    let mut process = elected();
    process.command(Command::Resign).unwrap();
    let keys = vec![retired(5), retired(1)];
    process.message(4, Message::Election { call: call(5, 1), round: 1, keys });
    assert_eq!(process.leader(), Some(5));
    assert!(process.command(Command::Resign).is_err(), "it has");
}

#[test]
fn it_objects_to_what_was_true_before() {
    let mut process = elected();
    process.command(Command::Resign).unwrap();
    process.message(4, coordinator(call(3, 1), 2, 5, &[]));
    let keys = vec![retired(5)];
    let again = Message::Election { call: call(5, 2), round: 2, keys };
    assert_eq!(process.packets(), [sent(1, again)]);
}

#[test]
fn a_campaign_takes_a_resignation_back() {
    let mut process = elected();
    process.command(Command::Resign).unwrap();
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets(), [sent(1, election(call(5, 2), 1, &[5]))]);
}

#[test]
fn what_it_cannot_do_it_refuses_and_leaving_is_noticed_by_others() {
    let mut process = start(3, ring());
    for command in [Command::Resign, Command::Rank(7), Command::Transfer(NodeId(1))] {
        assert!(process.command(command).is_err());
    }
    process.command(Command::Leave).unwrap();
    assert_eq!(process.effects(), []);
}
