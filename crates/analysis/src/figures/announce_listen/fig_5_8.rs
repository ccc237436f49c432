//! Figure 5.8: how long LE-S and SUP take if four messages in ten are lost.

use super::common::{
    CONVERGED, PARAMETERS, QUIET, RUNS, SENT, SUP_ANALYSIS, Sizes, Subject, t_max,
};
use super::with_loss::{self, LE_S_CORR, LE_S_NONE, LE_S_UC, SUP_CORR, SUP_NONE, SUP_UC, Words};
use crate::announce_listen::convergence;
use crate::figures::evidence::{levels_off, matched};
use crate::figures::{Claim, Curve, Figure, Finding, Kind};
use bellwether_sim::Measure;

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let time = Measure::ConvergenceTime;
    Figure {
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
                LE_S_CORR.formula(Kind::Printed, sizes, convergence::time_printed).hidden(),
                LE_S_CORR.formula(Kind::Corrected, sizes, t_max),
                LE_S_CORR.simulated(sizes, time),
                LE_S_UC.formula(Kind::Printed, sizes, convergence::time_printed),
                LE_S_UC.formula(Kind::Corrected, sizes, t_max),
                LE_S_UC.simulated(sizes, time),
                SUP_CORR.formula(Kind::Corrected, sizes, t_max),
                SUP_CORR.simulated(sizes, time),
                SUP_UC.simulated(sizes, time),
                LE_S_NONE.simulated(sizes, time).hidden(),
                SUP_NONE.simulated(sizes, time).hidden(),
            ],
        )],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |subject: Subject| finding.simulated(subject.name);
    let mut claims = with_loss::claims(
        finding,
        &Words {
            more: "With loss, too, LE-S takes more time to converge than SUP.",
            toll: "Loss takes a toll on LE-S.",
            bound: "Uncorrelated loss gives the upper bound of the convergence time, of LE-S and \
                of SUP.",
        },
    );
    claims.extend([
        matched(
            "Simulation validates the analysis of the delay with correlated loss.",
            "5.3.1.2, 5.4.1",
            &[(of(LE_S_CORR), finding.printed(LE_S_CORR.name))],
        ),
        matched(
            "Simulation validates the analysis of the delay with uncorrelated loss.",
            "5.3.1.3, 5.4",
            &[(of(LE_S_UC), finding.printed(LE_S_UC.name))],
        ),
        limited(of(LE_S_UC)),
    ]);
    claims
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
    vec![limited(finding.simulated(LE_S_UC.name))]
}
