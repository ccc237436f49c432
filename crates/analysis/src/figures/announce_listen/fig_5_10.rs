//! Figure 5.10: how long LE-S takes with correlated loss, from none to nine in ten.

use super::common::{
    CONVERGED, CORRELATED, PARAMETERS, RUNS, SENT, Sizes, Subject, subject, t_max,
};
use crate::announce_listen::convergence;
use crate::figures::evidence::{Margin, flat, matched};
use crate::figures::{Axis, Claim, Figure, Finding, Kind};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const SUBJECTS: [Subject; 10] = [
    subject("l = 0", 0, Variant::LeS, Loss::None),
    subject("l = .1", 1, Variant::LeS, Loss::Correlated(0.1)),
    subject("l = .2", 2, Variant::LeS, Loss::Correlated(0.2)),
    subject("l = .3", 3, Variant::LeS, Loss::Correlated(0.3)),
    subject("l = .4", 4, Variant::LeS, CORRELATED),
    subject("l = .5", 5, Variant::LeS, Loss::Correlated(0.5)),
    subject("l = .6", 6, Variant::LeS, Loss::Correlated(0.6)),
    subject("l = .7", 7, Variant::LeS, Loss::Correlated(0.7)),
    subject("l = .8", 8, Variant::LeS, Loss::Correlated(0.8)),
    subject("l = .9", 9, Variant::LeS, Loss::Correlated(0.9)),
];

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    // So that small losses are told apart as well as large ones.
    let up = Axis::log("convergence time t_max", "s");
    let series = SUBJECTS.iter().flat_map(|subject| {
        [
            subject.formula(Kind::Printed, sizes, convergence::time_printed).hidden(),
            subject.formula(Kind::Corrected, sizes, t_max),
            subject.simulated(sizes, Measure::ConvergenceTime),
        ]
    });
    Figure {
        title: "LE-S with correlated loss: convergence time against group size",
        source: "thesis chapter 5, section 5.4.1, figure 5.10",
        says: "If all receivers lose together, the group has converged with the first announcement \
            of the leader that is not lost. The delay grows with the loss and does not depend on \
            the group's size, and the simulations match the analysis.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            SENT,
            "The text goes up to a loss of 1 in steps of .1. At 1 nobody ever converges; ours ends \
             at .9.",
            RUNS,
        ],
        panels: vec![sizes.panel("", up, series.collect())],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let pairs =
        SUBJECTS.map(|subject| (finding.simulated(subject.name), finding.printed(subject.name)));
    let mut claims = claims_of_large_groups(finding);
    claims.push(matched(
        "The simulations match the analysis, Δ left out.",
        "5.3.1.2, 5.4.1",
        &pairs,
    ));
    claims
}

/// What large groups are to be asked.
pub(super) fn claims_of_large_groups(finding: &Finding) -> Vec<Claim> {
    vec![flat(
        "With correlated loss convergence time is independent of the group's size.",
        "5.4.1",
        Margin::Linear,
        &SUBJECTS.map(|subject| finding.simulated(subject.name)),
    )]
}
