//! What a round costs: Theorems 3 and 4.
//!
//! * Unicasts, printed: "at most m³/2" with m relays, each of m preferences once along each of m²/2
//!   edges; K_1³/2 for m = K_1. That is no upper bound. A preference may cross an edge both ways,
//!   and a worse one is answered: three relays that see each other and prefer three different ones
//!   send 14 to 18 messages, not 13.5; tests count. It does not bound the mean either: the mean of
//!   m³ is larger than the cube of the mean. "O(K³)" holds for both.
//! * Corrected: the mean number of *initial* preferences, E(R)·(N−1)·view_prob·K/N: each relay
//!   tells those in its view that pass the filter, whether they have heard of the round or not.
//!   That is exact, and all there is if everyone sees everyone, since then all relays prefer the
//!   same one. With weaker views answers and changes of mind come on top, and it is a lower bound.
//! * Multicasts, printed: 1 + m without re-initiations, m = K_1. Corrected: one, and one of each
//!   relay that lasts. Those that fail send none.

use super::relays;
use super::round::Round;
use super::{nobody_fails, round_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_sim::Measure;

/// m³/2.
pub fn unicasts_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let m = relays::begin_printed(inputs)?;
    Ok(m * m * m / 2.0)
}

/// The initial preferences of one round.
pub fn unicasts(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let round = Round::of(inputs);
    Ok(relays::begin(inputs)? * round.others() as f64 * inputs.view * round.pass)
}

/// 1 + m.
pub fn multicasts_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(1.0 + relays::begin_printed(inputs)?)
}

/// The initiation and the final messages of one round.
pub fn multicasts(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(1.0 + relays::last(inputs)?)
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "probabilistic.unicasts",
        section: "Gupta 4: Theorems 3 and 4",
        about: "unicasts of one round: the initial preferences",
        unit: Unit::Messages,
        reads: &["nodes", "k", "view", "mcast-loss"],
        printed: unicasts_printed,
        corrected: unicasts,
        note: |inputs| match inputs.view == 1.0 {
            true => "m³/2 is no bound; all prefer the same one, and nobody is answered",
            false => {
                "m³/2 is no bound; corrected is what the relays say first, answers come on top"
            }
        },
        exact: |inputs| inputs.view == 1.0,
        is_percentile: false,
        simulation: |inputs| Some((Point { fail: 0.0, ..round_of(inputs) }, Measure::Unicasts)),
    },
    &Quantity {
        name: "probabilistic.multicasts",
        section: "Gupta 4: Theorems 3 and 4",
        about: "multicasts of one round: the initiation and the final messages",
        unit: Unit::Messages,
        reads: &["nodes", "k", "fail", "mcast-loss"],
        printed: multicasts_printed,
        corrected: multicasts,
        note: |_| "relays that fail send no final message, and the initiator hears itself",
        exact: nobody_fails,
        is_percentile: false,
        simulation: |inputs| Some((round_of(inputs), Measure::Multicasts)),
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, inputs};
    use super::*;
    use std::collections::VecDeque;

    /// The Relay phase of some that all see each other, message by message in the order of sending;
    /// the first of `order` speaks first. Lower choices are better, and everyone prefers itself.
    fn relayed(order: &[usize]) -> usize {
        let m = order.len();
        let mut choices: Vec<usize> = (0..m).collect();
        let mut underway = VecDeque::new();
        let tell = |from: usize, choice: usize, underway: &mut VecDeque<_>| {
            (0..m).filter(|to| *to != from).for_each(|to| underway.push_back((from, to, choice)));
        };
        order.iter().for_each(|from| tell(*from, *from, &mut underway));
        let mut sent = 0;
        while let Some((from, to, choice)) = underway.pop_front() {
            sent += 1;
            if choice < choices[to] {
                choices[to] = choice;
                tell(to, choice, &mut underway);
            } else if choice > choices[to] {
                underway.push_back((to, from, choices[to]));
            }
        }
        assert!(choices.iter().all(|choice| *choice == 0), "all prefer the best");
        sent
    }

    #[test]
    fn three_relays_may_send_more_than_the_bound() {
        assert_eq!(relayed(&[2, 1, 0]), 18, "the worst speaks first; m³/2 = 13.5");
        assert!(relayed(&[3, 2, 1, 0]) > 32, "m³/2");
        assert_eq!(relayed(&[1, 0]), 4, "m³/2, just so");
    }

    /// Five members and all ways to pass and to see.
    #[test]
    fn the_first_words_are_what_going_through_everything_gives() {
        let (nodes, k, view, loss) = (5u32, 2u32, 0.3, 0.4f64);
        let at = inputs(nodes, |given| {
            (given.k, given.view, given.multicast_loss) = (k, view, loss);
        });
        let pass = f64::from(k) / f64::from(nodes);
        let mut sum = 0.0;
        for passes in 0u32..1 << nodes {
            let m = passes.count_ones() as i32;
            let likely = pass.powi(m) * (1.0 - pass).powi(5 - m);
            // Member 0 initiates. A relay tells each of the other m−1 that it sees.
            for member in (0..nodes).filter(|member| passes >> member & 1 == 1) {
                let hears = if member == 0 { 1.0 } else { 1.0 - loss };
                sum += likely * hears * f64::from(m - 1) * view;
            }
        }
        assert_near(unicasts(&at).unwrap(), sum, 1e-12);
    }

    #[test]
    fn one_relay_on_average_says_more_than_half_a_word() {
        let at = calm(10_000, 1, 1.0);
        assert_eq!(unicasts_printed(&at), Ok(0.5));
        assert_near(unicasts(&at).unwrap(), 1.0, 1e-3);
        assert_near(multicasts(&at).unwrap(), 2.0, 1e-12);
        let failing = inputs(1000, |given| given.fail = 0.5);
        assert!(multicasts(&failing).unwrap() < 0.6 * multicasts_printed(&failing).unwrap());
    }
}
