//! Verdicts from points and their intervals: the rule, its levels, and their sum over a page.
//!
//! **The rule.** A claim is a list of comparisons, each of which says that one number is no less
//! than another, or that a sum of numbers is no less than zero, give or take a margin that is
//! stated with the claim. It is *confirmed* if each
//! comparison holds with the whole of its interval; *refuted* if one of them fails with the whole
//! of its interval; and otherwise *undecided*. Two numbers are equal if neither is less than the
//! other, give or take the margin: that no difference was seen confirms nothing.
//!
//! **The levels.** A page has at most [`CLAIMS`] claims, and all its verdicts together are wrong
//! with probability [`FAMILY`] at most: each claim has α = FAMILY/CLAIMS (Bonferroni). Runs are
//! added to a claim that is undecided, and it is looked at again; its k-th look spends α/2^k, so
//! that all looks together spend no more than α, however many there are. If the claim is false, one
//! comparison is, and it is confirmed only if that one's interval is wrong: intervals that confirm
//! have confidence 1 − α/2^k. If it is true, any of its n comparisons may refute it by chance:
//! intervals that refute have confidence 1 − α/(2^k·n).
//!
//! **Assumptions.** Means of many runs are normal as far as four or five standard errors; the
//! intervals of a mean are Student's, those of a chance Clopper's and Pearson's.

use super::Verdict;
use super::finding::{Dot, Law};
use bellwether_sim::proportion::Proportion;
use bellwether_sim::stats::reach;
use std::collections::BTreeSet;

/// How probable it is, at most, that a page has a wrong verdict.
pub const FAMILY: f64 = 0.05;

/// No page has more claims than this; a test counts them.
pub const CLAIMS: usize = 200;

/// Runs are added as if for a look so many later.
const LATER: u32 = 3;

/// What a claim may spend on its look of this number, from 1.
fn spent(look: u32) -> f64 {
    FAMILY / CLAIMS as f64 * libm::pow(0.5, f64::from(look))
}

/// A comparison: that a sum of points is no less than zero, give or take a margin. Most are of two:
/// one point less another.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    /// Each point with its factor.
    sum: Vec<(f64, Dot)>,
    margin: f64,
}

/// That one is no less than the other.
pub(super) fn at_least(more: &Dot, less: &Dot) -> Comparison {
    no_less_by(more, less, 0.0)
}

/// That one is no less than the other, give or take this.
pub(super) fn no_less_by(more: &Dot, less: &Dot, margin: f64) -> Comparison {
    let margin = margin + rounding(less.y);
    Comparison { sum: vec![(1.0, more.clone()), (-1.0, less.clone())], margin }
}

/// That a point is no less than a limit.
pub(super) fn no_less(dot: &Dot, limit: f64) -> Comparison {
    at_least(dot, &Dot::exactly(dot.x, limit))
}

/// That a point is no more than a limit.
pub(super) fn no_more(dot: &Dot, limit: f64) -> Comparison {
    at_least(&Dot::exactly(dot.x, limit), dot)
}

/// That two points are no farther apart than this.
pub(super) fn within(one: &Dot, other: &Dot, most: f64) -> [Comparison; 2] {
    [no_less_by(one, other, most), no_less_by(other, one, most)]
}

/// That a sum of points, each with its factor, is no farther from zero than this.
pub(super) fn near_zero(sum: &[(f64, Dot)], most: f64) -> [Comparison; 2] {
    let margin = most + rounding(sum.iter().map(|(factor, dot)| (factor * dot.y).abs()).sum());
    let times = |sign: f64| sum.iter().map(|(factor, dot)| (sign * factor, dot.clone())).collect();
    [1.0, -1.0].map(|sign| Comparison { sum: times(sign), margin })
}

/// A billionth of a value is rounding.
fn rounding(value: f64) -> f64 {
    1e-9 * value.abs()
}

impl Comparison {
    /// Where the sum lies at this confidence, the margin added: the distances from each point to
    /// the ends of its own interval, which need not be equal, add up as errors do.
    fn gap(&self, confidence: f64) -> [f64; 2] {
        let (mut apart, mut below, mut above) = (0.0, 0.0, 0.0);
        for (factor, dot) in self.sum.iter().filter(|(factor, _)| *factor != 0.0) {
            let ends = dot.interval(confidence).map(|end| factor * (end - dot.y));
            below = libm::hypot(below, ends[0].min(ends[1]));
            above = libm::hypot(above, ends[0].max(ends[1]));
            apart += factor * dot.y;
        }
        apart += self.margin;
        [apart - below, apart + above]
    }

    fn dots(&self) -> impl Iterator<Item = &Dot> {
        self.sum.iter().map(|(_, dot)| dot)
    }

    fn is_random(&self) -> bool {
        self.dots().any(|dot| !dot.is_exact())
    }
}

/// What the comparisons of a claim say together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruling {
    pub(super) verdict: Verdict,
    /// Which rule decided, at which level.
    pub(super) rule: String,
    /// Of what more runs would help.
    pub(super) wants: BTreeSet<String>,
}

