//! The law of wake-up times: p, P and E[t_s] of the chapter, for every distribution of timers.
//!
//! Section 5.1.2 leaves the distribution open; the figures take a uniform one, and section 5.4.3
//! points to exponential ones. All lie on [0, T_S].

use crate::setting::Setting;
use bellwether_protocols::announce_listen::Shape;
use libm::{exp, expm1, log1p};

/// P(t): the probability to have woken by t.
pub fn cdf(setting: &Setting, t: f64) -> f64 {
    if setting.suppress == 0.0 {
        return f64::from(u8::from(t >= 0.0));
    }
    let u = (t / setting.suppress).clamp(0.0, 1.0);
    match setting.shape {
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

/// The inverse of P: by when a process has woken with this probability.
pub fn quantile(setting: &Setting, probability: f64) -> f64 {
    let u = probability.clamp(0.0, 1.0);
    let unit = match setting.shape {
        Shape::Uniform => u,
        Shape::Rising { rate } => log1p(u * expm1(rate)) / rate,
        Shape::Falling { rate } => -log1p(u * expm1(-rate)) / rate,
    };
    unit * setting.suppress
}

/// Whoever woke by t had woken by t − Δ with a probability that falls by this factor as P(t) does:
/// P(t−Δ) = slope · (P(t) − P(Δ)) for t ≥ Δ, for all three distributions. T_S must be above nought.
pub fn slope(setting: &Setting) -> f64 {
    // After T_S nobody is left to be late.
    let delay = (setting.delay / setting.suppress).min(1.0);
    match setting.shape {
        Shape::Uniform => 1.0,
        Shape::Rising { rate } => exp(-rate * delay),
        Shape::Falling { rate } => exp(rate * delay),
    }
}

/// p(t): the density, for t in [0, T_S]. T_S must be above nought.
pub fn density(setting: &Setting, t: f64) -> f64 {
    let u = t / setting.suppress;
    if !(0.0..=1.0).contains(&u) {
        return 0.0;
    }
    let unit = match setting.shape {
        Shape::Uniform => 1.0,
        Shape::Rising { rate } => rate * exp(rate * (u - 1.0)) / -expm1(-rate),
        Shape::Falling { rate } => rate * exp(-rate * u) / -expm1(-rate),
    };
    unit / setting.suppress
}

/// E[t_s]: the mean wake-up.
pub fn mean(setting: &Setting) -> f64 {
    let unit = match setting.shape {
        Shape::Uniform => 0.5,
        Shape::Rising { rate } => mean_rising(rate),
        Shape::Falling { rate } => 1.0 - mean_rising(rate),
    };
    unit * setting.suppress
}

/// 1/(1 − e^{−a}) − 1/a; for small a, where the two cancel, its expansion 1/2 + a/12 − a³/720.
fn mean_rising(rate: f64) -> f64 {
    if rate < 1e-2 {
        return 0.5 + rate / 12.0 - rate * rate * rate / 720.0;
    }
    -1.0 / expm1(-rate) - 1.0 / rate
}
