//! Integrals of functions that change fast at the ends of an interval, by Gauss and Legendre.
//!
//! With N processes the probability to be silenced rises within 1/N of the moment at which it can
//! rise at all: a layer far too thin for equal panels. So panels shrink by a constant factor
//! towards both ends, until they are thinner than the layer. Kinks and layers must lie at ends:
//! a caller that has some inside splits the interval there. In all formulas here what changes is a
//! probability that rises by at most 1 over an interval, so that its layers are not thinner than
//! 1/N of that.
//!
//! *Promise:* for functions that are smooth on the scale of their distance from the ends, or of the
//! layer, whichever is larger, the error is near that of rounding.

use gauss_quad::GaussLegendre;
use std::num::NonZeroUsize;

/// Points per panel.
const POINTS: NonZeroUsize = NonZeroUsize::new(20).expect("twenty is not zero");

/// By how much each panel is shorter than its neighbour.
const SHRINK: f64 = 1.0 / 3.0;

/// A rule of integration, made once and used for many integrals.
#[derive(Clone, Debug)]
pub struct Integral {
    rule: GaussLegendre,
}

impl Default for Integral {
    fn default() -> Self {
        Self { rule: GaussLegendre::new(POINTS) }
    }
}

impl Integral {
    /// The integral between neighbours of a rising list of places, with layers as in [`Self::over`]
    /// at the ends of each interval.
    pub fn between(&self, places: &[f64], layer: f64, f: &dyn Fn(f64) -> f64) -> f64 {
        places.windows(2).map(|ends| self.over(ends[0], ends[1], layer, f)).sum()
    }

    /// The integral over [from, to], with layers at the ends that are not thinner than this part of
    /// it; nothing if that is empty.
    pub fn over(&self, from: f64, to: f64, layer: f64, f: &dyn Fn(f64) -> f64) -> f64 {
        let half = (to - from) / 2.0;
        // Also if an end is no number.
        if half.is_nan() || half <= 0.0 {
            return 0.0;
        }
        let finest = half * (layer / 5.0).clamp(1e-17, 1.0);
        let (mut total, mut outer) = (0.0, half);
        // Distances from the nearer end: [outer·SHRINK, outer], and so on, at last [0, outer].
        loop {
            let inner = if outer > finest { outer * SHRINK } else { 0.0 };
            total += self.rule.integrate(inner, outer, |d| f(from + d) + f(to - d));
            if inner == 0.0 {
                return total;
            }
            outer = inner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libm::{exp, expm1, log1p};

    fn near(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() <= tolerance * expected.abs(), "{got} {expected}");
    }

    #[test]
    fn layers_of_any_width_at_either_end() {
        for n in [1.0, 1e3, 1e6, 1e9] {
            let rule = Integral::default();
            // At the far end a place has a rounding error that n multiplies.
            let close = |got, expected| near(got, expected, 1e-13 + n * f64::EPSILON);
            // e^{-nt} and its mirror image.
            close(rule.over(0.0, 1.0, 1.0 / n, &|t| exp(-n * t)), -expm1(-n) / n);
            close(rule.over(0.0, 2.0, 0.5 / n, &|t| exp(n * (t - 2.0))), -expm1(-2.0 * n) / n);
            // A power of a falling line.
            close(rule.over(0.0, 1.0, 1.0 / n, &|t| exp(n * log1p(-t))), 1.0 / (n + 1.0));
        }
    }

    #[test]
    fn kinks_are_between_intervals() {
        let rule = Integral::default();
        near(rule.between(&[0.0, 0.3, 1.0], 1.0, &|t| (t - 0.3).abs()), 0.045 + 0.245, 1e-14);
    }

    #[test]
    fn nothing_over_nothing() {
        let rule = Integral::default();
        for (from, to) in [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0)] {
            assert_eq!(rule.over(from, to, 1.0, &|_| 1.0), 0.0);
        }
        assert_eq!(rule.between(&[0.5], 1.0, &|_| 1.0), 0.0);
    }
}
