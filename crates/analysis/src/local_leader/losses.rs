//! How often a leader that is alive loses its leadership, because messages were lost.
//!
//! Printed: one request in a lease, which all N−1 others must answer; a request and its answer both
//! come through with (1−l)², so that a renewal fails with 1−(1−l)^{2(N−1)}. With C3 whoever fails
//! steps down; without it its lease ends σ later, before it asks again. So every failure costs the
//! leadership. It asks again every EP−σ, until all answer. With p for that chance and w for the
//! time from one renewal to the next, leadership is lost once in w/p + (EP−σ)/(1−p).
//!
//! Corrected (C6): a lease has room for k requests, and it is lost if too few answer any of them.
//! In majority mode a majority must, in local mode all. [`Renewal`](crate::plan::lease::Renewal)
//! has the law and what it leaves out. In local mode that is too much for both quantities: members
//! that did not hear the leader for `expires` ask for support themselves, and twice as many are
//! lost.

use super::constraints::next_request;
use super::{group, is_local, is_timely, point_of, renewal};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::plan::lease::too_few;
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_sim::{Measure, Scenario};

const HOUR: f64 = 3600.0;

/// That some answer to the only request of a lease is missing.
///
/// # Errors
/// [`OutOfDomain`] for a process alone.
pub fn per_lease_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let others = u64::from(group(inputs)? - 1);
    Ok(too_few(others, others, 1, inputs.loss))
}

/// That too few answer any request of a lease.
///
/// # Errors
/// [`OutOfDomain`] for a process alone, if messages may be slow, and in local mode.
pub fn per_lease(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    by_majority(inputs)?;
    Ok(renewal(inputs)?.loss_of_a_lease())
}

/// Losses in an hour, if each failed renewal is one.
///
/// # Errors
/// [`OutOfDomain`] for a process alone, and if a lease has no room for a request.
pub fn per_hour_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let (fails, wait) = (per_lease_printed(inputs)?, next_request(inputs)?);
    let params = inputs.leases.printed()?;
    let again = params.period().saturating_sub(params.sigma()).as_secs_f64();
    // In this form nothing is divided by zero where all or none fail.
    let cycle = wait * (1.0 - fails) + again * fails;
    Ok(HOUR * fails * (1.0 - fails) / cycle)
}

/// Losses in an hour of leadership.
///
/// # Errors
/// [`OutOfDomain`] for a process alone, if messages may be slow, and in local mode.
pub fn per_hour(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    by_majority(inputs)?;
    Ok(HOUR * renewal(inputs)?.losses_per_second()[0])
}

/// Checks that the mode is not local.
fn by_majority(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if is_local(inputs) {
        return Err(OutOfDomain::NoValue(
            "in local mode members that do not hear their leader ask, too, and no formula counts \
             what that costs",
        ));
    }
    Ok(())
}

/// A group that loses messages.
fn lossy(inputs: &ValidInputs, measure: Measure) -> Option<(Point, Measure)> {
    group(inputs).ok()?;
    is_timely(inputs, &inputs.leases.corrected().ok()?).ok()?;
    let point = point_of(inputs, false).scenario(Scenario::Start, 20.0);
    (inputs.loss != Loss::None).then_some((point, measure))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "local-leader.loss-per-lease",
        section: "Fetzer and Cristian VIII, our correction C6",
        about: "that a leader loses its leadership in a lease, because messages were lost",
        unit: Unit::Fraction,
        reads: super::times!("nodes", "loss", "delay", "mode"),
        printed: per_lease_printed,
        corrected: per_lease,
        note: |_| "printed: one request, which all must answer; corrected: as many as fit a lease",
        exact: |_| false,
        is_percentile: false,
        simulation: |inputs| lossy(inputs, Measure::LeadershipLossesPerLease),
    },
    &Quantity {
        name: "local-leader.losses-per-hour",
        section: "Fetzer and Cristian VIII, our correction C6",
        about: "how often in an hour a leader loses its leadership, because messages were lost",
        unit: Unit::PerHour,
        reads: super::times!("nodes", "loss", "delay", "mode"),
        printed: per_hour_printed,
        corrected: per_hour,
        note: |_| "printed: each failed renewal is a loss; corrected: too few answers in a lease",
        exact: |_| false,
        is_percentile: false,
        simulation: |inputs| lossy(inputs, Measure::LeadershipLossesPerHour),
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use bellwether_protocols::local_leader::Mode;

    /// "At five processes and 1 % loss one renewal in thirteen fails."
    #[test]
    fn one_lost_answer_costs_the_printed_leader_its_lease() {
        let at = inputs(|_| {}).with(|given| given.loss = Loss::apart(0.01)).unwrap();
        let printed = per_lease_printed(&at).unwrap();
        assert!((printed - (1.0 - libm::pow(0.99, 8.0))).abs() < 1e-12);
        assert!((1.0 / printed - 12.9).abs() < 0.1, "{printed}");
        let corrected = per_lease(&at).unwrap();
        assert!(corrected < 1e-15, "{corrected}");
        assert!(per_hour(&at).unwrap() < 1e-9 && per_hour_printed(&at).unwrap() > 1000.0);
    }

    #[test]
    fn no_formula_counts_what_is_lost_in_local_mode() {
        let at = inputs(|leases| leases.mode = Mode::Local);
        for form in [per_lease, per_hour] {
            assert!(matches!(form(&at), Err(OutOfDomain::NoValue(why)) if why.contains("local")));
        }
        assert!(per_lease_printed(&at).is_ok() && per_hour_printed(&at).is_ok());
    }

    #[test]
    fn nothing_is_lost_where_no_message_is() {
        let at = inputs(|_| {});
        for form in [per_lease_printed, per_lease, per_hour_printed, per_hour] {
            assert_eq!(form(&at), Ok(0.0));
        }
    }
}
