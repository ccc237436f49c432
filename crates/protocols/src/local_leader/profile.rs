//! The properties that a simulation needs to plan around leases.

use super::params::{Mode, Params};
use crate::choice::{Goal, Leases, Profile};

/// The largest group: every election carries a row for each member.
pub const NODES_MAX: u64 = 1024;

impl Params {
    /// The properties that a simulation needs.
    pub fn profile(&self) -> Profile {
        Profile {
            goal: Goal::Same,
            // A member that was just started is locked for a lockTime, then its turn comes.
            opening: self.lock() + self.period(),
            interval: self.renew(),
            trust: match self.mode() {
                Mode::Majority => self.lock(),
                Mode::Local => self.expires(),
            },
            attempt: self.period(),
            byes: 0,
            by_luck: false,
            leases: Some(Leases {
                majority: self.mode() == Mode::Majority,
                request: "election",
                drift_ppm: self.drift_ppm(),
            }),
            convened: false,
            restless: true,
        }
    }

    /// The mean number of requests beyond the first until one succeeds among this many others, if
    /// each message is lost with this probability. In majority mode enough of them must hear the
    /// request and be heard, in local mode all.
    pub fn requests_beyond_first(&self, others: u64, loss: f64) -> f64 {
        let needed = match self.mode() {
            Mode::Majority => others.div_ceil(2),
            Mode::Local => others,
        };
        let answers = (1.0 - loss) * (1.0 - loss);
        1.0 / at_least(needed, others, answers) - 1.0
    }
}

/// The probability that at least `needed` of `trials` succeed, each with this probability.
fn at_least(needed: u64, trials: u64, chance: f64) -> f64 {
    if needed == 0 || chance >= 1.0 {
        return 1.0;
    }
    let (n, success, failure) = (trials as f64, libm::log(chance), libm::log1p(-chance));
    // A binomial coefficient may overflow, its logarithm does not.
    let exactly = |count: u64| {
        let k = count as f64;
        let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
        libm::exp(ways + k * success + (n - k) * failure)
    };
    (needed..=trials).map(exactly).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::params::Config;
    use super::*;

    fn beyond_first(mode: Mode, others: u64, loss: f64) -> f64 {
        let params = Params::try_from(Config { mode, ..Config::default() }).unwrap();
        params.requests_beyond_first(others, loss)
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1.0)
    }

    #[test]
    fn the_number_of_requests_agrees_with_a_calculation_by_hand() {
        // Two others, of whom one must answer, which takes two messages that each arrive half the
        // time: 1 − (3/4)² = 7/16. Both: 1/16.
        assert!(near(beyond_first(Mode::Majority, 2, 0.5), 16.0 / 7.0 - 1.0));
        assert!(near(beyond_first(Mode::Local, 2, 0.5), 15.0));
        for mode in [Mode::Majority, Mode::Local] {
            assert_eq!(beyond_first(mode, 4, 0.0), 0.0);
            assert_eq!(beyond_first(mode, 0, 0.5), 0.0, "alone");
            assert_eq!(beyond_first(mode, 4, 1.0), f64::INFINITY);
        }
    }

    #[test]
    fn a_large_group_has_a_majority_where_it_never_has_everybody() {
        assert!(beyond_first(Mode::Majority, 1_000, 0.05) < 1e-9);
        assert!(beyond_first(Mode::Local, 1_000, 0.05) > 1e40);
    }
}
