//! Figure 5.7: how many messages LE-S and SUP send without loss.

use super::common::{
    CONVERGED, COUNTED, PARAMETERS, RUNS, SUP_ANALYSIS, Sizes, Subject, messages_sent, printed,
    simulated, subject,
};
use super::evidence::{above, matched};
use crate::announce_listen::messages;
use crate::figures::{Claim, Figure, Finding, Kind};
use crate::setting::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S: Subject = subject("LE-S", 0, Variant::LeS, Loss::None);
const SUP: Subject = subject("SUP", 1, Variant::Sup, Loss::None);

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let sent = Measure::Messages;
    Figure {
        id: "5.7",
        title: "LE-S and SUP without loss: messages against group size",
        source: "thesis chapter 5, section 5.4.1, figure 5.7",
        says: "LE-S sends more than SUP until it has converged: in SUP any message silences a \
            process, in LE-S only one from a greater process does.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            COUNTED,
            "The printed analysis of LE-S counts the messages of the first T_S instead.",
            SUP_ANALYSIS,
            RUNS,
        ],
        panels: vec![sizes.messages(
            "",
            vec![
                LE_S.formula(Kind::Printed, sizes, |_, setting| messages::printed(setting)),
                LE_S.formula(Kind::Corrected, sizes, messages_sent),
                LE_S.simulated(sizes, sent),
                SUP.formula(Kind::Corrected, sizes, messages_sent),
                SUP.simulated(sizes, sent),
            ],
        )],
        claims,
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let le_s = simulated(finding, LE_S.name);
    let sup = simulated(finding, SUP.name);
    vec![
        above("LE-S generates more messages than SUP.", "5.4.1", &[(le_s, sup)]),
        matched(
            "Simulation validates the analysis of the number of messages without loss.",
            "5.3.3.1, 5.4",
            &[(le_s, printed(finding, LE_S.name))],
        ),
    ]
}
