//! Older elections prevail.

use super::*;

fn stamped(me: u64) -> Process {
    start_with(me, Config { stamps: true, ..Config::default() })
}

fn call(round: u64, secs: u64, by: u64) -> Message {
    let at = Instant::ZERO + Duration::from_secs(secs);
    message(Says::Election { round, stamp: Some(Stamp { at, by: NodeId(by) }) })
}

#[test]
fn a_call_says_when_and_by_whom() {
    let mut process = stamped(3);
    process.wait(Duration::from_secs(7)).command(Command::Campaign).unwrap();
    assert_eq!(process.packets(), sent_to(&[4, 5], call(1, 7, 3)));
}

#[test]
fn who_takes_part_answers_and_asks_nobody() {
    let mut process = stamped(3);
    process.message(1, call(1, 7, 1));
    assert_eq!(process.effects(), [sent(1, ok(1)), process.armed(Timer::Wait, WAIT)]);
}

#[test]
fn the_younger_is_dropped_and_the_older_joined() {
    let mut process = stamped(4);
    process.message(2, call(1, 7, 2));
    process.message(3, call(1, 8, 3));
    process.message(3, call(1, 7, 3));
    assert_eq!(process.effects(), [], "later, or as old but of a greater id");
    process.message(1, call(1, 7, 1));
    assert_eq!(process.effects(), [sent(1, ok(1))]);
    process.message(2, call(1, 7, 2));
    assert_eq!(process.effects(), [], "no longer the oldest");
    process.message(3, call(2, 9, 3));
    assert_eq!(process.effects(), [sent(3, ok(2))], "another election altogether");
}

#[test]
fn who_called_a_younger_one_gives_it_up() {
    let mut process = stamped(3);
    process.wait(Duration::from_secs(8)).command(Command::Campaign).unwrap();
    process.message(1, call(1, 7, 1));
    let stands = [Effect::Disarm(Timer::Reply), process.armed(Timer::Wait, WAIT)];
    assert_eq!(process.effects(), [vec![sent(1, ok(1))], stands.to_vec()].concat());
    process.ring();
    assert_eq!(process.packets(), sent_to(&[4, 5], election(2)), "as the text has it");
}

#[test]
fn the_greatest_that_is_up_leads() {
    let mut process = stamped(4);
    process.message(1, call(1, 7, 1));
    process.peer(5, Reach::Down);
    assert_eq!(process.packets(), sent_to(&[1, 2, 3], coordinator(1)));
    process.message(2, call(1, 8, 2));
    assert_eq!(process.effects(), [], "dropped when it is over, too");
}
