//! Resigning, availability again, leaving.

use super::*;

const RESIGN: Message = Message { availability: RETIRED, says: Says::Resign };

fn claim(process: &Process) -> Fact {
    process.facts()[0]
}

#[test]
fn a_leader_that_resigns_says_so_and_waits_for_another() {
    let mut process = start(5);
    process.command(Command::Campaign).unwrap();
    let active = claim(&process);
    process.command(Command::Resign).unwrap();
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 4], RESIGN));
    assert_eq!(process.leader(), None);
    assert!(claim(&process) < active && active == Fact::Claim { weight: (1 << 63) | 5 });
    process.message(4, coordinator(2));
    assert_eq!((process.leader(), process.is_quiet()), (Some(4), true));
    process.message(3, election(9));
    assert_eq!(process.effects(), [sent(3, RESIGN)], "not me");
}

#[test]
fn it_leads_again_if_nobody_else_would() {
    let mut process = start(5);
    process.command(Command::Campaign).unwrap();
    process.command(Command::Resign).unwrap();
    process.ring();
    let says = Says::Election { round: 2, stamp: None };
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 4], Message { availability: RETIRED, says }));
    process.ring();
    assert_eq!(process.leader(), Some(5));
    assert!(process.command(Command::Resign).is_err(), "it has");
}

#[test]
fn who_followed_a_leader_that_resigns_holds_an_election_without_it() {
    let mut process = start(3);
    process.message(5, coordinator(1));
    process.message(5, RESIGN);
    assert_eq!(process.packets(), [sent(4, election(2))]);
    process.ring();
    assert_eq!(process.packets(), sent_to(&[1, 2, 5], coordinator(2)));
    process.message(5, Message { availability: RETIRED, ..election(9) });
    assert_eq!(process.packets()[0], sent(5, message(Says::Ok { round: 9, of: 9 })));
}

#[test]
fn an_answer_that_it_would_rather_not_is_not_waited_for() {
    let mut process = start(4);
    process.command(Command::Campaign).unwrap();
    process.message(5, RESIGN);
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 5], coordinator(1)));
}

#[test]
fn a_campaign_takes_a_resignation_back() {
    let mut process = start(5);
    process.command(Command::Campaign).unwrap();
    process.command(Command::Resign).unwrap();
    process.message(4, coordinator(2));
    process.command(Command::Campaign).unwrap();
    let availability = Availability { changes: 2, ..FIRST };
    let says = Says::Coordinator { round: 3 };
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 4], Message { availability, says }));
}

#[test]
fn whoever_comes_up_learns_who_has_retired() {
    let mut process = start(5);
    process.command(Command::Campaign).unwrap();
    process.command(Command::Resign).unwrap();
    process.peer(2, Reach::Up);
    assert_eq!(process.effects(), [sent(2, RESIGN)]);
}

#[test]
fn a_leader_says_goodbye_and_others_go_without_a_word() {
    let mut process = start(5);
    process.command(Command::Leave).unwrap();
    assert_eq!(process.effects(), []);
    process.command(Command::Campaign).unwrap();
    process.command(Command::Leave).unwrap();
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 4], RESIGN));
    assert_eq!((process.leader(), process.is_quiet()), (None, true));
}

#[test]
fn what_it_cannot_do_it_refuses() {
    for command in [Command::Resign, Command::Rank(7), Command::Transfer(NodeId(1))] {
        let mut process = start(3);
        process.message(5, coordinator(1));
        assert!(process.command(command).is_err());
    }
}

#[test]
fn the_last_process_of_all_leads_and_cannot_get_rid_of_it() {
    let params = Params::try_from(Config::default()).unwrap();
    let mut process = Process::boot(Boot::first(NodeId(1)), params, &[], &[]);
    process.command(Command::Campaign).unwrap();
    process.command(Command::Resign).unwrap();
    assert_eq!((process.leader(), process.is_quiet()), (Some(1), true));
}

#[test]
fn a_return_that_cannot_be_counted_is_refused_and_changes_nothing() {
    let mut last = Availability { life: 1, changes: u32::MAX - 1 };
    assert!(!last.is_retired());
    last.retire();
    let retired = last;
    assert!(retired.is_retired() && retired.changes == u32::MAX);
    last.retire();
    assert_eq!((last.return_to_duty(), last), (Err(Refused::NotNow), retired));
    let mut usual = RETIRED;
    assert_eq!((usual.return_to_duty(), usual.changes), (Ok(()), 2));
}
