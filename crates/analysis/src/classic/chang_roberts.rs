//! Chang and Roberts: a message goes on until it meets somebody greater than who sent it.
//!
//! All n call. A process drops the messages of lesser ones and passes on those of greater ones. The
//! process whose message returns to it leads, and says so once round, n messages more. Election
//! messages are
//!
//! * n for the greatest and 1 for everyone else, 2n−1, if ids ascend in the direction of the ring:
//!   the *best* order;
//! * 1 + 2 + … + n = n(n+1)/2, if they descend: the *worst*;
//! * n·H_n on average over all orders: of the j greatest, anywhere on the ring, each is n/j from
//!   the next, and the j-th's message gets that far.
//!
//! The lecture has the name and the source, but explains and counts, as it says itself, the ring of
//! its book: "always 2N", n of them Election messages. That is what counts as printed here.
//!
//! **Time.** The greatest's message goes round and its announcement after it: (2n−1)(Δ+D) in any
//! order. All messages move in step, so nobody ever has two to process.

use super::count::{MESSAGES, TIME, all_call, group, survivors, timed, whole};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Measure, Order};

/// How ids stand on the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Ascending in the direction of the ring.
    Best,
    /// Descending.
    Worst,
    /// On average over all orders.
    Mean,
}

/// The Election messages.
///
/// # Errors
/// [`OutOfDomain`] with losses, and for one process alone.
pub fn elections(case: Case, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(match case {
        Case::Best => whole(2 * n - 1),
        Case::Worst => whole(n * (n + 1) / 2),
        Case::Mean => survivors(n, inputs.nodes),
    })
}

/// All messages, the announcement included.
///
/// # Errors
/// As [`elections`].
pub fn messages(case: Case, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(match case {
        Case::Best => whole(3 * n - 1),
        Case::Worst => whole(n * (n + 3) / 2),
        Case::Mean => elections(case, inputs)? + whole(n),
    })
}

/// So many times round, as the lecture counts under this name.
fn printed(times: u128, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(whole(times * group(inputs)?))
}

fn simulation(case: Case, inputs: &ValidInputs) -> Option<Point> {
    let order = match case {
        Case::Best => Order::Ascending,
        Case::Worst => Order::Descending,
        Case::Mean => Order::Random,
    };
    all_call(Variant::ChangRoberts, inputs, order)
}

const NOTE: &str = "printed: under this name the lecture counts another ring, whose one message \
                    collects all ids; corrected: the protocol of Chang and Roberts, all calling";

/// The quantities of one order.
macro_rules! quantities {
    ($elections:literal, $messages:literal, $case:ident, $order:literal) => {
        (
            Quantity {
                name: $elections,
                section: "lecture, LCR: message complexity",
                about: concat!("Election messages of Chang-Roberts, all calling, ", $order),
                printed: |inputs| printed(1, inputs),
                corrected: |inputs| elections(Case::$case, inputs),
                note: |_| NOTE,
                simulation: |inputs| {
                    let measure = Measure::MessagesOf("election");
                    Some((simulation(Case::$case, inputs)?, measure))
                },
                ..MESSAGES
            },
            Quantity {
                name: $messages,
                section: "lecture, LCR: message complexity",
                about: concat!("messages of Chang-Roberts with its announcement, ", $order),
                printed: |inputs| printed(2, inputs),
                corrected: |inputs| messages(Case::$case, inputs),
                note: |_| NOTE,
                simulation: |inputs| Some((simulation(Case::$case, inputs)?, Measure::Messages)),
                ..MESSAGES
            },
        )
    };
}

const BEST: (Quantity, Quantity) = quantities!(
    "chang-roberts.messages-election.best",
    "chang-roberts.messages.best",
    Best,
    "ids ascending"
);
const WORST: (Quantity, Quantity) = quantities!(
    "chang-roberts.messages-election.worst",
    "chang-roberts.messages.worst",
    Worst,
    "ids descending"
);
const MEAN: (Quantity, Quantity) = quantities!(
    "chang-roberts.messages-election.mean",
    "chang-roberts.messages.mean",
    Mean,
    "any order"
);

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &BEST.0,
    &WORST.0,
    &MEAN.0,
    &BEST.1,
    &WORST.1,
    &MEAN.1,
    &Quantity {
        name: "chang-roberts.time",
        section: "lecture, LCR: message complexity",
        about: "until all know the leader of Chang-Roberts, all calling, in any order",
        simulation: |inputs| timed(Variant::ChangRoberts, inputs),
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::{inputs, orders, total_of_survivors};
    use super::*;

    /// Message by message round this ring.
    fn sent(ring: &[usize]) -> u128 {
        let n = ring.len();
        let of = |start: usize| {
            let swallows = |hop: &usize| ring[(start + hop) % n] >= ring[start];
            (1..=n).find(swallows).expect("it comes home at the latest") as u128
        };
        (0..n).map(of).sum()
    }

    #[test]
    fn best_worst_and_mean_are_those_of_all_orders() {
        for n in 2..=8 {
            let (mut least, mut most, mut total) = (u128::MAX, 0, 0);
            let count = orders(n, |ring| {
                let sent = sent(ring);
                (least, most, total) = (least.min(sent), most.max(sent), total + sent);
            });
            assert_eq!(count, (1..=n as u128).product());
            assert_eq!(total, total_of_survivors(n), "{n}");
            let at = inputs(n as u32, |_| ());
            assert_eq!(elections(Case::Best, &at), Ok(least as f64));
            assert_eq!(elections(Case::Worst, &at), Ok(most as f64));
            let mean = elections(Case::Mean, &at).unwrap();
            assert!((mean - total as f64 / count as f64).abs() < 1e-12 * mean, "{n}: {mean}");
            for case in [Case::Best, Case::Worst, Case::Mean] {
                let all = messages(case, &at).unwrap();
                assert!((all - elections(case, &at).unwrap() - n as f64).abs() < 1e-12 * all);
            }
        }
    }

    #[test]
    fn ascending_ids_are_best_and_descending_ones_worst() {
        for n in [2, 3, 10, 257] {
            let ascending: Vec<usize> = (0..n).collect();
            let descending: Vec<usize> = (0..n).rev().collect();
            let at = inputs(n as u32, |_| ());
            assert_eq!(elections(Case::Best, &at), Ok(sent(&ascending) as f64));
            assert_eq!(elections(Case::Worst, &at), Ok(sent(&descending) as f64));
        }
    }

    #[test]
    fn a_million_are_counted_exactly() {
        let at = inputs(1_000_000, |_| ());
        assert_eq!(elections(Case::Worst, &at), Ok(500_000_500_000.0));
        assert_eq!(messages(Case::Best, &at), Ok(2_999_999.0));
        // H of a million, to thirteen digits: 14.392726722865.
        let mean = elections(Case::Mean, &at).unwrap();
        assert!((mean - 14_392_726.722_865).abs() < 1e-5, "{mean}");
    }
}
