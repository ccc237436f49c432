//! Figure 5.11: how long LE-S and AL take if four messages in ten are lost.

use super::common::{
    BOTH_MODELS, CONVERGED, CORRELATED, PARAMETERS, RUNS, SENT, Sizes, Subject, UNCORRELATED,
    subject, t_max,
};
use crate::figures::evidence::{differences, exactly, matched, part, value};
use crate::figures::series::named;
use crate::figures::tell::{Comparison, at_least};
use crate::figures::{Claim, Curve, Dot, Figure, Finding, Kind, Verdict};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

const LE_S_UC: Subject = subject("LE-S, uncorrelated", 0, Variant::LeS, UNCORRELATED);
const AL_UC: Subject = subject("AL, uncorrelated", 1, Variant::Al, UNCORRELATED);
const LE_A_UC: Subject = subject("LE-A, uncorrelated", 2, Variant::LeA, UNCORRELATED);
const LE_S_CORR: Subject = subject("LE-S, correlated", 0, Variant::LeS, CORRELATED);
const AL_CORR: Subject = subject("AL, correlated", 1, Variant::Al, CORRELATED);
const LE_A_CORR: Subject = subject("LE-A, correlated", 2, Variant::LeA, CORRELATED);

/// From here on AL is said to degrade; below, N is small.
const DEGRADING: f64 = 70.0;
/// From here on LE is said to be ahead.
const CROSSING: f64 = 200.0;

/// The figure, for these group sizes.
pub(super) fn figure(sizes: &Sizes) -> Figure {
    let panel = |title, subjects: [Subject; 3]| {
        let series = subjects.into_iter().flat_map(|subject| {
            let drawn = subject.variant != Variant::LeA;
            let formula = subject.formula(Kind::Corrected, sizes, t_max);
            let formula = if drawn { formula } else { formula.hidden() };
            [formula, subject.simulated(sizes, Measure::ConvergenceTime)]
        });
        sizes.times(title, series.collect())
    };
    Figure {
        title: "LE-S and AL with a loss of .4: convergence time against group size",
        source: "thesis chapter 5, section 5.4.2, figure 5.11",
        says: "AL, in which everyone announces for ever, and LE-S both wait until all have heard \
            the leader, so that their curves are alike; AL begins at once and LE-S when its leader \
            wakes, which is E[t_s] later. AL is said to fall behind as groups grow, from N = 70, \
            and LE-S to be ahead of it from N = 200, for which the text calls upon an adjusted \
            loss: the more send at once, the more is lost.",
        choices: &[
            PARAMETERS,
            CONVERGED,
            SENT,
            BOTH_MODELS,
            "The adjusted loss is in a chapter that we do not have. We do not guess it: a message \
             is as likely to be lost in a crowd as alone.",
            "LE-A is drawn as well: it begins as AL does.",
            RUNS,
        ],
        panels: vec![
            panel("Uncorrelated loss", [LE_S_UC, AL_UC, LE_A_UC]),
            panel("Correlated loss", [LE_S_CORR, AL_CORR, LE_A_CORR]),
        ],
        claims,
        ..Figure::BARE
    }
}

/// LE-S less AL, by simulation and by formula, for either loss model.
fn gaps(finding: &Finding) -> [[Curve; 2]; 2] {
    let pairs = [(LE_S_UC, AL_UC), (LE_S_CORR, AL_CORR)];
    let less = |kind: Kind, (le_s, al): (Subject, Subject)| {
        let of = |subject: Subject| finding.curve(&named(subject.name, kind));
        differences(of(le_s), of(al))
    };
    [Kind::Simulated, Kind::Corrected].map(|kind| pairs.map(|pair| less(kind, pair)))
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let [_, wakes] = gaps(finding);
    let small = |subject: Subject| part(finding.simulated(subject.name), |n| n < DEGRADING);
    let pairs = [(LE_S_UC, AL_UC, &wakes[0]), (LE_S_CORR, AL_CORR, &wakes[1])];
    let pairs = pairs.map(|(le_s, al, wake)| (small(le_s), later(&small(al), wake)));
    let mut claims = vec![matched(
        "At small N, AL is ahead of LE-S by E[t_s].",
        "5.4.2",
        &pairs.each_ref().map(|(le_s, al)| (le_s, al)),
    )];
    claims.extend(claims_of_large_groups(finding));
    claims
}

/// The curve, as much later as another says.
fn later(curve: &Curve, by: &Curve) -> Curve {
    let moved = |(dot, by): (&Dot, &Dot)| {
        let ci95 = dot.ci95.map(|end| end + by.y);
        Dot { y: dot.y + by.y, ci95, ..dot.clone() }
    };
    let dots = curve.beside(by).map(moved).collect();
    Curve { name: format!("{} and E[t_s]", curve.name), dots, ..curve.clone() }
}

/// What large groups are to be asked.
pub(super) fn claims_of_large_groups(finding: &Finding) -> Vec<Claim> {
    let [gaps, wakes] = gaps(finding);
    vec![
        adjusted(
            "The performance of AL begins to degrade at N = 70.",
            gaps.each_ref().map(|gap| part(gap, |nodes| nodes >= DEGRADING)),
            |gap| at_least(wakes[0].at(gap.x), gap),
        ),
        adjusted(
            "LE-S becomes superior to AL at N = 200, and stays so in larger groups.",
            gaps.each_ref().map(|gap| part(gap, |nodes| nodes >= CROSSING)),
            |gap| at_least(&exactly(gap.x, 0.0), gap),
        ),
    ]
}

/// A claim that rests on the adjusted loss: if it shows without that, in either loss model, it
/// holds; if it does not, that says nothing. It may be confirmed in error twice, so it counts for
/// two of the claims that a page may have ([`crate::figures::CLAIMS`]).
fn adjusted(says: &'static str, gaps: [Curve; 2], shows: impl Fn(&Dot) -> Comparison) -> Claim {
    let in_words = |gap: &Curve| {
        let list = gap.dots.iter().map(|dot| format!("{} at {}", value(dot), dot.x));
        format!("{}: {}", gap.name, list.collect::<Vec<_>>().join(", "))
    };
    let numbers = gaps.each_ref().map(in_words).join("; ");
    for gap in &gaps {
        let comparisons: Vec<_> = gap.dots.iter().map(&shows).collect();
        let asked = "everywhere from that N on";
        let claim = Claim::compared(says, "5.4.2", asked, &comparisons, numbers.clone());
        if claim.verdict == Verdict::Confirmed {
            return claim.weighing(2);
        }
    }
    let why = "it needs the adjusted loss of a chapter that we do not have. With the loss that \
        this one describes it does not show: ";
    Claim::open(says, "5.4.2", &format!("{why}{numbers}")).weighing(2)
}
