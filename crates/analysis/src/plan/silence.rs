//! How often a leader that is there is given up (sections 5.3.2, 5.3.4 and 5.4.4).
//!
//! T_L = (m + θ) T_A with 0 <= θ < 1: a process gives its leader up when m announcements in a row
//! are lost to it. All rates are per announcement, that is, per T_A.
//!
//! Two things can be counted. *Alarms* are the moments at which one or more processes give up; a
//! longer T_L has fewer. *Stretches* are the times without agreement, which alarms begin. During a
//! stretch further alarms only prolong it, so a large group with a short T_L has one that hardly
//! ever ends. Goals are about alarms; where they are rare, each begins a stretch.

use crate::inputs::Loss;
use libm::{expm1, log1p, pow};

/// The rate of alarms: l^m(1−l) for those who lose together, 1 − (1 − l^m(1−l))^(N−1) for those
/// who lose each for itself: heard one announcement, then lost m.
pub fn alarms(nodes: u32, loss: Loss, m: u32) -> f64 {
    let l = loss.rate();
    let one = pow(l, f64::from(m)) * (1.0 - l);
    -expm1(independent(nodes, loss) * log1p(-one))
}

/// The rate at which stretches begin: somebody has missed m in a row, nobody m + 1.
pub fn stretches(nodes: u32, loss: Loss, m: u32) -> f64 {
    // (1 − l^(m+1))^n − (1 − l^m)^n, n = N − 1, without the cancellation.
    let all_heard = |m: u32| independent(nodes, loss) * log1p(-pow(loss.rate(), f64::from(m)));
    let (now, next) = (all_heard(m), all_heard(m + 1));
    libm::exp(next) * -expm1(now - next)
}

/// The least m for which there are at most so many alarms per announcement; `None` if m would be
/// too large.
pub fn least_losses(nodes: u32, loss: Loss, alarms_at_most: f64) -> Option<u32> {
    let enough = |m: u32| alarms(nodes, loss, m) <= alarms_at_most;
    let (mut low, mut high) = (1, 1);
    while !enough(high) {
        low = high + 1;
        high = high.checked_mul(2).filter(|m| *m <= LOSSES_MAX)?;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

/// The largest m.
const LOSSES_MAX: u32 = 1 << 30;

/// How many receivers lose each for itself.
fn independent(nodes: u32, loss: Loss) -> f64 {
    match loss {
        Loss::Uncorrelated(_) => f64::from(nodes.saturating_sub(1)),
        Loss::None | Loss::Correlated(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_agree_with_their_definitions_on_small_cases() {
        for (l, m, nodes) in [(0.4f64, 2, 10), (0.1, 1, 3), (0.7, 5, 50)] {
            let lost = |m: i32| l.powi(m);
            let (together, apart) = (Loss::Correlated(l), Loss::Uncorrelated(l));
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b, "{a} {b}");
            let (m_signed, n) = (i32::try_from(m).unwrap(), i32::try_from(nodes - 1).unwrap());
            near(alarms(nodes, together, m), lost(m_signed) * (1.0 - l));
            near(stretches(nodes, together, m), lost(m_signed) - lost(m_signed + 1));
            let quiet = 1.0 - lost(m_signed) * (1.0 - l);
            near(alarms(nodes, apart, m), 1.0 - quiet.powi(n));
            let heard = |m: i32| (1.0 - lost(m)).powi(n);
            near(stretches(nodes, apart, m), heard(m_signed + 1) - heard(m_signed));
        }
    }

    #[test]
    fn alarms_get_rarer_with_m_although_stretches_need_not() {
        let loss = Loss::Uncorrelated(0.4);
        let of = |rate: fn(u32, Loss, u32) -> f64, m| rate(1_000, loss, m);
        assert!((1..40).all(|m| of(alarms, m) >= of(alarms, m + 1)));
        assert!(of(stretches, 1) < of(stretches, 7), "one stretch that hardly ever ends");
        let (alarms, stretches) = (of(alarms, 30), of(stretches, 30));
        assert!((alarms / stretches - 1.0).abs() < 1e-6, "rare alarms each begin one");
    }

    #[test]
    fn the_least_number_of_losses_is_enough_and_one_less_is_not() {
        for loss in [Loss::Correlated(0.4), Loss::Uncorrelated(0.4), Loss::Uncorrelated(0.999)] {
            for goal in [0.3, 1e-3, 1e-9] {
                let m = least_losses(100, loss, goal).unwrap();
                assert!(alarms(100, loss, m) <= goal, "{loss:?} {goal}: {m}");
                assert!(m == 1 || alarms(100, loss, m - 1) > goal, "{loss:?} {goal}: {m}");
            }
        }
        assert_eq!(least_losses(100, Loss::None, 0.0), Some(1));
        assert_eq!(least_losses(2, Loss::Correlated(1.0 - 1e-12), 1e-30), None);
    }
}