/// Rules on comparisons that all have to hold. `margin` says in words what was asked.
pub(super) fn rule(margin: &str, comparisons: &[Comparison]) -> Ruling {
    let count = comparisons.len();
    let dots = comparisons.iter().flat_map(Comparison::dots);
    let look = dots.map(|dot| dot.origin.look).max().unwrap_or(0).max(1);
    let [one, all] = [spent(look), spent(look) / count.max(1) as f64].map(|alpha| 1.0 - alpha);
    let holds = |test: &Comparison| test.gap(one)[0] >= 0.0;
    let open = comparisons.iter().filter(|test| !holds(test)).count();
    let fails = comparisons.iter().any(|test| test.gap(all)[1] < 0.0);
    let times = if count == 1 { "the interval".to_owned() } else { format!("{count} intervals") };
    let (verdict, how) = match () {
        () if count == 0 => (Verdict::Undecided, "there is nothing to compare".to_owned()),
        () if !comparisons.iter().any(Comparison::is_random) => {
            let verdict = if fails { Verdict::Refuted } else { Verdict::Confirmed };
            (verdict, "nothing compared is random".to_owned())
        }
        () if fails => {
            let one_of = if count == 1 { "" } else { "one of " };
            let how = format!("{one_of}{times} at {} lies beyond it, look {look}", percent(all));
            (Verdict::Refuted, how)
        }
        () if open == 0 => {
            let each = if count == 1 { "" } else { "all " };
            let lie = if count == 1 { "lies" } else { "lie" };
            let how = format!("{each}{times} at {} {lie} within it, look {look}", percent(one));
            (Verdict::Confirmed, how)
        }
        () => {
            let how = format!(
                "at look {look}, {} of {times} at {} still crosses it, and none at {} lies beyond",
                open,
                percent(one),
                percent(all)
            );
            (Verdict::Undecided, how)
        }
    };
    // Later looks ask for more: what holds by little now would hold no longer then.
    let later = 1.0 - spent(look + LATER);
    let sources = |test: &Comparison| {
        let all: Vec<_> = test.dots().flat_map(|dot| dot.origin.sources.clone()).collect();
        all
    };
    let vague = comparisons.iter().filter(|test| test.gap(later)[0] < 0.0);
    let wants = match verdict {
        Verdict::Undecided => vague.flat_map(sources).collect(),
        _ => BTreeSet::new(),
    };
    Ruling { verdict, rule: format!("{margin}: {how}"), wants }
}

/// A confidence, with three digits of what is missing.
fn percent(confidence: f64) -> String {
    let missing = 100.0 * (1.0 - confidence);
    let digits = (2.0 - libm::floor(libm::log10(missing))).clamp(0.0, 15.0) as usize;
    format!("{:.digits$} %", 100.0 * confidence)
}

