//! What the judge says.

use super::eventful;
use super::lab::{self, Lab, START, records, text};
use crate::ms;
use bellwether_check::live::{Gap, Judgement, Outcome, Trace, judge, judge_until, merged};
use bellwether_core::{Command, Duration, Event, Fact, Instant, NodeId, Record, Stage};
use bellwether_protocols::announce_listen::{self, Variant};
use bellwether_protocols::choice::{Config, Promise};
use bellwether_protocols::local_leader::Mode;
use proptest::prelude::*;

pub(crate) fn outcome<'a>(judgement: &'a Judgement, invariant: &str) -> &'a Outcome {
    let mut rulings = judgement.rulings.iter();
    &rulings.find(|ruling| ruling.invariant == invariant).expect("it is asked").outcome
}

pub(crate) fn why(judgement: &Judgement, invariant: &str) -> String {
    match outcome(judgement, invariant) {
        Outcome::Undecidable(why) => why.to_string(),
        other => panic!("{invariant}: {other:?}"),
    }
}

pub(crate) fn broken(judgement: &Judgement, invariant: &str) -> (String, String) {
    match outcome(judgement, invariant) {
        Outcome::Violated { text, place, .. } => (text.clone(), place.clone()),
        other => panic!("{invariant}: {other:?}"),
    }
}

/// The traces with the records of one member changed.
pub(crate) fn changed(lab: &Lab, node: usize, change: impl FnOnce(&mut Vec<Record>)) -> Vec<Trace> {
    let mut traces = lab.traces();
    traces[node] = lab::changed(&traces[node], change);
    traces
}

#[test]
fn with_the_fault_schedule_everything_is_decided_and_holds_whatever_happened() {
    for (mode, promise) in
        [(Mode::Majority, Promise::NeverTwo), (Mode::Local, Promise::OnePerPartition)]
    {
        for seed in 0..12 {
            let lab = eventful(mode, seed, 0);
            let judgement = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
            assert_eq!((judgement.promise, judgement.lives), (promise, 4));
            for ruling in &judgement.rulings {
                assert_eq!(ruling.outcome, Outcome::Holds, "{mode:?} {seed} {ruling:?}");
                assert!(ruling.looks > 0, "{ruling:?}");
            }
            let reigns = judgement.reigns.expect("one clock");
            assert!(reigns.changes() >= 3, "{reigns:?}");
            let gap = reigns.smallest_gap().expect("several led");
            assert_eq!(matches!(gap, Gap::Free(_)), mode == Mode::Majority, "{seed} {gap:?}");
            let longest = reigns.longest_without().expect("somebody led");
            assert!(longest > ms(0) && longest < ms(700), "{longest}");
        }
    }
}

#[test]
fn who_waits_no_longer_ends_the_judging_of_a_trace() {
    let lab = eventful(Mode::Majority, 1, 0);
    let looks = |most: u64| {
        let asked = std::cell::Cell::new(0);
        let over = || asked.replace(asked.get() + 1) >= most;
        let judgement = judge_until(&lab.traces(), Some(&lab.faults()), None, &over).unwrap();
        let safety = judgement.rulings.iter().find(|it| it.invariant == "never-two").unwrap();
        (safety.looks, asked.get())
    };
    let ((whole, asked), (part, ends)) = (looks(u64::MAX), looks(10));
    assert!(whole > 20 && asked > 100, "{whole} {asked}");
    assert!(part < whole && ends == 11, "{part} {ends}");
}

#[test]
fn without_it_what_must_come_soon_is_undecidable_and_safety_is_not() {
    for (mode, seed) in [(Mode::Majority, 1), (Mode::Majority, 2), (Mode::Local, 3)] {
        let lab = eventful(mode, seed, 20);
        let judgement = judge(&lab.traces(), None, None).unwrap();
        for ruling in &judgement.rulings {
            let calm =
                ["timeliness", "bounded-inconsistency", "stable-in-logical", "minimum-leads"];
            if calm.contains(&ruling.invariant) {
                let why = why(&judgement, ruling.invariant);
                assert_eq!(why, "needs the fault schedule");
            } else {
                assert_eq!(ruling.outcome, Outcome::Holds, "{mode:?} {seed} {ruling:?}");
            }
        }
        assert!(!judgement.violated());
        let other = judge(&lab.traces(), None, Some(Promise::EventuallyOne)).unwrap();
        assert_eq!(other.rulings.len(), 2, "only what any protocol can be asked");
    }
}

