//! Figure 4: the factors of the bound and their product against K, and what a round really does.

use super::common::{CALL, FAILURES, SIZE, SUCCESS, TIES, TIMES};
use crate::figures::Verdict;
use crate::figures::evidence::{
    ABOVE, Margin, above_from, lies_above, matched_within, part, value,
};
use crate::figures::tell::{Comparison, at_least, no_less};
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Kind, Panel, Series};
use crate::inputs::{Loss, usual};
use crate::numbers::number;
use crate::point::Point;
use crate::probabilistic::one_round;
use bellwether_sim::Measure;

const NODES: u32 = 10_000;
const VIEW: f64 = 0.4;
const LOSS: f64 = 0.01;
const FAIL: f64 = 0.01;
/// The paper's greatest K.
const MOST: u32 = 65;
/// Where one round is simulated.
const SIMULATED: [u32; 10] = [2, 4, 7, 10, 15, 20, 30, 40, 50, 65];
/// Where the text has E1 and E2 arrive.
const ARRIVED: f64 = 40.0;
/// How near 1 that is.
const UNITY: f64 = 0.99;

const FACTORS: [(&str, &str); 4] = [
    ("E1", "probabilistic.e1"),
    ("E2", "probabilistic.e2"),
    ("E3", "probabilistic.e3"),
    ("E4", "probabilistic.e4"),
];
const BOUND: &str = "bound";
const CEILING: &str = "1 − p_fail";
const ROUND: &str = "one round, simulated";

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "Probabilistic election: the bound on a round's success, and its success",
        source: "probabilistic election, section 4, figure 4",
        says: "view_prob = .4, losses and p_fail of .01, N = 10,000. The bounds on E1 and E2 come \
            close to 1 quickly, at K of about 40. The product peaks at .6, since that on E3 is \
            very pessimistic: success would be much higher where many prefer the same leader.",
        choices: &[
            "The bound on E1 is taken as 0 where it is negative.",
            "Corrected: E1 of the exact distribution, E2 exact for the relay graph's own edges, \
             whole relays in E4; the errata say why. The bound on E3 is as printed: its proof has \
             a gap, and no simulation refutes it.",
            "Simulated is one round of the same K, which is given up if it fails.",
            CALL,
            TIMES,
            FAILURES,
            SIZE,
            TIES,
            SUCCESS,
        ],
        panels: vec![factors(), product()],
        claims,
        ..Figure::BARE
    }
}

fn across() -> Axis {
    Axis::linear("K", "")
}

/// Both forms of a quantity at every K.
fn both(subject: &str, quantity: &str, hue: usize) -> [Series; 2] {
    let at = |k: u32| {
        usual(NODES, |given| {
            (given.k, given.view, given.fail) = (k, VIEW, FAIL);
            (given.unicast_loss, given.multicast_loss) = (LOSS, LOSS);
        })
    };
    [Kind::Printed, Kind::Corrected].map(|kind| {
        let points = (1..=MOST).map(|k| (f64::from(k), at(k)));
        Series::formula((subject, quantity), hue, kind, points)
    })
}

fn factors() -> Panel {
    let series = FACTORS.iter().enumerate();
    let series = series.flat_map(|(hue, (name, quantity))| both(name, quantity, hue)).collect();
    let y = Axis::linear("probability", "");
    Panel { title: "the bounds on E1 to E4", x: across(), y, series }
}

