//! What an election costs by each protocol: messages against N, and time and space beside them.

use super::common::{STEADY, growth_per_process};
use super::costs;
use crate::figures::evidence::{
    Margin, above, bounded, equal, matched, matched_within, part, scaled, value,
};
use crate::figures::series::{known, named};
use crate::figures::tell::at_least;
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Kind, Law, Panel, Series};
use crate::inputs::{ValidInputs, usual};
use crate::numbers::number;
use crate::point::Point;
use bellwether_sim::Measure;
use bellwether_sim::terrain::PAIRED_MAX;

const SIZES: [u32; 9] = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000];

/// No point is made of more messages than this, all runs together.
const AFFORDABLE: f64 = 1.2e7;

/// One protocol in one case.
#[derive(Clone, Copy, Debug)]
struct Subject {
    name: &'static str,
    hue: usize,
    quantity: &'static str,
    all_call: bool,
    drawn: bool,
}

const fn subject(name: &'static str, hue: usize, quantity: &'static str) -> Subject {
    Subject { name, hue, quantity, all_call: false, drawn: true }
}

const BULLY: Subject = subject("bully, the least calls", 0, "bully.messages.all-alive");
const RING_ALL: Subject =
    Subject { all_call: true, ..subject("ring, all call", 1, "ring.messages") };
const HIRSCHBERG: Subject =
    subject("Hirschberg-Sinclair, all call", 2, "hirschberg-sinclair.messages.mean");
const CHANG: Subject = subject("Chang-Roberts, all call", 3, "chang-roberts.messages.mean");
const MEREA: Subject = subject("MEREA, all call", 4, "merea.messages.mean");
const AD_HOC: Subject = subject("ad hoc, one calls, E = 2V", 5, "ad-hoc.messages.total");
const RING_ONE: Subject = subject("ring, one calls", 6, "ring.messages");
const RECOVERY: Subject = subject("bully, the greatest calls", 7, "bully.messages.recovery");
const DRAWN: [Subject; 8] = [BULLY, RING_ALL, HIRSCHBERG, CHANG, MEREA, AD_HOC, RING_ONE, RECOVERY];

/// What no order exceeds; for a claim.
const BOUND: Subject = Subject {
    drawn: false,
    ..subject("Hirschberg-Sinclair, bound", 2, "hirschberg-sinclair.messages.bound")
};
const HIDDEN: [Subject; 1] = [BOUND];

impl Subject {
    fn at(&self, nodes: u32) -> ValidInputs {
        usual(nodes, |given| given.initiators = self.all_call.then_some(nodes))
    }

    fn series(&self) -> Vec<Series> {
        let quantity = known(self.quantity);
        let value = |nodes: u32| (quantity.corrected)(&self.at(nodes)).ok();
        let lines = SIZES.iter().map(|nodes| (f64::from(*nodes), value(*nodes)));
        let kind = Kind::Corrected;
        let line = Series::line(named(self.name, kind), self.hue, kind, lines);
        if !self.drawn {
            return vec![line.hidden()];
        }
        let point = |nodes: u32| {
            let (point, _) = (quantity.simulation)(&self.at(nodes))?;
            let runs = affordable(&point, value(nodes)?)?;
            // Networks are drawn from all pairs.
            let drawable = nodes <= PAIRED_MAX || !self.quantity.starts_with("ad-hoc");
            drawable.then(|| (f64::from(nodes), point.runs(runs).seed(1)))
        };
        let points = SIZES.into_iter().filter_map(point);
        let name = named(self.name, Kind::Simulated);
        vec![line, Series::simulated(name, self.hue, Measure::Messages, points)]
    }
}

/// How many runs of so many messages there can be, if there can be two.
fn affordable(point: &Point, messages: f64) -> Option<u64> {
    let runs = (AFFORDABLE / messages) as u64;
    (runs >= 2).then(|| point.runs.min(runs).min(100))
}

