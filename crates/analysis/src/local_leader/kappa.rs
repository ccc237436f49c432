//! κ: how long a stable partition may be without a leader, and how long a leader may be connected
//! to a process that does not support it.
//!
//! **(T)**, section IX-C.1. Printed: κ > (expires+σ+EP)(1+ρ)+2Δ. Let p be the least process of a
//! partition that forms at s. All others are out of its alive-set at s+expires(1+ρ), and its alarm
//! wakes it within σ. That request fails if p did not count itself as alive. The next one follows
//! within EP. A process that does not lead yet decides when its alarm comes, 2Δ(1+ρ) later *on its
//! clock*, which is up to 2Δ(1+2ρ) in real time, *and within σ of that*: alarms wake a timely
//! process within σ, also this one. So the printed bound is short by σ+4ρΔ. A test has the run
//! that shows it.
//!
//! **(BI)**, section IX-D. Printed: κ ≥ 2Δ+(1+ρ)(expires+lockTime(1−2ρ)). The last lease without
//! the support of q runs from a request that p sent while it counted itself as alive, so before
//! s+2Δ+expires(1+ρ), and lasts lockTime(1−2ρ) by its clock. No alarm is waited for: what is sent
//! later because an alarm came late needs the support of q. It is right as printed; our leases are
//! shorter by 2ε.

use super::{TIME, point_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Mode, Params};
use bellwether_sim::{Measure, Scenario};

/// How many processes there are in the simulation, and how long its messages take.
const NODES: u32 = 5;
const DELAY: f64 = 0.001;

fn seconds(length: Duration) -> Result<f64, OutOfDomain> {
    Ok(length.as_secs_f64())
}

/// (expires+σ+EP)(1+ρ)+2Δ.
fn printed_timeliness(params: &Params) -> f64 {
    let rho = f64::from(params.drift_ppm()) / 1e6;
    let first = params.expires() + params.sigma() + params.period();
    first.as_secs_f64() * (1.0 + rho) + 2.0 * params.delta().as_secs_f64()
}

/// κ of (T), as printed.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn timeliness_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(printed_timeliness(&inputs.leases.printed()?))
}

/// κ of (T), with what the last alarm may take.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn timeliness(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    seconds(inputs.leases.corrected()?.kappa_timeliness())
}

/// κ of (BI), as printed.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn inconsistency_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    seconds(inputs.leases.printed()?.kappa_inconsistency())
}

/// κ of (BI), with our leases.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn inconsistency(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    seconds(inputs.leases.corrected()?.kappa_inconsistency())
}

/// A split, or the end of one, in local mode: the part without the leader elects one, or of two
/// leaders one gives way.
fn cut(inputs: &ValidInputs, scenario: Scenario) -> Option<Point> {
    let inputs = inputs.with(|given| {
        (given.nodes, given.delay, given.loss) = (NODES, DELAY, crate::Loss::None);
        given.leases.mode = Mode::Local;
    });
    let inputs = inputs.ok()?;
    let window = libm::ceil(4.0 * timeliness(&inputs).ok()?).max(1.0);
    Some(point_of(&inputs, false).scenario(scenario, window))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "local-leader.kappa.timeliness",
        section: "Fetzer and Cristian IX-C.1: κ of (T)",
        about: "until a stable partition has a leader, an upper bound",
        printed: timeliness_printed,
        corrected: timeliness,
        note: |_| "printed without the last alarm: σ for waking, 4ρΔ for its clock",
        exact: |_| false,
        simulation: |inputs| Some((cut(inputs, Scenario::Split)?, Measure::ReestablishmentDelay)),
        ..TIME
    },
    &Quantity {
        name: "local-leader.kappa.inconsistency",
        section: "Fetzer and Cristian IX-D: κ of (BI)",
        about: "until a leader is supported by all it is connected to, an upper bound",
        printed: inconsistency_printed,
        corrected: inconsistency,
        note: |inputs| match inputs.leases.lock {
            Some(_) => {
                "right as printed; our leases are shorter by 2ε; simulated: two parts meet, until \
                 all name one leader, whom they support by then"
            }
            None => {
                "right as printed; printed is with the printed lockTime, unless lock is given; \
                 simulated: two parts meet, until all name one leader, whom they support by then"
            }
        },
        exact: |_| false,
        simulation: |inputs| Some((cut(inputs, Scenario::Merge)?, Measure::AgreementTime)),
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;

    /// Δ = 10, σ = 20, EP = 181, expires = 302 ms, ρ = 200 ppm.
    #[test]
    fn the_printed_bound_is_short_by_the_last_alarm() {
        let at = inputs(|_| {});
        let (printed, corrected) = (timeliness_printed(&at).unwrap(), timeliness(&at).unwrap());
        assert!((printed - 0.523_100_6).abs() < 1e-9, "{printed}");
        assert!((corrected - printed - 0.020_008).abs() < 1e-8, "{corrected}");
    }

    #[test]
    fn bounded_inconsistency_is_the_lesser_bound_as_the_paper_says() {
        for lock in [None, Some(Duration::from_millis(150))] {
            let at = inputs(|leases| leases.lock = lock);
            assert!(inconsistency_printed(&at).unwrap() < timeliness_printed(&at).unwrap());
            assert!(inconsistency(&at).unwrap() < timeliness(&at).unwrap());
        }
        let at = inputs(|leases| leases.lock = Some(Duration::from_millis(150)));
        let gap = inconsistency_printed(&at).unwrap() - inconsistency(&at).unwrap();
        assert!((gap - 2.0 * 1.0002e-4).abs() < 1e-8, "2ε by a slow clock: {gap}");
    }
}
