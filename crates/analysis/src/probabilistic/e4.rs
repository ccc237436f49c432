//! E4: everyone fails, or hears at least one final message.
//!
//! * Printed: (p_fail + (1−p_fail)(1−p_mcastl^{K_2/2}))^N.
//! * Corrected: with m = ⌈K_2/2⌉, a whole number and the least that E1 allows, and N−m who have to
//!   hear: a relay that has sent its own final message needs no other.
//!
//! Either is a lower bound given E1, and the only one of the five that depends on N; see
//! [`largest_group`](super::largest_group).

use super::CHANCE;
use super::round::{Round, window};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::Quantity;
use libm::{exp, log1p, pow};

/// As printed.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let finals = Round::of(inputs).k2() / 2.0;
    Ok(all_hear(inputs, finals, f64::from(inputs.nodes)))
}

/// With whole relays, who need not hear.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let [finals, _] = window(Round::of(inputs).k2());
    let finals = finals.min(u64::from(inputs.nodes)) as f64;
    Ok(all_hear(inputs, finals, f64::from(inputs.nodes) - finals))
}

/// That so many fail or hear one of so many.
fn all_hear(inputs: &ValidInputs, finals: f64, members: f64) -> f64 {
    if members == 0.0 {
        return 1.0;
    }
    let misses = (1.0 - inputs.fail) * pow(inputs.multicast_loss, finals);
    exp(members * log1p(-misses))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.e4",
    section: "Gupta 4: E4",
    about: "that everyone fails or hears a final message, a lower bound given E1",
    reads: &["nodes", "k", "fail", "mcast-loss"],
    printed,
    corrected,
    note: |_| "relays are whole, and one that has spoken need not hear another",
    exact: |_| false,
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, figure_4, inputs};
    use super::*;

    #[test]
    fn it_is_a_power_and_falls_with_the_group() {
        let at = figure_4(8);
        let miss = 0.99 * pow(0.01, 0.99 * 0.99 * 4.0);
        assert_near(printed(&at).unwrap(), pow(1.0 - miss, 10_000.0), 1e-9);
        let miss = 0.99 * 0.01f64.powi(4);
        assert_near(corrected(&at).unwrap(), (1.0 - miss).powi(9996), 1e-9);
        let of = |nodes| {
            corrected(&inputs(nodes, |given| (given.k, given.multicast_loss) = (8, 0.1))).unwrap()
        };
        assert!(of(10) > of(1000) && of(1000) > of(100_000));
        assert_eq!(printed(&calm(1_000_000, 1, 0.5)), Ok(1.0), "nothing is lost");
        let deaf = inputs(9, |given| (given.multicast_loss, given.fail) = (1.0, 0.0));
        assert_eq!((printed(&deaf), corrected(&deaf)), (Ok(0.0), Ok(0.0)));
    }
}