/// The figure.
pub(super) fn figure() -> Figure {
    let series = DRAWN.iter().chain(&HIDDEN).flat_map(Subject::series).collect();
    let (across, up) = (Axis::log("processes N", ""), Axis::log("messages", ""));
    Figure {
        title: "What an election costs: messages of all protocols against the number of processes",
        source: "ours; the lecture's and the papers' counts beside each other",
        says: "How many messages does each protocol take, up to a hundred thousand processes? How \
            long, and what does a process have to remember? The lecture names message, time and \
            space complexity as the costs of an election, and leaves some counts for exercise.",
        choices: &[
            "All are alive, nothing is lost, messages take .1 s, or 10 ms in a network. Rings on \
             which all call stand in any order; the ad hoc network is random, with two links for \
             each process.",
            "Chang-Roberts and MEREA take the same number of messages on average, n·H_n + n: one \
             lets the greatest id survive, the other the oldest call.",
            "No point has more than 12 million messages, all runs together: beyond that there is \
             the formula alone. Random networks are simulated up to 5000 processes.",
            "Where nothing is random there are two runs, and otherwise up to 100, or the number \
             asked for in the same proportion.",
        ],
        panels: vec![Panel { title: "", x: across, y: up, series }],
        tables: vec![costs::table()],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |subject: Subject| finding.simulated(subject.name);
    let corrected = |subject: &Subject| finding.corrected(subject.name);
    let matches = |subject: &Subject| (of(*subject), corrected(subject));
    vec![
        exact(
            "Bully takes N − 1 messages in the best case, when the leader recovers.",
            "lecture, bully: message complexity",
            &[matches(&RECOVERY)],
        ),
        exact(
            "If all are alive and P_0 calls it takes N² − 1.",
            "ours; the lecture leaves it for exercise",
            &[matches(&BULLY)],
        ),
        exact(
            "The ring takes 2N messages, always, with one election in progress.",
            "lecture, LCR: message complexity",
            &[matches(&RING_ONE)],
        ),
        matched(
            "What Chang and Roberts published takes 2N messages, always.",
            "lecture, LCR: background, message complexity",
            &[(of(CHANG), corrected(&RING_ONE))],
        ),
        n_log_n(&often(of(HIRSCHBERG))),
        bounded(
            "Hirschberg-Sinclair takes at most 8n(1 + ⌈log₂ n⌉) messages.",
            "ours, of the lecture's O(n log n)",
            &[(corrected(&BOUND), &often(of(HIRSCHBERG)))],
        ),
        above(
            "On average over all orders Chang-Roberts takes fewer messages than \
             Hirschberg-Sinclair.",
            "ours",
            &[(&often(of(HIRSCHBERG)), of(CHANG))],
        ),
        other_counts(finding),
    ]
}

/// Claims that the counts of the other protocols are right: those that depend on the order of the
/// ring as a logarithmic axis is read, and those that do not to the letter.
fn other_counts(finding: &Finding) -> Claim {
    let of = |subject: Subject| (finding.simulated(subject.name), finding.corrected(subject.name));
    let [random, fixed] = [&[HIRSCHBERG, CHANG, MEREA][..], &[RING_ALL, AD_HOC]]
        .map(|all| all.iter().copied().map(of));
    let (mut tests, mut list) = (Vec::new(), Vec::new());
    for (counted, formula) in random {
        tests.extend(equal(&often(counted), formula, Margin::Log));
        list.push(farthest(counted, formula));
    }
    for (counted, formula) in fixed {
        tests.extend(equal(&the_same(counted), formula, Margin::Exact));
        list.push(farthest(counted, formula));
    }
    let asked = "equal is within 10 %, as a logarithmic axis is read, and to the letter where \
        every network takes as many";
    let says = "All the other counts are what is sent, too.";
    Claim::compared(says, "ours", asked, &tests, list.join(". "))
}

/// Where a count is farthest from its formula, in a sentence.
fn farthest(counted: &Curve, formula: &Curve) -> String {
    let apart = |(mine, form): &(&Dot, &Dot)| (mine.y / form.y - 1.0).abs();
    let worst = counted.beside(formula).max_by(|a, b| apart(a).total_cmp(&apart(b)));
    worst.map_or_else(
        || format!("{}: nothing to compare", counted.name),
        |(mine, form)| {
            let (name, x) = (&formula.name, mine.x);
            format!("{name}: farthest at N = {x}, {} sent for {}", value(mine), number(form.y))
        },
    )
}

/// The counts of runs that all took as many, as what they are: not random. What differs from run to
/// run stays random.
fn the_same(curve: &Curve) -> Curve {
    let mut curve = curve.clone();
    curve.dots.iter_mut().for_each(|dot| dot.origin.law = Law::Fixed);
    curve
}

/// Claims a count, to the letter.
fn exact(says: &'static str, section: &'static str, pairs: &[(&Curve, &Curve)]) -> Claim {
    matched_within(says, section, Margin::Exact, "N =", pairs)
}

/// The points that have more than a handful of runs, and so an error that is known.
fn often(curve: &Curve) -> Curve {
    part(curve, |nodes| nodes <= 10_000.0)
}

/// Messages over n log₂ n do not grow.
fn n_log_n(hirschberg: &Curve) -> Claim {
    let law = |nodes: f64| nodes * libm::log2(nodes);
    let (says, section) =
        ("Hirschberg-Sinclair takes O(n log n) messages.", "lecture, HS: background");
    let (Some([first, last, _]), [start, .., end]) =
        (growth_per_process(hirschberg, law), &hirschberg.dots[..])
    else {
        return Claim::open(says, section, "there is nothing to compare");
    };
    let because = format!(
        "{} times n log₂ n at N = {}, {} times at N = {}",
        number(first),
        start.x,
        number(last),
        end.x
    );
    let [start, end] = [start, end].map(|dot| scaled(dot, 1.0 / law(dot.x)));
    let test = at_least(&scaled(&start, STEADY), &end);
    Claim::compared(says, section, "a growth of at most 5 %", &[test], because)
}
