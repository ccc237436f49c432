//! Who is reported, and when.

use super::*;
use bellwether_core::Fact;

fn beat(process: &mut Process, from: u64, life: u64) {
    process.message(from, frame(life, Body::Beat));
}

#[test]
fn who_is_never_heard_is_reported_once() {
    let mut process = start();
    pass(&mut process, 349);
    assert_eq!(reports(&process), []);
    pass(&mut process, 1);
    assert_eq!(reports(&process), [(2, Reach::Down), (3, Reach::Down)]);
    pass(&mut process, 5_000);
    assert_eq!(reports(&process).len(), 2);
    assert_eq!(process.facts(), [], "nothing is kept of them");
}

#[test]
fn a_silence_is_counted_from_the_last_sign_of_life() {
    let mut process = start();
    for _ in 0..5 {
        pass(&mut process, 120);
        beat(&mut process, 2, 1);
        beat(&mut process, 3, 1);
    }
    assert_eq!(reports(&process), []);
    pass(&mut process, 100);
    beat(&mut process, 3, 1);
    pass(&mut process, 249);
    assert_eq!(reports(&process), []);
    pass(&mut process, 1);
    assert_eq!(reports(&process), [(2, Reach::Down)]);
    let [two, three] = [2, 3].map(NodeId);
    assert_eq!(process.facts(), [Fact::Suspect { peer: two }, Fact::Alive { peer: three }]);
    beat(&mut process, 2, 1);
    assert_eq!(reports(&process), [(2, Reach::Down), (2, Reach::Up)]);
}

#[test]
fn every_frame_is_a_sign_of_life() {
    for body in [one(0, 0, 7), Body::All(Word(7)), Body::Ack { life: LIFE, number: 9 }] {
        let mut process = start();
        pass(&mut process, 349);
        process.message(2, frame(1, body));
        pass(&mut process, 349);
        assert_eq!(reports(&process), [(3, Reach::Down)]);
        pass(&mut process, 1);
        assert_eq!(reports(&process), [(3, Reach::Down), (2, Reach::Down)]);
    }
}

#[test]
fn a_new_life_is_a_death_that_nobody_saw() {
    let mut process = start();
    beat(&mut process, 2, 5);
    assert_eq!(reports(&process), [], "whoever was taken to be up");
    beat(&mut process, 2, 6);
    assert_eq!(reports(&process), [(2, Reach::Down), (2, Reach::Up)]);
    process.message(2, frame(5, one(0, 0, 7)));
    assert_eq!((process.effects(), reports(&process).len()), (vec![], 2), "a former life");
    pass(&mut process, 350);
    beat(&mut process, 2, 7);
    assert_eq!(reports(&process)[2..], [(3, Reach::Down), (2, Reach::Down), (2, Reach::Up)]);
}

#[test]
fn strangers_are_not_heard() {
    let mut process = start();
    for from in [1, 9] {
        process.message(from, frame(1, one(0, 0, 7)));
        assert_eq!((process.effects(), process.facts()), (vec![], vec![]));
    }
}

#[test]
fn what_a_driver_reports_is_passed_on_and_believed() {
    let mut process = start();
    process.peer(2, Reach::Down);
    process.command(bellwether_core::Command::Transfer(NodeId(2))).unwrap();
    assert_eq!(process.effects(), [sent(2, one(0, 0, teller::HELLO))], "once, and not waited for");
    process.peer(2, Reach::Up);
    assert_eq!(reports(&process), [(2, Reach::Down), (2, Reach::Up)]);
    pass(&mut process, 350);
    assert_eq!(reports(&process)[2..], [(3, Reach::Down), (2, Reach::Down)]);
}
