//! The largest size of the group for which success hardly depends on it, as a power of ten.
//!
//! Only E4 depends on N, and is close to 1 while N is far below a limit.
//!
//! * Printed: N ≪ p_mcastl^{−3K_2/2}, "which, for K = 40, turns out as 10^107": with figure 4's
//!   parameters it is 10^117.6.
//! * Corrected: E4 has K_2/2 in the exponent, so N ≪ p_mcastl^{−K_2/2}: 10^39.2. The number of
//!   relays that E4 may count on is the least that E1 allows, not the greatest.

use super::CHANCE;
use super::round::Round;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use libm::log10;

/// log₁₀ p_mcastl^{−3K_2/2}.
///
/// # Errors
/// [`OutOfDomain::Condition`], if no multicast is lost.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    powers(inputs, 1.5)
}

/// log₁₀ p_mcastl^{−K_2/2}.
///
/// # Errors
/// [`OutOfDomain::Condition`], if no multicast is lost.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    powers(inputs, 0.5)
}

fn powers(inputs: &ValidInputs, part: f64) -> Result<f64, OutOfDomain> {
    if inputs.multicast_loss == 0.0 {
        return Err(OutOfDomain::Condition {
            rule: "mcast-loss = 0: everyone hears a final message, and no group is too large",
            way_out: "choose `mcast-loss` above 0",
        });
    }
    // A difference, so that a loss of 1 gives 0 and not -0.
    Ok(part * Round::of(inputs).k2() * (0.0 - log10(inputs.multicast_loss)))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.largest-group",
    section: "Gupta 4: after figure 4",
    about: "log10 of the N far below which success does not depend on N",
    unit: Unit::PowersOfTen,
    reads: &["k", "fail", "mcast-loss"],
    printed,
    corrected,
    note: |_| "E4 counts on the fewest relays, K2/2, and not on 3K2/2; the text's 107 is neither",
    exact: |_| true,
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, figure_4, inputs};
    use super::*;

    #[test]
    fn for_forty_relays_it_is_not_what_is_printed() {
        let at = figure_4(40);
        assert_near(printed(&at).unwrap(), 117.6, 1e-3);
        assert_near(corrected(&at).unwrap(), 39.2, 1e-3);
        assert!(matches!(corrected(&calm(9, 7, 0.5)), Err(OutOfDomain::Condition { .. })));
        let deaf = inputs(9, |given| given.multicast_loss = 1.0);
        assert_eq!(corrected(&deaf).map(f64::to_bits), Ok(0.0f64.to_bits()));
    }

    /// That is what it means: E4 breaks down where it says.
    #[test]
    fn e4_is_near_one_below_it_and_near_zero_above() {
        let of = |nodes| inputs(nodes, |given| (given.k, given.multicast_loss) = (8, 0.1));
        let limit = corrected(&of(9)).unwrap();
        assert!((3.0..4.0).contains(&limit), "{limit}");
        assert!(super::super::e4::corrected(&of(100)).unwrap() > 0.9);
        assert!(super::super::e4::corrected(&of(1_000_000)).unwrap() < 1e-9);
    }
}
