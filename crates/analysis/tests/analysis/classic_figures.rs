//! The figures of MEREA, of the lecture, and ours of their protocols: what they find, and that they
//! find it.

use crate::found::{found, named};
use crate::known::{Table, assert_errata_know, assert_forgeries_count, assert_known, copy, raise};
use bellwether_analysis::figures::Verdict::{Confirmed, Refuted};
use bellwether_analysis::figures::{Budget, Figure, Finding, Workbench, classic, figure};
use bellwether_analysis::report::{csv, json, page, picture};
use bellwether_core::{Event, NodeId, Record};
use std::sync::LazyLock;

fn figures() -> Vec<Figure> {
    classic::FIGURES.iter().map(|(name, _)| figure(name).expect("it is listed")).collect()
}

static FOUND: LazyLock<Vec<Finding>> = LazyLock::new(|| found(figures(), 300));

fn finding(id: &str) -> Finding {
    named(&FOUND, id)
}

const KNOWN: Table = &[
    (
        "merea-messages",
        &[
            ("In the best case MEREA takes as many", Confirmed, |f| {
                raise(f, 0, "MEREA, best: one calls, simulated", |_| 1.01);
            }),
            ("In the worst-best case it takes O(n)", Confirmed, |f| {
                raise(f, 0, "MEREA, worst-best, simulated", libm::log);
            }),
            ("In the average case it takes O(n)", Refuted, |f| {
                copy(f, 0, "MEREA, worst-best, simulated", ANY);
            }),
            ("In the worst-worst case it takes one fourth", Confirmed, |f| {
                copy(f, 0, "MEREA, worst-worst, printed", WORST);
            }),
            ("Equation (4)", Refuted, |f| copy(f, 0, "MEREA, worst-worst, printed", WORST)),
            ("Simulated, the worst-worst case takes a little fewer", Confirmed, |f| {
                raise(f, 0, WORST, |_| 1.1);
            }),
            ("That is because what is destroyed", Refuted, |f| raise(f, 0, WORST, |_| 0.99)),
            ("One election message completes", Confirmed, |f| {
                raise(f, 0, "Coordinator messages, worst-worst, simulated", |_| 2.0);
            }),
        ],
    ),
    (
        "merea-times",
        &[
            ("In the best case MEREA takes as long", Confirmed, |f| {
                raise(f, 0, "MEREA, best: one calls, simulated", |_| 0.9);
            }),
            ("If all call MEREA performs better", Refuted, |f| {
                raise(f, 0, "ring, all call, simulated", |_| 3.0);
            }),
            ("In the worst-best case the time is O(n)", Confirmed, |f| {
                raise(f, 0, "MEREA, worst-best, simulated", |x| x);
            }),
            ("In the worst-worst case the time grows as n²", Refuted, |f| {
                raise(f, 0, WORST, |x| x);
            }),
        ],
    ),
    (
        "merea-table-3",
        &[
            ("The process with the highest id is elected, by the rule", Refuted, |f| {
                raise(f, 0, "by Table 3, simulated", |_| 0.0);
            }),
            ("It is, if every process that lets", Confirmed, |f| {
                copy(f, 0, "by Table 3, simulated", "all append their id, simulated");
            }),
            ("As printed the highest is missed in (k − 1)/n", Confirmed, |f| {
                raise(f, 0, "by Table 3, simulated", |_| 0.5);
            }),
        ],
    ),
    (
        "bully-3-12",
        &[
            ("(a) Process 4 holds", Confirmed, |f| unsend(f, 4, "election")),
            ("(b) 5 and 6 respond", Confirmed, |f| unsend(f, 5, "ok")),
            ("(c) Now 5 and 6", Confirmed, |f| unsend(f, 6, "election")),
            ("(d) Process 6 tells 5", Confirmed, |f| unsend(f, 6, "ok")),
            ("(e) Process 6 wins", Confirmed, |f| unsend(f, 6, "coordinator")),
            ("The living process with the highest", Confirmed, |f| elect(f, 5)),
            ("It takes (k−1)²", Confirmed, |f| unsend(f, 6, "coordinator")),
        ],
    ),
    (
        "ring-6-21",
        &[
            ("The election messages of P_6 and P_3", Confirmed, |f| unsend(f, 2, "election")),
            ("A message goes to the closest", Confirmed, |f| {
                for record in records(f) {
                    if let Event::Send { to: Some(to), .. } = &mut record.event
                        && record.node.0 == 6
                    {
                        *to = NodeId(7);
                    }
                }
            }),
            ("The caller picks the highest", Confirmed, |f| elect(f, 7)),
            ("An election takes 2N", Confirmed, |f| unsend(f, 2, "coordinator")),
        ],
    ),
    (
        "ad-hoc-6-22",
        &[
            ("The tree is built from node a", Confirmed, |f| {
                unsend(f, 5, "election");
                unsend(f, 5, "election");
            }),
            ("A process that hears of the election", Confirmed, |f| unsend(f, 5, "election")),
            ("An Election of another", Confirmed, |f| unsend(f, 2, "ack")),
            ("(f) The best node is reported", Confirmed, |f| elect(f, 8)),
            ("Election and Acknowledgement are all", Refuted, |f| {
                records(f).retain(
            |record| !matches!(&record.event, Event::Send { message, .. } if message == "leader"),
        );
            }),
            ("It takes 2E − V + 1", Confirmed, |f| unsend(f, 9, "leader")),
        ],
    ),
    (
        "hirschberg-sinclair-phases",
        &[
            ("There are phases 0 to 5", Confirmed, |f| {
                // The last phase of the winner is lost, both its probes.
                unsend(f, 16, "probe");
                unsend(f, 16, "probe");
            }),
            ("Fewer candidates proceed", Confirmed, |f| {
                // Somebody who has lost goes on to the last phase as if it had not.
                for phase in [3, 4, 5] {
                    let mut stray = records(f).last().expect("a run has records").clone();
                    stray.node = NodeId(12);
                    for number in 0..2 {
                        stray.event =
                            Event::Command { command: format!("{phase} {number}"), taken: true };
                        records(f).push(stray.clone());
                        let message = "probe".into();
                        stray.event = Event::Send { to: Some(NodeId(0)), message, number };
                        records(f).push(stray.clone());
                    }
                }
            }),
            ("Only the greatest of its", Confirmed, |f| {
                for record in records(f) {
                    record.node = NodeId(16 - record.node.0);
                }
            }),
            ("Tokens travel distance 2^k", Confirmed, |f| {
                // Without their first phase nobody's phases last as long as they should.
                let records = records(f);
                let start = records[0].t;
                records.retain(|record| {
            record.t > start
                || !matches!(&record.event, Event::Send { message, .. } if message == "probe")
        });
            }),
            ("The process with the highest id", Confirmed, |f| elect(f, 15)),
            ("It takes O(n log n)", Confirmed, |f| {
                let sends = records(f).clone();
                records(f).extend([sends.clone(), sends].concat());
            }),
        ],
    ),
    (
        "complexity",
        &[
            ("Bully takes N − 1", Confirmed, |f| {
                raise(f, 0, "bully, the greatest calls, simulated", |_| 2.0);
            }),
            ("If all are alive and P_0 calls", Confirmed, |f| {
                raise(f, 0, "bully, the least calls, simulated", |_| 0.5);
            }),
            ("The ring takes 2N", Confirmed, |f| {
                raise(f, 0, "ring, one calls, simulated", |_| 1.5);
            }),
            ("What Chang and Roberts published", Refuted, |f| {
                copy(f, 0, "ring, one calls, simulated", CHANG);
            }),
            ("Hirschberg-Sinclair takes O(n log n)", Confirmed, |f| {
                raise(f, 0, HIRSCHBERG, libm::sqrt);
            }),
            ("Hirschberg-Sinclair takes at most", Confirmed, |f| raise(f, 0, HIRSCHBERG, |_| 4.0)),
            ("On average over all orders Chang-Roberts", Confirmed, |f| {
                copy(f, 0, HIRSCHBERG, CHANG);
            }),
            ("All the other counts", Confirmed, |f| {
                raise(f, 0, "ad hoc, one calls, E = 2V, simulated", |_| 1.01);
            }),
        ],
    ),
];

#[test]
fn what_errata_say_of_the_figures_of_the_classics_is_their_verdict() {
    assert_eq!(assert_errata_know(&FOUND), 1);
}

#[test]
fn every_verdict_that_is_known_comes_out() {
    assert_known(&FOUND, KNOWN);
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

const ANY: &str = "MEREA, all call in any order, simulated";
const CHANG: &str = "Chang-Roberts, all call, simulated";
const HIRSCHBERG: &str = "Hirschberg-Sinclair, all call, simulated";

#[test]
fn forgeries_turn_every_verdict_round() {
    assert_forgeries_count(&FOUND, KNOWN);
}

/// One run is a matter of records: it is judged with any budget, and is the same in each.
#[test]
fn what_is_told_of_a_run_does_not_depend_on_the_budget() {
    let with_runs: Vec<Figure> =
        figures().into_iter().filter(|figure| figure.run.is_some()).collect();
    assert_eq!(with_runs.len(), 4);
    let budget = Budget { runs: 2, seed: 99, threads: 1, ..Budget::default() };
    let mut bench = Workbench::new(budget);
    for figure in with_runs {
        let small = bench.finding(figure, &mut || ()).expect("it can be simulated");
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