/// The first life of a member has no record and waits for the others; then the operator says that
/// it never voted.
#[test]
fn a_member_that_is_started_again_to_found_the_group_breaks_nothing() {
    let mut lab = Lab::leases(3, Mode::Majority, 5);
    let late = NodeId(3);
    lab.run(ms(20));
    lab.crash(late);
    lab.run(ms(20));
    lab.bootstrap(late);
    lab.run(ms(3_000));
    assert!(lab.leader().is_some());
    let judgement = judge(&lab.traces(), None, None).unwrap();
    assert_eq!(judgement.lives, 4);
    for invariant in ["follows-the-proof", "tokens-grow", "never-two"] {
        assert_eq!(*outcome(&judgement, invariant), Outcome::Holds, "{invariant}");
    }
}

/// Without leases nothing says until when a leader leads that was killed.
#[test]
fn a_leader_without_a_lease_leads_no_longer_than_it_recorded() {
    for (protocol, variant) in [("le-s", Variant::LeS), ("le-a", Variant::LeA)] {
        let listen = ms(3_000); // so that others notice
        let config =
            announce_listen::Config { variant, listen, ..announce_listen::Config::default() };
        let mut lab = Lab::new(protocol, Config::AnnounceListen(config), 3, 7);
        lab.run(ms(30_000));
        let killed = lab.leader().expect("three elect one");
        lab.crash(killed);
        lab.run(ms(60_000));
        lab.start(killed);
        lab.run(ms(30_000));
        let judgement = judge(&lab.traces(), None, None).unwrap();
        let reigns = judgement.reigns.expect("one clock");
        let traces = lab.traces();
        let last = traces[killed.0 as usize - 1].lines.iter().map(|line| line.record.t);
        let died = last.filter(|t| t.as_nanos() < START + 31_000_000_000).max().unwrap();
        let own = reigns.past.iter().find(|reign| reign.leader == killed && reign.silent);
        assert_eq!(own.expect("it led").to, died, "{protocol}: {reigns:?}");
        let later = reigns.past.iter().filter(|reign| reign.from > died);
        let first = later.min_by_key(|reign| reign.from).expect("others elect one");
        assert_ne!(first.leader, killed, "{protocol}: {reigns:?}");
        assert_eq!(reigns.longest_without().map(|without| without >= ms(1_000)), Some(true));
        assert!(reigns.fell_silent());
    }
}

#[test]
fn two_that_lead_at_once_are_found_with_the_file_and_the_line() {
    let mut lab = Lab::leases(3, Mode::Majority, 3);
    lab.run(ms(1_000));
    let leader = lab.leader().expect("three elect one");
    let liar = (leader.0 % 3) as usize; // the place of the next one
    let mut line = 0;
    let traces = changed(&lab, liar, |records| {
        let last = records.last().expect("it recorded something").clone();
        let leaders = vec![last.node];
        let until = Some(Instant::from_nanos(last.t.as_nanos()) + ms(10));
        let stage = Stage::Decided;
        line = records.len() + 1;
        let event = Event::Leadership { leaders, term: None, until, stage };
        records.push(Record { event, ..last });
    });
    let judgement = judge(&traces, None, None).unwrap();
    let (text, place) = broken(&judgement, "never-two");
    assert!(text.contains("lead at once: process"), "{text}");
    assert_eq!(place, format!("{}.jsonl:{line}", liar + 1));
    let (text, _) = broken(&judgement, "leader-supports-itself");
    assert!(text.contains("but not by itself"), "{text}");
    let gap = judgement.reigns.and_then(|reigns| reigns.smallest_gap());
    assert!(matches!(gap, Some(Gap::Overlap(_))), "{gap:?}");
}

#[test]
fn a_vote_for_a_request_that_nobody_made_is_found_with_the_file_and_the_line() {
    let mut lab = Lab::leases(3, Mode::Majority, 3);
    lab.run(ms(1_000));
    let leader = lab.leader().expect("three elect one");
    let voter = (leader.0 % 3) as usize; // the place of the next one
    let mut line = 0;
    let traces = changed(&lab, voter, |records| {
        let granted = |record: &Record| matches!(record.event, Event::Fact(Fact::Granted { .. }));
        line = records.iter().position(granted).expect("it voted") + 1;
        if let Event::Fact(Fact::Granted { sent, .. }) = &mut records[line - 1].event {
            *sent += Duration::from_nanos(1);
        }
    });
    let (text, place) = broken(&judge(&traces, None, None).unwrap(), "follows-the-proof");
    assert!(text.contains("the nearest is grant: ") && text.contains("was never made"), "{text}");
    assert!(place.starts_with(&format!("{}.jsonl:", voter + 1)), "{place}, near line {line}");
}

