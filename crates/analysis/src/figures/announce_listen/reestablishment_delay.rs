//! Ours: how long a disturbed group takes to agree again, against loss (section 5.3.2).

use super::inconsistent_fraction::{T_L, false_departures};
use super::sketch::{formula, formulas, simulated};
use crate::announce_listen::point;
use crate::figures::evidence::{Margin, equal, value};
use crate::figures::tell::{Comparison, within};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Kind, Pane, Panel, Verdict};
use crate::inputs::{Inputs, Loss};
use crate::point::Point;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};

/// The size of the group before the event.
const N: u32 = 20;
/// T_L where the leader departs: .7³⁰ is two in a hundred thousand, so nobody gives up falsely.
const LONG: f64 = 30.0;
const LOSSES: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
/// Without loss nobody gives up falsely; with more than this somebody always has.
const LOSSES_FALSE: [f64; 6] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const DELAY: Measure = Measure::ReestablishmentDelay;

/// A model of loss: its name, and the loss of a given rate.
pub(super) type Model = (&'static str, usize, fn(f64) -> Loss);
pub(super) const MODELS: [Model; 2] =
    [("correlated", 0, Loss::together), ("uncorrelated", 1, Loss::apart)];

pub(super) fn figure() -> Figure {
    Figure {
        title: "Time until a disturbed group of 20 agrees again, against loss",
        source: "ours; the formulas are those of section 5.3.2",
        says: "The chapter derives the delay after four disturbances and draws none of them. It \
               finds that loss does not change the delay after a departure in either model; \
               that a greater joiner needs as long as a start; that a smaller joiner waits for \
               the leader's next announcement, or, with uncorrelated loss, until all would have \
               heard one; and that a false departure lasts for the announcements lost in a row, \
               one more, less T_L.",
        choices: &[
            "N = 20 before the event, T_S = T_A = 1 s, Δ = .1 s; no loss is the point at 0.",
            "Departure: T_L = 30 s, so long that nobody gives the leader up falsely even at .7.",
            "False departure: T_L = 3 s, as in our figure of the inconsistent fraction, and its 20 \
             runs of 5000 announce intervals, which are more than the text's 1000 runs of one \
             event, though at small losses few of them bring a false departure.",
            "Joiners: T_L is infinite.",
            "Events happen at any moment of the announce interval: E[t_d] = E[t_a] = T_A/2.",
            "The group agrees when all that are there name the same leader, who is there too.",
        ],
        panels: vec![departure(), joiner_greater(), joiner_smaller(), false_departure()],
        claims,
        ..Figure::BARE
    }
}

fn given(loss: Loss, listen: f64) -> Inputs {
    Inputs { nodes: N, loss, listen, ..Inputs::default() }
}

fn panel(title: &'static str) -> Panel {
    let (x, y) = (Axis::linear("loss l", ""), Axis::linear("re-establishment delay", "s"));
    Panel { title, x, y, series: Vec::new() }
}

/// How many announce intervals it takes until hardly anybody of twenty has lost all announcements:
/// in one of ten million runs somebody has.
fn until_heard(loss: Loss) -> f64 {
    let l = loss.rate();
    let lost = if l > 0.0 { libm::log(2e8) / -libm::log(l) } else { 0.0 };
    libm::ceil(lost) + 4.0
}

/// A departure in a group of this size.
pub(super) fn departing(variant: Variant, nodes: u32, loss: Loss) -> Point {
    let point = point(variant, nodes, loss).listen(LONG);
    point.scenario(Scenario::Departure, LONG + 2.0 * until_heard(loss))
}

fn departure() -> Panel {
    let mut panel = panel("the leader departs");
    for (name, hue, loss) in MODELS {
        let quantity = "le-s.reestablishment-delay.departure";
        let given = |l| given(loss(l), LONG);
        panel.series.extend(formulas(quantity, name, hue, &LOSSES, given));
        let simulation = |l| departing(Variant::LeS, N, loss(l));
        panel.series.push(simulated(name, hue, DELAY, &LOSSES, simulation));
    }
    panel
}

/// A joiner in a group that never gives its leader up.
fn joining(variant: Variant, scenario: Scenario, loss: Loss) -> Point {
    point(variant, N, loss).scenario(scenario, until_heard(loss))
}

fn joiner_greater() -> Panel {
    let mut panel = panel("one joins that is to lead");
    for (name, hue, loss) in MODELS {
        let quantity = "le-s.reestablishment-delay.joiner-greater";
        let given = |l| given(loss(l), f64::INFINITY);
        panel.series.extend(formulas(quantity, name, hue, &LOSSES, given));
        let simulation = |l| joining(Variant::LeS, Scenario::JoinGreater, loss(l));
        panel.series.push(simulated(name, hue, DELAY, &LOSSES, simulation));
        for (others, nodes) in [("21 that start", N + 1), ("20 that start", N)] {
            let start = |l| point(Variant::LeS, nodes, loss(l));
            let name = format!("{name}, {others}");
            let starts = simulated(&name, hue, Measure::LeadershipDelay, &LOSSES, start);
            panel.series.push(starts.hidden());
        }
    }
    panel
}

fn joiner_smaller() -> Panel {
    let mut panel = panel("one joins that is not");
    for (name, hue, loss) in MODELS {
        let quantity = "le-s.reestablishment-delay.joiner-smaller";
        let given = |l| given(loss(l), f64::INFINITY);
        panel.series.extend(formulas(quantity, name, hue, &LOSSES, given));
        let simulation = |variant| move |l| joining(variant, Scenario::JoinSmaller, loss(l));
        panel.series.push(simulated(name, hue, DELAY, &LOSSES, simulation(Variant::LeS)));
        let le_a = format!("{name}, LE-A");
        panel.series.push(simulated(&le_a, hue + 2, DELAY, &LOSSES, simulation(Variant::LeA)));
    }
    panel
}

fn false_departure() -> Panel {
    let mut panel = panel("nobody departs: mean length of a false departure");
    for (name, hue, loss) in MODELS {
        let quantity = "le-s.reestablishment-delay.false-departure";
        let given = |l| given(loss(l), T_L);
        let corrected = formula(Kind::Corrected, quantity, name, hue, &LOSSES_FALSE, given);
        let printed = formula(Kind::Printed, quantity, name, hue, &LOSSES_FALSE, given);
        let simulation = |l| false_departures(loss(l), T_L);
        let measured = simulated(name, hue, DELAY, &LOSSES_FALSE, simulation);
        panel.series.extend([printed, corrected, measured]);
    }
    panel
}

/// That the curves of all models of loss are the same as those with this suffix.
fn all_models(pane: &Pane, suffix: &str) -> Vec<Comparison> {
    let same = |name: &str| {
        let other = pane.curve(&format!("{name}{suffix}"));
        equal(pane.curve(name), other, Margin::Linear)
    };
    MODELS.iter().flat_map(|(name, ..)| same(name)).collect()
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [departure, greater, smaller, falsely] = &finding.panes[..] else { return Vec::new() };
    let lossless = departure.curve("correlated").at(0.0);
    let same = |curve: &Curve| -> Vec<Comparison> {
        let others = curve.dots.iter().filter(|dot| *dot != lossless);
        others.flat_map(|dot| within(dot, lossless, Margin::Linear.of(lossless.y))).collect()
    };
    let asked = format!("nothing is {}", Margin::Linear.in_words());
    let in_words = |curve: &Curve| {
        format!("{} s at l = 0, {} s at .4", value(curve.at(0.0)), value(curve.at(0.4)))
            + &format!(", {} s at .7", value(curve.at(0.7)))
    };
    let (together, apart) = (departure.curve("correlated"), departure.curve("uncorrelated"));
    let (joined, started) =
        (greater.curve("uncorrelated"), greater.curve("uncorrelated, 21 that start"));
    let before = greater.curve("uncorrelated, 20 that start");
    let mut as_starts = all_models(greater, ", 21 that start");
    as_starts.extend(all_models(greater, ", 20 that start"));
    vec![
        Claim::compared(
            "After a departure correlated loss costs nothing.",
            "5.3.2.2, 5.4.4",
            &asked,
            &same(together),
            in_words(together),
        )
        .explained(Verdict::Confirmed, "what is gained by noticing sooner is lost in announcing"),
        Claim::compared(
            "After a departure uncorrelated loss costs nothing either.",
            "5.3.2.3, 5.4.4",
            &asked,
            &same(apart),
            in_words(apart),
        )
        .explained(
            Verdict::Refuted,
            "listeners that still trust the departed leader ignore the new one",
        ),
        Claim::compared(
            "A joiner that is to lead needs as long as a start of as many processes, whether it \
             is counted among them or not.",
            "5.3.2, 5.4.4",
            &format!("as long is {}", Margin::Linear.in_words()),
            &as_starts,
            format!(
                "at l = .4, uncorrelated: joiner {} s, start of 21 {} s, start of 20 {} s",
                value(joined.at(0.4)),
                value(started.at(0.4)),
                value(before.at(0.4)),
            ),
        ),
        Claim::compared(
            "The delay of a joiner that is not to lead is the same in LE-S and LE-A.",
            "5.3.2.1, 5.4.4",
            &format!("the same is {}", Margin::Linear.in_words()),
            &all_models(smaller, ", LE-A"),
            format!(
                "at l = .4, uncorrelated: LE-S {} s, LE-A {} s",
                value(smaller.curve("uncorrelated").at(0.4)),
                value(smaller.curve("uncorrelated, LE-A").at(0.4)),
            ),
        ),
    ]
    .into_iter()
    .chain(formula_claims(greater, smaller, falsely))
    .collect()
}

/// What the formulas themselves claim.
fn formula_claims(greater: &Pane, smaller: &Pane, falsely: &Pane) -> [Claim; 3] {
    let pair = |pane: &'_ Pane, name: &str| {
        let (measured, printed) = (pane.curve(name), pane.curve(&format!("{name}, printed")));
        let [measured_at, printed_at] = [measured, printed].map(|curve| value(curve.at(0.4)));
        let tests = equal(measured, printed, Margin::Linear);
        (tests, format!("at l = .4 {measured_at} s, printed {printed_at} s"))
    };
    let (repeats, joined) = pair(greater, "uncorrelated");
    let right = value(greater.curve("uncorrelated, corrected").at(0.4));
    let (waits, because) = pair(smaller, "uncorrelated");
    let (lasts, length) = pair(falsely, "correlated");
    let asked = &Margin::Linear.equal();
    [
        Claim::compared(
            "With uncorrelated loss a joiner that is to lead needs E[t_s] + Δ + T_A·(1 + X(N)), \
             where X(N) is the mean number of losses in a row that somebody suffers.",
            "5.3.2.3",
            asked,
            &repeats,
            format!("{joined}; with X(N) instead of 1 + X(N) {right} s"),
        )
        .explained(Verdict::Refuted, "the first announcement costs no T_A"),
        Claim::compared(
            "With uncorrelated loss a joiner that is not to lead waits until all would have heard \
             an announcement.",
            "5.3.2.3",
            asked,
            &waits,
            because,
        )
        .explained(Verdict::Refuted, "only the joiner has to hear one"),
        Claim::compared(
            "With correlated loss a false departure lasts for T_A·(E[# lost in a row] + 1) − T_L.",
            "5.3.2.2",
            asked,
            &lasts,
            length,
        )
        .explained(
            Verdict::Refuted,
            "only those losses count that outlast T_L, and no length is negative",
        ),
    ]
}
