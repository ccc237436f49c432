//! How long an election takes: from the request that makes a process leader until it leads.
//!
//! Printed (section VIII): a process that does not lead yet checks 2Δ after its request, when the
//! answers of all whom it is connected to must have come; by its clock 2Δ(1+ρ). In local mode it
//! is so: only then it knows whom it reaches. In majority mode it need not know: the first
//! majority of votes elects it, after a round trip.
//!
//! What section XI measures is something else: mostly renewals, which a leader checks as soon as
//! the last answer has come.

use super::{TIME, group, is_calm, is_local, is_timely, point_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::Quantity;
use bellwether_sim::{Measure, Scenario};

/// 2Δ(1+ρ).
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(inputs.leases.printed()?.round().as_secs_f64())
}

/// The same in local mode, a round trip in majority mode.
///
/// # Errors
/// [`OutOfDomain`] with losses, for a process alone, and if messages may be slow.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    group(inputs)?;
    is_calm(inputs)?;
    let params = inputs.leases.corrected()?;
    is_timely(inputs, &params)?;
    Ok(if is_local(inputs) { params.round().as_secs_f64() } else { 2.0 * inputs.delay })
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &ELECTION,
    &Quantity {
        name: "local-leader.election-time.99",
        about: "from the request that makes a process leader until it leads, in 99 of 100 cases",
        note: |inputs| match is_local(inputs) {
            true => "2Δ(1+ρ) by the clock of the candidate, which may be wrong by ρ",
            false => {
                "each message takes `delay`, so that no round trip is longer than another; figure \
                 local-leader-26 has delays that vary"
            }
        },
        exact: |inputs| !is_local(inputs),
        is_percentile: true,
        ..ELECTION
    },
];

const ELECTION: Quantity = Quantity {
    name: "local-leader.election-time",
    section: "Fetzer and Cristian VIII",
    about: "from the request that makes a process leader until it leads",
    reads: super::times!("nodes", "loss", "delay", "mode"),
    printed,
    corrected,
    note: |inputs| match is_local(inputs) {
        true => "2Δ(1+ρ): a candidate waits for all whom it may reach",
        false => "a round trip: the first majority of votes elects",
    },
    simulation: |inputs| {
        corrected(inputs).ok()?;
        Some((point_of(inputs, false).scenario(Scenario::Start, 5.0), Measure::ElectionTime))
    },
    ..TIME
};

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use bellwether_protocols::local_leader::Mode;

    #[test]
    fn a_majority_is_faster_than_all() {
        let majority = corrected(&inputs(|_| {})).unwrap();
        let local = corrected(&inputs(|leases| leases.mode = Mode::Local)).unwrap();
        assert!((majority - 0.002).abs() < 1e-12 && (local - 0.020_004).abs() < 1e-9, "{local}");
        let slow = inputs(|_| {}).with(|given| given.delay = 0.1).unwrap();
        assert!(matches!(corrected(&slow), Err(OutOfDomain::Condition { .. })));
    }
}
