//! Times that some runs did not live to see: Kaplan and Meier's estimate, with Greenwood's error.
//!
//! **Source.** E. L. Kaplan and P. Meier, *Nonparametric estimation from incomplete observations*,
//! Journal of the American Statistical Association 53 (1958). M. Greenwood, *The errors of sampling
//! of the survivorship tables* (1926). Intervals of the curve are those of log(−log S); intervals
//! of quantiles are where these cross it: R. Brookmeyer and J. Crowley, *A confidence interval for
//! the median survival time*, Biometrics 38 (1982).
//!
//! **What it is.** S(t) is the probability that what is waited for takes longer than t. A run that
//! was cut at c says that it takes longer than c, and counts as waiting until then. With the event
//! times t_i, d_i events among n_i that wait,
//!
//! * S(t) = Π_{t_i ≤ t} (1 − d_i/n_i), with variance S(t)² Σ_{t_i ≤ t} d_i/(n_i(n_i − d_i));
//! * the mean of what is waited, but no longer than τ, is ∫_0^τ S, with variance
//!   Σ_i (∫_{t_i}^τ S)² d_i/(n_i(n_i − d_i)).
//!
//! **Assumptions.** Independent runs, and a cut that does not depend on what would have followed: a
//! window does not. Nothing is said of times after τ, the longest that any run was watched: a mean
//! without that limit, and quantiles that lie beyond it, cannot be known.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// What is known of a time that was cut in some runs. Intervals are those of 95 %.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survival {
    /// τ: the longest time that a run was watched.
    pub until: f64,
    /// The mean of the time, counted as τ where it is longer.
    pub restricted_mean: f64,
    /// Its standard error.
    pub stderr: f64,
    /// Its interval.
    pub ci95: [f64; 2],
    /// The probability that the time is at most τ.
    pub reached: f64,
    /// Its interval.
    pub reached_ci95: [f64; 2],
    /// The median, if it is at most τ.
    pub p50: Option<f64>,
    /// Its interval; an end that is absent lies beyond τ.
    pub p50_ci95: [Option<f64>; 2],
    /// The 99th percentile, if it is at most τ.
    pub p99: Option<f64>,
    /// Its interval.
    pub p99_ci95: [Option<f64>; 2],
}

/// The curve after an event.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: f64,
    /// S from here on.
    left: f64,
    /// d/(n(n − d)) of this event; zero if nobody is left, because then S is zero, too.
    error: f64,
    /// The interval of S from here on.
    low: f64,
    high: f64,
}

impl Survival {
    /// The estimate from times that were seen and times at which runs were cut; `None` if there
    /// are neither.
    pub fn of(seen: &[f64], cut: &[f64]) -> Option<Self> {
        let until = seen.iter().chain(cut).copied().reduce(f64::max)?;
        let steps = curve(seen, cut);
        let (restricted_mean, variance) = restricted(&steps, until);
        let stderr = variance.sqrt();
        let reach = two_sided() * stderr;
        let end = steps.last();
        let (left, low, high) = end.map_or((1.0, 1.0, 1.0), |end| (end.left, end.low, end.high));
        let [p50, p99] = [0.5, 0.99].map(|part| quantile(&steps, part));
        Some(Self {
            until,
            restricted_mean,
            stderr,
            ci95: [(restricted_mean - reach).max(0.0), (restricted_mean + reach).min(until)],
            reached: 1.0 - left,
            reached_ci95: [1.0 - high, 1.0 - low],
            p50: p50[1],
            p50_ci95: [p50[0], p50[2]],
            p99: p99[1],
            p99_ci95: [p99[0], p99[2]],
        })
    }
}

/// The quantile of the normal distribution for 95 %.
fn two_sided() -> f64 {
    Normal::standard().inverse_cdf(0.975)
}

/// The curve, event by event. Runs that are cut at the time of an event still waited for it.
fn curve(seen: &[f64], cut: &[f64]) -> Vec<Step> {
    let sorted = |times: &[f64]| {
        let mut sorted = times.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    };
    let (seen, cut, z) = (sorted(seen), sorted(cut), two_sided());
    let (mut steps, mut left, mut errors) = (Vec::new(), 1.0, 0.0);
    let mut before = 0;
    for events in seen.chunk_by(|a, b| a == b) {
        let at = events[0];
        let gone = before + cut.partition_point(|cut| *cut < at);
        let waiting = (seen.len() + cut.len() - gone) as f64;
        let rest = waiting - events.len() as f64;
        left *= rest / waiting;
        let error = if rest > 0.0 { events.len() as f64 / (waiting * rest) } else { 0.0 };
        errors += error;
        let [low, high] = band(left, errors, z);
        steps.push(Step { at, left, error, low, high });
        before += events.len();
    }
    steps
}

/// The interval of S, by log(−log S), which keeps it between 0 and 1.
fn band(left: f64, errors: f64, z: f64) -> [f64; 2] {
    if left <= 0.0 {
        return [0.0; 2];
    }
    let factor = libm::exp(z * errors.sqrt() / -libm::log(left));
    [libm::pow(left, factor), libm::pow(left, 1.0 / factor)]
}

