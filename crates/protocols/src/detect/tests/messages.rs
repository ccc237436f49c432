//! Unicasts: numbered, acknowledged, resent, and delivered once.

use super::*;
use bellwether_core::Command;
use teller::HELLO;

fn say(process: &mut Process, to: u64) {
    process.command(Command::Transfer(NodeId(to))).unwrap();
}

fn acknowledge(process: &mut Process, number: u64, life: u64) {
    process.message(2, frame(1, Body::Ack { life, number }));
}

/// What is sent to process 2 meanwhile.
fn sent_during(process: &mut Process, millis: u64) -> Vec<Body<Word>> {
    let end = process.now() + ms(millis);
    let mut bodies = Vec::new();
    while process.node().poll_timeout() <= end {
        process.ring();
        bodies.extend(process.effects().into_iter().filter_map(|effect| match effect {
            Effect::Send(Dest::Node(NodeId(2)), frame) => Some(frame.body),
            _ => None,
        }));
    }
    bodies
}

#[test]
fn an_acknowledged_message_is_sent_once() {
    let mut process = start();
    say(&mut process, 2);
    assert_eq!(
        process.effects(),
        [armed(&process, Pulse::Resend, ms(40)), sent(2, one(0, 0, HELLO))]
    );
    acknowledge(&mut process, 0, LIFE);
    assert_eq!(sent_during(&mut process, 300), []);
    assert_eq!(reports(&process), []);
}

#[test]
fn an_acknowledgement_for_a_former_life_is_none() {
    let mut process = start();
    say(&mut process, 2);
    acknowledge(&mut process, 0, LIFE - 1);
    acknowledge(&mut process, 1, LIFE);
    assert_eq!(sent_during(&mut process, 40), [one(0, 0, HELLO)]);
}

#[test]
fn what_is_not_acknowledged_is_repeated_and_then_its_receiver_is_down() {
    let mut process = start();
    say(&mut process, 2);
    say(&mut process, 2);
    assert_eq!(process.effects(), [sent(2, one(1, 0, HELLO))], "the timer is armed already");
    acknowledge(&mut process, 0, LIFE);
    assert_eq!(sent_during(&mut process, 80), [one(1, 1, HELLO), one(1, 1, HELLO)]);
    assert_eq!(reports(&process), []);
    assert_eq!(sent_during(&mut process, 300), []);
    assert_eq!(reports(&process)[0], (2, Reach::Down), "after three tries");
    process.message(2, frame(1, Body::Beat));
    assert_eq!(reports(&process).last(), Some(&(2, Reach::Up)));
    say(&mut process, 2);
    assert!(process.effects().contains(&sent(2, one(2, 2, HELLO))), "the others are given up");
}

#[test]
fn a_new_life_gets_nothing_that_was_meant_for_the_former() {
    let mut process = start();
    process.message(2, frame(1, Body::Beat));
    say(&mut process, 2);
    process.message(2, frame(2, Body::Beat));
    assert_eq!(sent_during(&mut process, 300), []);
}

#[test]
fn a_message_that_comes_twice_is_acknowledged_twice_and_handed_over_once() {
    let mut process = start();
    let ack = |number| sent(2, Body::Ack { life: 1, number });
    for number in [0, 0, 2, 1, 2] {
        process.message(2, frame(1, one(number, 0, 10 + number)));
        assert_eq!(process.effects(), [ack(number)]);
    }
    let heard = |process: &Process| process.node().protocol().inner().heard.clone();
    assert_eq!(heard(&process), [(2, 10), (2, 12), (2, 11)]);
    process.message(2, frame(2, one(0, 0, 20)));
    assert_eq!(heard(&process).last(), Some(&(2, 20)), "numbers begin again with a life");
}

#[test]
fn broadcasts_pass_as_they_are() {
    let mut process = start();
    process.command(Command::Campaign).unwrap();
    let said = Effect::Send(Dest::Everyone, frame(LIFE, Body::All(Word(HELLO))));
    assert_eq!(process.effects(), [said]);
    process.message(2, frame(1, Body::All(Word(5))));
    assert_eq!(process.effects(), [], "nothing is acknowledged");
    assert_eq!(process.node().protocol().inner().heard, [(2, 5)]);
}

#[test]
fn a_message_to_a_stranger_goes_out_and_is_forgotten() {
    let mut process = start();
    say(&mut process, 9);
    assert_eq!(process.effects(), [sent(9, Body::All(Word(HELLO)))]);
    assert_eq!(process.facts(), []);
}

#[test]
fn a_refused_command_uses_no_number() {
    let mut process = start();
    assert!(process.command(Command::Resign).is_err());
    say(&mut process, 2);
    assert!(process.effects().contains(&sent(2, one(0, 0, HELLO))));
}
