//! Figures 5(g) to 5(i): success, rounds and messages against what members see of the group.

use super::common::{Case, Sweep, few_rounds, fewer_than, high};
use crate::figures::{Axis, Claim, Figure, Finding};
use crate::point::Point;
use crate::probabilistic::point;

/// The paper's range.
const VIEWS: [f64; 7] = [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
/// The paper's group.
const NODES: u32 = 5000;
const AXIS: &str = "view_prob";

const SWEEP: Sweep = Sweep {
    x: Axis::linear("view_prob", ""),
    values: &VIEWS,
    cases: &[Case { name: "", point: |view| Point { view, ..point(NODES) } }],
};

/// The figure of success.
pub(super) fn success() -> Figure {
    Figure {
        title: "Probabilistic election: success against what members see of the group",
        source: "probabilistic election, section 5, figure 5(g)",
        says: "N = 5000, p_fail = .001, losses of .001. Strong success is very high and weak \
            success close to 1 down to view_prob = .2 and beyond.",
        claims: claims_of_success,
        ..SWEEP.figure_of_success()
    }
}

fn claims_of_success(finding: &Finding) -> Vec<Claim> {
    let [strong, weak] = ["strong", "weak"].map(|name| finding.curve(name));
    vec![
        high("Strong success is very high down to view_prob = .2.", "5", AXIS, &[strong]),
        high("Weak success is close to 1.", "5", AXIS, &[weak]),
    ]
}

/// The figure of rounds.
pub(super) fn rounds() -> Figure {
    Figure {
        title: "Probabilistic election: rounds against what members see of the group",
        source: "probabilistic election, section 5, figure 5(h)",
        says: "As figure 5(g). The protocol scales in time, and performs well with partial views.",
        claims: claims_of_rounds,
        ..SWEEP.figure_of_rounds()
    }
}

fn claims_of_rounds(finding: &Finding) -> Vec<Claim> {
    let rounds = finding.curve("rounds");
    let says = "It takes little time, in rounds, down to view_prob = .2.";
    vec![few_rounds(says, "5", AXIS, rounds)]
}

/// The figure of messages.
pub(super) fn messages() -> Figure {
    Figure {
        title: "Probabilistic election: messages against what members see of the group",
        source: "probabilistic election, section 5, figure 5(i)",
        says: "As figure 5(g). The protocol scales in messages; section 6: their number is low \
            with weak views, too.",
        claims: claims_of_messages,
        ..SWEEP.figure_of_messages()
    }
}

fn claims_of_messages(finding: &Finding) -> Vec<Claim> {
    vec![fewer_than(
        "Messages are few down to view_prob = .2: fewer than there are members.",
        "5, 6",
        AXIS,
        ["unicasts", "multicasts"].map(|name| finding.curve(name)),
        f64::from(NODES),
    )]
}
