//! Ours: where members take the size of the group from, which the filter compares K with.

use super::common::{CALL, Case, MESSAGES, ROUNDS, SUCCESS, Sweep, TIES, TIMES, ends, steady_at};
use crate::figures::evidence::{ABOVE, lies_above, matched};
use crate::figures::{Axis, Claim, Figure, Finding, Kind, Series, Verdict};
use crate::inputs::{Loss, ValidInputs, usual};
use crate::point::Point;
use crate::probabilistic::one_round;
use bellwether_protocols::probabilistic::Size;
use bellwether_sim::Measure;

const SIZES: [f64; 3] = [100.0, 200.0, 500.0];
/// The strategy's first K.
const K: f64 = 7.0;

const SWEEP: Sweep = Sweep {
    x: Axis::linear("group size N", ""),
    values: &SIZES,
    cases: &[
        Case { name: "true", point: |nodes| taking(nodes, Size::Group) },
        Case { name: "view", point: |nodes| taking(nodes, Size::View) },
        Case { name: "gossip", point: |nodes| taking(nodes, Size::Gossip) },
    ],
};

/// A first round, and what everyone takes for the size of the group.
fn taking(nodes: f64, size: Size) -> Point {
    let runs = if size == Size::Gossip { 100 } else { 1000 };
    let point = one_round(nodes as u32, K as u32).loss(Loss::None).with("size", size);
    Point { fail: 0.0, runs, ..point }
}

/// The figure.
pub(super) fn figure() -> Figure {
    let mut relays =
        SWEEP.panel("relays", Axis::linear("relays", ""), &[("relays", Measure::Relays)]);
    for (subject, hue, quantity) in
        [("K", 0, "probabilistic.relays"), ("by view", 1, "probabilistic.relays.by-view")]
    {
        let points = SIZES.iter().map(|nodes| (*nodes, at(*nodes)));
        relays.series.push(Series::formula((subject, quantity), hue, Kind::Corrected, points));
    }
    Figure {
        title: "Probabilistic election: how large do members think the group is?",
        source: "ours, of N_i in section 3.1 of the probabilistic election",
        says: "A member relays if its hash times N_i is below K. N_i is the size of its view; or, \
            more practical, the size of the group as gossiped.",
        choices: &[
            "One round with K = 7 and view_prob = .5; nothing is lost and nobody fails.",
            "true: everyone is told N. view: everyone takes its own view, itself included, for \
             all. gossip: as counted by traces that are exchanged before the election is called; \
             100 of a thousand runs, since they take longer than the election.",
            "What is exchanged to count the group is not among the messages.",
            CALL,
            TIMES,
            TIES,
            SUCCESS,
            ROUNDS,
            MESSAGES,
        ],
        panels: vec![relays, SWEEP.messages(), SWEEP.success()],
        claims,
        ..Figure::BARE
    }
}

fn at(nodes: f64) -> ValidInputs {
    usual(nodes as u32, |given| {
        (given.fail, given.unicast_loss, given.multicast_loss) = (0.0, 0.0, 0.0);
    })
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |what: &str, case: &str| finding.curve(&format!("{what}, {case}"));
    let formula = |name: &str| finding.corrected(name);
    let [unicasts, more_unicasts] = ["true", "view"].map(|case| of("unicasts", case));
    let [multicasts, more_multicasts] = ["true", "view"].map(|case| of("multicasts", case));
    vec![
        steady_at(
            "If N_i is the size of one's view, about K members relay.",
            "3.1, 4",
            "N =",
            of("relays", "view"),
            K,
        )
        .explained(Verdict::Refuted, "it is K/view_prob: each compares K with half of the group"),
        matched(
            "It is as many as computed for views of binomial size.",
            "ours",
            &[(of("relays", "view"), formula("by view"))],
        ),
        steady_at(
            "If the size is gossiped, about K members relay.",
            "3.1",
            "N =",
            of("relays", "gossip"),
            K,
        ),
        matched(
            "If they are told the size, K members relay.",
            "4",
            &[(of("relays", "true"), formula("K"))],
        ),
        Claim::compared(
            "Taking one's view for the group costs unicasts and multicasts.",
            "ours",
            ABOVE,
            &[lies_above(more_unicasts, unicasts), lies_above(more_multicasts, multicasts)]
                .concat(),
            [more_unicasts, unicasts, more_multicasts, multicasts]
                .map(|curve| ends(curve, "N ="))
                .join("; "),
        ),
    ]
}
