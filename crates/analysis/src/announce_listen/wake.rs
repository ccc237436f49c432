//! The law of wake-up times: p, P and E\[t_s\] of the chapter, for every distribution of timers.
//!
//! Section 5.1.2 leaves the distribution open; the figures take a uniform one, and section 5.4.3
//! points to exponential ones. All lie on [0, T_S].

use crate::inputs::ValidInputs;
use bellwether_protocols::announce_listen::Shape;
use gauss_quad::GaussLegendre;
use libm::{exp, expm1, log1p};
use std::num::NonZeroUsize;

/// P(t): the probability to have woken by t.
pub fn cdf(inputs: &ValidInputs, t: f64) -> f64 {
    if inputs.suppress == 0.0 {
        return f64::from(u8::from(t >= 0.0));
    }
    let u = (t / inputs.suppress).clamp(0.0, 1.0);
    match inputs.shape {
        Shape::Uniform => u,
        Shape::Rising { rate } => rising(rate, u),
        // The mirror image: 1 − rising(1 − u), without the cancellation.
        Shape::Falling { rate } => expm1(-rate * u) / expm1(-rate),
    }
}

/// The same for a rising timer, (e^{au} − 1)/(e^a − 1), in a form that does not overflow.
fn rising(rate: f64, u: f64) -> f64 {
    exp(rate * (u - 1.0)) * expm1(-rate * u) / expm1(-rate)
}

/// The slope of P(t−Δ) as a function of P(t):
/// P(t−Δ) = slope · (P(t) − P(Δ)) for t ≥ Δ, for all three distributions. T_S must be above zero.
pub fn slope(inputs: &ValidInputs) -> f64 {
    // After T_S nobody is left to be late.
    let delay = (inputs.delay / inputs.suppress).min(1.0);
    match inputs.shape {
        Shape::Uniform => 1.0,
        Shape::Rising { rate } => exp(-rate * delay),
        Shape::Falling { rate } => exp(rate * delay),
    }
}

/// p(t): the density, for t in [0, T_S]. T_S must be above zero.
pub fn density(inputs: &ValidInputs, t: f64) -> f64 {
    let u = t / inputs.suppress;
    if !(0.0..=1.0).contains(&u) {
        return 0.0;
    }
    let unit = match inputs.shape {
        Shape::Uniform => 1.0,
        Shape::Rising { rate } => rate * exp(rate * (u - 1.0)) / -expm1(-rate),
        Shape::Falling { rate } => rate * exp(-rate * u) / -expm1(-rate),
    };
    unit / inputs.suppress
}

/// E\[t_s\]: the mean wake-up.
pub fn mean(inputs: &ValidInputs) -> f64 {
    let unit = match inputs.shape {
        Shape::Uniform => 0.5,
        Shape::Rising { rate } => mean_rising(rate),
        Shape::Falling { rate } => 1.0 - mean_rising(rate),
    };
    unit * inputs.suppress
}

/// 1/(1 − e^{−a}) − 1/a; for small a, where the two cancel, its expansion 1/2 + a/12 − a³/720.
fn mean_rising(rate: f64) -> f64 {
    if rate < 1e-2 {
        return 0.5 + rate / 12.0 - rate * rate * rate / 720.0;
    }
    -1.0 / expm1(-rate) - 1.0 / rate
}

/// The time by which a process has woken with probability `chance`.
pub fn quantile(inputs: &ValidInputs, chance: f64) -> f64 {
    let chance = chance.clamp(0.0, 1.0);
    let unit = match inputs.shape {
        Shape::Uniform => chance,
        Shape::Rising { rate } => log1p(chance * expm1(rate)) / rate,
        Shape::Falling { rate } => -log1p(chance * expm1(-rate)) / rate,
    };
    // The logarithm of nothing, where rounding ate what was left.
    unit.clamp(0.0, 1.0) * inputs.suppress
}