fn product() -> Panel {
    let mut series: Vec<Series> = both(BOUND, "probabilistic.success", 4).into();
    let ceiling = (1..=MOST).map(|k| (f64::from(k), Some(1.0 - FAIL)));
    series.push(Series::line(CEILING, 6, Kind::Corrected, ceiling));
    let point = |k: u32| {
        let point = one_round(NODES, k).loss(Loss::apart(LOSS));
        Point { view: VIEW, fail: FAIL, ..point }
    };
    let points = SIMULATED.iter().map(|k| (f64::from(*k), point(*k)));
    series.push(Series::simulated(ROUND, 5, Measure::StrongSuccess, points));
    let y = Axis::linear("success of a round", "");
    Panel { title: "their product, with E5, and one simulated round", x: across(), y, series }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let printed = |name: &str| finding.printed(name);
    let (bound, corrected) = (printed(BOUND), finding.corrected(BOUND));
    let (round, ceiling) = (finding.curve(ROUND), finding.curve(CEILING));
    let [e1, e2, e3, e4] = FACTORS.map(|(name, _)| printed(name));
    vec![
        arrive(&[e1, e2]),
        peak(bound),
        lowest(bound, e3, &[e1, e2, e4]),
        Claim::compared(
            "It is a lower bound, printed and corrected.",
            "4",
            "no less than that",
            &[bound, corrected].map(|bound| never_below(round, bound)).concat(),
            in_words(round, bound, corrected),
        ),
        Claim::compared(
            "Success is much higher than the bound where many prefer the same leader.",
            "4",
            &format!("{ABOVE}; half as many failures from its peak on"),
            &[lies_above(round, bound), much_higher(round, bound)].concat(),
            in_words(&part(round, |k| k >= 20.0), bound, corrected),
        )
        .explained(
            Verdict::Confirmed,
            &above_from(round, bound)
                .map_or_else(String::new, |k| format!("beyond doubt from K = {k} on")),
        ),
        matched_within(
            "From K = 20 on one round succeeds as often as its leader lives: more relays do not \
             help.",
            "ours",
            Margin::Share,
            "K =",
            &[(&part(round, |k| k >= 20.0), ceiling)],
        ),
    ]
}

/// That one curve is nowhere below another, not even by a margin.
fn never_below(more: &Curve, less: &Curve) -> Vec<Comparison> {
    more.beside(less).map(|(more, less)| at_least(more, less)).collect()
}

/// That factors are close to 1 where the text says so.
fn arrive(factors: &[&Curve]) -> Claim {
    let at: Vec<&Dot> = factors.iter().map(|factor| factor.at(ARRIVED)).collect();
    let name = |curve: &Curve, dot: &Dot| format!("{}: {}", curve.name, number(dot.y));
    let list: Vec<String> = factors.iter().zip(&at).map(|(curve, dot)| name(curve, dot)).collect();
    Claim::judged(
        "The bounds on E1 and E2 are close to 1 at K = 40.",
        "4",
        at.iter().all(|dot| dot.y >= UNITY),
        format!("{}; close is {UNITY} or more", list.join(", ")),
    )
}

/// The bound's greatest value.
fn highest(bound: &Curve) -> Option<&Dot> {
    bound.dots.iter().reduce(|best, dot| if dot.y > best.y { dot } else { best })
}

/// To the one digit that the text has.
fn peak(bound: &Curve) -> Claim {
    let says = "The bound peaks at 0.6.";
    let Some(peak) = highest(bound) else { return Claim::open(says, "4", "there is no bound") };
    let because = format!("{} at K = {}", number(peak.y), peak.x);
    Claim::judged(says, "4", (0.55..0.65).contains(&peak.y), because)
}

/// That one factor is below all others, where the product is greatest and beyond.
fn lowest(bound: &Curve, least: &Curve, others: &[&Curve]) -> Claim {
    let says = "That is because the bound on E3 is very pessimistic.";
    let Some(peak) = highest(bound) else { return Claim::open(says, "4", "there is no bound") };
    let beyond = |dot: &&Dot| dot.x >= peak.x;
    let below = |dot: &Dot| others.iter().all(|other| dot.y < other.at(dot.x).y);
    let list: Vec<String> = others
        .iter()
        .chain([&least])
        .map(|curve| format!("{} {}", curve.name, number(curve.at(peak.x).y)))
        .collect();
    let because = format!("at its peak, K = {}: {}", peak.x, list.join(", "));
    Claim::judged(says, "4", least.dots.iter().filter(beyond).all(below), because)
}

/// Half of what the bound leaves to chance at its peak and beyond, at least, is no failure.
fn much_higher(round: &Curve, bound: &Curve) -> Vec<Comparison> {
    let from = highest(bound).map_or(0.0, |dot| dot.x);
    let beyond = round.beside(bound).filter(|(mine, _)| mine.x >= from);
    beyond.map(|(mine, bound)| no_less(mine, 0.5 + 0.5 * bound.y)).collect()
}

fn in_words(round: &Curve, bound: &Curve, corrected: &Curve) -> String {
    let at = |dot: &Dot| {
        let [bound, corrected] = [bound, corrected].map(|bound| bound.at(dot.x).y);
        format!("{} against {bound:.3} ({corrected:.3}) at K = {}", value(dot), dot.x)
    };
    let list: Vec<String> = round.dots.iter().map(at).collect();
    format!("simulated against the bound (corrected): {}", list.join(", "))
}
