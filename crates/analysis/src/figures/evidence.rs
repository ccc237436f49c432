//! How claims are judged: comparisons that recur, with their numbers in words.
//!
//! A claim that two curves are equal, or that one is flat or never below another, is *confirmed* if
//! nothing speaks against it beyond doubt: no number of runs shows that a difference is zero. With
//! too few runs it is not judged at all. A claim that one curve lies above another takes a
//! difference beyond doubt. Claims with a tolerance are judged by `probabilistic::tell`, which asks
//! that the whole interval lies within it.

use crate::figures::claim::{doubt, fewer_runs};
use crate::figures::{Claim, Curve, Dot};
use crate::numbers::number;

/// What a point without error counts for, in standard errors.
const CERTAIN: f64 = 1e6;

/// A curve in a sentence: most are simulated.
fn name(curve: &Curve) -> &str {
    curve.name.strip_suffix(", simulated").unwrap_or(&curve.name)
}

/// A point in a sentence, with its error if it has one.
pub(super) fn value(dot: &Dot) -> String {
    if dot.runs == 0 {
        return number(dot.y);
    }
    format!("{} ± {}", number(dot.y), number(dot.stderr))
}

/// Two curves in a sentence, where both begin and where both end.
pub(super) fn beside(mine: &Curve, other: &Curve) -> String {
    let pairs: Vec<_> = mine.beside(other).collect();
    let [(first, its_first), .., (last, its_last)] = pairs[..] else {
        return "fewer than two points to compare".to_owned();
    };
    format!(
        "{} against {} at N = {}, {} against {} at N = {}",
        value(first),
        value(its_first),
        first.x,
        value(last),
        value(its_last),
        last.x
    )
}

/// The point times a factor.
pub(super) fn scaled(dot: &Dot, factor: f64) -> Dot {
    let ci95 = dot.ci95.map(|end| factor * end);
    Dot { y: factor * dot.y, stderr: factor * dot.stderr, ci95, ..dot.clone() }
}

/// The first point less the second.
pub(super) fn difference(more: &Dot, less: &Dot) -> Dot {
    let (y, stderr) = (more.y - less.y, libm::hypot(more.stderr, less.stderr));
    let (runs, half) = (fewer_runs(more, less), 1.96 * stderr);
    Dot { x: more.x, y, stderr, ci95: [y - half, y + half], runs, command: None }
}

/// The first curve less the second, wherever both have a point.
pub(super) fn differences(more: &Curve, less: &Curve) -> Curve {
    let dots = more.beside(less).map(|(more, less)| difference(more, less)).collect();
    let name = format!("{} less {}", name(more), name(less));
    Curve { name, dots, ..more.clone() }
}

/// The points of a curve at these group sizes.
pub(super) fn part(curve: &Curve, within: impl Fn(f64) -> bool) -> Curve {
    let dots = curve.dots.iter().filter(|dot| within(dot.x)).cloned().collect();
    Curve { dots, ..curve.clone() }
}

/// A point without error.
pub(super) fn exactly(x: f64, y: f64) -> Dot {
    Dot { x, y, stderr: 0.0, ci95: [y; 2], runs: 0, command: None }
}

/// How many standard errors one curve is above another, all points taken together: the sum of what
/// each says, which has an error of √n.
fn on_the_whole(more: &Curve, less: &Curve) -> f64 {
    let score = |(more, less): (&Dot, &Dot)| {
        let Dot { y, stderr, .. } = difference(more, less);
        if y == 0.0 { 0.0 } else { (y / stderr).clamp(-CERTAIN, CERTAIN) }
    };
    let scores: Vec<f64> = more.beside(less).map(score).collect();
    scores.iter().sum::<f64>() / libm::sqrt(scores.len().max(1) as f64)
}

/// By how much a curve rises when x grows tenfold: the straight line through its points over log x,
/// each weighed by what it knows. Nothing, if all lie at one x.
fn rise_per_decade(curve: &Curve) -> Option<Dot> {
    let known = |dot: &&Dot| dot.stderr > 0.0;
    let weighed = |of: &dyn Fn(&Dot) -> f64| -> f64 {
        curve.dots.iter().filter(known).map(|dot| of(dot) / (dot.stderr * dot.stderr)).sum()
    };
    let across = |dot: &Dot| libm::log10(dot.x);
    let all = weighed(&|_| 1.0);
    let (middle, mean) = (weighed(&across) / all, weighed(&|dot| dot.y) / all);
    let spread = weighed(&|dot| (across(dot) - middle) * (across(dot) - middle));
    let rise = weighed(&|dot| (across(dot) - middle) * (dot.y - mean));
    let (y, stderr) = (rise / spread, libm::sqrt(1.0 / spread));
    let runs = curve.dots.iter().filter(known).map(|dot| dot.runs).min().unwrap_or(0);
    (spread > 0.0).then(|| Dot { stderr, runs, ..exactly(10.0, y) })
}

