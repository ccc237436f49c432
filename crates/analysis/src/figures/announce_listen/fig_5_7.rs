//! Figure 5.7: how many messages LE-S and SUP send without loss.

use super::common::{
    CONVERGED, COUNTED, LARGEST, PARAMETERS, RUNS, SUP_ANALYSIS, Sizes, Subject, messages_sent,
    subject,
};
use crate::announce_listen::messages;
use crate::figures::evidence::{above, matched, part};
use crate::figures::{Claim, Figure, Finding, Kind};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S: Subject = subject("LE-S", 0, Variant::LeS, Loss::None);
const FIRST_ROUND: Subject = subject("LE-S in the first T_S", 0, Variant::LeS, Loss::None);
const SUP: Subject = subject("SUP", 1, Variant::Sup, Loss::None);

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let sent = Measure::Messages;
    Figure {
        title: "LE-S and SUP without loss: messages against group size",
        source: "thesis chapter 5, section 5.4.1, figure 5.7",
        says: "LE-S sends more than SUP until it has converged: in SUP any message silences a \
            process, in LE-S only one from a greater process does.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            COUNTED,
            "The printed analysis of LE-S counts the messages of the first T_S instead. It is \
             compared with those; they are in the tables, and too close to the others to be drawn.",
            SUP_ANALYSIS,
            RUNS,
        ],
        panels: vec![sizes.messages(
            "",
            vec![
                FIRST_ROUND.formula(Kind::Printed, sizes, |_, inputs| messages::printed(inputs)),
                FIRST_ROUND.simulated(sizes, Measure::MessagesInOpening).hidden(),
                LE_S.formula(Kind::Corrected, sizes, messages_sent),
                LE_S.simulated(sizes, sent),
                SUP.formula(Kind::Corrected, sizes, messages_sent),
                SUP.simulated(sizes, sent),
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
        above("LE-S generates more messages than SUP.", "5.4.1", &[(le_s, sup)]),
        matched(
            "Simulation validates the analysis of the messages in the first T_S without loss.",
            "5.3.3.1, 5.4",
            &[(finding.simulated(FIRST_ROUND.name), finding.printed(FIRST_ROUND.name))],
        ),
    ]
}

/// What is left to be judged in groups larger than those of the text's figure.
pub(super) fn claims_of_large_groups(finding: &Finding) -> Vec<Claim> {
    let [le_s, sup] =
        [LE_S, SUP].map(|of| part(finding.simulated(of.name), |nodes| nodes > LARGEST));
    vec![above(
        "LE-S generates more messages than SUP in groups of more than 500 as well.",
        "5.4.1, beyond its figure",
        &[(&le_s, &sup)],
    )]
}
