//! Ours: the graphs for p_fail, which the text calls very similar to those for losses and omits.

use super::common::{Case, OF_ALL, Sweep, ends, high};
use super::loss::{NODES, by_delay};
use crate::figures::evidence::{Margin, equal};
use crate::figures::tell::no_less_by;
use crate::figures::{Axis, Claim, Curve, Figure, Finding, Kind, Series, Verdict};
use crate::point::Point;
use crate::probabilistic::point;

/// From the paper's p_fail to a half.
const FAILS: [f64; 8] = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
const AXIS: &str = "p_fail";
const CEILING: &str = "1 − p_fail";

const SWEEP: Sweep = Sweep {
    x: Axis::linear("p_fail, or the loss of messages", ""),
    values: &FAILS,
    cases: &[
        Case { name: "by p_fail", point: |fail| Point { fail, ..point(NODES) } },
        Case { name: "by loss", point: by_delay },
    ],
};

/// The figure.
pub(super) fn figure() -> Figure {
    let mut success = SWEEP.success();
    let ceiling = FAILS.iter().map(|fail| (*fail, Some(1.0 - fail)));
    success.series.push(Series::line(CEILING, 0, Kind::Corrected, ceiling));
    Figure {
        title: "Probabilistic election: success, rounds and messages against failures",
        source: "ours, the graphs that section 5 of the probabilistic election leaves out",
        says: "N = 2000, view_prob = .5, losses of .001. The graphs for varying p_fail are very \
            similar to figures 5(a-c), and not included.",
        choices: OF_ALL,
        panels: vec![success, SWEEP.rounds(), SWEEP.messages()],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |what: &str| ["p_fail", "loss"].map(|by| finding.curve(&format!("{what}, by {by}")));
    let ([strong, by_loss], [weak, _]) = (of("strong"), of("weak"));
    let ([rounds, rounds_by_loss], ceiling) = (of("rounds"), finding.curve(CEILING));
    let [[unicasts, lost_unicasts], [multicasts, lost_multicasts]] =
        [of("unicasts"), of("multicasts")];
    vec![
        similar(
            "The graph of strong success is very similar.",
            &[(strong, by_loss, Margin::Share)],
        )
        .explained(
            Verdict::Refuted,
            "a leader that fails after it was chosen is noticed by nobody, which no further round \
             mends",
        ),
        similar(
            "The graphs of rounds and messages are very similar.",
            &[
                (rounds, rounds_by_loss, Margin::Linear),
                (unicasts, lost_unicasts, Margin::Log),
                (multicasts, lost_multicasts, Margin::Log),
            ],
        )
        .explained(
            Verdict::Refuted,
            "a process that fails needs no final message, so failures cause hardly any further \
             round",
        ),
        Claim::compared(
            "Strong success is 1 − p_fail at most, the probability that the leader lives.",
            "ours, of E5",
            &format!("at most is {}", Margin::Share.in_words()),
            &ceiling
                .beside(strong)
                .map(|(c, s)| no_less_by(c, s, Margin::Share.of(c.y)))
                .collect::<Vec<_>>(),
            format!("{}; {}", ends(strong, "p_fail"), ends(ceiling, "p_fail")),
        )
        .explained(
            Verdict::Confirmed,
            "where many fail it is less: a further round exposes the leader again",
        ),
        high("Weak success is close to 1.", "ours", AXIS, &[weak]),
    ]
}

/// Claims that pairs of curves are equal, each as its axis is read.
fn similar(says: &'static str, pairs: &[(&Curve, &Curve, Margin)]) -> Claim {
    let tests: Vec<_> =
        pairs.iter().flat_map(|(mine, other, margin)| equal(mine, other, *margin)).collect();
    let told_of = |(mine, other, _): &(&Curve, &Curve, Margin)| {
        format!("{}; {}", ends(mine, "p"), ends(other, "p"))
    };
    let list: Vec<String> = pairs.iter().map(told_of).collect();
    let mut margins: Vec<&str> = pairs.iter().map(|(.., margin)| margin.in_words()).collect();
    margins.dedup();
    let asked = format!("similar is {}", margins.join("; or "));
    Claim::compared(says, "5", &asked, &tests, list.join("; "))
}
