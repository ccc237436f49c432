//! Ours: figures 5(d) to 5(f) continued to a million members, with hardly any loss and with much.

use super::common::{Case, OF_ALL, Sweep, high, one_round};
use crate::figures::evidence::{Margin, flat, part};
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Verdict};
use crate::inputs::Loss;
use crate::point::Point;
use crate::probabilistic::point;

const SIZES: [f64; 4] = [1e3, 1e4, 1e5, 1e6];
const AXIS: &str = "N =";

const SWEEP: Sweep = Sweep {
    x: Axis::log("group size N", ""),
    values: &SIZES,
    cases: &[
        Case { name: "loss .001", point: |nodes| of_size(nodes, 0.001) },
        Case { name: "loss .2", point: |nodes| of_size(nodes, 0.2) },
    ],
};

const FEWER: &str = "Of a thousand runs, 300 at N = 100,000, and 12 at a million, or 4 with a \
    loss of .2, whose elections have several rounds: those show how it goes on, within their wide \
    intervals, and confirm nothing.";
const CAPPED: &str = "In groups of more than 6000 the limit of 6000 relays applies, if a fifth \
    round is begun: it has about 6000 relays, and not N.";

/// Large groups take long, and each of their runs tells of more members.
fn of_size(nodes: f64, loss: f64) -> Point {
    let runs = match nodes {
        _ if nodes < 1e5 => 1000,
        _ if nodes < 1e6 => 300,
        _ if loss < 0.1 => 12,
        _ => 4,
    };
    point(nodes as u32).loss(Loss::apart(loss)).runs(runs)
}

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "Probabilistic election: success, rounds and messages up to a million members",
        source: "ours, continuing figures 5(d-f) of the probabilistic election",
        says: "p_fail = .001, view_prob = .5. The guarantees and the number of messages do not \
            depend on the size of the group, even as it is increased into the tens of thousands \
            (section 6); for all practical values of N (section 4).",
        choices: CHOICES,
        panels: vec![SWEEP.success(), SWEEP.rounds(), SWEEP.messages()],
        claims,
        ..Figure::BARE
    }
}

const CHOICES: &[&str] = &{
    let mut all = [""; OF_ALL.len() + 2];
    (all[0], all[1]) = (FEWER, CAPPED);
    let mut place = 0;
    while place < OF_ALL.len() {
        all[place + 2] = OF_ALL[place];
        place += 1;
    }
    all
};

fn claims(finding: &Finding) -> Vec<Claim> {
    // A million members have too few runs to confirm anything.
    let many_runs = |curve: &Curve| part(curve, |nodes| nodes < 1e6);
    let of = |what: &str| [".001", ".2"].map(|loss| finding.curve(&format!("{what}, loss {loss}")));
    let in_words = |what: &str| of(what).map(many_runs);
    let ([strong, lossy], [weak, lossy_weak]) = (in_words("strong"), in_words("weak"));
    let ([rounds, lossy_rounds], [unicasts, more_unicasts], [multicasts, more_multicasts]) =
        (in_words("rounds"), in_words("unicasts"), in_words("multicasts"));
    let (to_a_million, weak_to_a_million) = (of("strong"), of("weak"));
    vec![
        high("Success is very high up to 100,000 members.", "4, 6", AXIS, &[&strong, &weak]),
        high(
            "Success is very high with a million members, too.",
            "4",
            AXIS,
            &[to_a_million[0], weak_to_a_million[0]],
        ),
        one_round(
            "One round is expected to be enough up to 100,000 members, with hardly any loss.",
            "5",
            AXIS,
            &rounds,
        ),
        flat(
            "The number of messages does not depend on N up to 100,000, with hardly any loss.",
            "4, 6",
            Margin::Log,
            &[&unicasts, &multicasts],
        ),
        high(
            "Success is very high with a loss of .2, too, up to 100,000 members.",
            "4, 6",
            AXIS,
            &[&lossy, &lossy_weak],
        ),
        flat(
            "Rounds do not depend on N with a loss of .2.",
            "4, 6",
            Margin::Linear,
            &[&lossy_rounds],
        )
        .explained(
            Verdict::Refuted,
            "of more members some miss the final messages of more relays: E4 depends on N, and \
             what it takes is a further round with twice the relays",
        ),
        flat(
            "The number of messages does not depend on N with a loss of .2.",
            "4, 6",
            Margin::Log,
            &[&more_unicasts, &more_multicasts],
        )
        .explained(Verdict::Refuted, "they are those of further rounds"),
    ]
}
