//! Table 5.1: the metrics of the simulations, each measured.

use super::common::{
    CONVERGED, CORRELATED, COUNTED, PARAMETERS, RUNS, SENT, Subject, TO_500, UNCORRELATED,
    messages_sent, subject, t_max,
};
use crate::announce_listen::convergence;
use crate::figures::evidence::{above, matched, part};
use crate::figures::series::named;
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Kind, Pane};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const NONE: Subject = subject("no loss", 0, Variant::LeS, Loss::None);
const CORR: Subject = subject("correlated", 1, Variant::LeS, CORRELATED);
const UC: Subject = subject("uncorrelated", 2, Variant::LeS, UNCORRELATED);
const SUBJECTS: [Subject; 3] = [NONE, CORR, UC];

const TIME: &str = "tmax";
const SENT_BY_THEN: &str = "num_msgs";
const ROUNDS: &str = "rounds";
const AVERAGE: &str = "avg_rounds";

/// The table, drawn.
pub(super) fn figure() -> Figure {
    let sizes = &TO_500;
    let series = |measure| {
        let series = SUBJECTS.into_iter().flat_map(move |subject| {
            let formula =
                subject.formula(Kind::Corrected, sizes, |variant, inputs| match measure {
                    Measure::Messages => messages_sent(variant, inputs),
                    Measure::Rounds => convergence::rounds_corrected(inputs),
                    Measure::AverageRounds => convergence::average_rounds(inputs),
                    _ => t_max(variant, inputs),
                });
            [formula, subject.simulated(sizes, measure)]
        });
        series.collect()
    };
    let rounds = |label| Axis::linear(label, "");
    Figure {
        title: "LE-S: the four metrics of convergence against group size",
        source: "thesis chapter 5, section 5.4, Table 5.1",
        says: "The table lists what the simulations keep track of: the time until convergence, the \
            messages and the rounds that takes, and the rounds on average, since each process may \
            converge in a round of its own. More loss means more rounds, and with them more time \
            and more messages.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            SENT,
            COUNTED,
            "The table has no numbers. LE-S is measured without loss and with a loss of .4.",
            "With uncorrelated loss the line of the messages is an approximation, up to 14 % too \
             high.",
            "Rounds are the leader's announcements up to the converging one, the first being 1; \
             their average is over all processes but the leader.",
            RUNS,
        ],
        panels: vec![
            sizes.times(TIME, series(Measure::ConvergenceTime)),
            sizes.messages(SENT_BY_THEN, series(Measure::Messages)),
            sizes.panel(ROUNDS, rounds("rounds"), series(Measure::Rounds)),
            sizes.panel(AVERAGE, rounds("average rounds"), series(Measure::AverageRounds)),
        ],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |pane: &str, subject: Subject| curve(finding, pane, subject, Kind::Simulated);
    let rounds = SUBJECTS.map(|subject| of(ROUNDS, subject));
    let [_, corr_average, uc_average] = SUBJECTS.map(|subject| of(AVERAGE, subject));
    let [none, corr, uc] = rounds.each_ref();
    // Of two processes only one must hear the other.
    let several = part(uc, |nodes| nodes > 2.0);
    let all =
        [TIME, SENT_BY_THEN, ROUNDS, AVERAGE].map(|pane| SUBJECTS.map(|subject| of(pane, subject)));
    let more: Vec<_> = all.iter().flat_map(|[none, corr, uc]| [(corr, none), (uc, none)]).collect();
    vec![
        matched(
            "Without loss an agreed leader is elected after a single round.",
            "5.1.1",
            &[(none, &curve(finding, ROUNDS, NONE, Kind::Corrected))],
        ),
        above(
            "Loss means more rounds until convergence, and with them more time and messages.",
            "5.4.1",
            &more,
        ),
        above(
            "Each process may converge in a different round: with uncorrelated loss the average is \
             below the number of rounds.",
            "5.4",
            &[(&several, &uc_average)],
        ),
        matched(
            "With correlated loss all converge in the same round.",
            "5.3.1.2",
            &[(corr, &corr_average)],
        ),
    ]
}

/// The curve of a subject in the pane of this title, which becomes a part of its name.
fn curve(finding: &Finding, pane: &str, subject: Subject, kind: Kind) -> Curve {
    let of_title = |found: &&Pane| found.title == pane;
    let found = finding.panes.iter().find(of_title).expect("the panes of figure()");
    let curve = found.curve(&named(subject.name, kind));
    Curve { name: format!("{pane}, {}", curve.name), ..curve.clone() }
}
