//! What leadership costs: answers to a request, and datagrams in a second.
//!
//! Printed (abstract of section II, section XII): one broadcast and N−1 unicasts in a round; a
//! round is a request of the leader and the answers to it. Leaders of the printed protocol ask
//! every lockTime(1−2ρ)−2Δ(1+ρ) (section X). Those of the corrected protocol ask every P, which is
//! shorter, so that a lost answer costs nothing (C6), and silent processes send a stamp now and
//! then, without which no delay could be bounded. With a tree of width k (figure 28) the leader
//! receives k answers, whatever N is; as many are sent.

use super::constraints::next_request_printed;
use super::{group, is_calm, is_timely, point_of, renewal};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_sim::Measure;

/// How many answers a leader receives to a request, each supporter answering for itself.
///
/// # Errors
/// [`OutOfDomain`] for a process alone and more than a group can have.
pub fn answers_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(f64::from(group(inputs)? - 1))
}

/// The same, with a tree if there is one.
///
/// # Errors
/// [`OutOfDomain`] as for the printed number, with losses, and if messages may be slow.
pub fn answers(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let all = answers_printed(inputs)?;
    is_calm(inputs)?;
    is_timely(inputs, &inputs.leases.corrected()?)?;
    let tree = f64::from(inputs.leases.tree);
    Ok(if tree > 0.0 { all.min(tree) } else { all })
}

/// N in each round, one round in a lease.
///
/// # Errors
/// [`OutOfDomain`] as for [`next_request_printed`], and for a process alone.
pub fn per_second_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(f64::from(group(inputs)?) / next_request_printed(inputs)?)
}

/// Requests, answers and stamps of the corrected protocol.
///
/// # Errors
/// [`OutOfDomain`] if messages may be slow, and with a tree.
pub fn per_second(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    if inputs.leases.tree > 0 {
        return Err(OutOfDomain::Condition {
            rule: "tree > 0, but those who collect answers send some of them again",
            way_out: "leave `tree` out",
        });
    }
    let rate = renewal(inputs)?.datagrams_per_second()[0];
    rate.is_finite().then_some(rate).ok_or(OutOfDomain::Condition {
        rule: "so few messages arrive that no request is granted",
        way_out: "lower `loss`",
    })
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "local-leader.answers",
        section: "Fetzer and Cristian XI, figure 28",
        about: "answers that a leader receives to a request",
        unit: Unit::Messages,
        reads: super::times!("nodes", "loss", "delay", "mode", "tree"),
        printed: answers_printed,
        corrected: answers,
        note: |inputs| match inputs.leases.tree {
            0 => "each of the N - 1 others answers for itself",
            _ => "the tree's width, whatever N is: others answer through its inner processes",
        },
        // The answers to the last request before a watch began count in it.
        exact: |_| false,
        is_percentile: false,
        simulation: |inputs| {
            answers(inputs).ok()?;
            Some((watched(inputs, 20.0), Measure::AnswersPerRequest))
        },
    },
    &Quantity {
        name: "local-leader.messages-per-second",
        section: "Fetzer and Cristian II, X and XII",
        about: "datagrams of a group that has a leader, one to everyone counted once",
        unit: Unit::MessagesPerSecond,
        reads: super::times!("nodes", "loss", "delay", "mode", "tree"),
        printed: per_second_printed,
        corrected: per_second,
        note: |_| "printed: N for each lease; corrected: N every P, retries, and stamps",
        exact: |_| false,
        is_percentile: false,
        simulation: |inputs| {
            per_second(inputs).ok()?;
            Some((watched(inputs, 20.0), Measure::MessagesPerSecond))
        },
    },
];

/// A group to which nothing happens, watched for so many seconds.
fn watched(inputs: &ValidInputs, seconds: f64) -> crate::Point {
    point_of(inputs, false).scenario(bellwether_sim::Scenario::Start, seconds)
}

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;

    #[test]
    fn a_tree_bounds_the_answers_and_nothing_else_does() {
        let of = |nodes, tree| {
            let at = inputs(|leases| leases.tree = tree);
            answers(&at.with(|given| given.nodes = nodes).unwrap()).unwrap()
        };
        assert_eq!([of(2, 0), of(8, 0), of(1024, 0)], [1.0, 7.0, 1023.0]);
        assert_eq!([of(2, 3), of(8, 3), of(1024, 3)], [1.0, 3.0, 3.0]);
    }

    /// 20 requests and 80 answers in a second, and two stamps of each of four.
    #[test]
    fn a_group_of_five_sends_a_hundred_datagrams_a_second() {
        let found = per_second(&inputs(|_| {})).unwrap();
        assert!((found - 108.0).abs() < 1e-9, "{found}");
        // The printed lockTime of these constants is 170.9 ms: five for each 150.8 ms.
        let printed = per_second_printed(&inputs(|_| {})).unwrap();
        assert!((printed - 5.0 / 0.150_856).abs() < 0.01, "{printed}");
    }
}
