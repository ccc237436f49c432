//! What the judge says of commands, by what guardians recorded.

use super::eventful;
use super::judging::{broken, outcome, why};
use super::lab::{Lab, parsed, text};
use crate::ms;
use bellwether_check::live::{Judgement, Outcome, Reign, Trace, judge};
use bellwether_core::{Event, NodeId, Record, SimTime, Watcher, Work};
use bellwether_protocols::local_leader::Mode;

/// How long after its election a leader's command starts, and how long before the end it is gone.
const MARGIN: u64 = 5_000_000;

/// A group whose members had commands: what members and guardians recorded.
struct Working {
    lab: Lab,
    members: Vec<Trace>,
    /// The records of each guardian's file.
    works: Vec<Vec<Record>>,
}

fn work(node: NodeId, guardian: SimTime, t: u64, work: Work) -> Record {
    Record { t: SimTime::from_nanos(t), node, event: Event::Work { guardian, work } }
}

/// One run, as a guardian records it that sees it from the beginning to the end.
fn run(node: NodeId, guardian: SimTime, number: u64, from: u64, to: u64) -> [Record; 2] {
    let at = |nanos| Some(SimTime::from_nanos(nanos));
    let (pid, seen) = (Some(1000 + number as u32), (at(from + 1_000), at(to - 1_000)));
    let ended = Work::Ended { run: number, pid, from: seen.0, to: seen.1 };
    let starts = Work::Starts { run: number };
    [work(node, guardian, from, starts), work(node, guardian, to, ended)]
}

impl Working {
    /// Every leader of an eventful run has a command while it leads.
    fn new(seed: u64) -> Self {
        let lab = eventful(Mode::Majority, seed, 0);
        let judgement = judge(&lab.traces(), Some(&lab.faults()), None).expect("one group");
        let reigns = judgement.reigns.expect("one clock").past;
        let mut members = lab.traces();
        let works = members.iter_mut().map(|trace| Self::guard(trace, &reigns)).collect();
        Self { lab, members, works }
    }

    /// What the guardians of one member recorded: one for each life, which is a process.
    fn guard(trace: &mut Trace, reigns: &[Reign]) -> Vec<Record> {
        let mut records = Vec::new();
        let node = trace.lines[0].record.node;
        let mut begins = Vec::new();
        for line in &mut trace.lines {
            if let Event::Begin(head) = &mut line.record.event {
                head.work = Some(line.record.t);
                begins.push(line.record.t);
            }
        }
        for (index, since) in begins.iter().enumerate() {
            let (boot, group) = ("one machine".to_owned(), "lab".to_owned());
            let event = Event::Guardian(Watcher { boot, group, since: *since });
            records.push(Record { t: *since, node, event });
            let next = begins.get(index + 1).copied().unwrap_or(SimTime::NEVER);
            let mine = reigns.iter().filter(|reign| reign.leader == node);
            let mut last = since.as_nanos();
            for reign in mine.filter(|reign| reign.from >= *since && reign.from < next) {
                let (from, to) = (reign.from.as_nanos() + MARGIN, reign.to.as_nanos() - MARGIN);
                records.extend(run(node, *since, records.len() as u64, from, to));
                last = to;
            }
            records.push(work(node, *since, last, Work::Done));
        }
        records
    }

    fn judge(&self) -> Judgement {
        let works = (1..).zip(&self.works).filter(|(_, records)| !records.is_empty());
        let works =
            works.map(|(id, records): (u64, _)| parsed(&format!("{id}.work.jsonl"), records));
        let all: Vec<Trace> = self.members.iter().cloned().chain(works).collect();
        judge(&all, Some(&self.lab.faults()), None).expect("one group")
    }

    /// The places of the ends of all runs, in order of time: file and record.
    fn ends(&self) -> Vec<(usize, usize)> {
        let mut ends = Vec::new();
        for (file, records) in self.works.iter().enumerate() {
            let is_end = |record: &Record| {
                matches!(record.event, Event::Work { work: Work::Ended { .. }, .. })
            };
            let places = (0..records.len()).filter(|place| is_end(&records[*place]));
            ends.extend(places.map(|place| (records[place].t, file, place)));
        }
        ends.sort();
        ends.into_iter().map(|(_, file, place)| (file, place)).collect()
    }

    /// The end of the first run comes to be told when the next one of anybody ends; the run was
    /// seen until then, or was not.
    fn postpone(&mut self, seen: bool) {
        let ends = self.ends();
        let (file, place) = ends[0];
        let (next_file, next_place) = ends[1];
        let next = self.works[next_file][next_place].t.as_nanos();
        // What the guardian says last comes after it.
        for record in &mut self.works[file][place..=place + 1] {
            record.t = SimTime::from_nanos(next);
            if let Event::Work { work: Work::Ended { to, .. }, .. } = &mut record.event
                && seen
            {
                *to = Some(SimTime::from_nanos(next - 2_000));
            }
        }
    }
}

