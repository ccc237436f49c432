//! What a process tolerates, and for how long.

use super::*;

fn patient(me: u64) -> Process {
    start_with(me, Config { call_after: CALL_AFTER, ..Config::default() })
}

#[test]
fn without_a_leader_it_calls_an_election_in_the_end() {
    let mut process = patient(3);
    assert_eq!(process.effects(), [process.armed(Timer::CallAfter, CALL_AFTER)]);
    process.ring();
    assert_eq!(process.packets(), sent_to(&[4, 5], election(1)));
}

#[test]
fn with_the_greatest_as_leader_it_is_content() {
    let mut process = patient(3);
    process.message(5, coordinator(1));
    assert!(process.is_quiet());
}

#[test]
fn a_greater_one_that_comes_up_has_so_long_to_lead() {
    let mut process = patient(3);
    process.peer(5, Reach::Down);
    process.message(4, coordinator(1));
    assert!(process.is_quiet());
    process.peer(5, Reach::Up);
    assert_eq!(process.effects(), [process.armed(Timer::CallAfter, CALL_AFTER)]);
    let mut other = process.clone();
    process.message(5, coordinator(0));
    assert_eq!((process.leader(), process.is_quiet()), (Some(5), true));
    other.ring();
    assert_eq!(other.packets(), sent_to(&[4, 5], election(2)));
    let mut relieved = patient(3);
    relieved.message(4, coordinator(1));
    relieved.peer(5, Reach::Down);
    relieved.ring();
    assert_eq!((relieved.effects(), relieved.leader()), (vec![], Some(4)), "it went again");
}

#[test]
fn one_that_would_lead_again_has_so_long_too() {
    let mut process = patient(3);
    process.message(4, coordinator(1));
    process.message(5, Message { availability: RETIRED, says: Says::Resign });
    process.ring();
    assert_eq!((process.leader(), process.is_quiet()), (Some(4), true));
    process.message(5, Message { availability: Availability::new(2), says: Says::Query });
    assert!(process.effects().contains(&process.armed(Timer::CallAfter, CALL_AFTER)));
    process.ring();
    assert_eq!(process.packets(), sent_to(&[4, 5], election(2)));
}

#[test]
fn a_leader_tells_a_lesser_process_that_comes_up() {
    for (config, told) in [(CALL_AFTER, true), (Duration::MAX, false)] {
        let mut process = start_with(5, Config { call_after: config, ..Config::default() });
        process.command(Command::Campaign).unwrap();
        process.peer(2, Reach::Down);
        process.peer(2, Reach::Up);
        let expected = if told { sent_to(&[2], coordinator(1)) } else { vec![] };
        assert_eq!(process.effects(), expected);
    }
}

#[test]
fn a_leader_that_is_held_to_be_down_is_doubted() {
    let mut process = patient(1);
    process.peer(5, Reach::Down);
    let says = Says::Coordinator { round: 0 };
    process.message(5, Message { availability: Availability::new(2), says });
    assert_eq!(process.leader(), Some(5));
    process.ring();
    assert_eq!(process.leader(), None, "nobody said that it is up");
}
