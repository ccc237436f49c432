//! What the text misses of a departure with uncorrelated loss: the head start of the new leader.
//!
//! The new leader gave the old one up because the last a announcements did not reach it; listener j
//! had missed K_j. Until j gives up too it ignores the new leader, which is for a − f − K_j of its
//! announcements, if that is positive; then it loses G_j of them. All these numbers are geometric.
//! f = ⌊(t_s+Δ)/T_A⌋ announcements are *excused*: the new leader was silent for so long. Beyond the
//! printed delay the group needs
//!
//! ```text
//! T_A · E[ max_{j≤n} (max(a − f − K_j, 0) + G_j) − a ],    n = N − 2.
//! ```
//!
//! **In closed form.** With h = max(a − f, 0), one listener has heard the new leader within x
//! announcements beyond the first with probability
//!
//! ```text
//! W_h(x) = (l^{h−x} − l^{h+x+2}) / (1+l)          for x < h,
//! W_h(x) = 1 − l^{x−h+1} (1 + l^{2h+1}) / (1+l)   for x ≥ h.
//! ```
//!
//! E\[max\] = Σ_x 1 − W_h(x)^n = h + G(l^{2h}) − D_h, where D_h sums W^n over x < h and G sums
//! 1 − W^n over x ≥ h. Averaged over a, the double sum of D separates:
//!
//! ```text
//! D = (1−l)/(1−l^{n+1}) · (l/(1+l))^n · Σ_{e≥1} l^e (1−l^{2e})^n,
//! ```
//!
//! and excuses only mix two cases, φ = E\[l^f\]: (1−φ)(X(n) − l/(1−l)) + φ(Y − D), Y being the mean
//! of G over all a. G(q) = Σ_{y≥1} 1 − (1 − l^y (1+lq)/(1+l))^n is analytic in q, so a polynomial
//! through 20 points gives the other thousands: its error is below 10⁻¹⁶.

use super::intervals;
use crate::announce_listen::{losses, wake};
use crate::inputs::{Loss, ValidInputs};
use bellwether_protocols::announce_listen::Variant;
use libm::{ceil, cos, expm1, log, log1p, pow, sin};
use std::f64::consts::PI;

/// What is smaller does not change a sum.
const NOTHING: f64 = 1e-18;
/// Points of the polynomial.
const POINTS: usize = 20;

/// φ = E\[l^f\], f = ⌊(t_s+Δ)/T_A⌋.
///
/// LE-A does not wait, so if Δ is a multiple of T_A messages arrive at the very moment at which
/// timers end, and before them: it is one excuse less. For Δ = 0 the value is that of the least Δ.
pub(super) fn mean_excuse(variant: Variant, inputs: &ValidInputs, l: f64) -> f64 {
    let first = intervals(inputs.delay, inputs.announce).m;
    if variant == Variant::LeA || inputs.suppress == 0.0 {
        let late = ceil(inputs.delay / inputs.announce) - 1.0;
        return pow(l, late.clamp(0.0, first));
    }
    let (mut sum, mut before, mut f) = (0.0, 0.0, first);
    loop {
        let weight = pow(l, f);
        let woken = wake::cdf(inputs, (f + 1.0) * inputs.announce - inputs.delay);
        sum += weight * (woken - before);
        if woken >= 1.0 || weight < NOTHING {
            return sum;
        }
        (before, f) = (woken, f + 1.0);
    }
}

/// E\[max_j (max(a − f − K_j, 0) + G_j) − a\] for so many listeners, excused φ.
pub(super) fn extra(listeners: f64, l: f64, excused: f64) -> f64 {
    if l == 0.0 {
        return 0.0;
    }
    let alone = losses::beyond_first(listeners as u64, Loss::Uncorrelated(l)) - l / (1.0 - l);
    let ignored = mean_past_head_start(listeners, l) - mean_within_head_start(listeners, l);
    (1.0 - excused) * alone + excused * ignored
}

/// D: the mean of Σ_{x<h} W_h(x)^n.
fn mean_within_head_start(n: f64, l: f64) -> f64 {
    let scale = (1.0 - l) / -expm1((n + 1.0) * log(l)) * pow(l / (1.0 + l), n);
    if scale < NOTHING {
        return 0.0;
    }
    let powers = (1..).map(|e| pow(l, f64::from(e))).take_while(|power| *power > NOTHING);
    scale * powers.map(|power| power * pow(1.0 - power * power, n)).sum::<f64>()
}

/// Y: the mean of Σ_{x≥h} 1 − W_h(x)^n over h, which is h with probability (1−l) l^h.
fn mean_past_head_start(n: f64, l: f64) -> f64 {
    let points = Points::new();
    let weights = points.weights(l);
    let reach = points.at.map(|q| (1.0 + l * q) / (1.0 + l));
    let mean = |term: &dyn Fn(f64) -> f64| -> f64 {
        reach.iter().zip(&weights).map(|(reach, weight)| weight * term(*reach)).sum()
    };
    let (whole, mean_reach) = (mean(&|_| 1.0), mean(&|reach| reach));
    let mut sum = 0.0;
    for y in 1.. {
        let power = pow(l, f64::from(y));
        if n * power < 1e-9 {
            // Too few to lose the same twice: what is left is a geometric sum.
            sum += n * power / (1.0 - l) * mean_reach;
            break;
        }
        // Of more than a hundred somebody loses it for sure: e^-50.
        let certain = n * power > 100.0;
        let unheard = |reach: f64| -expm1(n * log1p(-power * reach));
        sum += if certain { whole } else { mean(&unheard) };
    }
    sum
}