const BOTH: [&str; 2] = ["one-command", "command-within-lease"];

#[test]
fn commands_that_run_while_their_members_lead_are_found_to_do_so() {
    for seed in 0..6 {
        let working = Working::new(seed);
        let judgement = working.judge();
        assert!(judgement.runs >= 4, "{}", judgement.runs);
        for ruling in &judgement.rulings {
            assert_eq!(ruling.outcome, Outcome::Holds, "{seed} {ruling:?}");
        }
        for invariant in BOTH {
            assert_eq!(*outcome(&judgement, invariant), Outcome::Holds);
        }
    }
}

#[test]
fn members_without_commands_are_not_judged_by_them() {
    let lab = eventful(Mode::Majority, 1, 0);
    let judgement = judge(&lab.traces(), None, None).unwrap();
    assert!(judgement.rulings.iter().all(|ruling| !BOTH.contains(&ruling.invariant)));
    assert_eq!(judgement.runs, 0);
}

#[test]
fn two_commands_at_once_are_found_although_no_two_ever_led() {
    let mut working = Working::new(1);
    working.postpone(true);
    let judgement = working.judge();
    assert!(judgement.violated());
    assert_eq!(*outcome(&judgement, "never-two"), Outcome::Holds, "leases are not commands");
    let (text, place) = broken(&judgement, "one-command");
    assert!(text.contains("ran at once, at least until"), "{text}");
    assert!(place.contains(".work.jsonl:"), "{place}");
    let (text, _) = broken(&judgement, "command-within-lease");
    assert!(text.contains("but its member had no lease at"), "{text}");
}

#[test]
fn a_late_end_that_nobody_saw_in_between_is_undecidable() {
    let mut working = Working::new(1);
    working.postpone(false);
    let judgement = working.judge();
    assert!(!judgement.violated());
    for invariant in BOTH {
        let why = why(&judgement, invariant);
        assert!(why.contains("was not known to be over before"), "{why}");
    }
}

#[test]
fn a_run_without_an_end_is_undecidable_if_another_one_followed() {
    let mut working = Working::new(2);
    let (file, place) = working.ends()[0];
    // Member and guardian were killed: neither the end nor a last word.
    let begins = |record: &Record| matches!(record.event, Event::Guardian(_));
    let rest = &working.works[file][place..];
    let next = rest.iter().position(begins).map_or(working.works[file].len(), |at| place + at);
    working.works[file].drain(place..next);
    let judgement = working.judge();
    assert!(!judgement.violated());
    assert!(why(&judgement, "one-command").starts_with("the end of run 1 of process"));
    assert!(why(&judgement, "command-within-lease").ends_with("was not recorded"));

    let mut working = Working::new(2);
    let (file, place) = *working.ends().last().expect("there are runs");
    working.works[file].truncate(place);
    let judgement = working.judge();
    assert_eq!(*outcome(&judgement, "one-command"), Outcome::Holds, "nobody followed");
    assert!(why(&judgement, "command-within-lease").ends_with("was not recorded"));
}

#[test]
fn the_next_guardian_of_the_same_process_proves_that_the_run_of_a_lost_one_is_over() {
    let mut working = Working::new(3);
    let (file, place) = working.ends()[0];
    let records = &mut working.works[file];
    let head = records[..place].iter().rfind(|one| matches!(one.event, Event::Guardian(_)));
    let head = Record { t: records[place].t, ..head.expect("it began").clone() };
    records[place] = head;
    let judgement = working.judge();
    for invariant in BOTH {
        assert_eq!(*outcome(&judgement, invariant), Outcome::Holds, "{invariant}");
    }
}

#[test]
fn the_lines_of_two_guardians_of_one_member_may_be_mixed() {
    let mut working = Working::new(3);
    let begins = |record: &Record| matches!(record.event, Event::Guardian(_));
    let twice = |records: &&mut Vec<Record>| records[1..].iter().any(begins);
    let records = working.works.iter_mut().find(twice).expect("one was started again");
    let second = records.iter().rposition(begins).expect("it began");
    let last_words = records.remove(second - 1);
    records.insert(second, last_words);
    for invariant in BOTH {
        assert_eq!(*outcome(&working.judge(), invariant), Outcome::Holds, "{invariant}");
    }
}

#[test]
fn what_a_guardian_recorded_and_is_not_here_is_asked_for() {
    let mut working = Working::new(1);
    working.works[1].clear();
    let judgement = working.judge();
    for invariant in BOTH {
        let why = why(&judgement, invariant);
        assert!(why.starts_with("process 2 has a command"), "{why}");
        assert!(why.ends_with("it lies beside 2.jsonl"), "{why}");
    }
}

