//! Asking who leads, instead of calling an election.

use super::*;
use crate::detect::Detector;

const ASK: Config = Config {
    reply: REPLY,
    wait: WAIT,
    call_after: Duration::MAX,
    top_answers: TopAnswers::Ok,
    recovery: Recovery::Ask,
    stamps: false,
    detector: Detector::Told,
    beat: None,
    suspect: None,
    resend: None,
    tries: None,
};

fn recovered(me: u64) -> Process {
    boot(me, 2, ASK)
}

fn query() -> Message {
    Message { availability: Availability::new(2), says: Says::Query }
}

fn answer(leader: Option<u64>) -> Message {
    message(Says::Leader(leader.map(NodeId)))
}

#[test]
fn a_recovered_process_asks_the_greatest_and_follows_a_lesser_leader() {
    let mut process = recovered(5);
    assert_eq!(process.effects(), [sent(4, query()), process.armed(Timer::Reply, REPLY)]);
    process.message(4, answer(Some(4)));
    assert_eq!((process.leader(), process.is_quiet()), (Some(4), true));
    process.message(4, coordinator(1));
    assert_eq!((process.effects(), process.leader()), (vec![], Some(4)));
}

#[test]
fn whoever_is_named_must_say_so_itself() {
    let mut process = recovered(4);
    process.message(5, answer(Some(3)));
    assert_eq!(process.packets(), [sent(3, query())]);
    process.message(3, answer(Some(3)));
    assert_eq!(process.leader(), Some(3));
    let mut process = recovered(4);
    process.message(5, answer(Some(3)));
    process.message(3, answer(Some(5)));
    assert_eq!(process.leadership().stage, Stage::Undecided, "they name each other");
    assert!(matches!(process.packets()[..], [Effect::Send(_, Message { says, .. })]
        if matches!(says, Says::Election { .. })));
}

#[test]
fn it_asks_one_after_the_other_and_then_holds_an_election() {
    let mut process = recovered(3);
    process.peer(4, Reach::Down);
    assert_eq!(process.effects(), [], "not the one it asked");
    process.ring();
    assert_eq!(process.packets(), [sent(2, query())]);
    process.peer(2, Reach::Down);
    assert_eq!(process.packets(), [sent(1, query())]);
    process.ring();
    assert_eq!(process.packets().len(), 2, "an election: 4 and 5 are asked to take over");
}

#[test]
fn an_answer_that_names_nobody_fit_is_reason_enough() {
    for named in [None, Some(5), Some(9), Some(1), Some(2)] {
        let mut process = recovered(5);
        process.peer(1, Reach::Down);
        process.message(2, Message { availability: RETIRED, says: Says::Resign });
        process.message(4, answer(named));
        assert_eq!(process.leader(), Some(5), "{named:?}");
    }
}

#[test]
fn everyone_answers_what_it_knows() {
    let mut process = start(3);
    process.message(2, QUERY);
    assert_eq!(process.effects(), [sent(2, answer(None))]);
    process.message(5, coordinator(1));
    process.message(2, QUERY);
    assert_eq!(process.effects(), [sent(2, answer(Some(5)))]);
}

#[test]
fn an_election_comes_before_a_question() {
    let mut process = recovered(3);
    process.message(1, election(4));
    assert_eq!(process.packets().len(), 3, "an OK, and 4 and 5 are asked");
    process.message(5, answer(Some(1)));
    assert_eq!((process.effects(), process.leader()), (vec![], None));
}

/// Follows 3, and asks 5 who leads.
fn doubter() -> Process {
    let mut process = start_with(2, Config { call_after: CALL_AFTER, ..ASK });
    process.ring();
    process.message(3, coordinator(1));
    process.ring();
    process
}

#[test]
fn a_doubter_asks_the_greatest_and_may_be_told_that_all_is_well() {
    let mut process = doubter();
    assert_eq!(process.packets(), [sent(5, QUERY)]);
    assert_eq!(process.leader(), Some(3), "it follows while it asks");
    process.message(5, answer(Some(3)));
    process.message(3, answer(Some(3)));
    assert_eq!(process.leader(), Some(3));
}

#[test]
fn who_follows_a_lesser_leader_asks_again_after_a_while() {
    let mut process = doubter();
    process.ring();
    assert_eq!(process.packets(), [sent(4, QUERY)], "5 did not answer");
    process.message(4, answer(Some(3)));
    process.message(3, answer(Some(3)));
    assert_eq!(process.leader(), Some(3));
    process.ring();
    assert_eq!(process.packets(), [sent(5, QUERY)]);
    process.message(5, answer(Some(5)));
    assert_eq!((process.leader(), process.is_quiet()), (Some(5), true));
}

#[test]
fn a_leader_that_asks_yields_only_to_an_election() {
    let mut process = start_with(3, Config { call_after: CALL_AFTER, ..ASK });
    process.ring();
    process.ring();
    assert_eq!(process.leader(), Some(3), "nobody answered");
    process.ring();
    assert_eq!(process.packets(), [sent(5, QUERY)]);
    let mut content = process.clone();
    content.message(5, answer(Some(3)));
    assert_eq!((content.leader(), content.packets()), (Some(3), vec![]));
    process.message(5, answer(Some(5)));
    assert_eq!(process.packets(), sent_to(&[4, 5], election(2)), "its followers hear the outcome");
}
