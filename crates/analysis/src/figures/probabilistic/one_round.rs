//! Ours: the relays of one round, and in how many components they fall, against exact formulas.

use super::common::{CALL, SIZE, TIES, TIMES};
use crate::figures::evidence::{Margin, matched_within};
use crate::figures::series::named;
use crate::figures::tell::at_least;
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Kind, Panel, Series, Verdict};
use crate::inputs::{Loss, ValidInputs, usual};
use crate::numbers::number;
use crate::point::Point;
use crate::probabilistic::one_round;
use bellwether_protocols::probabilistic::Choice;
use bellwether_sim::Measure;

const NODES: u32 = 1000;
/// The least view_prob of section 5, where relays are most often apart.
const VIEW: f64 = 0.2;
const RELAYS: [u32; 10] = [1, 2, 3, 5, 7, 10, 14, 20, 28, 40];
const AXIS: &str = "K =";

const MEASURES: [(&str, &str, Measure, &str); 3] = [
    ("relays", "probabilistic.relays.last", Measure::Relays, "how many relay"),
    ("components", "probabilistic.components", Measure::Components, "in how many components"),
    ("one component", "probabilistic.connected", Measure::StrongSuccess, "that there is one"),
];

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "Probabilistic election: the relays of one round and their graph",
        source: "ours, of E1 and E2 in section 4 of the probabilistic election",
        says: "About K members relay. There is an edge between two of them if one sees the other, \
            and if the graph has one component one leader is chosen; the text takes random graphs \
            with edges of probability view_prob, and a limit for large ones.",
        choices: &[
            "N = 1000, view_prob = .2; nothing is lost, and nobody fails.",
            "Everyone has a rank that only itself knows, and relays prefer the greatest they know \
             of: each component then chooses its own best, and a round succeeds if and only if \
             there is one component. Printed is the product of the text's bounds on E1 and E2.",
            "Corrected: exact, for the binomial number of relays and edges of probability \
             1 − (1 − view_prob)².",
            CALL,
            TIMES,
            SIZE,
            TIES,
        ],
        panels: MEASURES.iter().map(panel).collect(),
        claims,
        ..Figure::BARE
    }
}

fn point(k: u32) -> Point {
    let point = one_round(NODES, k).loss(Loss::None).with("choice", Choice::Rank.name());
    Point { view: VIEW, fail: 0.0, ..point }
}

fn at(k: u32) -> ValidInputs {
    usual(NODES, |given| {
        (given.k, given.view, given.fail) = (k, VIEW, 0.0);
        (given.unicast_loss, given.multicast_loss) = (0.0, 0.0);
    })
}

fn panel(shown: &(&'static str, &str, Measure, &'static str)) -> Panel {
    let (subject, quantity, measure, title) = *shown;
    let lines = [Kind::Printed, Kind::Corrected].map(|kind| {
        let points = RELAYS.iter().map(|k| (f64::from(*k), at(*k)));
        Series::formula((subject, quantity), 0, kind, points)
    });
    let mut series: Vec<Series> = lines.into();
    // The text has no number of components, and as many relays as there are.
    series.retain(|line| !line.is_formula_below(1));
    let points = RELAYS.iter().map(|k| (f64::from(*k), point(*k)));
    series.push(Series::simulated(named(subject, Kind::Simulated), 0, measure, points));
    Panel { title, x: Axis::log("K", ""), y: Axis::linear(subject, ""), series }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let pair =
        |subject: &str| [Kind::Simulated, Kind::Corrected].map(|kind| finding.of(subject, kind));
    let ([relays, k], [parts, all]) = (pair("relays"), pair("components"));
    let [one, exact] = pair("one component");
    let printed = finding.printed("one component");
    vec![
        matched_within("K members relay.", "3.1", Margin::Linear, AXIS, &[(relays, k)]),
        matched_within(
            "There are as many components as computed.",
            "ours",
            Margin::Linear,
            AXIS,
            &[(parts, all)],
        ),
        matched_within(
            "There is one as often as computed.",
            "ours",
            Margin::Share,
            AXIS,
            &[(one, exact)],
        ),
        Claim::compared(
            "What the text has for one component is a lower bound of that.",
            "4",
            "no less than that",
            &one.beside(printed).map(|(one, bound)| at_least(one, bound)).collect::<Vec<_>>(),
            gaps(one, printed),
        )
        .explained(
            Verdict::Confirmed,
            "a low one: only one of two relays need see the other, and rounds with other numbers \
             of relays are one component, too",
        ),
    ]
}

fn gaps(one: &Curve, bound: &Curve) -> String {
    let at = |k: f64| format!("{} and {} at K = {k}", number(one.at(k).y), number(bound.at(k).y));
    format!("simulated and printed: {}", [7.0, 14.0, 28.0].map(at).join(", "))
}
