//! What the tests of the probabilities share: inputs, binomial coefficients, comparisons.

pub(super) use crate::announce_listen::testing::assert_near;
use crate::inputs::ValidInputs;
pub(super) use crate::inputs::usual as inputs;

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