impl Dot {
    /// Where the true value lies, at this confidence. Runs that were cut leave an end open.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let [low, high] = self.interval_of_all(confidence);
        let [below, above] = self.origin.open;
        [if below { f64::NEG_INFINITY } else { low }, if above { f64::INFINITY } else { high }]
    }

    /// The same, if no run was cut.
    fn interval_of_all(&self, confidence: f64) -> [f64; 2] {
        let Self { y, stderr, runs, .. } = *self;
        if self.is_exact() {
            return [y; 2];
        }
        let trials = runs as u64;
        if self.origin.law == Law::Chance {
            let successes = libm::round(y.clamp(0.0, 1.0) * runs as f64) as u64;
            let [low, high] = Proportion { successes, runs: trials }.interval(confidence);
            return [low.min(y), high.max(y)];
        }
        if stderr > 0.0 {
            let half = reach(runs, confidence) * stderr;
            return [y - half, y + half];
        }
        // All runs were alike. What none of them showed is as rare as this, and may be as far from
        // them as they are from zero, or by one.
        let unseen = Proportion { successes: 0, runs: trials }.interval(confidence)[1];
        let half = unseen * y.abs().max(1.0);
        match self.origin.law {
            Law::Share => [(y - half).max(0.0), (y + half).min(1.0)],
            _ => [y - half, y + half],
        }
    }

    /// Whether it has no error: of a formula, or of runs in which nothing is random.
    pub fn is_exact(&self) -> bool {
        self.runs == 0 || self.origin.law == Law::Fixed && self.stderr == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Confirmed, Refuted, Undecided};

    fn dot(y: f64, stderr: f64, runs: usize) -> Dot {
        Dot { stderr, runs, ..Dot::exactly(0.0, y) }
    }

    fn verdict(tests: &[Comparison]) -> Verdict {
        rule("as asked", tests).verdict
    }

    #[test]
    fn between_right_and_wrong_beyond_doubt_it_is_undecided() {
        let at = |y| verdict(&[no_less(&dot(y, 0.01, 100_000), 0.95)]);
        assert_eq!([1.0, 0.98, 0.95, 0.92].map(at), [Confirmed, Undecided, Undecided, Undecided]);
        assert_eq!(at(0.90), Refuted);
        let at = |y| verdict(&[no_more(&dot(y, 0.01, 100_000), 0.95)]);
        assert_eq!([0.90, 0.94, 1.0].map(at), [Confirmed, Undecided, Refuted]);
    }

    /// 23 claims that "matched" were once confirmed for want of runs.
    #[test]
    fn that_no_difference_was_seen_confirms_nothing() {
        let formula = Dot::exactly(0.0, 10.0);
        let at = |y, stderr| verdict(&within(&dot(y, stderr, 1000), &formula, 0.5));
        assert_eq!(at(10.0, 0.1), Confirmed);
        assert_eq!(at(10.0, 0.2), Undecided, "the interval is wider than the margin");
        assert_eq!(at(10.3, 0.1), Undecided);
        assert_eq!(at(11.0, 0.1), Refuted);
        assert_eq!(at(9.0, 0.1), Refuted);
    }

    #[test]
    fn one_comparison_refutes_all_must_confirm_and_none_says_nothing() {
        let [good, vague, bad] = [1.0, 0.96, 0.5].map(|y| no_less(&dot(y, 0.01, 1000), 0.95));
        assert_eq!(verdict(&[good.clone(), vague.clone(), bad]), Refuted);
        assert_eq!(verdict(&[good.clone(), vague]), Undecided);
        assert_eq!(verdict(&[good.clone(), good]), Confirmed);
        assert_eq!(verdict(&[]), Undecided);
    }

    #[test]
    fn the_more_comparisons_and_looks_the_farther_a_refutation_lies() {
        let test = no_less(&dot(0.0, 1.0, 100_000), 4.1);
        assert_eq!(verdict(std::slice::from_ref(&test)), Refuted);
        let sure = no_less(&dot(100.0, 1.0, 100_000), 0.0);
        let mut many = vec![sure; 99];
        many.push(test.clone());
        assert_eq!(verdict(&many), Undecided);
        let mut later = test;
        later.sum[0].1.origin.look = 4;
        assert_eq!(verdict(&[later]), Undecided);
    }

    #[test]
    fn all_looks_together_spend_no_more_than_the_share_of_a_claim() {
        let all: f64 = (1..100).map(spent).sum();
        assert!(all <= FAMILY / CLAIMS as f64 * (1.0 + 1e-12));
        assert_eq!(percent(1.0 - spent(1)), "99.9875 %");
    }

    #[test]
    fn what_is_exact_needs_no_level() {
        let (five, six) = (Dot::exactly(0.0, 5.0), Dot::exactly(0.0, 6.0));
        assert_eq!(verdict(&[at_least(&six, &five)]), Confirmed);
        let ruling = rule("as asked", &[at_least(&five, &six)]);
        assert_eq!(ruling.verdict, Refuted);
        assert_eq!(ruling.rule, "as asked: nothing compared is random");
        let mut fixed = dot(5.0, 0.0, 2);
        assert_eq!(verdict(&within(&fixed, &five, 0.0)), Undecided, "two runs may be alike");
        fixed.origin.law = Law::Fixed;
        assert_eq!(verdict(&within(&fixed, &five, 0.0)), Confirmed);
    }

    /// A thousand of a thousand: the mean has no error, and yet the interval is no point.
    #[test]
    fn what_was_never_seen_is_rare_and_not_impossible() {
        for law in [Law::Chance, Law::Share] {
            let mut sure = dot(1.0, 0.0, 1000);
            sure.origin.law = law;
            assert_eq!(verdict(&[no_less(&sure, 0.98)]), Confirmed, "{law:?}");
            assert_eq!(verdict(&[no_less(&sure, 0.995)]), Undecided, "{law:?}");
            assert!(sure.interval(0.999)[1] <= 1.0, "{law:?}");
        }
    }

    /// Runs that were cut would have had large values, and nobody knows how large.
    #[test]
    fn a_mean_of_which_runs_were_cut_is_at_least_so_large_and_nothing_else() {
        let mut cut = dot(2.0, 0.01, 100_000);
        cut.origin.open = [false, true];
        assert_eq!(verdict(&[no_less(&cut, 1.0)]), Confirmed);
        assert_eq!(verdict(&[no_less(&cut, 3.0)]), Undecided, "it may be more");
        assert_eq!(verdict(&[no_more(&cut, 3.0)]), Undecided);
        assert_eq!(verdict(&[no_more(&cut, 1.0)]), Refuted);
    }

    #[test]
    fn more_runs_are_wanted_of_what_leaves_a_claim_open_and_of_nothing_else() {
        let named = |y: f64, name: &str| {
            let mut dot = dot(y, 0.01, 1000);
            dot.origin.sources = vec![name.to_owned()];
            dot
        };
        let (clear, vague) = (named(2.0, "clear"), named(0.96, "vague"));
        let ruling = rule("as asked", &[no_less(&clear, 0.95), no_less(&vague, 0.95)]);
        assert_eq!(ruling.wants.into_iter().collect::<Vec<_>>(), ["vague"]);
        assert!(rule("as asked", &[no_less(&clear, 0.95)]).wants.is_empty());
    }
}
