//! Where the oldest election prevails.

use super::*;

fn merea() -> Config {
    Config { variant: Variant::Merea, ..ring() }
}

fn at(millis: u64, by: u64) -> Call {
    Call { at: Some(Instant::ZERO + Duration::from_millis(millis)), ..call(by, 1) }
}

/// 3, which called an election after 10 ms.
fn initiator(config: Config) -> Process {
    let mut process = start(3, config);
    process.wait(Duration::from_millis(10)).command(Command::Campaign).unwrap();
    process
}

#[test]
fn an_election_says_when_it_was_called() {
    assert_eq!(initiator(merea()).packets(), [sent(4, election(at(10, 3), 0, &[3]))]);
}

#[test]
fn the_younger_is_destroyed_and_the_older_joined() {
    for (other, passes) in [(at(11, 2), false), (at(9, 2), true), (at(9, 5), true)] {
        let mut process = initiator(merea());
        process.message(2, election(other, 0, &[other.by.0]));
        let joined = sent(4, election(other, 0, &[other.by.0, 3]));
        assert_eq!(process.packets(), if passes { vec![joined] } else { vec![] }, "{other:?}");
    }
}

#[test]
fn equal_times_are_ordered_by_id_but_not_as_printed() {
    for (by, passes) in [(2, true), (4, false)] {
        let mut process = initiator(merea());
        process.message(2, election(at(10, by), 0, &[by]));
        assert_eq!(process.packets().len(), usize::from(passes));
        let mut printed = initiator(Config { as_printed: true, ..merea() });
        printed.message(2, election(at(10, by), 0, &[by]));
        assert_eq!(printed.packets(), [sent(4, election(at(10, by), 0, &[by]))]);
    }
}

#[test]
fn table_3_forgets_who_holds_an_election() {
    let mut printed = initiator(Config { as_printed: true, ..merea() });
    printed.message(2, election(at(9, 2), 0, &[2]));
    assert_eq!(printed.packets(), [sent(4, election(at(9, 2), 0, &[2]))], "3 is missed");
    printed.message(2, coordinator(at(9, 2), 1, 2, &[]));
    assert_eq!(printed.leader(), Some(2), "and does not object");
    let mut other = start(3, Config { as_printed: true, ..merea() });
    other.message(2, election(at(9, 2), 0, &[2]));
    assert_eq!(other.packets(), [sent(4, election(at(9, 2), 0, &[2, 3]))]);
}

#[test]
fn the_leader_is_told_and_not_the_living() {
    let mut process = initiator(merea());
    process.message(2, election(at(10, 3), 4, &[3, 4, 5, 1, 2]));
    assert_eq!(process.packets(), [sent(4, coordinator(at(10, 3), 5, 5, &[]))]);
    process.message(2, election(at(11, 2), 4, &[2]));
    assert_eq!(process.packets().len(), 1, "its message is back: it destroys nothing any more");
}

#[test]
fn who_is_told_waits_for_nothing_of_its_own() {
    let mut process = initiator(Config { retry: RETRY, ..merea() });
    let told = coordinator(at(9, 1), 1, 5, &[]);
    process.message(2, told.clone());
    assert_eq!(process.packets(), [sent(4, passed(told, 1))]);
    assert_eq!((process.leader(), process.is_quiet()), (Some(5), true));
    process.message(2, election(at(10, 3), 0, &[3, 4, 5, 1, 2]));
    assert_eq!(process.effects(), []);
}

#[test]
fn an_election_that_is_held_again_is_as_old_as_before() {
    let mut process = initiator(Config { retry: RETRY, ..merea() });
    process.ring();
    let again = Call { number: 2, ..at(10, 3) };
    assert_eq!(process.packets(), [sent(4, election(again, 0, &[3]))]);
}

#[test]
fn who_stood_back_for_the_dead_stands_back_for_all() {
    let younger = at(99, 2);
    for told_before in [false, true] {
        let mut process = initiator(merea());
        if told_before {
            process.peer(1, Reach::Down);
        }
        process.message(2, election(at(9, 1), 0, &[1, 2]));
        assert_eq!(process.packets(), [sent(4, election(at(9, 1), 0, &[1, 2, 3]))]);
        if !told_before {
            process.peer(1, Reach::Down);
            assert_eq!(process.packets(), [], "2 is next to 1");
        }
        process.message(2, election(younger, 0, &[2]));
        assert_eq!(process.packets(), [sent(4, election(younger, 0, &[2, 3]))]);
    }
}