/// E\[min t_i\]: the mean of the earliest of N wake-ups, T_S/(N+1) if they are uniform.
///
/// Otherwise the integral of (1 − P(t))^N over [0, T_S]. That is nearly 1 until about one of N has
/// woken, and soon nearly 0; so the panels end where N·ln(1/(1 − P)) doubles, and the integrand is
/// smooth in each.
pub fn mean_of_earliest(inputs: &ValidInputs) -> f64 {
    let n = f64::from(inputs.nodes);
    if inputs.shape == Shape::Uniform || inputs.suppress == 0.0 {
        return inputs.suppress / (n + 1.0);
    }
    let rule = GaussLegendre::new(NonZeroUsize::new(24).expect("not zero"));
    let nobody = |t: f64| exp(n * log1p(-cdf(inputs, t)));
    let (mut from, mut sum) = (0.0, 0.0);
    // Before 2^-60 nobody has woken for sure, after 2^6 somebody has.
    for power in -60..=6 {
        let to = quantile(inputs, -expm1(-libm::ldexp(1.0, power) / n));
        sum += rule.integrate(from, to, nobody);
        from = to;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, float, inputs, rational};
    use crate::inputs::Loss;

    fn shaped(nodes: u32, shape: Shape) -> ValidInputs {
        inputs(nodes, Loss::None, |given| (given.shape, given.suppress) = (shape, 2.0))
    }

    const SHAPES: [Shape; 7] = [
        Shape::Uniform,
        Shape::Rising { rate: 1e-3 },
        Shape::Rising { rate: 3.0 },
        Shape::Rising { rate: 500.0 },
        Shape::Falling { rate: 1e-3 },
        Shape::Falling { rate: 3.0 },
        Shape::Falling { rate: 500.0 },
    ];

    #[test]
    fn a_quantile_is_where_its_chance_is_reached() {
        for shape in SHAPES {
            let given = shaped(5, shape);
            for chance in [1e-9, 0.01, 0.3, 0.5, 0.9] {
                assert_near(cdf(&given, quantile(&given, chance)), chance, 1e-9);
            }
            assert_eq!(quantile(&given, 0.0), 0.0);
            assert_near(quantile(&given, 1.0), 2.0, 1e-12);
        }
    }

    #[test]
    fn the_earliest_of_one_wakes_at_the_mean() {
        for shape in SHAPES {
            let given = shaped(1, shape);
            assert_near(mean_of_earliest(&given), mean(&given), 1e-12);
        }
    }

    /// With e^a = 2 and v = e^{au} the integral is ∫ (2−v)^N/v dv/ln 2 over [1, 2], which is
    /// (2^N ln 2 + Σ_{k=1..N} C(N,k) (−1)^k 2^{N−k} (2^k−1)/k)/ln 2; the falling timer is the same
    /// with 2v−1 over [1/2, 1].
    #[test]
    fn the_earliest_of_a_few_agrees_with_the_binomial_sum_in_exact_arithmetic() {
        let ln2 = std::f64::consts::LN_2;
        // ln 2 to 36 digits, for the cancellation.
        let exact_ln2 = rational(693_147_180_559_945_309_417_232_121_458_176_568, 10i128.pow(36));
        for nodes in [2u32, 5, 10] {
            let n = i128::from(nodes);
            let (mut binomial, mut rising, mut falling) =
                (rational(1, 1), rational(2i128.pow(nodes), 1) * &exact_ln2, exact_ln2.clone());
            falling *= rational(if n % 2 == 0 { 1 } else { -1 }, 1);
            for k in 1..=n {
                binomial *= rational(n + 1 - k, k);
                let (sign, two_k) = (if k % 2 == 0 { 1 } else { -1 }, 2i128.pow(k as u32));
                let all = 2i128.pow((n - k) as u32) * (two_k - 1);
                rising += &binomial * rational(sign * all, k);
                let turned = if (n - k) % 2 == 0 { 1 } else { -1 };
                falling += &binomial * rational(turned * (two_k - 1), k);
            }
            let expected = [rising, falling].map(|sum| 2.0 * float(&(sum / &exact_ln2)));
            let shapes = [Shape::Rising { rate: ln2 }, Shape::Falling { rate: ln2 }];
            for (shape, expected) in shapes.into_iter().zip(expected) {
                assert_near(mean_of_earliest(&shaped(nodes, shape)), expected, 1e-12);
            }
        }
    }

    /// A timer that hardly rises is uniform; the earliest of many sees the density at 0 only; and a
    /// steep timer is a whole exponential one, seen from its end: T_S(1 − (ln N + γ)/a) roughly.
    #[test]
    fn the_earliest_of_very_many_is_known_from_its_limits() {
        const MANY: u32 = 1_000_000;
        for shape in [Shape::Rising { rate: 1e-7 }, Shape::Falling { rate: 1e-7 }] {
            assert_near(mean_of_earliest(&shaped(MANY, shape)), 2.0 / 1_000_001.0, 1e-7);
        }
        for shape in [Shape::Rising { rate: 3.0 }, Shape::Falling { rate: 3.0 }] {
            let given = shaped(MANY, shape);
            let expected = 1.0 / (density(&given, 0.0) * 1e6);
            assert_near(mean_of_earliest(&given), expected, 1e-4);
        }
        // P(u) = e^{a(u−1)} nearly, so a(1−u) is −ln of the least of N uniforms, whose mean is H_N.
        let harmonic: f64 = (1..=MANY).map(|k| 1.0 / f64::from(k)).sum();
        let steep = shaped(MANY, Shape::Rising { rate: 500.0 });
        assert_near(mean_of_earliest(&steep), 2.0 * (1.0 - harmonic / 500.0), 1e-12);
    }

    #[test]
    fn without_a_suppression_interval_all_wake_at_once() {
        let at_once = inputs(9, Loss::None, |given| given.suppress = 0.0);
        assert_eq!((mean_of_earliest(&at_once), quantile(&at_once, 0.5)), (0.0, 0.0));
    }
}
