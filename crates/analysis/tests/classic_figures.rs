//! The figures of MEREA, of the lecture, and ours of their protocols: what they find, and that they
//! find it.
//!
//! Verdicts must come out of numbers and records. So known ones are asked for, and forged numbers
//! and records must turn them round.

mod found;
mod known;

use bellwether_analysis::figures::Verdict::{Confirmed, Refuted};
use bellwether_analysis::figures::{Budget, Figure, Finding, classic, figure};
use bellwether_analysis::report::{csv, json, page, picture};
use bellwether_core::{Event, NodeId, Record};
use known::{Known, assert_known};
use std::sync::LazyLock;

fn figures() -> Vec<Figure> {
    classic::FIGURES.iter().map(|(name, _)| figure(name).expect("it is listed")).collect()
}

static FOUND: LazyLock<Vec<Finding>> =
    LazyLock::new(|| found::found(figures(), Budget { runs: 300, ..Budget::default() }));

fn finding(id: &str) -> Finding {
    FOUND.iter().find(|finding| finding.id == id).expect("one of these figures").clone()
}

const KNOWN: &[Known] = &[
    (
        "merea-messages",
        &[
            ("In the best case MEREA takes as many", Confirmed),
            ("In the worst-best case it takes O(n)", Confirmed),
            ("In the average case it takes O(n)", Refuted),
            ("In the worst-worst case it takes one fourth", Confirmed),
            ("Equation (4)", Refuted),
            ("Simulated, the worst-worst case takes a little fewer", Confirmed),
            ("That is because what is destroyed", Refuted),
            ("One election message completes", Confirmed),
        ],
    ),
    (
        "merea-times",
        &[
            ("In the best case MEREA takes as long", Confirmed),
            ("If all call MEREA performs better", Refuted),
            ("In the worst-best case the time is O(n)", Confirmed),
            ("In the worst-worst case the time grows as n²", Refuted),
        ],
    ),
    (
        "merea-table-3",
        &[
            ("The process with the highest id is elected, by the rule", Refuted),
            ("It is, if whoever lets a message pass", Confirmed),
            ("As printed the highest is missed in (k − 1)/n", Confirmed),
        ],
    ),
    (
        "bully-3-12",
        &[
            ("(a) Process 4 holds", Confirmed),
            ("(b) 5 and 6 respond", Confirmed),
            ("(c) Now 5 and 6", Confirmed),
            ("(d) Process 6 tells 5", Confirmed),
            ("(e) Process 6 wins", Confirmed),
            ("The living process with the highest", Confirmed),
            ("It takes (k−1)²", Confirmed),
        ],
    ),
    (
        "ring-6-21",
        &[
            ("The election messages of P_6 and P_3", Confirmed),
            ("A message goes to the closest", Confirmed),
            ("Whoever called picks the highest", Confirmed),
            ("An election takes 2N", Confirmed),
        ],
    ),
    (
        "ad-hoc-6-22",
        &[
            ("The tree is built from node a", Confirmed),
            ("Whoever hears of the election", Confirmed),
            ("An Election of another", Confirmed),
            ("(f) The best node is reported", Confirmed),
            ("Election and Acknowledgement are all", Refuted),
            ("It takes 2E − V + 1", Confirmed),
        ],
    ),
    (
        "hirschberg-sinclair-phases",
        &[
            ("There are phases 0 to 5", Confirmed),
            ("Fewer candidates proceed", Confirmed),
            ("Only the greatest of its", Confirmed),
            ("Tokens travel distance 2^k", Confirmed),
            ("The process with the highest id", Confirmed),
            ("It takes O(n log n)", Confirmed),
        ],
    ),
    (
        "complexity",
        &[
            ("Bully takes N − 1", Confirmed),
            ("If all are alive and P_0 calls", Confirmed),
            ("The ring takes 2N", Confirmed),
            ("What Chang and Roberts published", Refuted),
            ("Hirschberg-Sinclair takes O(n log n)", Confirmed),
            ("Hirschberg-Sinclair takes at most", Confirmed),
            ("On average over all orders Chang-Roberts", Confirmed),
            ("All the other counts", Confirmed),
        ],
    ),
];

#[test]
fn every_verdict_that_is_known_comes_out() {
    assert_known(&FOUND, KNOWN);
}

fn copy(finding: &mut Finding, from: &str, to: &str) {
    known::copy(finding, 0, from, to);
}

fn raise(finding: &mut Finding, name: &str, by: impl Fn(f64) -> f64) {
    known::raise(finding, 0, name, by);
}

fn records(finding: &mut Finding) -> &mut Vec<Record> {
    &mut finding.run.as_mut().expect("a figure that shows a run").records
}

