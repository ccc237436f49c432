//! What all counts share: whole numbers that are rounded once, and where they hold.

use super::point_of;
use crate::announce_listen::sums::harmonic;
use crate::inputs::{NODES_MAX, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Initiators, Measure, Order};

/// The float nearest to a count.
pub(super) fn whole(count: u128) -> f64 {
    count as f64
}

/// How many processes there are, if nothing is lost and there is somebody to elect.
pub(super) fn group(inputs: &ValidInputs) -> Result<u128, OutOfDomain> {
    if inputs.loss.rate() > 0.0 {
        return Err(OutOfDomain::Condition {
            rule: "loss > 0, but it is counted what is sent if nothing is lost",
            way_out: "leave `loss` out",
        });
    }
    inputs.needs_nodes(2, NODES_MAX)?;
    Ok(u128::from(inputs.nodes))
}

/// How many call the election, `usual` by default.
pub(super) fn initiators(inputs: &ValidInputs, usual: u32) -> Result<u32, OutOfDomain> {
    let initiators = inputs.initiators.unwrap_or(usual);
    if (1..=inputs.nodes).contains(&initiators) {
        return Ok(initiators);
    }
    let (value, most) = (u64::from(initiators), u64::from(inputs.nodes));
    let why = "somebody must call the election, and everyone calls it once";
    Err(OutOfDomain::Count { name: "initiators", value, least: 1, most, why })
}

/// n·H_k: what the elections of k calls take on a ring of n, of which the j-th best passes all that
/// are not better: of j calls anywhere on the ring each is n/j from the next, on average.
pub(super) fn survivors(n: u128, k: u32) -> f64 {
    whole(n) * harmonic(k)
}

/// So many hops, each with its delay and its processing, one after the other.
pub(super) fn hops(count: u128, inputs: &ValidInputs) -> f64 {
    whole(count) * (inputs.delay + inputs.processing)
}

/// How long it takes until the last process of a ring knows the leader, if one message goes round
/// to find it and one to tell: the latter need not come home.
pub(super) fn twice_round(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(hops(2 * n - 1, inputs))
}

/// The initiators, by their number: the least one, all, or some that are drawn.
pub(super) fn so_many(count: u32, nodes: u32) -> Initiators {
    match count {
        1 => Initiators::One,
        all if all == nodes => Initiators::All,
        some => Initiators::Some(some),
    }
}

/// The simulation of a ring on which everyone calls; only a random order is random in it.
pub(super) fn all_call(variant: Variant, inputs: &ValidInputs, order: Order) -> Option<Point> {
    group(inputs).ok()?;
    let runs = if order == Order::Random { 1000 } else { 2 };
    let point = point_of(variant.name(), inputs);
    Some(point.initiators(Initiators::All).order(order).runs(runs))
}

/// How long that takes.
pub(super) fn timed(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    Some((all_call(variant, inputs, Order::Ascending)?, Measure::Time))
}

/// A count of messages that depends on N alone; to be completed.
pub(super) const MESSAGES: Quantity = Quantity {
    name: "",
    section: "",
    about: "",
    unit: Unit::Messages,
    reads: &["nodes", "loss"],
    printed: |_| Err(OutOfDomain::NoValue("the text has no formula")),
    corrected: |_| Err(OutOfDomain::NoValue("there is no formula")),
    note: |_| "counted, not estimated",
    exact: |_| true,
    is_percentile: false,
    simulation: |_| None,
};

/// How long an election takes on a ring; to be completed.
pub(super) const TIME: Quantity = Quantity {
    unit: Unit::Seconds,
    reads: &["nodes", "loss", "delay", "processing"],
    printed: |_| Err(OutOfDomain::NoValue("the text counts messages, and has no formula for time")),
    corrected: twice_round,
    note: |_| "2n - 1 hops of Δ + D: once round to find the leader, and again to tell all others",
    ..MESSAGES
};
