//! Leaders that are killed, and released by their guardians: the next one leads before the lease of
//! the dead one is over.

use super::judging::{broken, outcome};
use super::lab::{self, Lab};
use crate::ms;
use bellwether_check::live::{Gap, Outcome, judge};
use bellwether_core::{Event, NodeId};
use bellwether_protocols::local_leader::Mode;

/// A group whose leader is killed and released within a few milliseconds; and the leader.
fn released(seed: u64) -> (Lab, NodeId) {
    let mut lab = Lab::leases(3, Mode::Majority, seed);
    lab.loses = 0;
    lab.run(ms(1_500));
    let first = lab.leader().expect("three elect one");
    lab.crash(first);
    lab.run(ms(2));
    lab.release(first);
    lab.run(ms(20));
    assert!(lab.leader().is_some_and(|next| next != first), "seed {seed}: within a round trip");
    lab.run(ms(1_000));
    (lab, first)
}

#[test]
fn a_released_life_leads_no_longer_whether_the_faults_are_known_or_not() {
    for seed in 0..8 {
        let (lab, _) = released(seed);
        let without = judge(&lab.traces(), None, None).unwrap();
        let with = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
        for judgement in [&without, &with] {
            for invariant in ["never-two", "follows-the-proof", "support-at-most-one"] {
                assert_eq!(*outcome(judgement, invariant), Outcome::Holds, "{seed} {invariant}");
            }
            assert_eq!(*outcome(judgement, "will-of-the-dead"), Outcome::Holds);
            assert!(judgement.notes.is_empty(), "{:?}", judgement.notes);
            let gap =
                judgement.reigns.as_ref().and_then(bellwether_check::live::Reigns::smallest_gap);
            assert!(matches!(gap, Some(Gap::Free(length)) if length < ms(30)), "{seed} {gap:?}");
        }
        assert!(!with.violated(), "{seed}: {:?}", with.rulings);
    }
}

/// Whoever kills a process writes it down when the process is gone, which may be after the next
/// leader has begun.
#[test]
fn a_crash_that_is_written_down_after_the_release_happened_before_it() {
    for seed in 0..8 {
        let (lab, _) = released(seed);
        let late = lab::changed(&lab.faults(), |records| {
            let crash = records.iter_mut().find(|record| record.event == Event::Crash);
            crash.expect("it was killed").t += ms(25);
        });
        let judgement = judge(&lab.traces(), Some(&late), None).unwrap();
        assert_eq!(*outcome(&judgement, "never-two"), Outcome::Holds, "{seed}");
        assert_eq!(*outcome(&judgement, "follows-the-proof"), Outcome::Holds, "{seed}");
    }
}

#[test]
fn a_life_that_comes_back_is_not_taken_for_the_released_one() {
    let (mut lab, first) = released(3);
    lab.restart(first);
    lab.run(ms(1_500));
    let judgement = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
    assert!(!judgement.violated(), "{:?}", judgement.rulings);
    assert_eq!(judgement.lives, 4);
}

#[test]
fn a_life_that_was_killed_before_its_first_record_leaves_nothing_undecided() {
    let (mut lab, first) = released(4);
    lab.start_in_vain(first);
    lab.run(ms(200));
    lab.restart(first);
    lab.run(ms(1_500));
    let judgement = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
    for invariant in ["never-two", "follows-the-proof", "locked-supporters", "timeliness"] {
        assert_eq!(*outcome(&judgement, invariant), Outcome::Holds, "{invariant}");
    }
    assert!(judgement.notes.is_empty(), "{:?}", judgement.notes);
}

#[test]
fn whoever_is_released_while_it_leads_is_found() {
    let mut lab = Lab::leases(3, Mode::Majority, 2);
    lab.loses = 0;
    lab.run(ms(1_500));
    let first = lab.leader().expect("three elect one");
    lab.release(first);
    lab.run(ms(30));
    lab.run(ms(1_000));
    let judgement = judge(&lab.traces(), None, None).unwrap();
    let (text, _) = broken(&judgement, "never-two");
    assert!(text.contains("lead at once"), "{text}");
    let (text, place) = broken(&judgement, "will-of-the-dead");
    assert!(text.contains(&format!("the last will of process {first} was received")), "{text}");
    assert!(place.contains(".jsonl:"), "{place}");
}
