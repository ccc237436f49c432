//! How many relays a round has: K_1 that begin, K_2 that last.
//!
//! Corrected: the initiator hears itself, so it is a little more than (1−p_mcastl)K, and no more
//! than everyone. If the hash is compared with K over the size of one's *view*, as section 3.1 has
//! it, each member passes with probability K/N_i, N_i = 1 + Bin(N−1, view_prob): about
//! K/view_prob relays, while section 4 counts on K.

use super::round::Round;
use super::spread::Spread;
use super::{CHANCE, nobody_fails, round_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::probabilistic::Size;
use bellwether_sim::Measure;

/// K_1 = (1−p_mcastl)K.
pub fn begin_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(Round::of(inputs).k1())
}

/// The mean number of relays that begin.
pub fn begin(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    Ok(round.pass * round.informed())
}

/// K_2 = (1−p_fail)(1−p_mcastl)K.
pub fn last_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(Round::of(inputs).k2())
}

/// The mean number of relays that send their final message.
pub fn last(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(begin(inputs)? * Round::of(inputs).lasts)
}

/// The mean number of relays that begin if each takes the size of its view for that of the group.
pub fn by_view(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    let k = f64::from(inputs.k);
    let seen = Spread::binomial(round.others(), inputs.view);
    Ok(round.informed() * seen.mean_of(|seen| (k / (seen + 1) as f64).min(1.0)))
}

/// A number of members; to be completed.
const MEMBERS: Quantity = Quantity {
    section: "Gupta 4: K_1 and K_2",
    unit: Unit::Members,
    reads: &["nodes", "k", "mcast-loss"],
    printed: begin_printed,
    ..CHANCE
};

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "probabilistic.relays",
        about: "relays that begin a round",
        corrected: begin,
        note: |_| "the initiator hears itself, and there are no more relays than members",
        exact: |_| true,
        simulation: |inputs| Some((Point { fail: 0.0, ..round_of(inputs) }, Measure::Relays)),
        ..MEMBERS
    },
    &Quantity {
        name: "probabilistic.relays.last",
        about: "relays that send their final message",
        reads: &["nodes", "k", "fail", "mcast-loss"],
        printed: last_printed,
        corrected: last,
        note: |_| "the initiator hears itself, and there are no more relays than members",
        exact: nobody_fails,
        simulation: |inputs| Some((round_of(inputs), Measure::Relays)),
        ..MEMBERS
    },
    &Quantity {
        name: "probabilistic.relays.by-view",
        section: "Gupta 3.1: N_i",
        about: "relays that begin a round if N_i is the size of one's view",
        reads: &["nodes", "k", "view", "mcast-loss"],
        corrected: by_view,
        note: |_| "section 4 counts on K of N; of half the group twice as many pass",
        exact: |_| true,
        simulation: |inputs| {
            let point = round_of(inputs).with("size", Size::View);
            Some((Point { fail: 0.0, ..point }, Measure::Relays))
        },
        ..MEMBERS
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, chosen, inputs};
    use super::*;

    #[test]
    fn relays_are_k_but_for_those_who_do_not_hear_or_do_not_last() {
        let at = inputs(1000, |given| (given.multicast_loss, given.fail) = (0.5, 0.2));
        assert_eq!(begin_printed(&at), Ok(3.5));
        assert_near(begin(&at).unwrap(), 3.5 + 0.007 * 0.5, 1e-12);
        assert_near(last(&at).unwrap(), 0.8 * (3.5 + 0.007 * 0.5), 1e-12);
        assert_eq!(begin(&calm(5, 7, 0.5)), Ok(5.0), "no more than there are");
        for at in [calm(40, 9, 0.5), inputs(40, |given| given.multicast_loss = 0.3)] {
            let spread = Round::of(&at).begin();
            assert_near(spread.mean_of(|r| r as f64), begin(&at).unwrap(), 1e-12);
            let spread = Round::of(&at).last();
            assert_near(spread.mean_of(|r| r as f64), last(&at).unwrap(), 1e-12);
        }
    }

    #[test]
    fn views_of_half_the_group_let_twice_as_many_through() {
        let at = calm(10_000, 7, 0.5);
        assert_near(by_view(&at).unwrap(), 14.0, 1e-3);
        assert_near(by_view(&calm(10_000, 7, 1.0)).unwrap(), 7.0, 1e-12);
        assert_near(by_view(&calm(10_000, 7, 0.0)).unwrap(), 10_000.0, 1e-12);
        // By hand: each of 4 sees B of 3, and passes with 2/(B+1), at most 1.
        let sum: f64 = (0..4u32)
            .map(|b| chosen(3, u64::from(b)) * 0.5f64.powi(3) * (2.0 / f64::from(b + 1)).min(1.0))
            .sum();
        assert_near(by_view(&calm(4, 2, 0.5)).unwrap(), 4.0 * sum, 1e-13);
    }
}
