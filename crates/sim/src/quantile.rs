//! A quantile of samples and its confidence interval, whatever law they have.
//!
//! **Source.** The interval between two order statistics: a value may be the quantile if the
//! samples up to it may be that [share](Proportion) of all. Its ends are samples.
//!
//! **Assumptions.** Independent samples, which may be equal.

use crate::proportion::Proportion;

/// A formula and a simulation round differently; this part of a value is no difference.
const ROUNDING: f64 = 1e-9;

/// What this share of samples does not exceed.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantile {
    share: f64,
    /// In order; there is at least one.
    sorted: Vec<f64>,
}

impl Quantile {
    /// The quantile for this share, which is above 0 and below 1; `None` without samples.
    pub fn of(share: f64, mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_unstable_by(f64::total_cmp);
        (!samples.is_empty()).then_some(Self { share, sorted: samples })
    }

    /// The smallest sample that is not exceeded by at least this share of them.
    pub fn value(&self) -> f64 {
        let rank = (self.share * self.sorted.len() as f64).ceil() as usize;
        self.sorted[rank.clamp(1, self.sorted.len()) - 1]
    }

    /// The interval of the true quantile at this confidence, which is above 0 and below 1. It has
    /// no upper end if there are too few samples to see values above the quantile.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let count = self.sorted.len();
        let low = first(count, |at| !self.is_above(at + 1, confidence)).min(count - 1);
        let high = first(count, |at| self.is_below(at + 1, confidence));
        [self.sorted[low], self.sorted.get(high).copied().unwrap_or(f64::INFINITY)]
    }

    /// Whether this value may be the true quantile, at this confidence.
    pub fn may_be(&self, value: f64, confidence: f64) -> bool {
        let slack = ROUNDING * value.abs();
        let up_to = self.sorted.partition_point(|sample| *sample <= value + slack);
        let below = self.sorted.partition_point(|sample| *sample < value - slack);
        !self.is_above(up_to, confidence) && !self.is_below(below, confidence)
    }

    /// Whether the quantile is above a value that so many samples do not exceed.
    fn is_above(&self, up_to: usize, confidence: f64) -> bool {
        self.proportion(up_to).interval(confidence)[1] < self.share
    }

    /// Whether the quantile is below a value that is above so many samples.
    fn is_below(&self, below: usize, confidence: f64) -> bool {
        self.proportion(below).interval(confidence)[0] > self.share
    }

    fn proportion(&self, successes: usize) -> Proportion {
        Proportion { successes: successes as u64, runs: self.sorted.len() as u64 }
    }
}

/// The first of so many places from which on it is so; their number if it is so at none.
fn first(count: usize, so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if so(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coin::{RunSeed, StreamPurpose};

    fn one_to(count: usize) -> Quantile {
        Quantile::of(0.99, (1..=count).map(|sample| sample as f64).collect()).unwrap()
    }

    #[test]
    fn the_value_goes_by_nearest_rank() {
        assert_eq!(Quantile::of(0.99, Vec::new()), None);
        assert_eq!(Quantile::of(0.99, vec![7.0]).unwrap().value(), 7.0);
        assert_eq!([100, 101, 1000].map(|count| one_to(count).value()), [99.0, 100.0, 990.0]);
    }

    /// All n samples are below the quantile with .99ⁿ: that is more than 2.5 % up to n = 367.
    #[test]
    fn few_samples_set_no_upper_end() {
        assert_eq!(one_to(367).interval(0.95)[1], f64::INFINITY);
        assert_eq!(one_to(368).interval(0.95)[1], 368.0);
        assert!(one_to(367).may_be(1e9, 0.95) && !one_to(368).may_be(369.0, 0.95));
    }

    #[test]
    fn what_lies_in_the_interval_may_be_it_and_nothing_else() {
        for count in [500, 1000, 5000] {
            let samples = one_to(count);
            let [low, high] = samples.interval(0.95);
            let value = samples.value();
            assert!(low < value && value < high, "{count}: {low} {value} {high}");
            for end in [low, value, high] {
                assert!(samples.may_be(end, 0.95), "{count}: {end}");
            }
            assert!(!samples.may_be(low - 0.5, 0.95) && !samples.may_be(high + 0.5, 0.95));
        }
    }

    #[test]
    fn equal_samples_are_the_quantile_up_to_rounding() {
        let samples = Quantile::of(0.99, vec![0.3; 1000]).unwrap();
        assert_eq!((samples.value(), samples.interval(0.999)), (0.3, [0.3, 0.3]));
        assert!(samples.may_be(0.1 + 0.2, 0.999) && !samples.may_be(0.300_001, 0.999));
    }

    /// Of 200 intervals at 95 % of samples with a known quantile, so many hold it.
    #[test]
    fn intervals_hold_the_quantile_as_often_as_they_say() {
        let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Event);
        let mut held = 0;
        for _ in 0..200 {
            let [low, high] = Quantile::of(0.99, (0..1000).map(|_| luck.unit()).collect())
                .unwrap()
                .interval(0.95);
            held += u32::from(low <= 0.99 && 0.99 <= high);
        }
        // 95 % or a little more are 190; three standard errors of that are 9.
        assert!((181..200).contains(&held), "{held}");
    }
}
