//! A proportion of runs and its confidence interval.
//!
//! **Source.** C. Clopper and E. Pearson, *The use of confidence or fiducial limits*, Biometrika 26
//! (1934). Each end of the interval is the probability at which a result as extreme as the observed
//! one has half of the remaining probability. The interval covers the true probability at least as
//! often as stated, also near 1, where the usual interval around the mean has no width.
//!
//! **Assumptions.** Independent runs.
//!
//! Everything is computed with `libm`, so that results do not depend on the machine.

use libm::{exp, lgamma, log, log1p};

/// A number of successes in a number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proportion {
    /// The number of successes.
    pub successes: u64,
    /// The number of runs.
    pub runs: u64,
}

impl Proportion {
    /// The fraction of successes; zero if there are no runs.
    pub fn share(&self) -> f64 {
        self.successes as f64 / self.runs.max(1) as f64
    }

    /// The interval of the true probability at this confidence, which is above 0 and below 1.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let left = (1.0 - confidence) / 2.0;
        let failures = self.runs.saturating_sub(self.successes);
        [1.0 - most(failures, self.runs, left), most(self.successes, self.runs, left)]
    }

    /// The number of runs without a failure after which the interval begins at this probability.
    pub fn runs_to_show(chance: f64, confidence: f64) -> f64 {
        libm::ceil(log((1.0 - confidence) / 2.0) / log(chance))
    }
}

/// The largest probability at which at most `seen` successes in `runs` have probability `left`.
fn most(seen: u64, runs: u64, left: f64) -> f64 {
    if seen >= runs {
        return 1.0;
    }
    // The probability of at most `seen` successes falls as the probability of each rises, and is at
    // least a half at the observed fraction. Bisection above it ends when no number is left between
    // the two bounds.
    let (mut low, mut high) = (seen as f64 / runs as f64, 1.0);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if at_most(seen, runs, middle) > left { low = middle } else { high = middle }
    }
}

/// The probability of at most `seen` successes in `runs`, each with probability `chance`.
fn at_most(seen: u64, runs: u64, chance: f64) -> f64 {
    let (seen, runs) = (seen as f64, runs as f64);
    let ways = lgamma(runs + 1.0) - lgamma(seen + 1.0) - lgamma(runs - seen + 1.0);
    // From the largest number down: below the mean, where it matters, terms fall fast.
    let mut term = exp(ways + seen * log(chance) + (runs - seen) * log1p(-chance));
    let (mut sum, mut count) = (term, seen);
    while count > 0.0 && term > 1e-18 * sum {
        term *= count * (1.0 - chance) / ((runs - count + 1.0) * chance);
        sum += term;
        count -= 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64, tolerance: f64) -> bool {
        (left - right).abs() <= tolerance
    }

    /// Without a failure the lower end has a closed form: (α/2)^(1/n).
    #[test]
    fn without_a_failure_the_lower_end_is_a_root() {
        for runs in [1, 10, 3_688, 100_000] {
            let [low, high] = Proportion { successes: runs, runs }.interval(0.95);
            assert!(near(low, libm::pow(0.025, 1.0 / runs as f64), 1e-9), "{runs}: {low}");
            assert_eq!(high, 1.0);
            let [none, some] = Proportion { successes: 0, runs }.interval(0.95);
            assert!(none == 0.0 && near(some, 1.0 - low, 1e-9), "{runs}: {none} {some}");
        }
    }

    /// One of two: P\[X ≤ 1\] = 1 − q² = .025. One of three: 1 − 3q² + 2q³ = .025, by hand.
    #[test]
    fn small_cases_agree_with_a_calculation_by_hand() {
        let [low, high] = Proportion { successes: 1, runs: 2 }.interval(0.95);
        assert!(near(high, 0.975_f64.sqrt(), 1e-12) && near(low, 1.0 - high, 1e-12), "{high}");
        let [low, high] = Proportion { successes: 1, runs: 3 }.interval(0.95);
        assert!(near(1.0 - 3.0 * high * high + 2.0 * high.powi(3), 0.025, 1e-9), "{high}");
        assert!(near(1.0 - (1.0 - low).powi(3), 0.025, 1e-9), "{low}");
    }

    /// Far from the observed fraction every probability would round to zero.
    #[test]
    fn an_interval_holds_the_share_that_was_seen_however_many_runs_there_were() {
        let cases = [(1199, 1200), (3153, 3600), (12_000, 32_400), (40, 3600), (1, 1_000_000)];
        for (successes, runs) in cases {
            let seen = Proportion { successes, runs };
            let [low, high] = seen.interval(0.95);
            assert!(low < seen.share() && seen.share() < high, "{seen:?}: {low} .. {high}");
            assert!(low > 0.0 && high < 1.0 && high - low < 0.05, "{seen:?}: {low} .. {high}");
        }
    }

    /// 81 of 263 is the example of Newcombe (1998), table I: .2527 to .3676; 15 of 148: .0578 to
    /// .1617; 1 of 29: .0009 to .1776.
    #[test]
    fn intervals_are_those_of_the_printed_table() {
        for (successes, runs, printed) in
            [(81, 263, [0.2527, 0.3676]), (15, 148, [0.0578, 0.1617]), (1, 29, [0.0009, 0.1776])]
        {
            let got = Proportion { successes, runs }.interval(0.95);
            assert!((0..2).all(|end| near(got[end], printed[end], 5e-5)), "{successes}: {got:?}");
        }
    }

    #[test]
    fn many_runs_come_near_to_the_normal_interval() {
        let share = Proportion { successes: 50_000, runs: 100_000 };
        let [low, high] = share.interval(0.95);
        assert!(near(low, 0.5 - 0.003_099, 1e-5) && near(high, 0.5 + 0.003_099, 1e-5), "{low}");
        assert_eq!(Proportion { successes: 0, runs: 0 }.interval(0.95), [0.0, 1.0]);
    }

    #[test]
    fn the_fewest_runs_that_show_a_chance_do_and_one_less_does_not() {
        assert_eq!(Proportion::runs_to_show(0.999, 0.95), 3_688.0);
        for (runs, shows) in [(3_688, true), (3_687, false)] {
            let low = Proportion { successes: runs, runs }.interval(0.95)[0];
            assert_eq!(low >= 0.999, shows, "{runs}: {low}");
        }
    }
}
