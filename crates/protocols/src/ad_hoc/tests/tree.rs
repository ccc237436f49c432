//! One election, from the first question to the outcome.

use super::*;

#[test]
fn a_process_begins_without_a_word_and_calls_an_election_in_the_end() {
    let mut process = start(Config::restless());
    process.expect(&timers(&process, 1_000, 0), &[], Stage::Undecided);
    process.ring();
    process.expect(&calls(&process, wave(1, 4)), &[], Stage::Undecided);
    let process = start(Config::default());
    process.expect(&[], &[], Stage::Undecided);
}

#[test]
fn the_first_to_ask_is_the_parent_and_gets_the_best_when_all_have_answered() {
    let mut process = start(Config::restless());
    let wave = wave(1, 2);
    process.message(2, Message::Election(wave));
    let asks = [ask(3, wave), ask(5, wave)];
    let waits = timers(&process, 4_000, 100); // twice as long as who called it
    process.expect(&[&asks[..], &waits].concat(), &[], Stage::Undecided);
    process.message(3, Message::Election(wave));
    process.expect(&[send(3, Message::Ack(wave, None))], &[], Stage::Undecided);
    process.message(3, Message::Ack(wave, None));
    process.expect(&[], &[], Stage::Undecided);
    process.message(5, Message::Ack(wave, Some(claim(9))));
    process.expect(&[send(2, Message::Ack(wave, Some(claim(9))))], &[], Stage::Undecided);
    process.message(2, Message::Leader(news(wave, 9)));
    let told = send(5, Message::Leader(news(wave, 9)));
    let effects = [&[told][..], &timers(&process, 2_000, 0)].concat();
    process.expect(&effects, &[9], Stage::Decided);
}

#[test]
fn who_called_it_tells_its_children_the_outcome() {
    let mut process = start(Config::restless());
    process.command(Command::Campaign).unwrap();
    let wave = wave(1, 4);
    process.message(2, Message::Ack(wave, Some(claim(2))));
    process.message(3, Message::Ack(wave, None));
    process.message(5, Message::Ack(wave, Some(claim(5))));
    let told = [2, 5].map(|child| send(child, Message::Leader(news(wave, 5))));
    let effects = [&told[..], &timers(&process, 2_000, 0)].concat();
    process.expect(&effects, &[5], Stage::Decided);
}

#[test]
fn a_process_without_neighbours_leads_at_once() {
    let boot = Boot::first(NodeId(4));
    let mut process = Process::boot(boot, valid(Config::default()), &[], &[]);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.leadership(), Leadership::of(&[NodeId(4)], Stage::Decided));
}

#[test]
fn of_two_elections_the_higher_is_held() {
    let mut process = start(Config::restless());
    process.message(3, Message::Election(wave(1, 3)));
    process.ignores(2, Message::Election(wave(1, 2)));
    process.ignores(2, Message::Ack(wave(1, 2), None));
    process.message(5, Message::Election(wave(1, 5)));
    let asks = [ask(2, wave(1, 5)), ask(3, wave(1, 5))];
    let effects = [&asks[..], &timers(&process, 4_000, 100)].concat();
    process.expect(&effects, &[], Stage::Undecided);
    process.ignores(2, Message::Ack(wave(1, 3), Some(claim(9))));
    process.message(2, Message::Election(wave(2, 2)));
    assert!(process.effects().contains(&ask(5, wave(2, 2))));
}

#[test]
fn what_nobody_answered_is_said_again() {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(1, 2)));
    process.message(3, Message::Ack(wave(1, 2), None));
    process.ring();
    let again = [ask(5, wave(1, 2)), process.armed(Timer::Repeat, ms(100))];
    process.expect(&again, &[], Stage::Undecided);
    process.message(5, Message::Ack(wave(1, 2), None));
    let report = send(2, Message::Ack(wave(1, 2), Some(claim(4))));
    process.ring();
    let again = [process.armed(Timer::Repeat, ms(100)), report.clone()];
    process.expect(&again, &[], Stage::Undecided);
    process.message(2, Message::Election(wave(1, 2)));
    process.expect(&[report], &[], Stage::Undecided);
    process.ignores(5, Message::Ack(wave(1, 2), None));
}

#[test]
fn a_child_that_said_otherwise_in_a_former_life_is_told_the_outcome_all_the_same() {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(1, 2)));
    process.message(5, Message::Ack(wave(1, 2), None));
    process.message(5, Message::Ack(wave(1, 2), Some(claim(5))));
    process.expect(&[], &[], Stage::Undecided);
    process.message(2, Message::Leader(news(wave(1, 2), 9)));
    assert!(process.effects().contains(&send(5, Message::Leader(news(wave(1, 2), 9)))));
}

#[test]
fn a_report_to_a_former_life_calls_for_an_election_above_it() {
    let mut process = boot(2, Config::restless());
    process.message(5, Message::Ack(wave(6, 4), Some(claim(5))));
    let called = Wave { number: 7, starter: NodeId(4), life: 2 };
    process.expect(&calls(&process, called), &[], Stage::Undecided);
    process.ignores(5, Message::Ack(wave(9, 4), None));
}

#[test]
fn who_missed_the_outcome_is_told_it() {
    let mut process = follower(9);
    process.message(5, Message::Ack(wave(1, 2), Some(claim(5))));
    let told = send(5, Message::Leader(news(wave(1, 2), 9)));
    process.expect(&[told], &[9], Stage::Decided);
    process.message(3, Message::Election(wave(1, 2)));
    process.expect(&[send(3, Message::Ack(wave(1, 2), None))], &[9], Stage::Decided);
    process.ignores(3, Message::Ack(wave(1, 2), None));
}

#[test]
fn an_election_without_end_is_called_again_and_given_twice_the_time() {
    let mut process = start(Config { retry: Duration::MAX, ..Config::restless() });
    process.command(Command::Campaign).unwrap();
    for (number, waits) in [(2, 4_000), (3, 8_000), (4, 16_000), (5, 16_000)] {
        process.ring();
        let asks = [2, 3, 5].map(|peer| ask(peer, wave(number, 4)));
        let effects = [&asks[..], &timers(&process, waits, 0)].concat();
        process.expect(&effects, &[], Stage::Undecided);
    }
    for peer in [2, 3, 5] {
        process.message(peer, Message::Ack(wave(5, 4), None));
    }
    process.command(Command::Campaign).unwrap();
    assert!(process.effects().contains(&process.armed(Timer::Wait, ms(2_000))));
}

#[test]
fn a_process_that_was_gone_holds_an_election_under_another_name() {
    let process = boot(3, Config::restless());
    let called = Wave { number: 1, starter: NodeId(4), life: 3 };
    process.expect(&calls(&process, called), &[], Stage::Undecided);
}
