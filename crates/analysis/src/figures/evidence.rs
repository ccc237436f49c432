//! How claims are judged: comparisons that recur, with their numbers in words.
//!
//! Each states what counts as equal: a [`Margin`], which follows from the axis of the plot. A claim
//! that two curves are equal, that one is flat or that one bounds another is confirmed only if the
//! whole interval lies within that margin. [`tell`](super::tell) has the rule and its levels.

use crate::figures::claim::fewer_runs;
use crate::figures::finding::{Law, Origin};
use crate::figures::tell::{Comparison, at_least, near_zero, no_less_by, within};
use crate::figures::{Claim, Curve, Dot};
use crate::numbers::number;

/// What a point without error counts for, in standard errors.
const CERTAIN: f64 = 1e6;

/// What counts as equal: what a reader of the plot calls equal. It follows from the kind of axis
/// that a claim's numbers are drawn on, and is the same for all claims of that kind. It was set
/// when numbers had been seen; and words such as "typically", which are about no axis, have
/// criteria of their own, which stand with their claims and in `docs/mathematics.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Margin {
    /// A twentieth of the value. An axis that grows by steps has about five ticks, and a reader
    /// tells a quarter of the distance between two.
    Linear,
    /// A tenth of the value. On an axis of two decades or more that is less than a marker is high.
    Log,
    /// .02. On an axis of chances or of parts of the whole, from 0 to 1, that is less than a marker
    /// is high.
    Share,
    /// Nothing. A count in which nothing is random is right or wrong.
    Exact,
}

impl Margin {
    /// How far that is from this value.
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Self::Linear => 0.05 * value.abs(),
            Self::Log => 0.1 * value.abs(),
            Self::Share => 0.02,
            Self::Exact => 0.0,
        }
    }

    /// The margin in a sentence, with the reason for it.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Linear => "within 5 %, as a linear axis is read",
            Self::Log => "within 10 %, as a logarithmic axis is read",
            Self::Share => "within .02, less than a marker on an axis from 0 to 1",
            Self::Exact => "to the letter, since nothing is random",
        }
    }

    /// What equal means, in a sentence.
    pub(super) fn equal(self) -> String {
        format!("equal is {}", self.in_words())
    }
}

/// A curve in a sentence: most are simulated.
fn name(curve: &Curve) -> &str {
    curve.name.strip_suffix(", simulated").unwrap_or(&curve.name)
}

/// A point in a sentence, with its error if it has one.
pub(super) fn value(dot: &Dot) -> String {
    if dot.runs == 0 {
        return number(dot.y);
    }
    or_more(dot).unwrap_or_else(|| format!("{} ± {}", number(dot.y), number(dot.stderr)))
}

/// What a mean of which runs were cut says: those would have had larger values.
pub(super) fn or_more(dot: &Dot) -> Option<String> {
    (dot.cut > 0).then(|| format!("at least {} ({} cut)", number(dot.y), dot.cut))
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

/// The point times a factor. What was a chance or a part of the whole need not lie between 0 and 1
/// any more.
pub(super) fn scaled(dot: &Dot, factor: f64) -> Dot {
    let ci95 = dot.ci95.map(|end| factor * end);
    let law = match dot.origin.law {
        Law::Chance | Law::Share => Law::Mean,
        law => law,
    };
    let origin = Origin { law, ..dot.origin.clone() };
    Dot { y: factor * dot.y, stderr: factor * dot.stderr, ci95, origin, ..dot.clone() }
}

/// The first point less the second.
pub(super) fn difference(more: &Dot, less: &Dot) -> Dot {
    let (y, stderr) = (more.y - less.y, libm::hypot(more.stderr, less.stderr));
    let (runs, half) = (fewer_runs(more, less), 1.96 * stderr);
    let [low, high] = less.origin.open;
    let open = [more.origin.open[0] || high, more.origin.open[1] || low];
    let origin = Origin { open, ..joined([more, less]) };
    Dot { stderr, ci95: [y - half, y + half], runs, origin, ..exactly(more.x, y) }
}

/// Where a point comes from that is computed from others. If runs of one of them were cut, nothing
/// bounds it.
pub(super) fn joined<'a>(dots: impl IntoIterator<Item = &'a Dot>) -> Origin {
    let mut origin = Origin::default();
    for dot in dots {
        origin.look = origin.look.max(dot.origin.look);
        origin.sources.extend_from_slice(&dot.origin.sources);
        let any = dot.origin.open.contains(&true);
        origin.open = origin.open.map(|open| open || any);
    }
    origin
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
    Dot::exactly(x, y)
}

