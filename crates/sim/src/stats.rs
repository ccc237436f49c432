//! Statistics of a list of samples: the mean, its uncertainty, and percentiles.
//!
//! **What it is.** A [`Summary`] is computed once from all samples of one metric, in the order of
//! the runs. It therefore does not depend on how the runs were distributed over threads.
//!
//! **What the caller owes.** Finite, independent samples, one per run. The intervals are Student's:
//! exact for normal samples, and good for any mean over many runs.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The statistics reported with every number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard error of the mean; zero if there is only one sample.
    pub stderr: f64,
    /// The 95 % confidence interval of the mean.
    pub ci95: [f64; 2],
    /// The smallest sample.
    pub min: f64,
    /// The median, by nearest rank: always one of the samples.
    pub p50: f64,
    /// The 99th percentile, by nearest rank.
    pub p99: f64,
    /// The largest sample.
    pub max: f64,
    /// The number of samples. Runs without a sample are not counted.
    pub count: usize,
}

impl Summary {
    /// Summarises the samples; `None` if there are none.
    ///
    /// Equal lists give equal results to the last bit. A different order of the same samples may
    /// change the last bits of `mean`, `stderr` and `ci95`.
    pub fn of(samples: &[f64]) -> Option<Self> {
        debug_assert!(samples.iter().all(|sample| sample.is_finite()), "samples are finite");
        let min = samples.iter().copied().min_by(f64::total_cmp)?;
        let max = samples.iter().copied().max_by(f64::total_cmp)?;
        let mean = mean(samples, min, max);
        let [p50, p99] = percentiles(&mut samples.to_vec(), [50, 99]);
        let mut summary = Self {
            mean,
            stderr: stderr(samples, mean),
            ci95: [mean; 2],
            min,
            p50,
            p99,
            max,
            count: samples.len(),
        };
        summary.ci95 = summary.interval(0.95);
        Some(summary)
    }

    /// The confidence interval of the mean; the confidence is above 0 and below 1.
    ///
    /// With one sample, or with equal samples, the spread is unknown and both ends are the mean.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        debug_assert!(0.0 < confidence && confidence < 1.0, "{confidence} is no confidence");
        if self.stderr == 0.0 {
            return [self.mean; 2];
        }
        let reach = reach(self.count, confidence) * self.stderr;
        [self.mean - reach, self.mean + reach]
    }

    /// Whether `expected` lies in the confidence interval of the mean.
    ///
    /// A formula and a sum round differently, so the interval is widened by a billionth of
    /// `expected`. This matters only where the samples do not vary.
    pub fn agrees_with(&self, expected: f64, confidence: f64) -> bool {
        let [low, high] = self.interval(confidence);
        let slack = 1e-9 * expected.abs();
        low - slack <= expected && expected <= high + slack
    }
}

/// The mean, kept between the extremes in spite of rounding.
fn mean(samples: &[f64], min: f64, max: f64) -> f64 {
    (sum(samples.iter().copied()) / samples.len() as f64).clamp(min, max)
}

/// The standard error, in two passes: it sums squared distances from the mean to avoid
/// cancellation.
fn stderr(samples: &[f64], mean: f64) -> f64 {
    if samples.len() < 2 {
        return 0.0;
    }
    let count = samples.len() as f64;
    let squares = sum(samples.iter().map(|sample| (sample - mean) * (sample - mean)));
    // `mean` is rounded, so the distances do not sum to zero exactly; this corrects for it.
    let rest = sum(samples.iter().map(|sample| sample - mean));
    let variance = ((squares - rest * rest / count) / (count - 1.0)).max(0.0);
    (variance / count).sqrt()
}

/// Neumaier's sum: it collects the rounding error of each addition and adds it at the end.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = total + value;
        lost += if total.abs() >= value.abs() {
            (total - next) + value
        } else {
            (value - next) + total
        };
        total = next;
    }
    total + lost
}

/// For each of two shares, the smallest sample that is not exceeded by at least so many of a
/// hundred samples. The shares rise. Only the samples at these ranks are put in their places, which
/// takes a fraction of the time that sorting takes.
fn percentiles(samples: &mut [f64], [lower, upper]: [usize; 2]) -> [f64; 2] {
    let place = |percent: usize| (samples.len() * percent).div_ceil(100).max(1) - 1;
    let (low, high) = (place(lower), place(upper));
    let (below, &mut upper, _) = samples.select_nth_unstable_by(high, f64::total_cmp);
    if low == high {
        return [upper; 2];
    }
    let (_, &mut lower, _) = below.select_nth_unstable_by(low, f64::total_cmp);
    [lower, upper]
}

