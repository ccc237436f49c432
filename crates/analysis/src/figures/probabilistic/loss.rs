//! Figures 5(a) to 5(c): success, rounds and messages against the loss of messages.

use super::common::{Case, Sweep, few_rounds, fewer_than, high};
use crate::figures::evidence::{ABOVE, lies_above, never_below, part};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Panel, Verdict};
use crate::inputs::Loss;
use crate::point::Point;
use crate::probabilistic::point;
use bellwether_protocols::probabilistic::Reinitiate;

/// The paper's range.
pub(super) const LOSSES: [f64; 11] = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
/// The paper's group.
pub(super) const NODES: u32 = 2000;
/// Up to where the text calls success very high.
const TOLERATED: f64 = 0.4;
const AXIS: &str = "loss";

pub(super) const DELAY: Case = Case { name: "delay", point: by_delay };
pub(super) const HASH: Case = Case { name: "hash", point: by_hash };

/// Both re-initiation rules over all losses.
pub(super) const SWEEP: Sweep = Sweep {
    x: Axis::linear("loss of unicasts and multicasts", ""),
    values: &LOSSES,
    cases: &[DELAY, HASH],
};

/// Each rule alone: with `delay` all that matters lies near 1, and with `hash` it does not.
const APART: [(&str, Sweep); 2] = [
    ("begun again after a delay", Sweep { cases: &[DELAY], ..SWEEP }),
    ("begun again by hash, as figure 3 prints it", Sweep { cases: &[HASH], ..SWEEP }),
];

/// The election at this loss.
pub(super) fn by_delay(loss: f64) -> Point {
    point(NODES).loss(Loss::apart(loss))
}

fn by_hash(loss: f64) -> Point {
    by_delay(loss).with("reinitiate", Reinitiate::Hash.name())
}

/// Those losses at which success is said to be high.
fn tolerated(curve: &Curve) -> Curve {
    part(curve, |loss| loss <= TOLERATED)
}

/// The figure of success.
pub(super) fn success() -> Figure {
    Figure {
        title: "Probabilistic election: success against the loss of messages",
        source: "probabilistic election, section 5, figure 5(a)",
        says: "N = 2000, p_fail = .001, view_prob = .5, the same loss for unicasts and multicasts. \
            Strong success is very high up to a loss of .4; weak success is close to 1 and above \
            strong success.",
        panels: APART.map(|(title, sweep)| Panel { title, ..sweep.success() }).into(),
        claims: claims_of_success,
        ..SWEEP.figure_of_success()
    }
}

fn claims_of_success(finding: &Finding) -> Vec<Claim> {
    let all = ["strong, delay", "strong, hash", "weak, delay", "weak, hash"];
    let [strong, strong_hash, weak, weak_hash] = all.map(|name| finding.curve(name));
    let cut = all.map(|name| tolerated(finding.curve(name)));
    vec![
        high("Strong success is very high up to a loss of .4.", "5", AXIS, &[&cut[0]]),
        high(
            "It is so with the re-initiation that figure 3 prints, by hash.",
            "3.3, 5",
            AXIS,
            &[&cut[1]],
        )
        .explained(
            Verdict::Refuted,
            "the few who missed every final message begin again only with probability K/N each",
        ),
        high("Weak success is close to 1 in this range.", "5", AXIS, &[&cut[2], &cut[3]]),
        Claim::compared(
            "Weak success is higher than strong success.",
            "5",
            ABOVE,
            &[lies_above(weak_hash, strong_hash), never_below(weak, strong)].concat(),
            format!("{}; {}", between(weak, strong), between(weak_hash, strong_hash)),
        ),
    ]
}

/// By how much one curve is above another, in a sentence.
fn between(more: &Curve, less: &Curve) -> String {
    let gaps = || more.beside(less).map(|(more, less)| more.y - less.y);
    let (least, most) = (gaps().fold(f64::INFINITY, f64::min), gaps().fold(0.0, f64::max));
    format!("{} exceeds {} by {least:.4} to {most:.4}", more.name, less.name)
}

/// The figure of rounds.
pub(super) fn rounds() -> Figure {
    Figure {
        title: "Probabilistic election: rounds against the loss of messages",
        source: "probabilistic election, section 5, figure 5(b)",
        says: "As figure 5(a). The protocol scales in time where success is high.",
        claims: claims_of_rounds,
        ..SWEEP.figure_of_rounds()
    }
}

fn claims_of_rounds(finding: &Finding) -> Vec<Claim> {
    vec![few_rounds(
        "It takes little time, in rounds, wherever success is high.",
        "5",
        AXIS,
        &tolerated(finding.curve("rounds, delay")),
    )]
}

/// The figure of messages.
pub(super) fn messages() -> Figure {
    Figure {
        title: "Probabilistic election: messages against the loss of messages",
        source: "probabilistic election, section 5, figure 5(c)",
        says: "As figure 5(a). The protocol scales in messages where success is high; section 6: \
            their number is low in the face of failing links, too.",
        claims: claims_of_messages,
        ..SWEEP.figure_of_messages()
    }
}

fn claims_of_messages(finding: &Finding) -> Vec<Claim> {
    let both = ["unicasts, delay", "multicasts, delay"].map(|name| tolerated(finding.curve(name)));
    vec![fewer_than(
        "Messages are few up to a loss of .4: fewer than there are members.",
        "5, 6",
        AXIS,
        [&both[0], &both[1]],
        f64::from(NODES),
    )]
}
