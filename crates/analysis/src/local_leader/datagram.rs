//! The bound of a fail-aware datagram: how much longer a message may seem than it took.
//!
//! The paper refers to another for it and asks only for Δ > δ (section IV). From first principles:
//! p sends n, q receives it, and sends m, which carries both stamps. p knows the round trip, and
//! how long q held it:
//!
//! ```text
//! ub(m) = (D−A)/(1−ρ) − (C−B)/(1+ρ) − δmin
//! ub(m) − delay(m) ≤ delay(n) − δmin + 2ρ(d−a) + 2ρ(c−b)
//! ```
//!
//! So a message of δ seems to have taken up to 2δ−δmin+4ρ·hold, where *hold* is how old stamps may
//! be (here refresh+EP), and ε twice on top. All messages between connected processes are fast if Δ
//! is no less; twice δ is needed, and not δ.

use super::TIME;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::Quantity;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::Params;

/// How old stamps may be when they are used: a silent process sends new ones every `refresh`, and
/// a candidate every EP.
fn hold(params: &Params) -> Duration {
    params.refresh() + params.period()
}

/// The most by which a message that took so long seems to have taken longer.
fn slack_of(params: &Params, delay: f64) -> f64 {
    let rho = f64::from(params.drift_ppm()) / 1e6;
    let error = 2.0 * params.clock_error().as_secs_f64() * (1.0 + 4.0 * rho);
    let ageing = 4.0 * rho * hold(params).as_secs_f64() + error;
    (delay - params.fastest().as_secs_f64()).max(0.0) + ageing
}

/// How much longer a message may seem than it took.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn slack(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(slack_of(&inputs.leases.corrected()?, inputs.delay))
}

/// The greatest bound of a message: the least Δ for which it is certain to be fast.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn bound(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(inputs.delay + slack(inputs)?)
}

/// The longest that a message may take to be certain to be fast.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn timely(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let params = inputs.leases.corrected()?;
    Ok(params.timely(hold(&params)).as_secs_f64())
}

/// Δ itself.
fn timely_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(inputs.leases.printed()?.delta().as_secs_f64())
}

const OF_DELAY: &[&str] = super::times!("delay");

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "local-leader.datagram.slack",
        section: "Fetzer and Cristian IV, derived anew",
        about: "how much longer a message may seem than it took, an upper bound",
        reads: OF_DELAY,
        corrected: slack,
        note: |_| "the delay of the message before it beyond δmin, 4ρ of the age of stamps, 2ε",
        exact: |_| false,
        ..TIME
    },
    &Quantity {
        name: "local-leader.datagram.bound",
        section: "Fetzer and Cristian IV",
        about: "the least Δ with which messages of this delay are certain to be fast",
        reads: OF_DELAY,
        printed: |inputs| Ok(inputs.delay),
        corrected: bound,
        note: |_| "printed is \"one has to choose Δ > δ\"; about twice as much is needed",
        exact: |_| false,
        ..TIME
    },
    &Quantity {
        name: "local-leader.datagram.timely",
        section: "Fetzer and Cristian IV",
        about: "the longest delay at which messages are certain to be fast",
        printed: timely_printed,
        corrected: timely,
        note: |_| "printed is Δ itself; (Δ+δmin-4ρ(refresh+EP)-2ε)/2 is what is left of it",
        exact: |_| false,
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;

    /// The longest timely message is the one whose bound is Δ.
    #[test]
    fn the_bound_and_the_longest_delay_are_each_others_inverse() {
        for fastest in [0, 200] {
            let at = inputs(|leases| leases.fastest = Duration::from_micros(fastest));
            let longest = timely(&at).unwrap();
            let same = at.with(|given| given.delay = longest).unwrap();
            let back = bound(&same).unwrap();
            assert!((back - timely_printed(&at).unwrap()).abs() < 1e-8, "{fastest}: {back}");
        }
    }

    /// 4·200 ppm of 681 ms are .545 ms, and 2ε .2 ms.
    #[test]
    fn stamps_grow_old_and_clocks_err() {
        let found = slack(&inputs(|_| {})).unwrap();
        assert!((found - (0.001 + 0.000_544_8 + 0.000_200_16)).abs() < 1e-8, "{found}");
        let exact = slack(&inputs(|leases| leases.drift_ppm = Some(0))).unwrap();
        assert!((exact - 0.001).abs() < 1e-12, "{exact}");
    }
}
