//! Theorem 2: that somebody sees that a round went wrong.
//!
//! * Printed: E1 · (1 − (1 − (1−p_fail)(1−p_mcastl))^{3K_2/2})^N. It falls to 0 as N grows, while
//!   the text below it says that it goes to 1.
//! * Corrected: E1 · [1 − (1 − (1−p_fail)(1−p_mcastl)^m)^N], m = ⌊3K_2/2⌋, as the text derives it:
//!   somebody does not fail and hears all final messages. It goes to E1 as N grows, not to 1.
//!
//! But this is not the event in the theorem. A round whose leader failed is one that "does not
//! succeed", and nobody sees that. And a process that sees a failure need not begin again: with the
//! printed rule (`hash`) it does so with probability K/N only.

use super::CHANCE;
use super::e1;
use super::round::{Round, window};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::Quantity;
use libm::{expm1, log1p, pow};

/// To the letter.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    let neither = 1.0 - round.lasts * round.hears;
    let base = 1.0 - pow(neither, 1.5 * round.k2());
    Ok(e1::printed(inputs)? * pow(base, f64::from(inputs.nodes)))
}

/// With the exponents where they belong, and the exact E1.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    let [_, most] = window(round.k2());
    let sees = round.lasts * pow(round.hears, most as f64);
    Ok(e1::corrected(inputs)? * -expm1(f64::from(inputs.nodes) * log1p(-sees)))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.detection",
    section: "Gupta 4: Theorem 2",
    about: "that somebody who lives hears all final messages, a lower bound",
    reads: &["nodes", "k", "fail", "mcast-loss"],
    printed,
    corrected,
    note: |_| {
        "printed: exponents misplaced, it falls to 0 as N grows; corrected: it goes to E1, not to \
         1; a leader that failed is seen by nobody"
    },
    exact: |_| false,
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, inputs};
    use super::*;

    #[test]
    fn it_goes_to_e1_and_not_to_one() {
        let of = |nodes| {
            inputs(nodes, |given| {
                (given.k, given.fail, given.multicast_loss) = (7, 0.1, 0.4);
            })
        };
        let (few, many) = (of(10), of(1_000_000));
        assert!(corrected(&few).unwrap() < corrected(&many).unwrap());
        assert_near(corrected(&many).unwrap(), e1::corrected(&many).unwrap(), 1e-9);
        assert!(corrected(&many).unwrap() < 0.9, "not 1");
        let bad = |nodes| {
            inputs(nodes, |given| {
                (given.k, given.fail, given.multicast_loss) = (12, 0.1, 0.4);
            })
        };
        let printed = |nodes| printed(&bad(nodes)).unwrap();
        assert!(printed(10) > printed(1000) && printed(1_000_000) < 1e-9, "printed falls to 0");
    }

    /// Four members, each of which fails or not and hears each of m final messages or not.
    #[test]
    fn it_is_what_going_through_everything_gives() {
        let (fail, loss) = (0.2f64, 0.3f64);
        let at = inputs(4, |given| {
            (given.k, given.fail, given.multicast_loss) = (2, fail, loss);
        });
        let [_, m] = window(Round::of(&at).k2());
        assert_eq!(m, 1);
        let blind: f64 = fail + (1.0 - fail) * loss;
        let seen = 1.0 - blind.powi(4);
        assert_near(corrected(&at).unwrap(), e1::corrected(&at).unwrap() * seen, 1e-12);
    }
}
