//! How probable each count is: the binomial distribution, and one more trial of another kind.
//!
//! Computed from the most probable number outwards by the ratio of neighbours, and divided by the
//! sum. So there is no cancellation and no factorial, and a relative error of 10⁻¹³ for any n.

use libm::floor;

/// Numbers this much less probable than the most probable one are left out.
const NEGLIGIBLE: f64 = 1e-60;

/// The distribution of a number.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    least: u64,
    chances: Vec<f64>,
}

impl Spread {
    /// The sum of this many trials of the same probability.
    pub(super) fn binomial(trials: u64, chance: f64) -> Self {
        let odds = chance / (1.0 - chance);
        if trials == 0 || odds == 0.0 || !odds.is_finite() {
            return Self { least: if odds == 0.0 { 0 } else { trials }, chances: vec![1.0] };
        }
        let mode = (floor((trials as f64 + 1.0) * chance) as u64).min(trials);
        let (mut least, mut weight) = (mode, 1.0);
        let mut chances = Vec::new();
        while least > 0 {
            weight *= least as f64 / ((trials - least + 1) as f64 * odds);
            if weight < NEGLIGIBLE {
                break;
            }
            chances.push(weight);
            least -= 1;
        }
        chances.reverse();
        chances.push(1.0);
        let (mut number, mut weight) = (mode, 1.0);
        while number < trials {
            weight *= (trials - number) as f64 * odds / (number + 1) as f64;
            if weight < NEGLIGIBLE {
                break;
            }
            chances.push(weight);
            number += 1;
        }
        let sum: f64 = chances.iter().sum();
        chances.iter_mut().for_each(|chance| *chance /= sum);
        Self { least, chances }
    }

    /// With one more trial, of another probability.
    pub(super) fn and(mut self, chance: f64) -> Self {
        self.chances.push(0.0);
        for place in (0..self.chances.len()).rev() {
            let before = if place == 0 { 0.0 } else { self.chances[place - 1] };
            self.chances[place] = self.chances[place] * (1.0 - chance) + before * chance;
        }
        self
    }

    /// Every number that may be, and how probable it is.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.least..).zip(self.chances.iter().copied())
    }

    /// How probable it is that the number lies between these, both included.
    pub(super) fn between(&self, low: u64, high: u64) -> f64 {
        self.mean_of(|number| f64::from(u8::from((low..=high).contains(&number))))
    }

    /// The mean of something that depends on the number.
    pub(super) fn mean_of(&self, value: impl Fn(u64) -> f64) -> f64 {
        self.iter().map(|(number, chance)| chance * value(number)).sum()
    }

    /// The greatest number that may be.
    pub(super) fn most(&self) -> u64 {
        self.least + self.chances.len() as u64 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, chosen};
    use super::*;

    #[test]
    fn it_is_what_adding_up_gives() {
        for (n, p) in [(1, 0.3), (2, 0.0), (7, 1.0), (30, 0.5), (60, 0.01), (60, 0.999)] {
            let spread = Spread::binomial(n, p);
            for k in 0..=n {
                let direct = chosen(n, k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
                if direct > 1e-50 {
                    assert_near(spread.between(k, k), direct, 1e-12);
                }
            }
            assert_near(spread.between(0, n), 1.0, 1e-14);
            assert_near(spread.mean_of(|k| k as f64), n as f64 * p, 1e-13);
        }
    }

    #[test]
    fn a_million_coins_have_their_mean_and_their_variance() {
        for p in [1e-9, 7e-6, 0.001, 0.5, 0.999_999] {
            let spread = Spread::binomial(1_000_000, p);
            let mean = 1e6 * p;
            assert_near(spread.mean_of(|k| k as f64), mean, 1e-10);
            let square = |k: u64| (k as f64 - mean) * (k as f64 - mean);
            assert_near(spread.mean_of(square), mean * (1.0 - p), 1e-10);
        }
    }

    #[test]
    fn one_coin_more_of_the_same_kind_is_one_coin_more() {
        let (one, other) = (Spread::binomial(9, 0.3).and(0.3), Spread::binomial(10, 0.3));
        assert_eq!((one.least, one.most()), (other.least, 10));
        one.iter().zip(other.iter()).for_each(|(a, b)| assert_near(a.1, b.1, 1e-13));
        let sure = Spread::binomial(3, 0.0).and(1.0);
        assert_eq!((sure.between(1, 1), sure.between(0, 0)), (1.0, 0.0));
    }
}
