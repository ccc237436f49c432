//! The ring of the lecture: a message collects all ids, another tells who leads.
//!
//! Printed, by the lecture and by MEREA's equation (1): 2n for one call. MEREA's equation (2), all
//! n calling: n(n_e + n_c) = 2n². Each of k calls goes round by itself, so that is right, and 2kn
//! in between. The lecture calls this "LeLann-Chang-Roberts", after its book; see
//! [`chang_roberts`](super::chang_roberts) for that.
//!
//! **Time.** n hops until the message is home and the caller knows; the Coordinator message tells
//! the others hop by hop, the last of them, right before the caller, after n−1 more: (2n−1)(Δ+D).
//! It comes home and is removed after 2n. If all call at once, all know after n hops.

use super::count::{MESSAGES, TIME, group, hops, initiators, so_many, twice_round, whole};
use super::point_of;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_protocols::ring::Variant;
use bellwether_sim::Measure;

/// Printed for one call and for all.
///
/// # Errors
/// [`OutOfDomain::NoValue`] for numbers in between, and as [`messages`].
pub fn messages_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let k = initiators(inputs, 1)?;
    if k == 1 || k == inputs.nodes {
        return messages(inputs);
    }
    Err(OutOfDomain::NoValue("the texts count one call, 2n, and calls of all, 2n²"))
}

/// 2kn.
///
/// # Errors
/// [`OutOfDomain`] with losses, for one process alone, and if more are to call than there are.
pub fn messages(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(whole(2 * n * u128::from(initiators(inputs, 1)?)))
}

/// How long it takes until all know the leader.
///
/// # Errors
/// [`OutOfDomain`] as for the messages, and for more than one call that are not all.
pub fn time(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    match initiators(inputs, 1)? {
        1 => twice_round(inputs),
        k if k == inputs.nodes => Ok(hops(n, inputs)),
        _ => Err(OutOfDomain::Condition {
            rule: "with several calls it depends on where they stand how long it takes",
            way_out: "choose one initiator or all of them",
        }),
    }
}

/// The count does not depend on who calls or on its place.
fn simulation(inputs: &ValidInputs) -> Option<Point> {
    group(inputs).ok()?;
    let who = so_many(initiators(inputs, 1).ok()?, inputs.nodes);
    Some(point_of(Variant::Ring.name(), inputs).initiators(who).runs(2))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "ring.messages",
        section: "lecture, LCR: message complexity",
        about: "messages of the ring that collects ids, one or several calling",
        reads: &["nodes", "loss", "initiators"],
        printed: messages_printed,
        corrected: messages,
        note: |_| "2n for each call: once round to collect, once round to tell",
        simulation: |inputs| Some((simulation(inputs)?, Measure::Messages)),
        ..MESSAGES
    },
    &Quantity {
        name: "ring.time",
        section: "lecture, LCR: message complexity",
        about: "until all on the ring know the leader, one or all calling",
        reads: &["nodes", "loss", "initiators", "delay", "processing"],
        corrected: time,
        note: |inputs| match initiators(inputs, 1) {
            Ok(1) => "2n - 1 hops of Δ + D: the last to be told stands right before the caller",
            _ => "n hops of Δ + D: everyone called, and knows when its own message is home",
        },
        simulation: |inputs| {
            time(inputs).ok()?;
            Some((simulation(inputs)?, Measure::Time))
        },
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;

    #[test]
    fn every_call_goes_round_twice() {
        let of = |nodes, k| messages(&inputs(nodes, |given| given.initiators = k));
        assert_eq!((of(2, None), of(100, None), of(100, Some(1))), (Ok(4.0), Ok(200.0), Ok(200.0)));
        assert_eq!((of(100, Some(7)), of(100, Some(100))), (Ok(1400.0), Ok(20_000.0)));
        assert_eq!(of(1_000_000, Some(1_000_000)), Ok(2e12));
        for k in [0, 101] {
            assert!(matches!(of(100, Some(k)), Err(OutOfDomain::Count { .. })));
        }
        let printed = |k| messages_printed(&inputs(50, |given| given.initiators = Some(k)));
        assert_eq!((printed(1), printed(50)), (Ok(100.0), Ok(5000.0)));
        assert!(matches!(printed(2), Err(OutOfDomain::NoValue(_))));
    }

    /// MEREA's experiments: 3 s a hop, 1 s over each message, N = 100.
    #[test]
    fn the_last_to_know_stands_before_the_caller() {
        let of = |k| {
            let slow = |given: &mut crate::Inputs| {
                (given.delay, given.processing, given.initiators) = (3.0, 1.0, k);
            };
            time(&inputs(100, slow))
        };
        assert_eq!((of(None), of(Some(100))), (Ok(796.0), Ok(400.0)));
        assert!(matches!(of(Some(2)), Err(OutOfDomain::Condition { .. })));
    }
}