/// How many standard errors one curve is above another, all points taken together: the sum of what
/// each says, which has an error of √n.
fn on_the_whole(more: &Curve, less: &Curve) -> Option<Dot> {
    let score = |(more, less): (&Dot, &Dot)| {
        let Dot { y, stderr, .. } = difference(more, less);
        if y == 0.0 { 0.0 } else { (y / stderr).clamp(-CERTAIN, CERTAIN) }
    };
    let pairs: Vec<_> = more.beside(less).collect();
    let count = libm::sqrt(pairs.len() as f64);
    let y = pairs.iter().map(|pair| score(*pair)).sum::<f64>() / count;
    let known = pairs.iter().any(|(more, less)| !more.is_exact() || !less.is_exact());
    let runs = pairs.iter().map(|(more, less)| fewer_runs(more, less)).min()?;
    let origin = joined(pairs.iter().flat_map(|(more, less)| [*more, *less]));
    let (stderr, runs) = if known { (1.0, runs) } else { (0.0, 0) };
    Some(Dot { stderr, runs, origin, ..exactly(0.0, y) })
}

/// By how much a curve rises from its least x to its greatest: so does the straight line through
/// its points over log x, each counting as much. It is a sum of points, each with its factor.
/// Nothing, if all lie at one x.
fn rise(curve: &Curve) -> Option<Vec<(f64, Dot)>> {
    let across = |dot: &Dot| libm::log10(dot.x);
    let middle = curve.dots.iter().map(across).sum::<f64>() / curve.dots.len().max(1) as f64;
    let off = |dot: &Dot| across(dot) - middle;
    let spread: f64 = curve.dots.iter().map(|dot| off(dot) * off(dot)).sum();
    let length = across(curve.dots.last()?) - across(curve.dots.first()?);
    let factor = |dot: &Dot| length * off(dot) / spread;
    (spread > 0.0).then(|| curve.dots.iter().map(|dot| (factor(dot), dot.clone())).collect())
}

/// A sum of points in a sentence, with its error if it has one.
fn total(sum: &[(f64, Dot)]) -> String {
    let y: f64 = sum.iter().map(|(factor, dot)| factor * dot.y).sum();
    let stderr = sum.iter().fold(0.0, |all, (factor, dot)| libm::hypot(all, factor * dot.stderr));
    let runs = sum.iter().map(|(_, dot)| dot.runs).max().unwrap_or(0);
    value(&Dot { stderr, runs, ..exactly(0.0, y) })
}

/// The mean of a curve's points, each counting as much.
fn level(curve: &Curve) -> f64 {
    curve.dots.iter().map(|dot| dot.y).sum::<f64>() / curve.dots.len().max(1) as f64
}

/// Claims that one curve lies above another: on the whole, and nowhere below it by more than a
/// twentieth.
pub(super) fn above(
    says: &'static str,
    section: &'static str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    let comparisons: Vec<_> =
        pairs.iter().flat_map(|(more, less)| lies_above(more, less)).collect();
    Claim::compared(says, section, ABOVE, &comparisons, in_words(pairs))
}

/// What [`lies_above`] asks, in words.
pub(super) const ABOVE: &str =
    "more, all points together, and nowhere less by more than 5 % of the greater";

/// That one curve lies above another: on the whole, and nowhere below it by more than a twentieth.
pub(super) fn lies_above(more: &Curve, less: &Curve) -> Vec<Comparison> {
    let mut comparisons = never_below(more, less);
    comparisons.extend(more_together(more, less));
    comparisons
}

/// That one curve lies above another, all points taken together.
pub(super) fn more_together(more: &Curve, less: &Curve) -> Option<Comparison> {
    on_the_whole(more, less).map(|sum| at_least(&sum, &exactly(sum.x, 0.0)))
}

