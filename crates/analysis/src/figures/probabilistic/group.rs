//! Figures 5(d) to 5(f): success, rounds and messages against the size of the group.

use super::common::{Case, Sweep, fewer_than, high, interval, one_round};
use crate::figures::evidence::{Margin, flat};
use crate::figures::tell::within;
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding};
use crate::probabilistic::point;

/// The text plots N up to 5000 and speaks of 6000.
const SIZES: [f64; 6] = [1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0];
const AXIS: &str = "N =";

const SWEEP: Sweep = Sweep {
    x: Axis::linear("group size N", ""),
    values: &SIZES,
    cases: &[Case { name: "", point: |nodes| point(nodes as u32) }],
};

/// The figure of success.
pub(super) fn success() -> Figure {
    Figure {
        title: "Probabilistic election: success against the size of the group",
        source: "probabilistic election, section 5, figure 5(d)",
        says: "p_fail = .001, view_prob = .5, losses of .001; N from 1000 to 5000 by one sentence, \
            up to and beyond 6000 by others. Strong success is very high, weak success close to 1, \
            both whatever the size is.",
        claims: claims_of_success,
        ..SWEEP.figure_of_success()
    }
}

fn claims_of_success(finding: &Finding) -> Vec<Claim> {
    let [strong, weak] = ["strong", "weak"].map(|name| finding.curve(name));
    vec![
        high("Strong success is very high up to N = 6000.", "5", AXIS, &[strong]),
        high("Weak success is close to 1.", "5", AXIS, &[weak]),
        same_as_first("Success does not depend on the size of the group.", "abstract", strong),
    ]
}

/// Claims that all points of a curve are the same, as nearly as one asks.
fn same_as_first(says: &'static str, section: &'static str, curve: &Curve) -> Claim {
    let tests: Vec<_> = match &curve.dots[..] {
        [first, rest @ ..] => {
            rest.iter().flat_map(|dot| within(dot, first, Margin::Share.of(first.y))).collect()
        }
        [] => Vec::new(),
    };
    let at = |dot: &Dot| format!("{} at N = {}", interval(dot), dot.x);
    let list: Vec<String> = curve.dots.iter().map(at).collect();
    let asked = format!("the same as the first is {}", Margin::Share.in_words());
    Claim::compared(says, section, &asked, &tests, list.join(", "))
}

/// The figure of rounds.
pub(super) fn rounds() -> Figure {
    Figure {
        title: "Probabilistic election: rounds against the size of the group",
        source: "probabilistic election, section 5, figure 5(e)",
        says: "As figure 5(d). It ends within 1 expected round up to N = 6000.",
        claims: claims_of_rounds,
        ..SWEEP.figure_of_rounds()
    }
}

fn claims_of_rounds(finding: &Finding) -> Vec<Claim> {
    let rounds = finding.curve("rounds");
    vec![
        one_round("It ends within 1 expected round up to N = 6000.", "5", AXIS, rounds),
        flat("Rounds do not depend on N.", "5", Margin::Linear, &[rounds]),
    ]
}

/// The figure of messages.
pub(super) fn messages() -> Figure {
    Figure {
        title: "Probabilistic election: messages against the size of the group",
        source: "probabilistic election, section 5, figure 5(f)",
        says: "As figure 5(d). The expected number of messages does not vary with N.",
        claims: claims_of_messages,
        ..SWEEP.figure_of_messages()
    }
}

fn claims_of_messages(finding: &Finding) -> Vec<Claim> {
    let both = ["unicasts", "multicasts"].map(|name| finding.curve(name));
    vec![
        flat("The number of messages does not vary with N.", "5", Margin::Log, &both),
        fewer_than(
            "It is low: below a tenth of the members even of the smallest group.",
            "6",
            AXIS,
            both,
            SIZES[0] / 10.0,
        ),
    ]
}