/// The mean up to τ, and its variance.
fn restricted(steps: &[Step], until: f64) -> (f64, f64) {
    let (mut area, mut variance, mut end) = (0.0, 0.0, until);
    // From the last event to the first, so that `area` is what follows each.
    for step in steps.iter().rev() {
        area += step.left * (end - step.at);
        variance += area * area * step.error;
        end = step.at;
    }
    (area + end, variance)
}

/// The least times at which the low end of the curve's interval, the curve, and the high end have
/// come down to what is left beyond the quantile.
fn quantile(steps: &[Step], part: f64) -> [Option<f64>; 3] {
    // Products of fractions round; a billionth is far less than a run.
    let beyond = (1.0 - part) * (1.0 + 1e-9);
    let first =
        |left: fn(&Step) -> f64| steps.iter().find(|step| left(step) <= beyond).map(|step| step.at);
    [first(|step| step.low), first(|step| step.left), first(|step| step.high)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Summary;

    /// Weeks in remission under 6-mercaptopurine (Freireich and others, 1963), which textbooks use.
    const SEEN: [f64; 9] = [6.0, 6.0, 6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
    const CUT: [f64; 12] = [6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0];

    fn near(left: f64, right: f64, tolerance: f64) -> bool {
        (left - right).abs() <= tolerance
    }

    #[test]
    fn the_curve_and_its_errors_are_those_of_the_textbook() {
        let steps = curve(&SEEN, &CUT);
        let mut errors = 0.0;
        let found: Vec<(f64, f64, f64)> = steps
            .iter()
            .map(|step| {
                errors += step.error;
                (step.at, step.left, step.left * errors.sqrt())
            })
            .collect();
        let book = [
            (6.0, 0.857_1, 0.076_4),
            (7.0, 0.806_7, 0.086_9),
            (10.0, 0.752_9, 0.096_3),
            (13.0, 0.690_2, 0.106_8),
            (16.0, 0.627_5, 0.114_1),
            (22.0, 0.537_8, 0.128_2),
            (23.0, 0.448_2, 0.134_6),
        ];
        assert_eq!(found.len(), book.len());
        for (found, book) in found.iter().zip(book) {
            assert_eq!(found.0, book.0);
            assert!(near(found.1, book.1, 6e-5) && near(found.2, book.2, 6e-5), "{found:?}");
        }
    }

    #[test]
    fn mean_and_quantiles_are_those_of_the_textbook() {
        let survival = Survival::of(&SEEN, &CUT).unwrap();
        assert_eq!(survival.until, 35.0);
        assert!(near(survival.restricted_mean, 23.287, 1e-3), "{survival:?}");
        assert!(near(survival.stderr, 2.827, 1e-3), "{survival:?}");
        assert_eq!((survival.p50, survival.p50_ci95), (Some(23.0), [Some(13.0), None]));
        assert_eq!((survival.p99, survival.p99_ci95), (None, [None; 2]));
        assert!(near(survival.reached, 1.0 - 0.448_2, 1e-4), "{survival:?}");
        let [low, high] = survival.reached_ci95;
        assert!(low < survival.reached && survival.reached < high, "{survival:?}");
    }

    /// Without a cut the estimate is the mean, and its error that of the mean but for n/(n − 1).
    #[test]
    fn without_a_cut_it_is_the_mean() {
        let survival = Survival::of(&SEEN, &[]).unwrap();
        let summary = Summary::of(&SEEN).unwrap();
        assert!(near(survival.restricted_mean, summary.mean, 1e-12));
        let count = SEEN.len() as f64;
        let expected = summary.stderr * ((count - 1.0) / count).sqrt();
        assert!(near(survival.stderr, expected, 1e-12), "{survival:?}");
        assert_eq!((survival.reached, survival.p50), (1.0, Some(summary.p50)));
    }

    /// With one common cut it is the mean of the times, each counted as the cut where it is longer.
    #[test]
    fn one_common_cut_counts_as_the_time_itself() {
        let (seen, cut) = ([1.0, 2.0, 4.0], [5.0; 2]);
        let survival = Survival::of(&seen, &cut).unwrap();
        let counted = Summary::of(&[1.0, 2.0, 4.0, 5.0, 5.0]).unwrap();
        assert!(near(survival.restricted_mean, counted.mean, 1e-12), "{survival:?}");
        assert!(near(survival.stderr, counted.stderr * 0.8_f64.sqrt(), 1e-12), "{survival:?}");
        assert!(near(survival.reached, 0.6, 1e-12));
        assert_eq!(survival.p50, Some(4.0));
    }

    #[test]
    fn where_all_were_cut_nothing_but_the_cut_is_known() {
        let survival = Survival::of(&[], &[5.0, 7.0]).unwrap();
        assert_eq!((survival.until, survival.restricted_mean, survival.reached), (7.0, 7.0, 0.0));
        assert_eq!((survival.p50, survival.p50_ci95), (None, [None; 2]));
        assert_eq!(Survival::of(&[], &[]), None);
    }
}
