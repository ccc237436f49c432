//! What figures 5.8 and 5.9 share, one of time and one of messages: LE-S and SUP with each model
//! of loss, and what the text says of both.

use super::common::{CORRELATED, Subject, UNCORRELATED, subject};
use crate::figures::evidence::{above, bounded, differences};
use crate::figures::{Claim, Finding};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;

pub(super) const LE_S_NONE: Subject = subject("LE-S, no loss", 4, Variant::LeS, Loss::None);
pub(super) const LE_S_CORR: Subject = subject("LE-S, correlated", 0, Variant::LeS, CORRELATED);
pub(super) const LE_S_UC: Subject = subject("LE-S, uncorrelated", 2, Variant::LeS, UNCORRELATED);
pub(super) const SUP_NONE: Subject = subject("SUP, no loss", 5, Variant::Sup, Loss::None);
pub(super) const SUP_CORR: Subject = subject("SUP, correlated", 1, Variant::Sup, CORRELATED);
pub(super) const SUP_UC: Subject = subject("SUP, uncorrelated", 3, Variant::Sup, UNCORRELATED);

/// The claims in the words of a figure.
pub(super) struct Words {
    /// LE-S beside SUP.
    pub more: &'static str,
    /// LE-S beside LE-S without loss.
    pub toll: &'static str,
    /// One model of loss beside the other, and beside none.
    pub bound: &'static str,
}

/// Judged by what was simulated.
pub(super) fn claims(finding: &Finding, words: &Words) -> Vec<Claim> {
    let of = |subject: Subject| finding.simulated(subject.name);
    let (none, corr, uc) = (of(LE_S_NONE), of(LE_S_CORR), of(LE_S_UC));
    let (sup_none, sup_corr, sup_uc) = (of(SUP_NONE), of(SUP_CORR), of(SUP_UC));
    let [toll, toll_uc] = [differences(corr, none), differences(uc, none)];
    let [sup_toll, sup_toll_uc] = [differences(sup_corr, sup_none), differences(sup_uc, sup_none)];
    vec![
        above(words.more, "5.4.1", &[(corr, sup_corr), (uc, sup_uc)]),
        above(words.toll, "5.4.1", &[(corr, none), (uc, none)]),
        above(
            "It costs LE-S more than it costs SUP.",
            "5.4.1",
            &[(&toll, &sup_toll), (&toll_uc, &sup_toll_uc)],
        ),
        bounded(
            words.bound,
            "5.4.1",
            &[(uc, corr), (corr, none), (sup_uc, sup_corr), (sup_corr, sup_none)],
        ),
    ]
}
