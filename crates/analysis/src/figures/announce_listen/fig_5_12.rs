//! Figure 5.12: the first round of LE-M, beside those of LE-S and SUP.

use super::common::{
    BOTH_MODELS, CORRELATED, PARAMETERS, RUNS, Subject, TO_500, UNCORRELATED, subject,
};
use crate::announce_listen::leadership_delay;
use crate::figures::evidence::{above, beside, matched};
use crate::figures::{Axis, Claim, Figure, Finding, Kind};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S_UC: Subject = subject("LE-S, uncorrelated", 0, Variant::LeS, UNCORRELATED);
const LE_M_UC: Subject = subject("LE-M, uncorrelated", 2, Variant::LeM, UNCORRELATED);
const LE_M_LEADER_UC: Subject =
    subject("LE-M's leader, uncorrelated", 2, Variant::LeM, UNCORRELATED);
const LE_S_LEADER_UC: Subject =
    subject("LE-S's leader, uncorrelated", 0, Variant::LeS, UNCORRELATED);
const SUP_UC: Subject = subject("SUP, uncorrelated", 1, Variant::Sup, UNCORRELATED);
const LE_S_CORR: Subject = subject("LE-S, correlated", 0, Variant::LeS, CORRELATED);
const LE_M_CORR: Subject = subject("LE-M, correlated", 2, Variant::LeM, CORRELATED);
const LE_M_LEADER_CORR: Subject = subject("LE-M's leader, correlated", 2, Variant::LeM, CORRELATED);
const LE_S_LEADER_CORR: Subject = subject("LE-S's leader, correlated", 0, Variant::LeS, CORRELATED);
const SUP_CORR: Subject = subject("SUP, correlated", 1, Variant::Sup, CORRELATED);

/// The figure.
pub(super) fn figure() -> Figure {
    let sizes = &TO_500;
    let up = Axis::linear("t_max of the first round", "s");
    let leader = |subject: Subject| {
        subject.formula(Kind::Corrected, sizes, leadership_delay::first_announcement)
    };
    let last = |subject: Subject| subject.simulated(sizes, Measure::FirstRoundEnd);
    let uncorrelated = vec![
        last(LE_S_UC),
        leader(LE_S_LEADER_UC),
        last(LE_M_UC),
        leader(LE_M_LEADER_UC),
        last(SUP_UC),
    ];
    let correlated = vec![
        last(LE_S_CORR),
        leader(LE_S_LEADER_CORR),
        last(LE_M_CORR),
        leader(LE_M_LEADER_CORR),
        last(SUP_CORR),
    ];
    Figure {
        title: "LE-M, LE-S and SUP in the first round with a loss of .4",
        source: "thesis chapter 5, section 5.4.3, figure 5.12",
        says: "If the first process to wake leads, LE-M, the order in which processes want to lead \
            is the order in which they speak. Its first round is then like SUP, and the two curves \
            lie over each other, while the leader of LE-S wakes after half of T_S.",
        choices: &[
            PARAMETERS,
            "The text does not define the t_max of a first round. Ours is SUP's own t_max: the \
             time of the last first announcement. Lines show when the leader's own is sent \
             instead, which no loss delays.",
            BOTH_MODELS,
            RUNS,
        ],
        panels: vec![
            sizes.panel("Uncorrelated loss", up, uncorrelated),
            sizes.panel("Correlated loss", up, correlated),
        ],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |subject: Subject| finding.simulated(subject.name);
    let (le_m_uc, le_m_corr) = (of(LE_M_UC), of(LE_M_CORR));
    let mut overlaps = matched(
        "In the first round LE-M closely overlaps with SUP.",
        "5.4.3",
        &[(le_m_uc, of(SUP_UC)), (le_m_corr, of(SUP_CORR))],
    );
    let leader = finding.corrected(LE_M_LEADER_UC.name);
    overlaps.because += &format!(
        ". If the leader's own first announcement is meant, it and SUP: {}",
        beside(leader, of(SUP_UC))
    );
    vec![
        overlaps,
        above(
            "In the first round LE-M is ahead of LE-S.",
            "5.4.3",
            &[(of(LE_S_UC), le_m_uc), (of(LE_S_CORR), le_m_corr)],
        ),
    ]
}
