//! How often leadership is lost because messages are, with one request in a lease and with several.

use crate::figures::evidence::{Margin, matched_within, value};
use crate::figures::series::{known, named};
use crate::figures::tell::{at_least, no_less, no_more};
use crate::figures::{Axis, Claim, Figure, Finding, Kind, Panel, Series};
use crate::inputs::{Loss, ValidInputs, usual};
use crate::local_leader::point_of;
use crate::numbers::number;
use bellwether_sim::{Measure, Scenario};

/// The losses at which the printed protocol is simulated.
const SMALL: [f64; 7] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
/// Those at which the corrected protocol loses its leader often enough to be seen.
const LARGE: [f64; 4] = [0.3, 0.35, 0.4, 0.5];
/// Those at which formulas are drawn for it.
const DRAWN: [f64; 7] = [0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5];
const NODES: u32 = 5;
/// How long each run is watched, in seconds.
const WATCHED: f64 = 60.0;
const QUANTITY: &str = "local-leader.losses-per-hour";

const ONE: &str = "one request in a lease";
const SEVERAL: &str = "several (C6)";

/// Runs at a budget of a thousand: the more, the more seldom leadership is lost.
fn runs(as_published: bool, loss: f64) -> u64 {
    match (as_published, loss) {
        (true, ..=0.001) => 1000,
        (true, ..=0.002) => 500,
        (true, ..=0.005) => 300,
        (false, ..=0.3) => 2000,
        (false, ..=0.35) => 400,
        _ => 200,
    }
}

fn at(loss: f64) -> ValidInputs {
    usual(NODES, |given| {
        (given.delay, given.loss) = (0.001, Loss::apart(loss));
    })
}

pub(super) fn figure() -> Figure {
    let simulated = |as_published: bool, losses: &[f64]| -> Vec<_> {
        let point = |loss: &f64| {
            let point = point_of(&at(*loss), as_published);
            let runs = runs(as_published, *loss);
            (*loss, point.scenario(Scenario::Start, WATCHED).runs(runs))
        };
        losses.iter().map(point).collect()
    };
    let line = |name, hue, kind, losses: &[f64]| {
        let form = match kind {
            Kind::Printed => known(QUANTITY).printed,
            _ => known(QUANTITY).corrected,
        };
        let values = losses.iter().map(|loss| (*loss, form(&at(*loss)).ok()));
        Series::line(named(name, kind), hue, kind, values)
    };
    let markers = |name, hue, points: Vec<_>| {
        let measure = Measure::LeadershipLossesPerHour;
        Series::simulated(named(name, Kind::Simulated), hue, measure, points.into_iter())
    };
    let series = vec![
        line(ONE, 0, Kind::Printed, &SMALL),
        markers(ONE, 0, simulated(true, &SMALL)),
        line(SEVERAL, 1, Kind::Corrected, &DRAWN),
        markers(SEVERAL, 1, simulated(false, &LARGE)),
    ];
    let (x, y) = (Axis::log("loss", ""), Axis::log("losses of leadership", "per hour"));
    Figure {
        title: "How often a leader is lost because messages are",
        source: "ours; the correction C6 of Fetzer and Cristian's protocol",
        says: "As printed there is one renewal in a lease, and all must answer it. As corrected a \
            leader asks again while its lease runs, and a majority is enough.",
        choices: &[
            "Five processes, messages of 1 ms, each lost for itself; the constants of the preset \
             `lan`, with which a lease has room for five requests. The printed lockTime is a \
             little longer.",
            "Below a loss of .3 the corrected protocol loses its leader too seldom to be seen.",
        ],
        panels: vec![Panel { title: "", x, y, series }],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let simulated = finding.simulated(ONE);
    let (worst, seldom) = (simulated.at(0.01), finding.simulated(SEVERAL).at(0.3));
    let several = (known(QUANTITY).corrected)(&at(0.1)).unwrap_or(f64::MAX);
    vec![
        Claim::compared(
            "One renewal in a lease loses a leader of five more than a thousand times in an hour \
             if 1 % is lost.",
            "ours, of section VIII",
            "so often or more",
            &[no_less(worst, 1000.0)],
            format!("{} in an hour", number(worst.y)),
        ),
        matched_within(
            "It follows from the chance that all answer one request, at losses from .001 to .1.",
            "ours",
            Margin::Log,
            "loss =",
            &[(simulated, finding.printed(ONE))],
        ),
        Claim::judged(
            "By the formula alone, with several requests a leader of five is lost less than once \
             in an hour if 10 % is lost.",
            "ours, C6",
            several < 1.0,
            format!(
                "{several:.1e} in an hour; the formula is an approximation, and the figure \
                 simulates it from a loss of .3 on"
            ),
        ),
        Claim::compared(
            "With several requests and a loss of .3 a leader is lost less often than with one and \
             a loss of .01.",
            "ours, C6",
            "less, at any margin",
            &[at_least(worst, seldom)],
            format!("{} and {} in an hour", value(seldom), value(worst)),
        ),
        of_several(finding),
    ]
}

/// By what factor the formula may be off: [`Renewal`](crate::plan::lease::Renewal) says what it
/// leaves out.
const FACTOR: f64 = 1.5;

/// Whether the formula of several requests tells what is simulated.
fn of_several(finding: &Finding) -> Claim {
    let (simulated, formula) = (finding.simulated(SEVERAL), finding.corrected(SEVERAL));
    let mut tests = Vec::new();
    let mut list = Vec::new();
    for dot in &simulated.dots {
        let expected = formula.at(dot.x).y;
        tests.extend([no_less(dot, expected / FACTOR), no_more(dot, expected * FACTOR)]);
        list.push(format!("{} and {} at {}", value(dot), number(expected), dot.x));
    }
    Claim::compared(
        "With several requests it follows from the chance that too few answer all requests of a \
         lease, at losses from .3 to .5.",
        "ours, C6",
        "within a factor of 1.5",
        &tests,
        format!("simulated and by the formula, in an hour: {}", list.join(", ")),
    )
}
