//! How long a group is without a leader after its leader crashed: on average, and in 99 of 100
//! cases.
//!
//! Printed is κ of (T) alone: a bound, in local mode. A leader crashes somewhere between two of its
//! requests, which are P apart, anywhere with the same chance. Let u be the time since the last
//! one.
//!
//! * *Majority mode.* The first in line is free lockTime after it received that request, δ after it
//!   was sent, asks, and leads a round trip later: lockTime+3δ−u. The mean is at u = P/2, and the
//!   99th percentile at u = P/100.
//! * *Local mode.* The least of the others must not have heard the leader for `expires`. It asks,
//!   in vain, since it did not count itself as alive; again EP−σ later, and leads after 2Δ(1+ρ):
//!   expires+EP−σ+2Δ(1+ρ)+δ−u.
//!
//! With losses attempts may fail: then there is the [bound](crate::plan::lease::Takeover) by which
//! plans are made.

use super::{TIME, group, is_calm, is_local, is_timely, kappa, point_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::plan::lease::Takeover;
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_sim::{Measure, Scenario};

/// κ of (T), in local mode.
fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    if is_local(inputs) {
        return kappa::timeliness_printed(inputs);
    }
    Err(OutOfDomain::NoValue("the text bounds what happens in local mode alone"))
}

/// How long it takes if the leader crashes this part of P after its last request.
fn after(inputs: &ValidInputs, part: f64) -> Result<f64, OutOfDomain> {
    is_calm(inputs)?;
    inputs.needs_nodes(3, group(inputs)?.max(3))?;
    let params = inputs.leases.corrected()?;
    is_timely(inputs, &params)?;
    let since = part * params.renew().as_secs_f64();
    let whole = if is_local(inputs) {
        let again = params.period().saturating_sub(params.sigma());
        (params.expires() + again + params.round()).as_secs_f64() + inputs.delay
    } else {
        params.lock().as_secs_f64() + 3.0 * inputs.delay
    };
    Ok(whole - since)
}

/// The mean.
///
/// # Errors
/// [`OutOfDomain`] with losses, for fewer than three processes, and if messages may be slow.
pub fn mean(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    after(inputs, 0.5)
}

/// What 99 of 100 crashes do not exceed; with losses a bound of that, in majority mode.
///
/// # Errors
/// [`OutOfDomain`] for fewer than three processes, if messages may be slow, and with losses in
/// local mode.
pub fn most(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    if inputs.loss.rate() <= 0.0 || is_local(inputs) {
        return after(inputs, 0.01);
    }
    inputs.needs_nodes(3, group(inputs)?.max(3))?;
    let params = inputs.leases.corrected()?;
    is_timely(inputs, &params)?;
    Ok(Takeover::among(inputs.nodes, inputs.loss).within(&params).as_secs_f64())
}

/// Crashes of leaders, each watched for several times as long as the next one takes.
fn crashes(inputs: &ValidInputs, takes: f64) -> Option<(Point, Measure)> {
    let window = libm::ceil(4.0 * takes).max(1.0);
    let point = point_of(inputs, false).scenario(Scenario::Departure, window);
    Some((point, Measure::ReestablishmentDelay))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "local-leader.failover.mean",
        section: "Fetzer and Cristian IX-C.1, XI",
        about: "from the crash of a leader to the next one, on average",
        reads: super::times!("nodes", "loss", "delay", "mode"),
        printed,
        corrected: mean,
        note: |inputs| match is_local(inputs) {
            true => "expires + EP - σ + 2Δ(1+ρ) + δ - P/2; printed is the bound κ",
            false => "lockTime + 3δ - P/2: the first in line asks when its lock lapses",
        },
        simulation: |inputs| crashes(inputs, mean(inputs).ok()?),
        ..TIME
    },
    &Quantity {
        name: "local-leader.failover.99",
        section: "Fetzer and Cristian IX-C.1, XI",
        about: "from the crash of a leader to the next one, in 99 of 100 cases",
        reads: super::times!("nodes", "loss", "delay", "mode"),
        printed,
        corrected: most,
        note: |inputs| match (inputs.loss.rate() > 0.0, is_local(inputs)) {
            (true, false) => "a bound: attempts that losses may cost, as plans count them",
            (_, true) => "as the mean, for a crash P/100 after a request; printed is the bound κ",
            (_, false) => "lockTime + 3δ - P/100: a crash right after a request takes longest",
        },
        exact: |inputs| inputs.loss.rate() <= 0.0,
        is_percentile: true,
        simulation: |inputs| crashes(inputs, most(inputs).ok()?),
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use crate::Loss;
    use bellwether_protocols::local_leader::Mode;

    #[test]
    fn the_lease_is_what_takes_time() {
        let at = inputs(|_| {});
        assert!((mean(&at).unwrap() - 0.128).abs() < 1e-12);
        assert!((most(&at).unwrap() - 0.1525).abs() < 1e-12);
        let local = inputs(|leases| leases.mode = Mode::Local);
        assert!((mean(&local).unwrap() - 0.459_004).abs() < 1e-9);
        assert!(most(&local).unwrap() < kappa::timeliness(&local).unwrap());
    }

    #[test]
    fn with_losses_there_is_a_bound_alone() {
        let at = inputs(|_| {}).with(|given| given.loss = Loss::apart(0.05)).unwrap();
        assert!(mean(&at).is_err());
        assert!(most(&at).unwrap() > most(&inputs(|_| {})).unwrap());
    }
}
