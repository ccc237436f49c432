//! What the tests of the formulas share: inputs, exact numbers, comparisons.

use crate::inputs::{Inputs, Loss, ValidInputs, usual};
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// Inputs with the parameters of the figures, but for these.
pub(super) fn inputs(nodes: u32, loss: Loss, change: impl FnOnce(&mut Inputs)) -> ValidInputs {
    usual(nodes, |given| {
        given.loss = loss;
        change(given);
    })
}

/// An exact fraction.
pub(super) fn rational(numerator: i128, denominator: i128) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// The float nearest to an exact number.
pub(super) fn float(exact: &BigRational) -> f64 {
    exact.to_f64().expect("a number of ordinary size")
}

/// `got` is `expected`, up to this part of it.
#[track_caller]
pub(crate) fn assert_near(got: f64, expected: f64, relative: f64) {
    let off = (got - expected).abs();
    assert!(off <= relative * expected.abs(), "{got} is not {expected}: off by {off:e}");
}