/// Chebyshev's points on [0, 1], and what the polynomial through them needs.
struct Points {
    at: [f64; POINTS],
    barycentric: [f64; POINTS],
}

impl Points {
    fn new() -> Self {
        let angle = |i: usize| PI * (i as f64 + 0.5) / POINTS as f64;
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        Self {
            at: std::array::from_fn(|i| 0.5 - 0.5 * cos(angle(i))),
            barycentric: std::array::from_fn(|i| sign(i) * sin(angle(i))),
        }
    }

    /// What each point counts in the mean of a polynomial of l^{2h}.
    fn weights(&self, l: f64) -> [f64; POINTS] {
        let mut weights = [0.0; POINTS];
        let powers = (0..).map(|h| pow(l, f64::from(h))).take_while(|power| *power > NOTHING);
        for power in powers {
            let shares = self.shares(power * power);
            for (weight, share) in weights.iter_mut().zip(shares) {
                *weight += (1.0 - l) * power * share;
            }
        }
        weights
    }

    /// What each point counts in the value of a polynomial at q.
    fn shares(&self, q: f64) -> [f64; POINTS] {
        if let Some(hit) = self.at.iter().position(|at| *at == q) {
            return std::array::from_fn(|i| f64::from(u8::from(i == hit)));
        }
        let parts: [f64; POINTS] = std::array::from_fn(|i| self.barycentric[i] / (q - self.at[i]));
        let whole: f64 = parts.iter().sum();
        parts.map(|part| part / whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, inputs};
    use bellwether_protocols::announce_listen::Shape;

    /// The definition, summed as it stands: over a, over x, over K.
    fn by_definition(n: f64, l: f64, excused: usize) -> f64 {
        let terms = (log(NOTHING / n) / log(l)) as usize + 2;
        let power: Vec<f64> = (0..2 * terms + 2).map(|k| pow(l, k as f64)).collect();
        let mean_max = |head: usize| -> f64 {
            let beyond = |x: usize| {
                // That K leaves a wait of d, and G is beyond x − d.
                let missed = |k: usize| match head - k {
                    wait if wait > x => 1.0,
                    wait => power[x - wait + 1],
                };
                let trusting: f64 = (0..head).map(|k| power[k] * (1.0 - l) * missed(k)).sum();
                trusting + power[head] * power[x + 1]
            };
            (0..terms + head).map(|x| -expm1(n * log1p(-beyond(x).min(1.0)))).sum()
        };
        let outcome = |a: usize| mean_max(a.saturating_sub(excused)) - a as f64;
        (0..terms).map(|a| power[a] * (1.0 - l) * outcome(a)).sum()
    }

    #[test]
    fn the_closed_form_is_the_definition() {
        for l in [0.01, 0.1, 0.4, 0.7] {
            for n in [1.0, 2.0, 3.0, 8.0, 48.0, 1e6] {
                for excused in [0, 1, 3] {
                    let expected = by_definition(n, l, excused);
                    let got = extra(n, l, pow(l, excused as f64));
                    assert!((got - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{l} {n}");
                }
            }
        }
        assert_near(extra(1e6, 0.9, 1.0), by_definition(1e6, 0.9, 0), 1e-12);
    }

    /// One listener: E[max(a−K, 0)] = l/(1−l²), and each excuse takes a factor l off.
    #[test]
    fn one_listener_is_a_difference_of_geometric_numbers() {
        for l in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let expected = l / (1.0 - l * l);
            assert_near(extra(1.0, l, 1.0), expected, 1e-10);
            assert_near(extra(1.0, l, l * l), expected * l * l, 1e-9);
        }
    }

    #[test]
    fn more_listeners_and_more_loss_cost_more() {
        let mut before = 0.0;
        for n in [1.0, 2.0, 10.0, 1e3, 1e6] {
            let now = extra(n, 0.4, 1.0);
            assert!(now > before, "{n}: {now} after {before}");
            before = now;
        }
        for losses in [0.0, 0.1, 0.4, 0.9, 0.99].windows(2) {
            assert!(extra(50.0, losses[1], 1.0) > extra(50.0, losses[0], 1.0));
        }
    }

    /// The maximum of twice as many geometric tails is later by ln 2/ln(1/l), as l → 1.
    #[test]
    fn a_million_listeners_take_a_logarithm_more() {
        let [few, many] = [5e5, 1e6].map(|n| extra(n, 0.99, 1.0));
        assert_near(many - few, log(2.0) / -log(0.99), 1e-6);
    }

    #[test]
    fn excuses_follow_the_law_of_wake_up_times() {
        let given = inputs(9, Loss::Uncorrelated(0.5), |given| {
            (given.suppress, given.announce, given.delay) = (3.0, 1.0, 0.25);
        });
        // f is 0 for a quarter of T_S, 1 and 2 for a third each, 3 for the last twelfth.
        let expected = 0.25 + 0.5 / 3.0 + 0.25 / 3.0 + 0.125 / 12.0;
        assert_near(mean_excuse(Variant::LeS, &given, 0.5), expected, 1e-14);
        assert_eq!(mean_excuse(Variant::LeA, &given, 0.5), 1.0);
        let rising = given.with(|given| given.shape = Shape::Rising { rate: 5.0 }).unwrap();
        assert!(mean_excuse(Variant::LeS, &rising, 0.5) < expected, "wakes later");
        let slow = given.with(|given| given.delay = 2.5).unwrap();
        assert_eq!(mean_excuse(Variant::LeA, &slow, 0.5), 0.25);
        // At equal times a message comes before a timer.
        let tie = given.with(|given| given.delay = 2.0).unwrap();
        assert_eq!(mean_excuse(Variant::LeA, &tie, 0.5), 0.5);
    }
}