/// Claims that one curve lies above another: on the whole beyond doubt, and nowhere below it beyond
/// doubt.
pub(super) fn above(
    says: &'static str,
    section: &'static str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    let holds = pairs.iter().all(|(more, less)| lies_above(more, less));
    Claim::judged(says, section, holds, in_words(pairs))
}

/// Whether one curve lies above another: on the whole beyond doubt, and nowhere below it beyond
/// doubt.
pub(super) fn lies_above(more: &Curve, less: &Curve) -> bool {
    let runs = more.beside(less).map(|(more, less)| fewer_runs(more, less)).min().unwrap_or(0);
    never_below(more, less) && on_the_whole(more, less) > doubt(runs)
}

/// The least x from which on one curve lies above another beyond doubt.
pub(super) fn above_from(more: &Curve, less: &Curve) -> Option<f64> {
    let pairs: Vec<_> = more.beside(less).collect();
    let below = pairs.iter().rposition(|(more, less)| !more.exceeds(less));
    pairs.get(below.map_or(0, |place| place + 1)).map(|(dot, _)| dot.x)
}

/// Claims that one curve is nowhere below another, beyond doubt.
pub(super) fn bounded(
    says: &'static str,
    section: &'static str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    let holds = pairs.iter().all(|(more, less)| never_below(more, less));
    Claim::judged(says, section, holds, in_words(pairs))
}

/// Whether one curve is nowhere below another, beyond doubt.
pub(super) fn never_below(more: &Curve, less: &Curve) -> bool {
    more.all_beside(less, |more, less| !less.exceeds(more))
}

/// The pairs of curves in words, and where the first is below the second.
fn in_words(pairs: &[(&Curve, &Curve)]) -> String {
    let sentence = |(more, less): &(&Curve, &Curve)| {
        let mut text = format!("{} and {}: {}", name(more), name(less), beside(more, less));
        if let Some((more, less)) = more.beside(less).find(|(more, less)| less.exceeds(more)) {
            text += &format!("; below at N = {}: {} and {}", more.x, value(more), value(less));
        }
        text
    };
    pairs.iter().map(sentence).collect::<Vec<_>>().join(". ")
}

/// How far apart two points are, in words.
fn errors(off: f64) -> String {
    if off.is_finite() {
        return format!("{off:.1} standard errors");
    }
    "more than chance can, since neither has an error".to_owned()
}

/// Claims that simulation and formula agree.
pub(super) fn matched(
    says: &'static str,
    section: &'static str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    matched_over(says, section, "N =", pairs)
}

/// The same where it is not N that varies.
pub(super) fn matched_over(
    says: &'static str,
    section: &'static str,
    axis: &str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    let holds = pairs.iter().all(|(simulated, formula)| simulated.agrees(formula));
    let sentence = |(simulated, formula): &(&Curve, &Curve)| match simulated.worst(formula) {
        None => format!("{}: nothing to compare", name(simulated)),
        Some((dot, off)) => format!(
            "{} and {} differ by up to {}, at {axis} {}: {} against {}",
            name(simulated),
            name(formula),
            errors(off),
            dot.x,
            value(dot),
            value(formula.at(dot.x))
        ),
    };
    let because = pairs.iter().map(sentence).collect::<Vec<_>>().join(". ");
    Claim::judged(says, section, holds, because)
}

/// Claims that curves do not depend on N.
pub(super) fn flat(says: &'static str, section: &'static str, curves: &[&Curve]) -> Claim {
    let rises: Option<Vec<_>> = curves.iter().map(|curve| rise_per_decade(curve)).collect();
    let Some(rises) = rises else {
        return Claim::open(says, section, "the figure has but one size of groups");
    };
    let holds = rises.iter().all(|rise| rise.agrees(&exactly(rise.x, 0.0)));
    let sentence = |(curve, rise): (&&Curve, &Dot)| format!("{}: {}", name(curve), value(rise));
    let list: Vec<_> = curves.iter().zip(&rises).map(sentence).collect();
    let because = format!("change when N grows tenfold: {}", list.join(", "));
    Claim::judged(says, section, holds, because)
}

/// Claims that a curve has a limit in N. Against it speaks that it grew in the last decade, and by
/// no less than in the decade before.
pub(super) fn levels_off(says: &'static str, section: &'static str, curve: &Curve) -> Claim {
    let decades = curve.dots.last().and_then(|last| {
        let find = |x: f64| curve.dots.iter().find(|dot| dot.x == x);
        Some((last, find(last.x / 10.0)?, find(last.x / 100.0)?))
    });
    let Some((last, middle, first)) = decades else {
        return Claim::open(says, section, "the figure has not two whole decades of N");
    };
    let (growth, before) = (difference(last, middle), difference(middle, first));
    let grows = growth.exceeds(&exactly(growth.x, 0.0));
    let holds = !grows || before.exceeds(&growth);
    let because = format!(
        "{}: {} at N = {}, {} at {}, {} at {}: it grew by {} in the last decade and by {} in the \
         one before",
        name(curve),
        value(first),
        first.x,
        value(middle),
        middle.x,
        value(last),
        last.x,
        value(&growth),
        value(&before)
    );
    Claim::judged(says, section, holds, because)
}
