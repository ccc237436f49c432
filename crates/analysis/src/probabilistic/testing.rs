//! What the tests of the probabilities share: inputs, binomial coefficients, comparisons.

use crate::inputs::{Inputs, ValidInputs};

/// Inputs with the paper's parameters, but for these.
pub(super) fn inputs(nodes: u32, change: impl FnOnce(&mut Inputs)) -> ValidInputs {
    let mut given = Inputs { nodes, ..Inputs::default() };
    change(&mut given);
    given.try_into().expect("inputs in the domain")
}

/// Nothing is lost and nobody fails.
pub(super) fn calm(nodes: u32, k: u32, view: f64) -> ValidInputs {
    inputs(nodes, |given| {
        (given.k, given.view) = (k, view);
        (given.fail, given.unicast_loss, given.multicast_loss) = (0.0, 0.0, 0.0);
    })
}

/// Figure 4's parameters.
pub(super) fn figure_4(k: u32) -> ValidInputs {
    inputs(10_000, |given| {
        (given.k, given.view) = (k, 0.4);
        (given.fail, given.unicast_loss, given.multicast_loss) = (0.01, 0.01, 0.01);
    })
}

/// How many ways there are to choose k of n.
pub(super) fn chosen(n: u64, k: u64) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// `got` is `expected`, up to this part of it.
#[track_caller]
pub(super) fn assert_near(got: f64, expected: f64, relative: f64) {
    let off = (got - expected).abs();
    assert!(off <= relative * expected.abs(), "{got} is not {expected}: off by {off:e}");
}
