//! Figure 5.8: how long LE-S and SUP take if four messages in ten are lost.

use super::common::{
    CONVERGED, CORRELATED, PARAMETERS, QUIET, RUNS, SENT, SUP_ANALYSIS, Sizes, Subject,
    UNCORRELATED, hidden, printed, simulated, subject, t_max,
};
use super::evidence::{above, bounded, differences, levels_off, matched};
use crate::announce_listen::convergence;
use crate::figures::{Claim, Curve, Figure, Finding, Kind};
use crate::setting::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S_NONE: Subject = subject("LE-S, no loss", 4, Variant::LeS, Loss::None);
const LE_S_CORR: Subject = subject("LE-S, correlated", 0, Variant::LeS, CORRELATED);
const LE_S_UC: Subject = subject("LE-S, uncorrelated", 2, Variant::LeS, UNCORRELATED);
const SUP_NONE: Subject = subject("SUP, no loss", 5, Variant::Sup, Loss::None);
const SUP_CORR: Subject = subject("SUP, correlated", 1, Variant::Sup, CORRELATED);
const SUP_UC: Subject = subject("SUP, uncorrelated", 3, Variant::Sup, UNCORRELATED);

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let time = Measure::ConvergenceTime;
    Figure {
        id: "5.8",
        title: "LE-S and SUP with a loss of .4: convergence time against group size",
        source: "thesis chapter 5, section 5.4.1, figure 5.8",
        says: "Loss makes LE-S repeat itself until everyone has heard its leader. It costs LE-S \
            far more than SUP, and most if each receiver loses for itself. With correlated loss \
            the group's size does not matter; with uncorrelated loss it does, but the delay is \
            said to approach a limit as N grows.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            SENT,
            QUIET,
            SUP_ANALYSIS,
            "The group without loss is simulated too, to be compared with, and not drawn.",
            RUNS,
        ],
        panels: vec![sizes.times(
            "",
            vec![
                hidden(LE_S_CORR.formula(Kind::Printed, sizes, convergence::time_printed)),
                LE_S_CORR.formula(Kind::Corrected, sizes, t_max),
                LE_S_CORR.simulated(sizes, time),
                LE_S_UC.formula(Kind::Printed, sizes, convergence::time_printed),
                LE_S_UC.formula(Kind::Corrected, sizes, t_max),
                LE_S_UC.simulated(sizes, time),
                SUP_CORR.formula(Kind::Corrected, sizes, t_max),
                SUP_CORR.simulated(sizes, time),
                SUP_UC.simulated(sizes, time),
                hidden(LE_S_NONE.simulated(sizes, time)),
                hidden(SUP_NONE.simulated(sizes, time)),
            ],
        )],
        claims,
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |subject: Subject| simulated(finding, subject.name);
    let (none, corr, uc) = (of(LE_S_NONE), of(LE_S_CORR), of(LE_S_UC));
    let (sup_none, sup_corr, sup_uc) = (of(SUP_NONE), of(SUP_CORR), of(SUP_UC));
    let [toll, toll_uc] = [differences(corr, none), differences(uc, none)];
    let [sup_toll, sup_toll_uc] = [differences(sup_corr, sup_none), differences(sup_uc, sup_none)];
    vec![
        above(
            "With loss, too, LE-S takes more time to converge than SUP.",
            "5.4.1",
            &[(corr, sup_corr), (uc, sup_uc)],
        ),
        above("Loss takes a toll on LE-S.", "5.4.1", &[(corr, none), (uc, none)]),
        above(
            "It costs LE-S more than it costs SUP.",
            "5.4.1",
            &[(&toll, &sup_toll), (&toll_uc, &sup_toll_uc)],
        ),
        bounded(
            "Uncorrelated loss gives the upper bound of the convergence time, of LE-S and of SUP.",
            "5.4.1",
            &[(uc, corr), (corr, none), (sup_uc, sup_corr), (sup_corr, sup_none)],
        ),
        matched(
            "Simulation validates the analysis of the delay with correlated loss.",
            "5.3.1.2, 5.4.1",
            &[(corr, printed(finding, LE_S_CORR.name))],
        ),
        matched(
            "Simulation validates the analysis of the delay with uncorrelated loss.",
            "5.3.1.3, 5.4",
            &[(uc, printed(finding, LE_S_UC.name))],
        ),
        limited(uc),
    ]
}

fn limited(uc: &Curve) -> Claim {
    levels_off(
        "The delay with uncorrelated loss approaches a limit as N becomes large.",
        "5.4.1, 5.6",
        uc,
    )
}

/// What large groups are to be asked.
pub(super) fn claims_of_large_groups(finding: &Finding) -> Vec<Claim> {
    vec![limited(simulated(finding, LE_S_UC.name))]
}