/// Student's quantile: the half width of a confidence interval for the mean of `count` samples, in
/// standard errors. The confidence is above 0 and below 1.
///
/// Fewer than two samples say nothing about their spread, so the result is infinite.
///
/// The last bits may differ between machines, because `statrs` uses the platform's logarithm. They
/// affect only the printed ends of intervals.
pub fn reach(count: usize, confidence: f64) -> f64 {
    if count < 2 {
        return f64::INFINITY;
    }
    let freedom = (count - 1) as f64;
    let below = 0.5 + confidence / 2.0;
    if freedom > FREEDOM_EXPANDED {
        return expanded_quantile(freedom, below);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |student| student.inverse_cdf(below))
}

/// From here on the expansion is right to nine digits. The library's inversion subtracts a number
/// close to one from one, and is wrong in the fifth digit at a million degrees of freedom.
const FREEDOM_EXPANDED: f64 = 1_000.0;

/// Student's quantile for many degrees of freedom, from the normal one (Abramowitz and Stegun
/// 26.7.5).
fn expanded_quantile(freedom: f64, below: f64) -> f64 {
    let z = Normal::standard().inverse_cdf(below);
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + (first + (second + third / freedom) / freedom) / freedom
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(left: f64, right: f64, tolerance: f64) -> bool {
        (left - right).abs() <= tolerance
    }

    #[test]
    fn nothing_measured_says_nothing() {
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn one_sample_is_every_statistic_and_has_no_spread() {
        let summary = Summary::of(&[2.5]).unwrap();
        assert_eq!([summary.mean, summary.min, summary.p50, summary.p99, summary.max], [2.5; 5]);
        assert_eq!((summary.stderr, summary.ci95, summary.count), (0.0, [2.5, 2.5], 1));
    }

    #[test]
    fn a_small_case_agrees_with_a_calculation_by_hand() {
        // Deviations -3 -1 -1 -1 0 0 2 4: squares sum to 32, variance 32/7, t(7, .975) = 2.364624.
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        let stderr = (32.0_f64 / 7.0 / 8.0).sqrt();
        assert_eq!(summary.mean, 5.0);
        assert!(near(summary.stderr, stderr, 1e-15), "{summary:?}");
        assert!(near(summary.ci95[0], 5.0 - 2.364_624_252 * stderr, 1e-8), "{summary:?}");
        assert!(near(summary.ci95[1], 5.0 + 2.364_624_252 * stderr, 1e-8), "{summary:?}");
        assert_eq!((summary.min, summary.p50, summary.p99, summary.max), (2.0, 4.0, 9.0, 9.0));
    }

    #[test]
    fn the_quantiles_are_those_of_the_printed_tables() {
        for (count, confidence, expected) in [
            (2, 0.95, 12.706_204_736),
            (3, 0.95, 4.302_652_730),
            (10, 0.95, 2.262_157_163),
            (10, 0.999, 4.780_912_586),
            (31, 0.99, 2.749_995_654),
            (1_001, 0.95, 1.962_339_081),
            (1_000_001, 0.95, 1.959_966_357),
            (1_000_001, 0.999, 3.290_536_461),
        ] {
            let got = reach(count, confidence);
            assert!(near(got, expected, 1e-8), "{count} {confidence}: {got}, not {expected}");
        }
        assert_eq!([0, 1].map(|count| reach(count, 0.95)), [f64::INFINITY; 2]);
    }

    #[test]
    fn the_two_ways_to_a_quantile_meet_where_one_takes_over() {
        for confidence in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let (last, next) = (reach(1_001, confidence), reach(1_002, confidence));
            assert!(last > next && near(last, next, 1e-5), "{confidence}: {last} {next}");
            let expanded = expanded_quantile(1_000.0, 0.5 + confidence / 2.0);
            assert!(near(last, expanded, 1e-9), "{confidence}: {last} {expanded}");
        }
    }

    #[test]
    fn percentiles_go_by_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let summary = Summary::of(&hundred).unwrap();
        assert_eq!((summary.p50, summary.p99), (50.0, 99.0));
        let summary = Summary::of(&[hundred.as_slice(), &[101.0]].concat()).unwrap();
        assert_eq!((summary.p50, summary.p99), (51.0, 100.0));
    }

    #[test]
    fn equal_samples_have_exactly_their_value_as_mean_and_no_spread() {
        for value in [0.1, 1e-300, 1e9 + 0.3, -7.7] {
            let summary = Summary::of(&[value; 1_000]).unwrap();
            assert_eq!((summary.mean, summary.stderr), (value, 0.0));
            assert_eq!(summary.ci95, [value, value]);
        }
    }

    #[test]
    fn a_small_spread_far_from_zero_is_not_cancelled_away() {
        let offsets = [0.0, 0.25, 0.5, 0.75, 1.0];
        let far: Vec<f64> = offsets.iter().map(|offset| 1e9 + offset).collect();
        let (near_zero, far) = (Summary::of(&offsets).unwrap(), Summary::of(&far).unwrap());
        assert_eq!(far.mean, 1e9 + 0.5);
        assert_eq!(far.stderr, near_zero.stderr);
    }

    #[test]
    fn a_sum_keeps_what_a_plain_one_drops() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100].into_iter()), 2.0);
    }

    #[test]
    fn more_confidence_takes_a_wider_interval() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let [low, high] = summary.interval(0.999);
        assert!(low < summary.ci95[0] && summary.ci95[1] < high);
        assert_eq!(summary.interval(0.95), summary.ci95);
    }

    #[test]
    fn agreement_is_judged_at_the_given_confidence() {
        let summary = Summary::of(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        let outside = summary.ci95[1] + 0.1;
        assert!(summary.agrees_with(2.5, 0.95));
        assert!(!summary.agrees_with(outside, 0.95));
        assert!(summary.agrees_with(outside, 0.999));
    }

    #[test]
    fn samples_that_do_not_vary_agree_with_a_formula_up_to_rounding_only() {
        let third = Summary::of(&[1.0 / 3.0; 10]).unwrap();
        assert!(third.agrees_with(0.333_333_333_333, 0.95));
        assert!(!third.agrees_with(0.333_333, 0.95));
        let zero = Summary::of(&[0.0; 3]).unwrap();
        assert!(zero.agrees_with(0.0, 0.95));
        assert!(!zero.agrees_with(1e-12, 0.95));
    }

    #[test]
    fn as_json_it_has_the_keys_that_scripts_rely_on() {
        let json = serde_json::to_string(&Summary::of(&[1.0]).unwrap()).unwrap();
        let (mean, places) = (
            r#""mean":1.0,"stderr":0.0,"ci95":[1.0,1.0]"#,
            r#""min":1.0,"p50":1.0,"p99":1.0,"max":1.0,"count":1"#,
        );
        assert_eq!(json, format!("{{{mean},{places}}}"));
    }

    proptest! {
        #[test]
        fn statistics_are_ordered(samples in prop::collection::vec(-1e12..1e12_f64, 1..200)) {
            let s = Summary::of(&samples).unwrap();
            prop_assert!(s.min <= s.p50 && s.p50 <= s.p99 && s.p99 <= s.max);
            prop_assert!(s.min <= s.mean && s.mean <= s.max);
            prop_assert!(s.ci95[0] <= s.mean && s.mean <= s.ci95[1]);
            prop_assert!(s.stderr >= 0.0 && s.ci95.iter().all(|end| end.is_finite()));
        }

        #[test]
        fn the_order_of_the_samples_moves_rounding_only(
            (samples, shuffled) in prop::collection::vec(-1e6..1e6_f64, 1..100)
                .prop_flat_map(|samples| (Just(samples.clone()), Just(samples).prop_shuffle()))
        ) {
            let (a, b) = (Summary::of(&samples).unwrap(), Summary::of(&shuffled).unwrap());
            prop_assert_eq!((a.min, a.p50, a.p99, a.max), (b.min, b.p50, b.p99, b.max));
            prop_assert!(near(a.mean, b.mean, 1e-9) && near(a.stderr, b.stderr, 1e-6));
        }
    }
}
