//! Ours: the part of the time that false departures leave a group without agreement (sections
//! 5.3.4 and 5.4.4).

use super::reestablishment_delay::MODELS;
use super::sketch::{formulas, simulated};
use crate::announce_listen::point;
use crate::figures::evidence::{Margin, equal, value};
use crate::figures::tell::{Comparison, no_less, no_more};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Panel};
use crate::inputs::{Inputs, Loss};
use crate::point::Point;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};

const N: u32 = 20;
/// T_L where the loss varies: k T_A with "a small integer value" k.
pub(super) const T_L: f64 = 3.0;
/// The loss where T_L varies.
const L: f64 = 0.4;
const LOSSES: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
const LISTENS: [f64; 12] = [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
const LISTENS_LOSSLESS: [f64; 5] = [0.5, 0.75, 1.0, 1.5, 2.0];
const FRACTION: Measure = Measure::InconsistentFraction;
const QUANTITY: &str = "le-s.inconsistent-fraction.false-departure";

pub(super) fn figure() -> Figure {
    Figure {
        title: "Part of the time that false departures leave 20 processes without agreement",
        source: "ours; the formulas are those of section 5.3.4",
        says: "The chapter gives 1 − T_L/T_A without loss, and with it 1 − T_L/(T_A·(E[# lost in a \
               row] + 1)), and concludes that false departures are avoided on average by T_L ≥ T_A \
               without loss and by T_L > T_A·E[# lost in a row] with it. It draws no figure.",
        choices: &[
            "N = 20, LE-S, T_S = T_A = 1 s, Δ = .1 s; no loss is the point at 0.",
            "Against loss T_L = 3 T_A; against T_L the loss is .4.",
            "20 runs of 5000 announce intervals, or the number asked for in proportion: nothing \
             but losses disturbs them, and 100,000 intervals in which it may are more than the \
             text's 1000 runs of one event.",
        ],
        panels: vec![against_loss(), against_listen()],
        claims,
        ..Figure::BARE
    }
}

/// A group that nothing disturbs but losses. As precise as a thousand runs of a hundred seconds.
pub(super) fn false_departures(loss: Loss, listen: f64) -> Point {
    let point = point(Variant::LeS, N, loss).listen(listen).runs(20);
    point.scenario(Scenario::FalseDeparture, 5000.0)
}

fn given(loss: Loss, listen: f64) -> Inputs {
    Inputs { nodes: N, loss, listen, ..Inputs::default() }
}

fn against_loss() -> Panel {
    let mut series = Vec::new();
    for (name, hue, loss) in MODELS {
        series.extend(formulas(QUANTITY, name, hue, &LOSSES, |l| given(loss(l), T_L)));
        let simulation = |l| false_departures(loss(l), T_L);
        series.push(simulated(name, hue, FRACTION, &LOSSES, simulation));
    }
    let (x, y) = (Axis::linear("loss l", ""), Axis::linear("inconsistent fraction", ""));
    Panel { title: "T_L = 3 T_A", x, y, series }
}

fn against_listen() -> Panel {
    let mut series = Vec::new();
    let models = [("correlated", 0, Loss::together(L)), ("uncorrelated", 1, Loss::apart(L))];
    for (name, hue, loss) in models {
        series.extend(formulas(QUANTITY, name, hue, &LISTENS, |listen| given(loss, listen)));
        let simulation = |listen| false_departures(loss, listen);
        series.push(simulated(name, hue, FRACTION, &LISTENS, simulation));
    }
    // Without loss nothing is random.
    let simulation = |listen| false_departures(Loss::None, listen).runs(2);
    series.push(simulated("no loss", 2, FRACTION, &LISTENS_LOSSLESS, simulation));
    let (x, y) = (Axis::linear("T_L/T_A", ""), Axis::linear("inconsistent fraction", ""));
    Panel { title: "l = .4, and no loss", x, y, series }
}

/// That the curve is zero, as nearly as one can see, from this x on.
fn vanishes(curve: &Curve, from: f64) -> Vec<Comparison> {
    curve
        .dots
        .iter()
        .filter(|dot| dot.x >= from)
        .map(|dot| no_more(dot, Margin::Share.of(0.0)))
        .collect()
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [_, listen] = &finding.panes[..] else { return Vec::new() };
    let (together, apart) = (listen.curve("correlated"), listen.curve("uncorrelated"));
    let lossless = listen.curve("no loss");
    let in_words = |x: f64| {
        let numbers = (value(together.at(x)), value(apart.at(x)));
        format!("T_L = {x} T_A: {} correlated, {} uncorrelated", numbers.0, numbers.1)
    };
    let printed = listen.curve("correlated, printed");
    let mut avoided = vanishes(lossless, 1.0);
    avoided.push(no_less(lossless.at(0.5), Margin::Share.of(0.0)));
    let asked = format!("no time at all is {}", Margin::Share.in_words());
    vec![
        Claim::compared(
            "Without loss T_L ≥ T_A avoids false departures.",
            "5.3.4, 5.4.4",
            &asked,
            &avoided,
            format!(
                "{} of the time at T_L = .5 T_A, {} at T_A",
                value(lossless.at(0.5)),
                value(lossless.at(1.0)),
            ),
        ),
        Claim::compared(
            "With loss T_L > T_A·E[# lost in a row] avoids them on average; at l = .4 that is \
             T_L > .67 T_A.",
            "5.4.4",
            &asked,
            &[vanishes(together, 1.0), vanishes(apart, 1.0)].concat(),
            [1.0, 2.0, 5.0].map(in_words).join("; "),
        ),
        Claim::compared(
            "With correlated loss the inconsistent fraction is 1 − T_L(1 − l)/T_A.",
            "5.3.4",
            &Margin::Share.equal(),
            &equal(together, printed, Margin::Share),
            format!(
                "at T_L = 3 T_A that is {}, a negative part of the time; simulated {}",
                value(printed.at(3.0)),
                value(together.at(3.0)),
            ),
        ),
    ]
}
