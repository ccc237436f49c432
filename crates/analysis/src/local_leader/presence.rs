//! How much of the time a group has a leader, by the protocol as printed: its own constants break
//! its constraints.
//!
//! Printed (section X): the least process of a stable partition "will stay leader as long as" it is
//! stable: always. Let L be lockTime(1−2ρ), T = 2Δ(1+ρ), and nothing be lost. What really happens
//! with one request in a lease, and an alarm that is set to L−T−σ after the last request:
//!
//! | | leader | requests |
//! |---|---|---|
//! | L > T+σ | always | every L−T−σ |
//! | T < L ≤ T+σ, and answers come within L−T | always | every round trip: the alarm lies in the past, and comes at once |
//! | T < L ≤ T+σ otherwise | (L−T)/T of the time: a lease is over before it can be renewed | every T |
//! | L ≤ T | never: a lease is over when it begins | every EP−σ |
//!
//! With the paper's values (Δ = 15 ms, σ = 30 ms, EP = 50 ms) L is 35 ms by figure 30: the second
//! or the third row. By the formula of the text it is 5 ms: the last.

use super::{group, is_calm, is_timely, point_of};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::local_leader::{Mode, Params};
use bellwether_sim::{Measure, Scenario};

/// Where L lies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    Renews,
    Spins,
    Flaps(f64),
    Never,
}

fn case(inputs: &ValidInputs, params: &Params) -> Case {
    let (lease, round) = (params.lease().as_secs_f64(), params.round().as_secs_f64());
    match lease - round {
        room if room > params.sigma().as_secs_f64() => Case::Renews,
        room if room > 2.0 * inputs.delay => Case::Spins,
        room if room > 0.0 => Case::Flaps(room / round),
        _ => Case::Never,
    }
}

fn printed_case(inputs: &ValidInputs) -> Result<(Case, Params), OutOfDomain> {
    group(inputs)?;
    is_calm(inputs)?;
    let params = inputs.leases.printed()?;
    is_timely(inputs, &params)?;
    Ok((case(inputs, &params), params))
}

/// The part of the time in which the printed protocol has a leader.
///
/// # Errors
/// [`OutOfDomain`] with losses, for a process alone, and if messages may be slow.
pub fn presence(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(match printed_case(inputs)?.0 {
        Case::Renews | Case::Spins => 1.0,
        Case::Flaps(part) => part,
        Case::Never => 0.0,
    })
}

/// How long after a request the printed protocol's next one follows.
///
/// # Errors
/// As [`presence`].
pub fn between_requests(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let (case, params) = printed_case(inputs)?;
    let (round, sigma) = (params.round().as_secs_f64(), params.sigma().as_secs_f64());
    Ok(match case {
        Case::Renews => params.lease().as_secs_f64() - round - sigma,
        Case::Spins => 2.0 * inputs.delay,
        Case::Flaps(_) => round,
        Case::Never => params.period().as_secs_f64() - sigma,
    })
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "local-leader.presence",
    section: "Fetzer and Cristian X, XI",
    about: "the part of the time in which the protocol as printed has a leader",
    unit: Unit::Fraction,
    reads: super::times!("nodes", "loss", "delay"),
    printed: |_| Ok(1.0),
    corrected: presence,
    note: |inputs| match printed_case(inputs) {
        Ok((Case::Renews, _)) => "the constraints hold: leases are renewed in time",
        Ok((Case::Spins, _)) => "leases are too short to set an alarm: a request every round trip",
        Ok((Case::Flaps(_), _)) => "leases end before they can be renewed, and are asked for anew",
        Ok((Case::Never, _)) => "leases are over before the answers are counted",
        Err(_) => "it depends on how long messages take",
    },
    // A watch ends within a lease.
    exact: |_| false,
    is_percentile: false,
    simulation: |inputs| {
        presence(inputs).ok()?;
        let local = inputs.with(|given| given.leases.mode = Mode::Local).ok()?;
        let point = point_of(&local, true).scenario(Scenario::Start, 20.0);
        Some((point, Measure::LeaderPresence))
    },
}];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use bellwether_core::Duration;
    use bellwether_protocols::local_leader::Preset;

    fn paper(period: u64, delay: f64) -> ValidInputs {
        let at = inputs(|leases| {
            leases.preset = Preset::Paper;
            leases.period = Some(Duration::from_millis(period));
        });
        at.with(|given| given.delay = delay).unwrap()
    }

    #[test]
    fn the_papers_constants_spin_or_flap() {
        let of = |period, delay| {
            let at = paper(period, delay);
            [presence(&at).unwrap(), between_requests(&at).unwrap()]
        };
        let near = |found: [f64; 2], expected: [f64; 2]| {
            let close = |(a, b): (f64, f64)| (a - b).abs() < 1e-3;
            assert!(found.into_iter().zip(expected).all(close), "{found:?} {expected:?}");
        };
        near(of(50, 0.001), [1.0, 0.002]);
        near(of(50, 0.003), [0.1654, 0.030]);
        near(of(40, 0.001), [0.0, 0.010]);
        near(of(200, 0.001), [1.0, 0.1249]);
    }
}
