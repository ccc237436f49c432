//! Ours: the part of the time without agreement while processes come and go (section 5.3.4).

use super::sketch::{formula, simulated};
use crate::announce_listen::point;
use crate::figures::evidence::{ABOVE, Margin, equal, lies_above, value};
use crate::figures::tell::{Comparison, at_least, no_less_by};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Kind, Panel, Points, Series};
use crate::inputs::{Inputs, Loss};
use crate::point::Point;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Churn, Measure, Scenario};

const N: u32 = 20;
const T_L: f64 = 5.0;
/// Departures per second, and arrivals per second.
const RATES: [f64; 4] = [0.01, 0.02, 0.05, 0.1];
/// Departures, and arrivals, of one run: few beside N, so that the group stays as large as it is.
const EVENTS: f64 = 10.0;
const PARTS: [&str; 2] =
    ["le-s.inconsistent-fraction.departures", "le-s.inconsistent-fraction.joiners"];

pub(super) fn figure() -> Figure {
    Figure {
        title: "Part of the time without agreement while 20 processes come and go",
        source: "ours; the formulas are those of section 5.3.4",
        says: "The chapter adds up what each departure and each arrival costs: the delay of the \
               one divided by the time between departures, and that of the other by the time \
               between arrivals. It counts every departure from the system, and draws no figure.",
        choices: &[
            "N = 20 at first, no loss, T_S = T_A = 1 s, Δ = .1 s, T_L = 5 s.",
            "As many arrive as depart, each at random times; a run lasts for ten of either, so \
             that the group stays about as large as it was. 250 runs of twenty events each, or \
             the number asked for in proportion: more than the text's 1000 runs of one event.",
            "Anybody departs, and anybody that is not there arrives; of 40 ids 20 are there at \
             first.",
            "Corrected: only the leader's departures count, one in N; a joiner is greater than all \
             with probability 1/(N + 1).",
            "Bye: a leader that departs says so once.",
        ],
        panels: vec![panel()],
        claims,
        ..Figure::BARE
    }
}

fn simulation(variant: Variant, rate: f64, byes: u32) -> Point {
    let churn = Churn { departures: rate, arrivals: rate };
    let point = point(variant, N, Loss::None).listen(T_L).runs(250);
    point.scenario(Scenario::Churn(churn), EVENTS / rate).with("bye-copies", byes)
}

/// What departures and joiners cost together.
fn sum(kind: Kind) -> Series {
    let given = |rate| Inputs {
        nodes: N,
        listen: T_L,
        departures: rate,
        arrivals: rate,
        ..Inputs::default()
    };
    let [departures, joiners] = PARTS.map(|part| formula(kind, part, "LE-S", 1, &RATES, given));
    let values = |series: &Series| match &series.points {
        Points::Formula(_, points) => points.clone(),
        Points::Simulated(..) | Points::Measured(_) => Vec::new(),
    };
    let pairs = values(&departures).into_iter().zip(values(&joiners));
    let points = pairs.map(|((rate, one), (_, other))| (rate, one + other)).collect();
    Series { points: Points::Formula(kind, points), ..departures }
}

fn panel() -> Panel {
    let measure = Measure::InconsistentFraction;
    let variants = [
        ("LE-A", 0, Variant::LeA, 0),
        ("LE-S", 1, Variant::LeS, 0),
        ("LE-M", 2, Variant::LeM, 0),
        ("LE-S with Bye", 3, Variant::LeS, 1),
    ];
    let measured = variants.map(|(name, hue, variant, byes)| {
        simulated(name, hue, measure, &RATES, |rate| simulation(variant, rate, byes))
    });
    let series = [sum(Kind::Printed), sum(Kind::Corrected)].into_iter().chain(measured).collect();
    let x = Axis::log("departures, and arrivals, per second", "1/s");
    Panel { title: "", x, y: Axis::log("inconsistent fraction", ""), series }
}

/// That the last point lies above the first, and none below the one before it by more than a tenth.
fn rises(curve: &Curve) -> Vec<Comparison> {
    let [first, .., last] = &curve.dots[..] else { return Vec::new() };
    let steps = curve.dots.windows(2);
    let mut tests: Vec<_> =
        steps.map(|pair| no_less_by(&pair[1], &pair[0], Margin::Log.of(pair[0].y))).collect();
    tests.push(at_least(last, first));
    tests
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [le_s, printed] = ["LE-S", "LE-S, printed"].map(|name| finding.curve(name));
    let [le_a, le_m, bye] = ["LE-A", "LE-M", "LE-S with Bye"].map(|name| finding.curve(name));
    let corrected = finding.curve("LE-S, corrected");
    let near = |name: &str| value(finding.curve(name).at(0.01));
    let off = le_s.beside(corrected).map(|(dot, line)| (dot.y / line.y - 1.0).abs());
    let off = off.fold(0.0, f64::max);
    let at = |rate: f64| {
        let [le_a, le_s, le_m, bye] = [le_a, le_s, le_m, bye].map(|curve| value(curve.at(rate)));
        format!("{rate} a second: LE-A {le_a}, LE-S {le_s}, LE-M {le_m}, LE-S with Bye {bye}")
    };
    vec![
        Claim::compared(
            "The inconsistent fraction is the re-establishment delay times the rate of departures \
             from the system, and the same for arrivals.",
            "5.3.4",
            &Margin::Log.equal(),
            &equal(le_s, printed, Margin::Log),
            format!(
                "LE-S at .01 a second: printed {}, simulated {}; counting the leader's departures \
                 alone {}, never off by more than {:.0} %",
                near("LE-S, printed"),
                near("LE-S"),
                near("LE-S, corrected"),
                100.0 * off,
            ),
        ),
        Claim::compared(
            "The inconsistent fraction grows with the rates of arrival and departure.",
            "5.4.4",
            "more at the end, and nowhere less than before by more than 10 %",
            &[le_a, le_s, le_m, bye].map(rises).concat(),
            format!("{}; {}", at(0.01), at(0.1)),
        ),
        Claim::compared(
            "Explicit Byes decrease the time without agreement.",
            "5.7",
            ABOVE,
            &lies_above(le_s, bye),
            at(0.05),
        ),
    ]
}
