//! What the judge says where something was not recorded: nothing that it does not know.

use super::eventful;
use super::judging::{broken, changed, outcome, why};
use super::lab::{self, Lab, records, text};
use crate::ms;
use bellwether_check::live::{Outcome, Trace, judge};
use bellwether_core::{Event, Instant, NodeId, Record, Stage};
use bellwether_protocols::local_leader::Mode;

/// Takes the second life out of whoever has two; who that is.
fn without_second_life(lab: &Lab) -> (NodeId, Vec<Trace>) {
    let begins = |record: &Record| matches!(record.event, Event::Begin(_));
    let mut traces = lab.traces();
    let twice = |trace: &Trace| trace.lines.iter().filter(|line| begins(&line.record)).count() > 1;
    let place = traces.iter().position(twice).expect("one was started again");
    traces = changed(lab, place, |records| {
        let second = records.iter().rposition(begins).expect("it began");
        records.truncate(second);
    });
    (NodeId(place as u64 + 1), traces)
}

#[test]
fn a_life_that_was_not_recorded_leaves_undecided_what_it_takes_part_in() {
    for mode in [Mode::Majority, Mode::Local] {
        for seed in 0..12 {
            let lab = eventful(mode, seed, 0);
            let (id, traces) = without_second_life(&lab);
            for faults in [Some(&lab.faults()), None] {
                let judgement = judge(&traces, faults, None).unwrap();
                let broken: Vec<_> = judgement.rulings.iter().collect();
                assert!(!judgement.violated(), "{mode:?} {seed}: {broken:?}");
                let why = why(&judgement, "locked-supporters");
                let missing =
                    format!("life 102 of process {id} was not recorded, though others heard it");
                assert_eq!(why, missing, "{mode:?} {seed}");
                assert!(judgement.notes.contains(&missing), "{:?}", judgement.notes);
                assert_eq!(*outcome(&judgement, "ends-by-deadline"), Outcome::Holds);
            }
        }
    }
}

#[test]
fn a_life_between_two_others_is_missed_too_and_the_last_one_counts_again() {
    let mut lab = Lab::leases(3, Mode::Majority, 3);
    lab.loses = 0;
    lab.run(ms(1_000));
    for _ in 0..2 {
        let id = NodeId(2);
        lab.crash(id);
        lab.run(ms(600));
        lab.restart(id);
        lab.run(ms(1_000));
    }
    let begins = |record: &Record| matches!(record.event, Event::Begin(_));
    let traces = changed(&lab, 1, |records| {
        let places: Vec<usize> = (0..records.len()).filter(|at| begins(&records[*at])).collect();
        records.drain(places[1]..places[2]);
    });
    let judgement = judge(&traces, Some(&lab.faults()), None).unwrap();
    assert!(!judgement.violated(), "{:?}", judgement.rulings);
    assert!(why(&judgement, "never-two").starts_with("life 102 of process 2 was not recorded"));
    let whole = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
    assert_eq!(*outcome(&whole, "never-two"), Outcome::Holds);
}

#[test]
fn a_trace_that_was_cut_accuses_nobody_wherever_it_was_cut() {
    let lab = eventful(Mode::Majority, 2, 0);
    for place in 0..3 {
        for eighth in 1..8 {
            let traces = changed(&lab, place, |records| {
                records.truncate(records.len() * eighth / 8);
            });
            for faults in [Some(&lab.faults()), None] {
                let judgement = judge(&traces, faults, None).unwrap();
                let rulings = &judgement.rulings;
                assert!(!judgement.violated(), "{place} at {eighth}/8: {rulings:?}");
                let why = why(&judgement, "never-two");
                let id = place + 1;
                let lacks = why.starts_with(&format!("the trace of process {id} lacks something"));
                let life = why.starts_with(&format!("life 102 of process {id} was not recorded"));
                assert!(lacks || life, "{why}");
            }
        }
    }
}

#[test]
fn two_that_lead_at_once_are_found_although_a_life_of_a_third_is_missing() {
    let lab = eventful(Mode::Majority, 4, 0);
    let (missing, mut traces) = without_second_life(&lab);
    let others: Vec<NodeId> = (1..=3).map(NodeId).filter(|id| *id != missing).collect();
    // Long after the missing life began, and before anybody left.
    let end = traces.iter().filter_map(|trace| trace.lines.last()).map(|line| line.record.t).max();
    let at = end.expect("there are records").as_nanos() - 1_500_000_000;
    for id in others {
        let place = traces.iter().position(|trace| trace.name == format!("{id}.jsonl")).unwrap();
        traces[place] = lab::changed(&traces[place], |records| {
            let later = |record: &Record| record.t.as_nanos() > at;
            let after = records.iter().position(later).expect("it went on");
            let t = records[after].t;
            let until = Some(Instant::from_nanos(t.as_nanos()) + ms(100));
            let (leaders, stage) = (vec![id], Stage::Decided);
            let event = Event::Leadership { leaders, term: None, until, stage };
            records.insert(after, Record { t, node: id, event });
        });
    }
    let judgement = judge(&traces, None, None).unwrap();
    assert!(broken(&judgement, "never-two").0.contains("lead at once"));
}

#[test]
fn half_a_line_at_the_end_is_told_and_decides_nothing() {
    let lab = eventful(Mode::Majority, 5, 0);
    let mut traces = lab.traces();
    let whole = text(&records(&traces[0]));
    let torn = &whole.as_bytes()[..whole.len() - 9];
    traces[0] = Trace::parse("1.jsonl", torn).unwrap();
    let judgement = judge(&traces, None, None).unwrap();
    assert!(!judgement.violated(), "{:?}", judgement.rulings);
    assert!(judgement.notes[0].starts_with("1.jsonl: half a line"), "{:?}", judgement.notes);
}
