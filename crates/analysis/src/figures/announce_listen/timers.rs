//! Ours: uniform against exponential timers, and T_A against T_S (sections 5.4.3 and 5.4.4).

use super::sketch::{formula, simulated};
use crate::announce_listen::point;
use crate::figures::evidence::{Margin, above_from, never_below, value};
use crate::figures::tell::{at_least, no_less_by, within};
use crate::figures::{Axis, Claim, Figure, Finding, Kind, Panel};
use crate::inputs::{Inputs, Loss};
use crate::point::{Point, duration};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;

const LARGEST: f64 = 1000.0;
const SIZES: [f64; 10] = [2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, LARGEST];
const SHAPES: [(&str, Shape); 4] = [
    ("uniform", Shape::Uniform),
    ("rising, rate 3", Shape::Rising { rate: 3.0 }),
    ("rising, rate 10", Shape::Rising { rate: 10.0 }),
    ("falling, rate 10", Shape::Falling { rate: 10.0 }),
];
/// So long that nobody announces twice before all have woken.
const T_A: f64 = 2.0;
/// T_A where T_S is 1 s.
const INTERVALS: [f64; 8] = [0.2, 0.3, 0.5, 0.75, 1.0, 1.1, 1.5, 2.0];
/// T_S + Δ of that.
const ENOUGH: f64 = 1.1;
const WATCHED: [(&str, u32); 2] = [("N = 10", 10), ("N = 50", 50)];

pub(super) fn figure() -> Figure {
    Figure {
        title: "LE-S: uniform and exponential timers, and announce intervals below T_S + Δ",
        source: "ours; sections 5.4.3 and 5.4.4",
        says: "Exponential timers lead to fewer messages under certain conditions, says section \
               5.4.3 without naming them, and should be considered where messages are costly. \
               Section 5.4.4 asks for T_A ≥ T_S + Δ, since otherwise regular announcements begin \
               before the leader's first.",
        choices: &[
            "No loss, T_S = 1 s, Δ = .1 s, T_L infinite; T_A = 2 s where N varies.",
            "Where T_A varies there are ten times as many runs: at half of T_S + Δ a thousand \
             cannot tell the difference from chance.",
            "Rising: density ∝ exp(rate·t/T_S), few wake early; falling: its mirror image. The \
             text says exponential and means rising, as in the study it refers to.",
            "The formula is the corrected count of messages in T_S, by numerical integration; with \
             T_A ≥ T_S + Δ and no loss that is all there are until the group agrees.",
        ],
        panels: vec![against_size(false), against_size(true), against_interval()],
        claims,
        ..Figure::BARE
    }
}

fn simulation(shape: Shape, nodes: f64) -> Point {
    point(Variant::LeS, nodes as u32, Loss::None).shape(shape).with("announce", duration(T_A))
}

fn against_size(delay: bool) -> Panel {
    let (measure, quantity) = if delay {
        (Measure::LeadershipDelay, "le-s.leadership-delay")
    } else {
        (Measure::Messages, "le-s.messages-in-suppression")
    };
    let mut series = Vec::new();
    for (hue, (name, shape)) in SHAPES.into_iter().enumerate() {
        let given = |n| Inputs { nodes: n as u32, shape, announce: T_A, ..Inputs::default() };
        series.push(formula(Kind::Corrected, quantity, name, hue, &SIZES, given));
        series.push(simulated(name, hue, measure, &SIZES, |n| simulation(shape, n)));
    }
    let (title, y) = if delay {
        ("delay", Axis::linear("leadership delay", "s"))
    } else {
        ("messages", Axis::log("messages", ""))
    };
    Panel { title, x: Axis::log("processes N", ""), y, series }
}

fn against_interval() -> Panel {
    let mut series = Vec::new();
    for (hue, (name, nodes)) in WATCHED.into_iter().enumerate() {
        let simulation = |announce| {
            let point = point(Variant::LeS, nodes, Loss::None);
            // Small differences are to be seen.
            point.with("announce", duration(announce)).runs(10_000)
        };
        series.push(simulated(name, hue + SHAPES.len(), Measure::Messages, &INTERVALS, simulation));
    }
    let (x, y) = (Axis::linear("T_A/T_S", ""), Axis::linear("messages", ""));
    Panel { title: "uniform timers, short announce intervals", x, y, series }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [messages, delay, intervals] = &finding.panes[..] else { return Vec::new() };
    let [uniform, gentle, steep, falling] = SHAPES.map(|(name, _)| messages.curve(name));
    let [from_gentle, from_steep] = [gentle, steep].map(|curve| above_from(uniform, curve));
    let at = |n: f64| {
        let [uniform, steep, falling] = [uniform, steep, falling].map(|curve| value(curve.at(n)));
        format!("N = {n}: uniform {uniform}, rising {steep}, falling {falling}")
    };
    let [fast, slow] = ["uniform", "rising, rate 10"].map(|name| delay.curve(name).at(100.0));
    let flat = |(name, _): (&str, u32)| {
        let curve = intervals.curve(name);
        let enough = curve.at(ENOUGH);
        let late = curve.dots.iter().filter(|dot| dot.x > ENOUGH);
        let mut tests = vec![at_least(curve.at(0.5), enough)];
        tests.extend(late.flat_map(|dot| within(dot, enough, Margin::Linear.of(enough.y))));
        tests
    };
    let fifty = intervals.curve("N = 50");
    let in_words = [0.2, 0.5, 1.0, ENOUGH, 2.0]
        .map(|x| format!("{} at T_A = {x} T_S", value(fifty.at(x))))
        .join(", ");
    let mut proviso = never_below(falling, uniform);
    for rising in [gentle, steep] {
        let [large, small] = [LARGEST, 2.0].map(|n| (uniform.at(n), rising.at(n)));
        proviso.push(at_least(large.0, large.1));
        proviso.push(no_less_by(small.1, small.0, Margin::Linear.of(small.0.y)));
    }
    let from =
        |size: Option<f64>| size.map_or("nowhere".to_owned(), |n| format!("from N = {n} on"));
    vec![
        Claim::compared(
            "Exponential timers lead to fewer messages under certain conditions: if they are \
             rising and the group is large; not if they are falling, and not in a group of 2.",
            "5.4.3; the conditions are ours",
            "fewer with a thousand processes; no fewer with 2, or falling, give or take 5 %",
            &proviso,
            format!(
                "{}; {}; {}; rising is below uniform {} with rate 3 and {} with rate 10; the delay \
                 at N = 100 is {} s with rate 10, {} s with uniform timers",
                at(2.0),
                at(20.0),
                at(1000.0),
                from(from_gentle),
                from(from_steep),
                value(slow),
                value(fast),
            ),
        ),
        Claim::compared(
            "T_A ≥ T_S + Δ: T_S/2 costs messages, and more than T_S + Δ gains nothing.",
            "5.4.4",
            &format!("nothing is {}", Margin::Linear.in_words()),
            &WATCHED.into_iter().flat_map(flat).collect::<Vec<_>>(),
            format!("N = 50: {in_words}"),
        ),
    ]
}