#[test]
fn a_leader_that_acts_after_its_end_and_says_nothing_of_it_is_found() {
    let mut lab = Lab::leases(3, Mode::Majority, 4);
    lab.run(ms(500));
    let leader = lab.leader().expect("three elect one");
    lab.run(ms(500));
    // It stands still beyond its lease, and then goes on as if nothing had been.
    lab.pause(leader);
    lab.run(ms(500));
    lab.resume(leader);
    lab.run(ms(50));
    let after = START + 1_500_000_000;
    let traces = changed(&lab, leader.0 as usize - 1, |records| {
        records.retain(|record| {
            let news = matches!(record.event, Event::Leadership { .. } | Event::Fact(_));
            record.t.as_nanos() < after || !news
        });
    });
    let judgement = judge(&traces, None, None).unwrap();
    let (text, _) = broken(&judgement, "ends-by-deadline");
    assert!(text.contains("and the process still leads"), "{text}");
    let honest = judge(&lab.traces(), None, None).unwrap();
    assert_eq!(*outcome(&honest, "ends-by-deadline"), Outcome::Holds);
}

#[test]
fn a_group_that_stays_without_a_leader_is_late_if_the_schedule_says_that_all_is_well() {
    let mut lab = Lab::leases(3, Mode::Majority, 5);
    lab.run(ms(1_000));
    let leader = lab.leader().expect("three elect one");
    lab.cut(&[1], &[2, 3]);
    lab.cut(&[2], &[3]);
    lab.run(ms(3_000));
    assert_eq!(lab.leader(), None, "{leader} lost its majority");
    let judgement = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
    assert_eq!(*outcome(&judgement, "timeliness"), Outcome::Holds, "nobody can have one");
    let nothing = Trace::parse("faults", b"").unwrap();
    let judgement = judge(&lab.traces(), Some(&nothing), None).unwrap();
    let (text, _) = broken(&judgement, "timeliness");
    assert!(text.contains("{1, 2, 3} are connected"), "{text}");
}

#[test]
fn clocks_that_do_not_agree_leave_undecided_what_compares_processes() {
    let mut lab = Lab::leases(3, Mode::Majority, 6);
    lab.on_machines(&["one machine", "another", "another"]);
    (2..=3).map(NodeId).for_each(|id| lab.crash(id));
    (2..=3).map(NodeId).for_each(|id| lab.start(id));
    lab.run(ms(1_000));
    let judgement = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
    assert!(why(&judgement, "never-two").starts_with("needs one boot id"));
    assert!(why(&judgement, "timeliness").starts_with("needs one boot id"));
    assert!(why(&judgement, "locked-supporters").starts_with("needs one boot id"));
    assert_eq!(*outcome(&judgement, "ends-by-deadline"), Outcome::Holds);
    assert_eq!(judgement.reigns, None);
}

#[test]
fn a_member_that_was_heard_and_is_not_there_leaves_undecided_whether_it_led() {
    let lab = eventful(Mode::Majority, 2, 20);
    let traces = lab.traces();
    let judgement = judge(&traces[1..], None, None).unwrap();
    for invariant in ["never-two", "locked-supporters"] {
        let why = why(&judgement, invariant);
        assert_eq!(why, "needs the trace of process 1, which was heard");
    }
    let mut silent = Lab::leases(3, Mode::Majority, 2);
    silent.loses = 0;
    let judgement = judge(&silent.traces()[..1], None, None).unwrap();
    assert_eq!(judgement.notes.len(), 2, "two were not heard: {:?}", judgement.notes);
    assert_eq!(why(&judgement, "locked-supporters"), "there was nothing to look at");
}

#[test]
fn a_trace_that_ends_before_its_process_does_leaves_undecided_whether_it_led() {
    let lab = eventful(Mode::Majority, 2, 20);
    let traces = changed(&lab, 0, |records| records.truncate(records.len() / 2));
    let judgement = judge(&traces, None, None).unwrap();
    let why = why(&judgement, "never-two");
    assert!(why.starts_with("the trace of process 1 lacks something"), "{why}");
}

#[test]
fn a_killed_leader_leads_until_its_lease_ends_if_nobody_says_when_it_was_killed() {
    let mut lab = Lab::leases(3, Mode::Majority, 7);
    lab.run(ms(1_000));
    let leader = lab.leader().expect("three elect one");
    let killed = lab.now;
    lab.crash(leader);
    lab.run(ms(1_000));
    let traces = lab.traces();
    let ended = |faults: Option<&Trace>| {
        let reigns = judge(&traces, faults, None).unwrap().reigns.expect("one clock");
        let past = reigns.past.iter().find(|reign| reign.leader == leader);
        past.expect("it led").to.as_nanos()
    };
    assert_eq!(ended(Some(&lab.faults())), killed);
    let until = ended(None);
    assert!(until > killed && until < killed + 150_000_000, "{until}");
}

