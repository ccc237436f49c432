//! The number of Bye messages.
//!
//! Section 5.7: with the loss known, the number of Byes is the expected number of announcements
//! until all processes have received one.

use libm::{expm1, log, log1p, pow};

/// X(n) of our reading: the expected number of announcements *beyond the first* until each of
/// `receivers` has received one, when each loses each with probability `loss`, independently.
///
/// It is the sum of `1 − (1 − l^i)^n` over i ≥ 1, each term without cancellation. The alternating
/// binomial sum of the text is useless in floating point beyond n ≈ 50.
pub fn announcements_beyond_first(receivers: u64, loss: f64) -> f64 {
    if receivers == 0 || loss <= 0.0 {
        return 0.0;
    }
    if loss >= 1.0 {
        return f64::INFINITY;
    }
    let n = receivers as f64;
    if loss > NEARLY_ALL {
        // The sum has millions of terms that change slowly. By Euler and Maclaurin it equals its
        // integral, H_n/−ln l, less half of its first term.
        return harmonic(n) / -log(loss) - 0.5;
    }
    let (mut sum, mut i) = (0.0, 1.0);
    loop {
        let all_lost = pow(loss, i);
        if n * all_lost < 1e-18 {
            return sum;
        }
        sum += -expm1(n * log1p(-all_lost));
        i += 1.0;
    }
}

/// Losses above this leave so many terms that the integral replaces the sum.
const NEARLY_ALL: f64 = 0.9999;

/// The harmonic number H_n, by its expansion, or by its sum where the expansion is inaccurate.
fn harmonic(n: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if n < 100.0 {
        return (1..=n as u32).map(|k| 1.0 / f64::from(k)).sum();
    }
    log(n) + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

/// The number of Byes that reaches `receivers` processes, on average, through this loss; `None` if
/// the loss is total.
pub fn bye_copies(receivers: u64, loss: f64) -> Option<u32> {
    let copies = libm::ceil(1.0 + announcements_beyond_first(receivers, loss));
    copies.is_finite().then_some(copies as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_number_agrees_with_small_cases_worked_by_hand() {
        // One receiver: geometric, l/(1−l). Two: 2l/(1−l) − l²/(1−l²).
        for loss in [0.1, 0.4, 0.7, 0.99] {
            let one = loss / (1.0 - loss);
            let two = 2.0 * one - loss * loss / (1.0 - loss * loss);
            assert!((announcements_beyond_first(1, loss) - one).abs() < 1e-9 * one);
            assert!((announcements_beyond_first(2, loss) - two).abs() < 1e-9 * two);
        }
        assert_eq!(announcements_beyond_first(5, 0.0), 0.0);
        assert_eq!(announcements_beyond_first(0, 0.5), 0.0);
    }

    #[test]
    fn the_integral_takes_over_without_a_step_and_ends_at_once() {
        for receivers in [1, 2, 50, 99, 100, 1_000_000] {
            let below = announcements_beyond_first(receivers, NEARLY_ALL);
            let above = harmonic(receivers as f64) / -log(NEARLY_ALL) - 0.5;
            assert!((below - above).abs() < 1e-8 * below, "{receivers}: {below} {above}");
            assert!(announcements_beyond_first(receivers, 1.0 - f64::EPSILON).is_finite());
        }
    }

    #[test]
    fn more_loss_or_more_receivers_need_more_copies() {
        assert_eq!(bye_copies(99, 0.0), Some(1));
        assert_eq!(bye_copies(1, 0.5), Some(2));
        assert!(bye_copies(99, 0.4) > bye_copies(9, 0.4));
        assert!(bye_copies(99, 0.7) > bye_copies(99, 0.4));
        assert_eq!(bye_copies(99, 1.0), None);
    }
}
