//! MEREA's Table 3, run as it is printed: how often the highest process is missed.

use super::records::elected;
use crate::figures::evidence::{Margin, matched_within, value};
use crate::figures::series::named;
use crate::figures::tell::no_more;
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Kind, Law, Panel, Series, Trial};
use crate::inputs::usual;
use crate::point::Point;
use bellwether_core::{Duration, Entropy};
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Fault, Order, RunSeed, ScenarioFile, StreamPurpose, Timed, Who};

/// How many processes there are.
const NODES: u32 = 10;

const PRINTED: &str = "by Table 3";
const CORRECTED: &str = "all append their id";

/// The figure.
pub(super) fn figure() -> Figure {
    let line = |name: &str, hue, kind| {
        let at = |k: u32| (f64::from(k), usual(NODES, |given| given.initiators = Some(k)));
        Series::formula((name, "merea.wrong-leader"), hue, kind, (1..=NODES).map(at))
    };
    let measured = |subject: &str, hue, name, run| {
        let trial = |k: u32| {
            (
                f64::from(k),
                Trial { name, argument: k, runs: 1000, messages: 100, law: Law::Chance, run },
            )
        };
        Series::measured(named(subject, Kind::Simulated), hue, (1..=NODES).map(trial))
    };
    let series = vec![
        line(PRINTED, 0, Kind::Printed),
        measured(PRINTED, 0, "merea-table-3 as printed", |k, seed, run| missed(true, k, seed, run)),
        line(CORRECTED, 1, Kind::Corrected),
        measured(CORRECTED, 1, "merea-table-3 corrected", |k, seed, run| {
            missed(false, k, seed, run)
        }),
    ];
    let (across, up) =
        (Axis::linear("processes that call an election", ""), Axis::linear("highest missed", ""));
    Figure {
        title: "MEREA's Table 3 as printed: how often the highest process is not elected",
        source: "MEREA, Table 3; the paper has no figure of it",
        says: "Table 3 says what a process does with an election message. If it has called an \
            election itself, it destroys a younger message; `append PID` stands in the other \
            branch. So a process that has called an election and lets an older message pass is \
            not in its list. The paper requires that the process with the highest id be elected.",
        choices: &[
            "Ten processes, all alive, in any order on the ring. So many call, each at a time of \
             its own within one hop, before any has heard of another.",
            "The dotted line is how often the rule as printed misses the highest, (k − 1)/n.",
            "scenarios/merea-as-printed.toml is one such run, and scenarios/merea.toml the same \
             with the rule corrected.",
            "1000 runs at every point, or the number asked for.",
        ],
        panels: vec![Panel { title: "", x: across, y: up, series }],
        claims,
        ..Figure::BARE
    }
}

/// Whether the highest is missed if so many call: 1 or 0.
fn missed(as_printed: bool, callers: u32, seed: u64, run: u64) -> Option<f64> {
    let protocol = Variant::Merea.name();
    let point = Point::new(protocol, NODES).order(Order::Random).with("as-printed", as_printed);
    let hop = point.delay;
    let experiment = point.experiment(1).ok()?;
    let run_seed = RunSeed::new(seed, run);
    let (mut plan, _) = experiment.plan(run_seed);
    let mut luck = run_seed.world(StreamPurpose::Caller(9));
    let mut calls: Vec<(Duration, u32)> =
        (0..NODES).map(|node| (Duration::from_nanos(luck.below(hop.as_nanos())), node)).collect();
    // Those who call are the first of all to notice.
    calls.sort_unstable();
    calls.truncate(callers as usize);
    let campaign = |(at, node)| Timed { at, fault: Fault::Campaign { node: Who::Node(node) } };
    plan.faults = calls.into_iter().map(campaign).collect();
    let (choice, protocol) = (experiment.choice, protocol.to_owned());
    let file = ScenarioFile::of(String::new(), protocol, choice, plan, seed);
    // Every run of one seed draws its own numbers.
    let leader = elected(&file.trace(luck.below(u64::MAX)))?;
    Some(f64::from(u8::from(leader != u64::from(NODES - 1))))
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [printed, corrected] = [PRINTED, CORRECTED].map(|name| finding.simulated(name));
    let asked = format!("never missed is {}", Margin::Share.in_words());
    let highest = |says, section, curve: &Curve| {
        let worst = curve.dots.iter().max_by(|a, b| a.y.total_cmp(&b.y));
        let because = worst.map_or("nothing was run".to_owned(), |dot| {
            format!("it is missed in {} of all runs if {} of {NODES} call", value(dot), dot.x)
        });
        let tests: Vec<_> =
            curve.dots.iter().map(|dot| no_more(dot, Margin::Share.of(0.0))).collect();
        Claim::compared(says, section, &asked, &tests, because)
    };
    vec![
        highest(
            "The process with the highest id is elected, by the rule of Table 3 as printed.",
            "3, Table 3",
            printed,
        ),
        highest(
            "It is, if every process that lets a message pass appends its id.",
            "ours",
            corrected,
        ),
        matched_within(
            "As printed the highest is missed in (k − 1)/n of all cases, k of n calling.",
            "ours",
            Margin::Share,
            "k =",
            &[(printed, finding.printed(PRINTED))],
        ),
    ]
}
