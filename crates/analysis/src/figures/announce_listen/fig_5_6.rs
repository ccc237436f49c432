//! Figure 5.6: how long LE-S and SUP take without loss.

use super::common::{
    CONVERGED, PARAMETERS, QUIET, RUNS, SENT, SUP_ANALYSIS, Sizes, Subject, subject, t_max,
};
use crate::announce_listen::convergence;
use crate::figures::evidence::{Margin, above, flat, matched};
use crate::figures::{Claim, Curve, Figure, Finding, Kind};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S: Subject = subject("LE-S", 0, Variant::LeS, Loss::None);
const SUP: Subject = subject("SUP", 1, Variant::Sup, Loss::None);

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let time = Measure::ConvergenceTime;
    Figure {
        title: "LE-S and SUP without loss: convergence time against group size",
        source: "thesis chapter 5, section 5.4.1, figure 5.6",
        says: "Without loss LE-S takes until its leader wakes: half of T_S on average, \
            however many processes there are, because only the leader's own announcement counts. \
            SUP is satisfied with the first message of anybody, and is faster the more there are \
            to send one.",
        choices: &[PARAMETERS, CONVERGED, SENT, QUIET, SUP_ANALYSIS, RUNS],
        panels: vec![sizes.times(
            "",
            vec![
                LE_S.formula(Kind::Printed, sizes, convergence::time_printed).hidden(),
                LE_S.formula(Kind::Corrected, sizes, t_max),
                LE_S.simulated(sizes, time),
                SUP.formula(Kind::Corrected, sizes, t_max),
                SUP.simulated(sizes, time),
            ],
        )],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let le_s = finding.simulated(LE_S.name);
    let sup = finding.simulated(SUP.name);
    vec![
        matched(
            "Without loss LE-S takes .5 on average for T_S = 1, as the analysis says, for any N.",
            "5.4.1",
            &[(le_s, finding.printed(LE_S.name))],
        ),
        independent(le_s),
        above("LE-S takes more time to converge than SUP.", "5.4.1", &[(le_s, sup)]),
        matched(
            "The analysis of SUP matches its simulation (judged by an analysis of our own).",
            "5.4.1",
            &[(sup, finding.corrected(SUP.name))],
        ),
    ]
}

fn independent(le_s: &Curve) -> Claim {
    let says = "The delay does not depend on the number of processes.";
    flat(says, "5.4.1", Margin::Linear, &[le_s])
}

/// What large groups are to be asked.
pub(super) fn claims_of_large_groups(finding: &Finding) -> Vec<Claim> {
    vec![independent(finding.simulated(LE_S.name))]
}
