//! Figure 5.9: how many messages LE-S and SUP send if four messages in ten are lost.

use super::common::{
    CONVERGED, CORRELATED, COUNTED, LARGEST, PARAMETERS, RUNS, SUP_ANALYSIS, Sizes, Subject,
    messages_sent, subject,
};
use super::with_loss::{self, LE_S_CORR, LE_S_NONE, LE_S_UC, SUP_CORR, SUP_NONE, SUP_UC, Words};
use crate::announce_listen::messages_in_suppression;
use crate::figures::evidence::{above, matched, part};
use crate::figures::{Claim, Figure, Finding, Kind, Panel};
use crate::inputs::ValidInputs;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const FIRST_ROUND: Subject = subject("LE-S in the first T_S", 0, Variant::LeS, CORRELATED);

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let sent = Measure::Messages;
    let until_convergence = sizes.messages(
        "Until convergence",
        vec![
            LE_S_CORR.formula(Kind::Corrected, sizes, messages_sent),
            LE_S_CORR.simulated(sizes, sent),
            LE_S_UC.simulated(sizes, sent),
            SUP_CORR.formula(Kind::Corrected, sizes, messages_sent),
            SUP_CORR.simulated(sizes, sent),
            SUP_UC.simulated(sizes, sent),
            LE_S_NONE.simulated(sizes, sent).hidden(),
            SUP_NONE.simulated(sizes, sent).hidden(),
        ],
    );
    Figure {
        title: "LE-S and SUP with a loss of .4: messages against group size",
        source: "thesis chapter 5, section 5.4.1, figure 5.9",
        says: "More iterations mean more messages: loss makes LE-S send more, most of all if each \
            receiver loses for itself, and it costs LE-S more than SUP.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            COUNTED,
            "The printed analysis of LE-S with correlated loss counts the messages of the first \
             T_S alone. They are drawn beside.",
            "With uncorrelated loss and Δ > 0 the text has no formula. Ours, drawn with Table \
             5.1, is up to 14 % too high.",
            SUP_ANALYSIS,
            "The group without loss is simulated too, to be compared with, and not drawn.",
            RUNS,
        ],
        panels: vec![until_convergence, first_round(sizes)],
        claims,
        ..Figure::BARE
    }
}

/// The messages of the first T_S, which the text's analysis counts.
fn first_round(sizes: &Sizes) -> Panel {
    let printed = |_, inputs: &ValidInputs| messages_in_suppression::printed(inputs);
    let corrected = |_, inputs: &ValidInputs| messages_in_suppression::corrected(inputs);
    sizes.messages(
        "In the first T_S, correlated loss",
        vec![
            FIRST_ROUND.formula(Kind::Printed, sizes, printed),
            FIRST_ROUND.formula(Kind::Corrected, sizes, corrected),
            FIRST_ROUND.simulated(sizes, Measure::MessagesInOpening),
        ],
    )
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let mut claims = with_loss::claims(
        finding,
        &Words {
            more: "With loss, too, LE-S generates more messages than SUP.",
            toll: "Loss makes LE-S send more.",
            bound: "Uncorrelated loss gives the upper bound of the messages of LE-S, and of SUP.",
        },
    );
    claims.push(matched(
        "Simulation validates the analysis of the messages in the first T_S, correlated loss.",
        "5.3.3.2, 5.4",
        &[(finding.simulated(FIRST_ROUND.name), finding.printed(FIRST_ROUND.name))],
    ));
    claims
}

/// What is left to be judged in groups larger than those of the text's figure.
pub(super) fn claims_of_large_groups(finding: &Finding) -> Vec<Claim> {
    let large = |subject: Subject| part(finding.simulated(subject.name), |nodes| nodes > LARGEST);
    let pairs = [(LE_S_CORR, SUP_CORR), (LE_S_UC, SUP_UC)];
    let pairs = pairs.map(|(le_s, sup)| (large(le_s), large(sup)));
    let [corr, uc] = pairs.each_ref().map(|(le_s, sup)| (le_s, sup));
    vec![above(
        "With loss LE-S generates more messages than SUP in groups of more than 500 as well.",
        "5.4.1, beyond its figure",
        &[corr, uc],
    )]
}