#[test]
fn a_record_that_stops_while_its_member_goes_on_to_lead_is_not_whole() {
    for seed in 0..6 {
        let mut working = Working::new(seed);
        let (file, place) = *working.ends().last().expect("there are runs");
        // Without the last run and all that follows it.
        working.works[file].truncate(place - 1);
        let judgement = working.judge();
        assert!(!judgement.violated());
        let why = why(&judgement, "one-command");
        let stops = why.contains(".work.jsonl: it stops at ") && why.contains(" led from ");
        assert!(stops || why.starts_with("process "), "{seed}: {why}");
    }
}

#[test]
fn a_life_that_was_not_recorded_may_have_had_a_command() {
    let mut working = Working::new(4);
    let begins = |record: &Record| matches!(record.event, Event::Begin(_));
    for trace in &mut working.members {
        if let Some(second) = trace.lines[1..].iter().position(|line| begins(&line.record)) {
            trace.lines.truncate(second + 1);
        }
    }
    let judgement = working.judge();
    assert!(!judgement.violated(), "{:?}", judgement.rulings);
    for invariant in BOTH {
        assert!(why(&judgement, invariant).contains("was not recorded"), "{invariant}");
    }
}

#[test]
fn commands_by_clocks_that_do_not_agree_cannot_be_compared() {
    let mut lab = Lab::leases(3, Mode::Majority, 6);
    lab.on_machines(&["one", "one", "another"]);
    (1..=3).map(NodeId).for_each(|id| lab.crash(id));
    (1..=3).map(NodeId).for_each(|id| lab.start(id));
    lab.run(ms(500));
    let mut traces = lab.traces();
    for (id, boot) in [(1, "one"), (3, "another")] {
        let node = NodeId(id);
        let (boot, group) = (boot.to_owned(), "lab".to_owned());
        let head = Event::Guardian(Watcher { boot, group, since: SimTime::ZERO });
        let first = Record { t: SimTime::ZERO, node, event: head };
        let records: Vec<Record> =
            [first].into_iter().chain(run(node, SimTime::ZERO, 1, 2_000, 9_000)).collect();
        traces.push(parsed(&format!("{id}.work.jsonl"), &records));
    }
    let judgement = judge(&traces, None, None).unwrap();
    assert!(why(&judgement, "one-command").starts_with("needs one boot id"));
}

#[test]
fn records_of_guardians_that_are_not_as_they_were_are_refused_with_the_line() {
    let working = Working::new(1);
    let (file, place) = working.ends()[0];
    let refused = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut records = working.works[file].clone();
        change(&mut records);
        let bad = parsed("w.jsonl", &records);
        let all: Vec<Trace> = working.members.iter().cloned().chain([bad]).collect();
        judge(&all, None, None).unwrap_err().to_string()
    };
    let bad = refused(&|all| drop(all.remove(0)));
    assert!(bad.starts_with("w.jsonl:1: no guardian of process"), "{bad}");
    let bad = refused(&|all| drop(all.remove(place - 1)));
    assert!(bad.contains("a run ends that did not start"), "{bad}");
    let bad = refused(&|all| all.swap(place - 1, place));
    assert!(bad.contains("a run ends that did not start"), "{bad}");
    let bad = refused(&|all| all[place].t = SimTime::ZERO);
    assert!(bad.contains("is earlier than the line before it"), "{bad}");
    let bad = refused(&|all| all.insert(0, all[0].clone()));
    assert!(bad.contains("begins twice"), "{bad}");
    let bad = refused(&|all| {
        if let Event::Guardian(head) = &mut all[0].event {
            head.group = "other".to_owned();
        }
    });
    assert!(bad.contains("group is 'other', but 'lab' elsewhere"), "{bad}");
}

#[test]
fn half_a_line_of_a_guardian_that_was_killed_is_passed_over() {
    let working = Working::new(1);
    let (file, place) = working.ends()[0];
    let whole = text(&working.works[file][..=place]);
    let torn = Trace::parse("w.jsonl", &whole.as_bytes()[..whole.len() - 9]).unwrap();
    let next = text(&working.works[file][..1]);
    let torn_before = format!("{}\n{next}", &whole[..whole.len() - 9]);
    assert_eq!(Trace::parse("w.jsonl", torn_before.as_bytes()).map(|it| it.torn), Ok(1));
    let all: Vec<Trace> = working.members.iter().cloned().chain([torn]).collect();
    let judgement = judge(&all, None, None).unwrap();
    assert!(judgement.notes.iter().any(|note| note.starts_with("w.jsonl: half a line")));
    assert!(!judgement.violated());
}
