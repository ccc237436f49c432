//! E1: about as many relays as there should be.
//!
//! * Printed: 1 − 2√(2/πK_1) e^{−K_1/8} − 2√(2/πK_2) e^{−K_2/8}, from the tails of normal
//!   distributions; negative for few relays, and then no bound at all. It is taken as 0 there.
//! * Corrected: exactly, with R relays that begin and S of them that last,
//!   P[K_1/2 ≤ R ≤ 3K_1/2, K_2/2 ≤ S ≤ 3K_2/2], R binomial and S|R binomial.

use super::CHANCE;
use super::round::{Round, window};
use super::spread::Spread;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::Quantity;
use libm::{exp, lgamma, log, log1p, sqrt};
use std::f64::consts::PI;

/// As printed, but never below 0.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    // Infinite if the mean is 0; the bound then is 0.
    let astray = |mean: f64| 2.0 * sqrt(2.0 / (PI * mean)) * exp(-mean / 8.0);
    Ok((1.0 - astray(round.k1()) - astray(round.k2())).clamp(0.0, 1.0))
}

/// Exactly.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    let [few, many] = window(round.k1());
    let [fewest_last, most_last] = window(round.k2());
    let relays = round.begin();
    let mut both = 0.0;
    let mut lasting: Option<[AtMost; 2]> = None;
    for (begin, chance) in relays.iter().filter(|(begin, _)| (few..=many).contains(begin)) {
        let [below, within] = lasting.get_or_insert_with(|| {
            [fewest_last.checked_sub(1), Some(most_last)]
                .map(|most| AtMost::new(begin, most, round.lasts))
        });
        both += chance * (within.chance - below.chance).max(0.0);
        below.one_more();
        within.one_more();
    }
    Ok(both.min(1.0))
}

/// How probable it is that at most so many of some relays last, for one number of relays after the
/// other: P[S_{r+1} ≤ s] = P[S_r ≤ s] − (1−p_fail) P[S_r = s].
struct AtMost {
    relays: u64,
    /// `None` for fewer than none.
    most: Option<u64>,
    lasts: f64,
    chance: f64,
}

impl AtMost {
    fn new(relays: u64, most: Option<u64>, lasts: f64) -> Self {
        let chance = most.map_or(0.0, |most| Spread::binomial(relays, lasts).between(0, most));
        Self { relays, most, lasts, chance }
    }

    fn one_more(&mut self) {
        if let Some(most) = self.most {
            self.chance -= self.lasts * exactly(self.relays, most, self.lasts);
        }
        self.relays += 1;
    }
}

/// P[S = s] of so many trials. Where that is not negligible here there are few enough of them for
/// the logarithms of their factorials to be good to 10⁻¹².
fn exactly(trials: u64, number: u64, chance: f64) -> f64 {
    if number > trials {
        return 0.0;
    }
    if chance == 0.0 || chance == 1.0 {
        let sure = if chance == 0.0 { 0 } else { trials };
        return f64::from(u8::from(number == sure));
    }
    let factorial = |n: u64| lgamma(n as f64 + 1.0);
    let ways = factorial(trials) - factorial(number) - factorial(trials - number);
    exp(ways + number as f64 * log(chance) + (trials - number) as f64 * log1p(-chance))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.e1",
    section: "Gupta 4: E1",
    about: "that as many relays begin and last as should, give or take a half",
    reads: &["nodes", "k", "fail", "mcast-loss"],
    printed,
    corrected,
    note: |_| "printed: tails of normal distributions, 0 where they say nothing; corrected: sums",
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, chosen, figure_4, inputs};
    use super::*;

    /// Everyone for itself: initiator or not, passes or not, hears or not, lasts or not.
    fn summed(at: &ValidInputs) -> f64 {
        let n = u64::from(at.nodes);
        let pass = (f64::from(at.k) / f64::from(at.nodes)).min(1.0);
        let (hears, lasts) = (1.0 - at.multicast_loss, 1.0 - at.fail);
        let pmf = |n: u64, k: u64, p: f64| {
            chosen(n, k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
        };
        let (k1, k2) = (hears * f64::from(at.k), lasts * hears * f64::from(at.k));
        let fits = |count: u64, mean: f64| {
            let count = count as f64;
            mean / 2.0 <= count && count <= 1.5 * mean
        };
        let mut sum = 0.0;
        for initiator in 0..=1u64 {
            for others in 0..n {
                let begin = initiator + others;
                for last in 0..=begin {
                    if fits(begin, k1) && fits(last, k2) {
                        let first = if initiator == 1 { pass } else { 1.0 - pass };
                        sum += first * pmf(n - 1, others, pass * hears) * pmf(begin, last, lasts);
                    }
                }
            }
        }
        sum
    }

    #[test]
    fn it_is_what_adding_up_gives() {
        for nodes in [1, 2, 5, 12, 40] {
            for k in [1, 2, 3, 7, 20, 50] {
                for (fail, loss) in [(0.0, 0.0), (0.1, 0.3), (0.5, 0.0), (1.0, 0.2), (0.3, 1.0)] {
                    let at = inputs(nodes, |given| {
                        (given.k, given.fail, given.multicast_loss) = (k, fail, loss);
                    });
                    let (got, sum) = (corrected(&at).unwrap(), summed(&at));
                    assert!((got - sum).abs() < 1e-12, "{nodes} {k} {fail} {loss}: {got} {sum}");
                }
            }
        }
    }

    #[test]
    fn it_grows_to_one_and_falls_below_the_printed_bound() {
        let both = |k| {
            let at = inputs(1_000_000, |given| {
                (given.k, given.fail, given.multicast_loss) = (k, 0.2, 0.1);
            });
            (printed(&at).unwrap(), corrected(&at).unwrap())
        };
        for k in [10, 40, 100, 200] {
            let (bound, exact) = both(k);
            // The upper tail is heavier than a normal distribution's: no bound for many relays.
            assert_eq!(bound > exact, k >= 100, "{k}: {bound} {exact}");
        }
        for k in [1000, 5000, 1_000_000] {
            let (bound, exact) = both(k);
            assert!(bound > 1.0 - 1e-9 && exact > 1.0 - 1e-9, "{k}: {bound} {exact}");
        }
        assert_eq!(printed(&figure_4(1)), Ok(0.0), "no bound at all");
        assert!(corrected(&figure_4(40)).unwrap() > 0.99);
    }

    /// Seven on average: from four to ten of Poisson's distribution.
    #[test]
    fn of_very_many_it_is_poissons() {
        let mut weight = exp(-7.0);
        let mut sum = 0.0;
        for r in 0..=10u32 {
            sum += if r >= 4 { weight } else { 0.0 };
            weight *= 7.0 / f64::from(r + 1);
        }
        assert_near(corrected(&calm(1_000_000, 7, 0.5)).unwrap(), sum, 1e-5);
    }
}