/// The least x from which on one curve lies above another beyond doubt.
pub(super) fn above_from(more: &Curve, less: &Curve) -> Option<f64> {
    let pairs: Vec<_> = more.beside(less).collect();
    let below = pairs.iter().rposition(|(more, less)| !more.exceeds(less));
    pairs.get(below.map_or(0, |place| place + 1)).map(|(dot, _)| dot.x)
}

/// Claims that one curve is nowhere below another, by more than a twentieth.
pub(super) fn bounded(
    says: &'static str,
    section: &'static str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    let comparisons: Vec<_> =
        pairs.iter().flat_map(|(more, less)| never_below(more, less)).collect();
    let margin = "nowhere less by more than 5 % of the greater";
    Claim::compared(says, section, margin, &comparisons, in_words(pairs))
}

/// That one curve is nowhere below another, by more than a twentieth of the greater.
pub(super) fn never_below(more: &Curve, less: &Curve) -> Vec<Comparison> {
    let test = |(more, less): (&Dot, &Dot)| {
        no_less_by(more, less, Margin::Linear.of(more.y.abs().max(less.y.abs())))
    };
    more.beside(less).map(test).collect()
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

/// That two curves are equal wherever both have a point; a margin is a part of the second.
pub(super) fn equal(one: &Curve, other: &Curve, margin: Margin) -> Vec<Comparison> {
    let test = |(one, other): (&Dot, &Dot)| within(one, other, margin.of(other.y));
    one.beside(other).flat_map(test).collect()
}

/// Claims that simulation and formula agree, within a twentieth.
pub(super) fn matched(
    says: &'static str,
    section: &'static str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    matched_within(says, section, Margin::Linear, "N =", pairs)
}

/// The same with a margin of its own, over another axis than N.
pub(super) fn matched_within(
    says: &'static str,
    section: &'static str,
    margin: Margin,
    axis: &str,
    pairs: &[(&Curve, &Curve)],
) -> Claim {
    let sentence = |(simulated, formula): &(&Curve, &Curve)| {
        let apart = |(mine, other): &(&Dot, &Dot)| (mine.y - other.y).abs() / margin.of(other.y);
        let worst = simulated.beside(formula).max_by(|a, b| apart(a).total_cmp(&apart(b)));
        let (mine, other) = (name(simulated), name(formula));
        worst.map_or_else(
            || format!("{mine}: nothing to compare"),
            |(dot, form)| {
                let (value_of, line) = (value(dot), value(form));
                format!(
                    "{mine} and {other} differ most at {axis} {}: {value_of} against {line}",
                    dot.x
                )
            },
        )
    };
    let because = pairs.iter().map(sentence).collect::<Vec<_>>().join(". ");
    let comparisons: Vec<_> =
        pairs.iter().flat_map(|(one, other)| equal(one, other, margin)).collect();
    Claim::compared(says, section, &margin.equal(), &comparisons, because)
}

/// Claims that curves do not depend on N: that the straight line through each of them changes by no
/// more than this from one end of the plot to the other, of their mean.
pub(super) fn flat(
    says: &'static str,
    section: &'static str,
    margin: Margin,
    curves: &[&Curve],
) -> Claim {
    let rises: Option<Vec<_>> = curves.iter().map(|curve| rise(curve)).collect();
    let Some(rises) = rises else {
        return Claim::open(says, section, "the figure has but one size of groups");
    };
    let tests = |(curve, rise): (&&Curve, &Vec<_>)| near_zero(rise, margin.of(level(curve)));
    let comparisons: Vec<_> = curves.iter().zip(&rises).flat_map(tests).collect();
    let sentence = |(curve, rise): (&&Curve, &Vec<_>)| {
        format!("{}: {} of {}", name(curve), total(rise), number(level(curve)))
    };
    let list: Vec<_> = curves.iter().zip(&rises).map(sentence).collect();
    let because = format!("change from the least N to the greatest: {}", list.join(", "));
    let asked = format!("constant is, from the least N to the greatest, {}", margin.in_words());
    Claim::compared(says, section, &asked, &comparisons, because)
}

/// What is left of the growth of a decade in the next one, of a curve that has a limit, at most.
const LEVELLING: f64 = 0.8;

/// The last point, and two before it from decade to decade, or every second decade if it has them.
fn decades(curve: &Curve) -> Option<(&Dot, &Dot, &Dot)> {
    let last = curve.dots.last()?;
    let find = |x: f64| curve.dots.iter().find(|dot| dot.x == x);
    let steps = |step: f64| Some((last, find(last.x / step)?, find(last.x / step / step)?));
    steps(100.0).or_else(|| steps(10.0))
}

/// Claims that a curve has a limit in N: that it grows less and less as N grows by factors.
pub(super) fn levels_off(says: &'static str, section: &'static str, curve: &Curve) -> Claim {
    let Some((last, middle, first)) = decades(curve) else {
        return Claim::open(says, section, "the figure has not two whole decades of N");
    };
    let (growth, before) = (difference(last, middle), difference(middle, first));
    // Both contain the middle point, so that their difference is taken at once.
    let allowed = scaled(&before, LEVELLING);
    let sum = libm::hypot(last.stderr, (1.0 + LEVELLING) * middle.stderr);
    let stderr = libm::hypot(sum, LEVELLING * first.stderr);
    let gap = Dot { y: allowed.y - growth.y, stderr, ..difference(&allowed, &growth) };
    let because = format!(
        "{}: {} at N = {}, {} at {}, {} at {}: it grew by {} in the last step and by {} in the one \
         before, each by the same factor of N",
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
    let asked = "a limit is approached if a step adds at most four fifths of the one before";
    Claim::compared(says, section, asked, &[at_least(&gap, &exactly(gap.x, 0.0))], because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Kind, Verdict};

    /// A curve at 10, 100 and 1000, of so many runs.
    fn curve(points: [(f64, f64); 3], runs: usize) -> Curve {
        let xs = [10.0, 100.0, 1000.0];
        let dot = |(x, (y, stderr))| Dot { stderr, runs, ..exactly(x, y) };
        let dots = xs.into_iter().zip(points).map(dot).collect();
        Curve { name: "one".to_owned(), kind: Kind::Simulated, hue: 0, drawn: true, dots }
    }

    fn flatness(points: [(f64, f64); 3], runs: usize) -> Claim {
        flat("It is flat.", "1", Margin::Linear, &[&curve(points, runs)])
    }

    #[test]
    fn runs_that_were_all_alike_are_a_flat_curve_if_they_are_many() {
        let alike = [(10.0, 0.0); 3];
        let claim = flatness(alike, 10_000);
        assert_eq!(claim.verdict, Verdict::Confirmed, "{claim:?}");
        assert_eq!(flatness(alike, 20).verdict, Verdict::Undecided, "others may follow");
        let steps = [(10.0, 0.0), (12.0, 0.0), (14.0, 0.0)];
        assert_eq!(flatness(steps, 10_000).verdict, Verdict::Refuted);
        let one = part(&curve(alike, 10), |x| x == 10.0);
        let claim = flat("It is flat.", "1", Margin::Linear, &[&one]);
        assert_eq!(claim.because, "the figure has but one size of groups");
    }

    /// A mean that happens to be low has a low error, too, where both come from the same rare runs.
    #[test]
    fn points_count_alike_whatever_their_errors_are() {
        let claim = flatness([(10.0, 0.01), (10.0, 0.001), (11.0, 0.1)], 10_000);
        assert!(claim.because.contains("one: 1.000 ± 0.100 of 10.33"), "{}", claim.because);
        assert_eq!(claim.verdict, Verdict::Refuted, "{claim:?}");
    }

    #[test]
    fn a_mean_of_which_runs_were_cut_is_told_as_the_least_that_it_may_be() {
        let whole = Dot { stderr: 0.05, runs: 100, ..exactly(1.0, 0.5) };
        assert_eq!(value(&whole), "0.500 ± 0.050");
        let cut = Dot { cut: 7, ..whole };
        assert_eq!(value(&cut), "at least 0.500 (7 cut)");
    }

    #[test]
    fn ten_times_a_chance_is_no_chance() {
        let mut half = Dot { stderr: 0.05, runs: 100, ..exactly(1.0, 0.5) };
        half.origin.law = Law::Chance;
        let [low, high] = scaled(&half, 10.0).interval(0.95);
        assert!((3.9..4.1).contains(&low) && (5.9..6.1).contains(&high), "{low} {high}");
    }
}
