//! Ours: the graphs for p_fail, which the text calls very similar to those for losses and omits.

use super::common::{Case, OF_ALL, Sweep, as_computed, ends, high};
use super::loss::{NODES, by_delay};
use super::tell::{at_least, claim, together};
use crate::figures::evidence::scaled;
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Kind, Series, Verdict};
use crate::point::Point;
use crate::probabilistic::point;

/// From the paper's p_fail to a half.
const FAILS: [f64; 8] = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5];
const AXIS: &str = "p_fail";
const CEILING: &str = "1 − p_fail";
/// How far curves may be apart that are "very similar", of the greater one.
const SIMILAR: f64 = 0.1;

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
        similar("The graph of strong success is very similar.", &[(strong, by_loss)]).explained(
            Verdict::Refuted,
            "a leader that fails after it was chosen is noticed by nobody, which no further round \
             mends",
        ),
        similar(
            "The graphs of rounds and messages are very similar.",
            &[(rounds, rounds_by_loss), (unicasts, lost_unicasts), (multicasts, lost_multicasts)],
        )
        .explained(
            Verdict::Refuted,
            "a process that fails needs no final message, so failures cause hardly any further \
             round",
        ),
        as_computed(
            "Strong success is 1 − p_fail, the probability that the leader lives.",
            "ours, of E5",
            "p_fail =",
            &[(strong, ceiling)],
        ),
        high("Weak success is close to 1.", "ours", AXIS, &[weak]),
    ]
}

/// Claims that curves differ by no more than a tenth of the greater one.
fn similar(says: &'static str, pairs: &[(&Curve, &Curve)]) -> Claim {
    let most = |dot: &Dot| scaled(dot, 1.0 - SIMILAR);
    let near = |(mine, other): &(&Curve, &Curve)| {
        together(mine.beside(other).map(|(mine, other)| {
            together([at_least(mine, &most(other)), at_least(other, &most(mine))])
        }))
    };
    let told_of =
        |(mine, other): &(&Curve, &Curve)| format!("{}; {}", ends(mine, "p"), ends(other, "p"));
    let list: Vec<String> = pairs.iter().map(told_of).collect();
    let because = format!("{}. Similar is within a tenth", list.join("; "));
    claim(says, "5", together(pairs.iter().map(near)), because)
}
