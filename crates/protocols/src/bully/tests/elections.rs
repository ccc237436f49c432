//! Holding an election and taking one over.

use super::*;

#[test]
fn a_process_begins_passive() {
    let process = start(3);
    assert_eq!((process.effects(), process.leader()), (vec![], None));
    assert_eq!(process.leadership().stage, Stage::Undecided);
}

#[test]
fn whoever_calls_asks_the_greater_and_leads_if_nobody_answers() {
    let mut process = start(3);
    process.command(Command::Campaign).unwrap();
    let mut asked = sent_to(&[4, 5], election(1));
    asked.push(process.armed(Timer::Reply, REPLY));
    assert_eq!(process.effects(), asked);
    process.ring();
    assert_eq!(process.effects(), sent_to(&[1, 2], coordinator(1)));
    assert_eq!(process.leader(), Some(3));
    assert!(process.is_quiet());
}

#[test]
fn the_greatest_of_all_leads_at_once() {
    let mut process = start(5);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 4], coordinator(1)));
    assert!(process.is_quiet() && process.leader() == Some(5));
}

#[test]
fn a_greater_process_takes_over_once() {
    let mut process = start(3);
    process.message(1, election(1));
    assert_eq!(process.packets()[0], sent(1, ok(1)));
    assert_eq!(process.packets()[1..], sent_to(&[4, 5], election(1)));
    process.message(2, election(1));
    assert_eq!(process.effects(), [sent(2, ok(1))]);
    process.message(4, ok(1));
    process.message(2, election(1));
    assert_eq!(process.effects(), [sent(2, ok(1))]);
    process.message(5, coordinator(1));
    assert_eq!((process.leader(), process.is_quiet()), (Some(5), true));
    process.message(2, election(1));
    assert_eq!(process.effects(), [sent(2, ok(1))], "late: it is over");
    process.message(2, election(2));
    assert_eq!(process.packets()[1..], sent_to(&[4, 5], election(2)), "a new one");
}

#[test]
fn who_got_ok_waits_and_then_starts_again() {
    let mut process = start(3);
    process.command(Command::Campaign).unwrap();
    process.message(5, ok(1));
    let waits = [Effect::Disarm(Timer::Reply), process.armed(Timer::Wait, WAIT)];
    assert_eq!(process.effects(), waits);
    process.message(4, ok(1));
    assert_eq!(process.effects(), [], "one is enough");
    process.ring();
    assert_eq!(process.packets(), sent_to(&[4, 5], election(2)));
    process.message(5, ok(1));
    assert_eq!(process.effects(), [], "an answer to the former election");
    process.ring();
    assert_eq!(process.leader(), Some(3));
}

#[test]
fn nobody_waits_for_the_dead_but_asks_them() {
    let mut process = start(3);
    process.peer(5, Reach::Down);
    process.peer(4, Reach::Down);
    process.command(Command::Campaign).unwrap();
    let mut said = sent_to(&[4, 5], election(1));
    said.extend(sent_to(&[1, 2], coordinator(1)));
    assert_eq!(process.packets(), said);
    assert!(process.is_quiet());
}

#[test]
fn who_waits_for_somebody_that_dies_waits_no_longer() {
    for answered in [false, true] {
        let mut process = start(4);
        process.command(Command::Campaign).unwrap();
        if answered {
            process.message(5, ok(1));
        }
        process.peer(5, Reach::Down);
        assert_eq!(process.packets(), sent_to(&[1, 2, 3], coordinator(1)));
        assert_eq!(process.leader(), Some(4));
    }
}

#[test]
fn the_top_answers_as_it_is_told_to() {
    let others = sent_to(&[1, 2, 3, 4], coordinator(1));
    let mut process = start(5);
    process.message(2, election(1));
    assert_eq!((process.packets()[0].clone(), &process.packets()[1..]), (sent(2, ok(1)), &*others));
    let top_answers = TopAnswers::Coordinator;
    let mut process = start_with(5, Config { top_answers, ..Config::default() });
    process.message(2, election(1));
    assert_eq!(process.packets(), others);
    process.message(3, election(1));
    assert_eq!(process.effects(), [], "it has been told");
    let mut process = start_with(4, Config { top_answers, ..Config::default() });
    process.message(2, election(1));
    assert_eq!(process.packets(), [sent(2, ok(1)), sent(5, election(1))]);
}

#[test]
fn the_loss_of_the_leader_is_reason_enough() {
    let mut process = start(3);
    process.message(5, coordinator(1));
    process.peer(4, Reach::Down);
    assert_eq!((process.effects(), process.leader()), (vec![], Some(5)));
    process.peer(5, Reach::Down);
    assert_eq!(process.leader(), Some(3), "nobody else is left");
    assert_eq!(process.packets()[2..], sent_to(&[1, 2], coordinator(2)));
}

#[test]
fn a_recovered_process_has_forgotten_the_number() {
    let later = Availability::new(2);
    let process = boot(5, 2, Config::default());
    let says = Says::Coordinator { round: 0 };
    assert_eq!(process.packets(), sent_to(&[1, 2, 3, 4], Message { availability: later, says }));
    let mut process = boot(4, 2, Config::default());
    let says = Says::Election { round: 0, stamp: None };
    assert_eq!(process.packets(), [sent(5, Message { availability: later, says })]);
    process.message(5, message(Says::Ok { round: 8, of: 0 }));
    process.message(5, coordinator(8));
    assert_eq!((process.leader(), process.is_quiet()), (Some(5), true));
    process.peer(5, Reach::Down);
    let again = Message { availability: later, says: Says::Election { round: 9, stamp: None } };
    assert_eq!(process.packets()[0], sent(5, again));
}

#[test]
fn a_number_that_was_forgotten_is_news() {
    let mut process = start(4);
    process.message(5, coordinator(7));
    let says = Says::Election { round: 0, stamp: None };
    process.message(1, Message { availability: Availability::new(2), says });
    let ok = message(Says::Ok { round: 8, of: 0 });
    assert_eq!(process.packets(), [sent(1, ok), sent(5, election(8))]);
}

#[test]
fn a_leader_tells_whoever_missed_elections() {
    let mut process = start(5);
    process.message(1, election(7));
    process.message(2, election(3));
    assert_eq!(process.effects(), [sent(2, coordinator(7))]);
    let mut follower = start(4);
    follower.message(5, coordinator(7));
    follower.message(2, election(3));
    assert_eq!(follower.effects(), [sent(2, message(Says::Ok { round: 7, of: 3 }))]);
}