#[test]
fn protocols_without_leases_are_judged_too() {
    let listen = Duration::from_secs(3);
    let config = announce_listen::Config { listen, ..announce_listen::Config::new(Variant::LeS) };
    let mut lab = Lab::new("le-s", Config::AnnounceListen(config), 4, 1);
    lab.loses = 0;
    lab.run(Duration::from_secs(12));
    lab.crash(NodeId(4));
    lab.run(Duration::from_secs(15));
    let judgement = judge(&lab.traces(), Some(&lab.faults()), None).unwrap();
    assert_eq!(judgement.promise, Promise::EventuallyOne);
    for ruling in &judgement.rulings {
        assert_eq!(ruling.outcome, Outcome::Holds, "{ruling:?}");
    }
    let judgement = judge(&lab.traces(), None, Some(Promise::ElectsNobody)).unwrap();
    assert!(broken(&judgement, "elects-nobody").0.contains("names"));
}

#[test]
fn what_is_not_one_run_of_one_group_is_refused_with_the_reason() {
    let mut lab = Lab::leases(3, Mode::Majority, 8);
    lab.run(ms(300));
    let refused = |traces: &[Trace]| judge(traces, None, None).unwrap_err().to_string();
    let begins = |records: &mut Vec<Record>, change: fn(&mut bellwether_core::LifeHeader)| {
        if let Event::Begin(head) = &mut records[0].event {
            change(head);
        }
    };
    let other = changed(&lab, 1, |all| begins(all, |head| head.group = "x".to_owned()));
    assert!(refused(&other).contains("2.jsonl: group is 'x', but 'lab' in 1.jsonl"));
    let other = changed(&lab, 2, |all| {
        begins(all, |head| head.params = r#"{"mode":"local"}"#.to_owned());
    });
    let told = refused(&other);
    assert!(told.starts_with(r#"3.jsonl: params is '{"mode":"local"}'"#), "{told}");
    let headless = changed(&lab, 1, |all| drop(all.remove(0)));
    assert!(refused(&headless).starts_with("2.jsonl:1: process 2 has not begun"));
    let reordered = changed(&lab, 1, |all| all.swap(2, 20));
    assert!(refused(&reordered).contains("is earlier than the line before it"));
    let mut twice = lab.traces();
    twice.push(twice[0].clone());
    assert!(refused(&twice).contains("process 1 lives twice at once"));
    assert!(refused(&[]).contains("no process begins in them"));
}

#[test]
fn pictures_begin_at_zero_and_know_when_messages_were_sent() {
    let mut lab = Lab::leases(3, Mode::Majority, 9);
    lab.run(ms(500));
    lab.command(NodeId(1), Command::Resign);
    lab.run(ms(200));
    let records = merged(&lab.traces());
    assert_eq!(records[0].t.as_nanos(), 0);
    let mut received = 0;
    for record in &records {
        if let Event::Recv { sent, .. } = &record.event {
            assert!(*sent < record.t, "{record:?}");
            received += 1;
        }
        if let Event::Leadership { until: Some(until), .. } = &record.event {
            assert!(until.as_nanos() > record.t.as_nanos(), "{record:?}");
            assert!(until.as_nanos() < 1_000_000_000, "{record:?}");
        }
    }
    assert!(received > 50, "{received}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever was done to the files: a verdict or an error, and no panic.
    #[test]
    fn damaged_traces_cause_no_panic(
        seed in 0..3u64,
        cuts in proptest::collection::vec((0..3usize, 0..10_000usize, 0..4u8, any::<u8>()), 1..6),
    ) {
        let mut lab = Lab::leases(3, Mode::Majority, seed);
        lab.run(ms(200));
        let bytes = |trace: &Trace| text(&records(trace)).into_bytes();
        let mut files: Vec<Vec<u8>> = lab.traces().iter().map(bytes).collect();
        for (file, at, what, byte) in cuts {
            let file = &mut files[file];
            let at = at % file.len().max(1);
            match what {
                0 => file.truncate(at),
                1 => file[at..].iter_mut().take(1).for_each(|old| *old = byte),
                2 => file.insert(at, b'0' + byte % 10),
                _ => drop(file.drain(at..file.len().min(at + usize::from(byte)))),
            }
        }
        let names = ["a", "b", "c"];
        let parsed: Result<Vec<Trace>, _> =
            names.iter().zip(&files).map(|(name, bytes)| Trace::parse(name, bytes)).collect();
        if let Ok(traces) = parsed {
            let _ = judge(&traces, Some(&lab.faults()), None);
            let _ = bellwether_check::replay::replay(&traces);
            let _ = bellwether_sim::diagram::space_time(&merged(&traces), &Default::default());
        }
    }
}
