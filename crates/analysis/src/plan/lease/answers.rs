//! How probable it is that too few processes answer.
//!
//! **Source.** Ours: the binomial law.
//!
//! **Assumptions.** Messages are lost without memory. A request to everyone is lost by each
//! receiver for itself, or by all together; a reply is lost for itself. Whoever hears a request
//! answers it.
//!
//! **Promise.** Sums of positive terms only, so small probabilities are as exact as large ones.

use crate::inputs::Loss;
use libm::{exp, expm1, lgamma, log, log1p};

/// More requests than that are not told apart: all of them fail with a probability of about zero.
const REQUESTS_MAX: u64 = 10_000;

/// The probability that fewer than `needed` of these processes answer any of so many requests.
pub(crate) fn too_few(voters: u64, needed: u64, requests: u64, loss: Loss) -> f64 {
    let (l, requests) = (loss.rate(), requests.min(REQUESTS_MAX));
    if needed > voters {
        return 1.0;
    }
    if needed == 0 || l <= 0.0 {
        return if needed > 0 && requests == 0 { 1.0 } else { 0.0 };
    }
    if l >= 1.0 {
        return 1.0;
    }
    let count = requests as f64;
    match loss {
        // A process answers one request with (1−l)², so it misses it with l(2−l).
        Loss::None | Loss::Uncorrelated(_) => missing(voters, needed, count * log(l * (2.0 - l))),
        Loss::Correlated(_) => {
            let heard = |heard: u64| {
                let k = heard as f64;
                let chance = choose(count, k) + k * log1p(-l) + (count - k) * log(l);
                exp(chance) * missing(voters, needed, k * log(l))
            };
            (0..=requests).map(heard).sum::<f64>().min(1.0)
        }
    }
}

/// The same if each process misses all requests with the probability of this logarithm.
fn missing(voters: u64, needed: u64, log_missed: f64) -> f64 {
    if log_missed >= 0.0 {
        return 1.0;
    }
    let (n, log_heard) = (voters as f64, log(-expm1(log_missed)));
    let exactly = |count: u64| {
        let k = count as f64;
        let heard = if count == voters { 0.0 } else { (n - k) * log_heard };
        exp(choose(n, k) + k * log_missed + heard)
    };
    (voters - needed + 1..=voters).map(exactly).sum::<f64>().min(1.0)
}

/// The probability that exactly so many of these processes miss a message that each loses for
/// itself with this probability.
pub(super) fn exactly(voters: u64, count: u64, l: f64) -> f64 {
    if l <= 0.0 {
        return if count == 0 { 1.0 } else { 0.0 };
    }
    let (n, k) = (voters as f64, count as f64);
    exp(choose(n, k) + k * log(l) + (n - k) * log1p(-l))
}

/// The logarithm of a binomial coefficient.
fn choose(n: f64, k: f64) -> f64 {
    lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each message lost or not, all possibilities one by one.
    fn enumerated(voters: u32, needed: u32, requests: u32, loss: Loss) -> f64 {
        let l = loss.rate();
        let together = matches!(loss, Loss::Correlated(_));
        // Bits: first the requests, then the replies of every voter.
        let asked = if together { requests } else { requests * voters };
        let all = asked + requests * voters;
        let mut sum = 0.0;
        for draws in 0_u64..1 << all {
            let lost = |bit: u32| draws >> bit & 1 == 1;
            let answers = |voter: u32| {
                (0..requests).any(|request| {
                    let place = request * voters + voter;
                    !lost(if together { request } else { place }) && !lost(asked + place)
                })
            };
            if (0..voters).filter(|voter| answers(*voter)).count() < needed as usize {
                let losses = draws.count_ones() as i32;
                sum += l.powi(losses) * (1.0 - l).powi(all as i32 - losses);
            }
        }
        sum
    }

    #[test]
    fn the_closed_form_is_the_sum_over_all_possibilities() {
        for (voters, needed, requests) in
            [(2, 1, 1), (2, 1, 3), (2, 2, 2), (3, 2, 2), (4, 2, 1), (4, 2, 2), (4, 4, 2), (1, 1, 4)]
        {
            for loss in [Loss::Uncorrelated(0.1), Loss::Correlated(0.3), Loss::Uncorrelated(0.6)] {
                let (v, n, r) = (u64::from(voters), u64::from(needed), u64::from(requests));
                let (form, sum) =
                    (too_few(v, n, r, loss), enumerated(voters, needed, requests, loss));
                let near = (form - sum).abs() <= 1e-12 * sum.max(1e-3);
                assert!(near, "{voters} {needed} {requests} {loss:?}: {form} {sum}");
            }
        }
    }

    #[test]
    fn all_numbers_of_processes_that_miss_a_message_are_one_certainty() {
        for l in [0.0, 0.01, 0.5] {
            let sum: f64 = (0..=6).map(|count| exactly(6, count, l)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{l}: {sum}");
        }
        assert!((exactly(4, 1, 0.1) - 4.0 * 0.1 * 0.9 * 0.9 * 0.9).abs() < 1e-12);
    }

    #[test]
    fn at_the_edges_it_is_certain_or_impossible() {
        assert_eq!(too_few(4, 2, 3, Loss::None), 0.0);
        assert_eq!(too_few(4, 2, 0, Loss::None), 1.0, "nobody was asked");
        assert_eq!(too_few(4, 2, 0, Loss::Uncorrelated(0.5)), 1.0);
        assert_eq!(too_few(4, 5, 9, Loss::None), 1.0, "there are not so many");
        assert_eq!(too_few(4, 0, 0, Loss::Uncorrelated(0.5)), 0.0);
        assert_eq!(too_few(4, 2, 9, Loss::Uncorrelated(1.0)), 1.0);
        let tiny = too_few(4, 2, u64::MAX, Loss::Correlated(0.01));
        assert!((0.0..1e-300).contains(&tiny), "{tiny}");
    }
}
