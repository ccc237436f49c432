//! That a round succeeds: the product of the five bounds.
//!
//! A lower bound, and a low one: E3 counts on relays that all prefer somebody else, each bound is
//! taken at the worst number of relays that E1 allows, and E1 itself leaves out rounds that succeed
//! with other numbers. What a simulation gives is far above it where K is small. Printed is what
//! figure 4 shows; corrected has the corrected factors.

use super::{CHANCE, e1, e2, e3, e4, e5, round_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::{Formula, Quantity};
use bellwether_sim::Measure;

/// The five factors as printed.
pub const PRINTED: [Formula; 5] =
    [e1::printed, e2::printed, e3::printed, e4::printed, e5::leader_lives];

/// The five factors as corrected.
pub const CORRECTED: [Formula; 5] =
    [e1::corrected, e2::corrected, e3::printed, e4::corrected, e5::leader_lives];

/// As printed.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    product(PRINTED, inputs)
}

/// With the corrected factors.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    product(CORRECTED, inputs)
}

fn product(factors: [Formula; 5], inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    factors.iter().try_fold(1.0, |product, factor| Ok(product * factor(inputs)?))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.success",
    section: "Gupta 4: p^Success; figure 4",
    about: "that a round succeeds, a lower bound",
    reads: &["nodes", "k", "view", "fail", "ucast-loss", "mcast-loss"],
    printed,
    corrected,
    note: |_| "the product of E1 to E5, each as printed or as corrected; a simulation is far above",
    exact: |_| false,
    simulation: |inputs| Some((round_of(inputs), Measure::StrongSuccess)),
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, figure_4, inputs};
    use super::*;
    use bellwether_protocols::probabilistic::{Conditions, Odds};

    /// "Peaks at 0.6".
    #[test]
    fn figure_4_has_its_peak() {
        let curve: Vec<f64> = (1..=65).map(|k| printed(&figure_4(k)).unwrap()).collect();
        let peak = curve.iter().copied().fold(0.0, f64::max);
        let place = curve.iter().position(|value| *value == peak).unwrap() + 1;
        assert!((0.55..0.65).contains(&peak) && (20..45).contains(&place), "{peak} at {place}");
        let at = figure_4(40);
        assert!(e1::printed(&at).unwrap() > 0.99 && e2::printed(&at).unwrap() > 0.99);
    }

    #[test]
    fn the_protocols_promise_is_the_printed_bound() {
        for nodes in [1, 10, 1000, 1_000_000] {
            for k in [1, 7, 40, 500] {
                for (view, fail, unicast_loss, multicast_loss) in
                    [(0.5, 0.001, 0.001, 0.001), (0.2, 0.1, 0.3, 0.4), (0.9, 0.0, 0.0, 0.0)]
                {
                    let at = inputs(nodes, |given| {
                        (given.k, given.view, given.fail) = (k, view, fail);
                        (given.unicast_loss, given.multicast_loss) = (unicast_loss, multicast_loss);
                    });
                    let nodes = f64::from(nodes);
                    let conditions = Conditions { nodes, view, unicast_loss, multicast_loss, fail };
                    let odds = Odds::of(f64::from(k), &conditions);
                    let factors = [odds.relays, odds.connected, odds.same, odds.heard, odds.lives];
                    for (ours, theirs) in PRINTED.iter().zip(factors) {
                        assert_near(ours(&at).unwrap(), theirs, 1e-9);
                    }
                    assert_near(printed(&at).unwrap(), odds.success(), 1e-9);
                }
            }
        }
    }

    /// It is a lower bound of what can be summed exactly.
    #[test]
    fn what_is_exact_is_above_it() {
        for nodes in [10, 100, 5000] {
            for k in [1, 3, 7, 20] {
                for (fail, loss) in [(0.0, 0.0), (0.01, 0.1), (0.1, 0.3)] {
                    let at = inputs(nodes, |given| {
                        (given.k, given.view, given.fail) = (k, 1.0, fail);
                        (given.unicast_loss, given.multicast_loss) = (0.0, loss);
                    });
                    let exact = super::super::full_views::corrected(&at).unwrap();
                    let bound = corrected(&at).unwrap();
                    assert!(bound <= exact + 1e-12, "{nodes} {k} {fail} {loss}: {bound} {exact}");
                }
            }
        }
    }
}
