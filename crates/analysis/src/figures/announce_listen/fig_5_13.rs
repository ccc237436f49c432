//! Figure 5.13: LE-M, where the first process to wake leads, beside LE-S and SUP.

use super::common::{
    CONVERGED, CORRELATED, COUNTED, PARAMETERS, QUIET, RUNS, SENT, Subject, TO_500, UNCORRELATED,
    messages_sent, subject, t_max,
};
use crate::announce_listen::wake;
use crate::figures::evidence::{above, bounded, matched};
use crate::figures::{Claim, Figure, Finding, Kind};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S_UC: Subject = subject("LE-S, uncorrelated", 0, Variant::LeS, UNCORRELATED);
const LE_M_UC: Subject = subject("LE-M, uncorrelated", 2, Variant::LeM, UNCORRELATED);
const SUP_UC: Subject = subject("SUP, uncorrelated", 1, Variant::Sup, UNCORRELATED);
const LE_S_CORR: Subject = subject("LE-S, correlated", 0, Variant::LeS, CORRELATED);
const LE_M_CORR: Subject = subject("LE-M, correlated", 2, Variant::LeM, CORRELATED);
const SUP_CORR: Subject = subject("SUP, correlated", 1, Variant::Sup, CORRELATED);
const LE_S_NONE: Subject = subject("LE-S, no loss", 0, Variant::LeS, Loss::None);
const LE_M_NONE: Subject = subject("LE-M, no loss", 2, Variant::LeM, Loss::None);
const SUP_NONE: Subject = subject("SUP, no loss", 1, Variant::Sup, Loss::None);
const SUP_FIRST: Subject = subject("SUP's first message, no loss", 3, Variant::Sup, Loss::None);
const LE_S_SENT: Subject = subject("LE-S, messages without loss", 0, Variant::LeS, Loss::None);
const LE_M_SENT: Subject = subject("LE-M, messages without loss", 2, Variant::LeM, Loss::None);
const SUP_SENT: Subject = subject("SUP, messages without loss", 1, Variant::Sup, Loss::None);

/// The figure.
pub(super) fn figure() -> Figure {
    let sizes = &TO_500;
    let times = |title, subjects: [Subject; 3]| {
        let series = subjects.into_iter().flat_map(|subject| {
            let formula = subject.formula(Kind::Corrected, sizes, t_max);
            [formula, subject.simulated(sizes, Measure::ConvergenceTime)]
        });
        sizes.times(title, series.collect())
    };
    let sent = [LE_S_SENT, LE_M_SENT, SUP_SENT].into_iter().flat_map(|subject| {
        let formula = subject.formula(Kind::Corrected, sizes, messages_sent);
        [formula, subject.simulated(sizes, Measure::Messages)]
    });
    let mut without_loss = times("No loss: time", [LE_S_NONE, LE_M_NONE, SUP_NONE]);
    without_loss.series.extend([
        SUP_FIRST.formula(Kind::Corrected, sizes, |_, inputs| Ok(wake::mean_of_earliest(inputs))),
        SUP_FIRST.simulated(sizes, Measure::FirstMessageTime),
    ]);
    Figure {
        title: "LE-M, LE-S and SUP: convergence time against group size",
        source: "thesis chapter 5, section 5.4.3, figure 5.13",
        says: "LE-M, in which the smallest wake-up time leads, is faster than LE-S, in which the \
            greatest id does. With a loss of .4 elections repeat themselves and SUP does not, so \
            that SUP is the faster, and bounds what an election can reach. Without loss LE-M is \
            said to reach that bound, and to behave as SUP does.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            SENT,
            QUIET,
            "The text does not say which loss model the figure shows, and has no figure without \
             loss: both models are drawn, and the group without loss.",
            "Without loss LE-M has converged with its first message. It is compared with SUP's \
             first message, t_min, which silences all others; SUP's t_max is that of its last.",
            COUNTED,
            RUNS,
        ],
        panels: vec![
            times("Uncorrelated loss", [LE_S_UC, LE_M_UC, SUP_UC]),
            times("Correlated loss", [LE_S_CORR, LE_M_CORR, SUP_CORR]),
            without_loss,
            sizes.messages("No loss: messages", sent.collect()),
        ],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |subject: Subject| finding.simulated(subject.name);
    let (le_m_uc, le_m_corr, le_m_none) = (of(LE_M_UC), of(LE_M_CORR), of(LE_M_NONE));
    let (sup_uc, sup_corr) = (of(SUP_UC), of(SUP_CORR));
    vec![
        above(
            "LE-M outperforms LE-S.",
            "5.4.3",
            &[(of(LE_S_UC), le_m_uc), (of(LE_S_CORR), le_m_corr), (of(LE_S_NONE), le_m_none)],
        ),
        above(
            "With loss SUP outperforms LE-M.",
            "5.4.3",
            &[(le_m_uc, sup_uc), (le_m_corr, sup_corr)],
        ),
        bounded(
            "With loss SUP serves as a lower bound for LE-M.",
            "5.4.3",
            &[(le_m_uc, sup_uc), (le_m_corr, sup_corr)],
        ),
        matched(
            "Without loss LE-M achieves its lower bound: it has converged with the message that \
             is the first of SUP.",
            "5.4.3",
            &[(le_m_none, of(SUP_FIRST))],
        ),
        matched(
            "Without loss LE-M sends as many messages as SUP.",
            "5.4.3",
            &[(of(LE_M_SENT), of(SUP_SENT))],
        ),
    ]
}