/// Takes away the last message of this kind that this process sent.
fn unsend(finding: &mut Finding, node: u64, kind: &str) {
    let is = |record: &Record| {
        record.node.0 == node
            && matches!(&record.event, Event::Send { message, .. } if message == kind)
    };
    let records = records(finding);
    let place = records.iter().rposition(is).expect("it was sent");
    records.remove(place);
}

/// Lets everybody name this process in the end.
fn elect(finding: &mut Finding, leader: u64) {
    for record in records(finding) {
        if let Event::Leadership { leaders, .. } = &mut record.event
            && !leaders.is_empty()
        {
            *leaders = vec![NodeId(leader)];
        }
    }
}

const WORST: &str = "MEREA, worst-worst, simulated";

/// Figure, claim, and a forgery that must turn the verdict round.
type Forgery = (&'static str, usize, fn(&mut Finding));

const FORGERIES: &[Forgery] = &[
    ("merea-messages", 0, |f| raise(f, "MEREA, best: one calls, simulated", |_| 1.01)),
    ("merea-messages", 1, |f| raise(f, "MEREA, worst-best, simulated", libm::log)),
    ("merea-messages", 2, |f| copy(f, "MEREA, worst-best, simulated", ANY)),
    ("merea-messages", 3, |f| copy(f, "MEREA, worst-worst, printed", WORST)),
    ("merea-messages", 4, |f| copy(f, "MEREA, worst-worst, printed", WORST)),
    ("merea-messages", 5, |f| raise(f, WORST, |_| 1.1)),
    ("merea-messages", 6, |f| raise(f, WORST, |_| 0.99)),
    ("merea-messages", 7, |f| {
        raise(f, "Coordinator messages, worst-worst, simulated", |_| 2.0);
    }),
    ("merea-times", 0, |f| raise(f, "MEREA, best: one calls, simulated", |_| 0.9)),
    ("merea-times", 1, |f| raise(f, "ring, all call, simulated", |_| 3.0)),
    ("merea-times", 2, |f| raise(f, "MEREA, worst-best, simulated", |x| x)),
    ("merea-times", 3, |f| raise(f, WORST, |x| x)),
    ("merea-table-3", 0, |f| raise(f, "by Table 3, simulated", |_| 0.0)),
    ("merea-table-3", 1, |f| copy(f, "by Table 3, simulated", "all append their id, simulated")),
    ("merea-table-3", 2, |f| raise(f, "by Table 3, simulated", |_| 0.5)),
    ("bully-3-12", 0, |f| unsend(f, 4, "election")),
    ("bully-3-12", 1, |f| unsend(f, 5, "ok")),
    ("bully-3-12", 2, |f| unsend(f, 6, "election")),
    ("bully-3-12", 3, |f| unsend(f, 6, "ok")),
    ("bully-3-12", 4, |f| unsend(f, 6, "coordinator")),
    ("bully-3-12", 5, |f| elect(f, 5)),
    ("bully-3-12", 6, |f| unsend(f, 6, "coordinator")),
    ("ring-6-21", 0, |f| unsend(f, 2, "election")),
    ("ring-6-21", 1, |f| {
        for record in records(f) {
            if let Event::Send { to: Some(to), .. } = &mut record.event
                && record.node.0 == 6
            {
                *to = NodeId(7);
            }
        }
    }),
    ("ring-6-21", 2, |f| elect(f, 7)),
    ("ring-6-21", 3, |f| unsend(f, 2, "coordinator")),
    ("ad-hoc-6-22", 0, |f| {
        unsend(f, 5, "election");
        unsend(f, 5, "election");
    }),
    ("ad-hoc-6-22", 1, |f| unsend(f, 5, "election")),
    ("ad-hoc-6-22", 2, |f| unsend(f, 2, "ack")),
    ("ad-hoc-6-22", 3, |f| elect(f, 8)),
    ("ad-hoc-6-22", 4, |f| {
        records(f).retain(
            |record| !matches!(&record.event, Event::Send { message, .. } if message == "leader"),
        );
    }),
    ("ad-hoc-6-22", 5, |f| unsend(f, 9, "leader")),
    ("hirschberg-sinclair-phases", 0, |f| {
        // The last phase of the winner is lost, both its probes.
        unsend(f, 16, "probe");
        unsend(f, 16, "probe");
    }),
    ("hirschberg-sinclair-phases", 1, |f| {
        // Somebody who has lost goes on to the last phase as if it had not.
        for phase in [3, 4, 5] {
            let mut stray = records(f).last().expect("a run has records").clone();
            stray.node = NodeId(12);
            for number in 0..2 {
                stray.event = Event::Command { command: format!("{phase} {number}"), taken: true };
                records(f).push(stray.clone());
                let message = "probe".into();
                stray.event = Event::Send { to: Some(NodeId(0)), message, number };
                records(f).push(stray.clone());
            }
        }
    }),
    ("hirschberg-sinclair-phases", 2, |f| {
        for record in records(f) {
            record.node = NodeId(16 - record.node.0);
        }
    }),
    ("hirschberg-sinclair-phases", 3, |f| {
        // Without their first phase nobody's phases last as long as they should.
        let records = records(f);
        let start = records[0].t;
        records.retain(|record| {
            record.t > start
                || !matches!(&record.event, Event::Send { message, .. } if message == "probe")
        });
    }),
    ("hirschberg-sinclair-phases", 4, |f| elect(f, 15)),
    ("hirschberg-sinclair-phases", 5, |f| {
        let sends = records(f).clone();
        records(f).extend([sends.clone(), sends].concat());
    }),
    ("complexity", 0, |f| raise(f, "bully, the greatest calls, simulated", |_| 2.0)),
    ("complexity", 1, |f| raise(f, "bully, the least calls, simulated", |_| 0.5)),
    ("complexity", 2, |f| raise(f, "ring, one calls, simulated", |_| 1.5)),
    ("complexity", 3, |f| copy(f, "ring, one calls, simulated", CHANG)),
    ("complexity", 4, |f| raise(f, HIRSCHBERG, libm::sqrt)),
    ("complexity", 5, |f| raise(f, HIRSCHBERG, |_| 4.0)),
    ("complexity", 6, |f| copy(f, HIRSCHBERG, CHANG)),
    ("complexity", 7, |f| raise(f, "ad hoc, one calls, E = 2V, simulated", |_| 1.01)),
];

const ANY: &str = "MEREA, all call in any order, simulated";
const CHANG: &str = "Chang-Roberts, all call, simulated";
const HIRSCHBERG: &str = "Hirschberg-Sinclair, all call, simulated";

#[test]
fn forgeries_turn_every_verdict_round() {
    let claims: usize = KNOWN.iter().map(|(_, claims)| claims.len()).sum();
    assert_eq!(FORGERIES.len(), claims, "each claim has its forgery");
    let mut unmoved = Vec::new();
    for (id, claim, forge) in FORGERIES {
        let mut forged = finding(id);
        forge(&mut forged);
        let judged = (figure(id).expect("one of these figures").claims)(&forged);
        let before = &forged.claims[*claim];
        let now = judged.iter().find(|now| now.says == before.says);
        if now.is_none_or(|now| now.verdict == before.verdict) {
            unmoved.push((id, before.says, now.map(|now| &now.because).cloned()));
        }
    }
    assert!(unmoved.is_empty(), "{unmoved:#?}");
}

/// One run is a matter of records: it is judged with any budget, and is the same in each.
#[test]
fn what_is_told_of_a_run_does_not_depend_on_the_budget() {
    let with_runs: Vec<Figure> =
        figures().into_iter().filter(|figure| figure.run.is_some()).collect();
    assert_eq!(with_runs.len(), 4);
    let budget = Budget { runs: 2, seed: 99, threads: 1 };
    for small in found::found(with_runs, budget) {
        let usual = finding(small.id);
        assert_eq!(small.claims, usual.claims);
        assert_eq!(picture::svg(&small), picture::svg(&usual));
        assert_eq!(csv::csv(&small), csv::csv(&usual));
    }
}

#[test]
fn a_run_is_written_as_picture_table_and_records() {
    let bully = finding("bully-3-12");
    let svg = picture::svg(&bully);
    assert!(svg.starts_with("<svg") && svg.contains(bully.title));
    let text = csv::csv(&bully);
    let messages = text.lines().skip(1).count();
    assert_eq!(messages, 7 + 15 - 3, "all that were sent but the three to 7");
    assert!(text.contains("bully-3-12,0.7,0.8,6,5,ok\n"), "{text}");
    let value = json::json(&bully);
    assert_eq!(value["run"]["scenario"], "bully-3-12");
    assert_eq!(value["run"]["command"], "bellwether trace scenarios/bully-3-12.toml");
    let records = value["run"]["records"].as_array().expect("records are listed");
    assert_eq!(records.len(), bully.played().records.len());
}

#[test]
fn the_page_shows_runs_and_tables() {
    let text = page::page(&FOUND, Budget::default());
    assert!(text.contains("<caption>What one election costs"));
    let rows = finding("complexity").tables[0].rows.clone();
    assert!(rows.iter().all(|row| row.len() == finding("complexity").tables[0].head.len()));
    assert!(rows.iter().any(|row| row.contains(&"999999".to_owned())), "N² − 1 for 1000: {rows:?}");
    assert!(text.contains("bellwether trace scenarios/ad-hoc-6-22.toml"));
    let mut ids: Vec<_> =
        text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "every id is given once");
}
