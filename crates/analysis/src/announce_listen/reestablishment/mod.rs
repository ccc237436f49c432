//! Section 5.3.2: how long a settled group takes to agree again.
//!
//! | event | file |
//! |---|---|
//! | the leader departs | [`departure`] |
//! | the leader is thought to depart, but has not | [`false_departure`] |
//! | one arrives that is to lead | [`joiner_greater`] |
//! | one arrives that is not | [`joiner_smaller`] |
//!
//! Each has a `printed` and a `corrected` form for LE-A and LE-S in all three models of loss. LE-A
//! is LE-S with T_S = 0, so E\[t_s\] = 0. The event happens at any moment of the announce interval:
//! E\[t_d\] = E\[t_a\] = T_A/2, which is what the text's "Poisson" comes to.
//!
//! **Settled** means that all agree when the event happens. Where messages are lost somebody may
//! just then have given up a leader that is there. The forms for departures and joiners leave that
//! out (T_L ≫ T_A, says our reading); they are exact where it is [rare](rarely_given_up).

pub mod departure;
pub mod false_departure;
mod head_start;
pub mod joiner_greater;
pub mod joiner_smaller;

/// A delay of this section, in seconds: the forms of one file, for one protocol; to be completed.
macro_rules! delay {
    ($name:literal, $variant:expr) => {
        Quantity {
            name: $name,
            section: "5.3.2",
            about: "",
            unit: Unit::Seconds,
            reads: super::READS,
            printed: |inputs| printed($variant, inputs),
            corrected: |inputs| corrected($variant, inputs),
            note,
            exact: super::rarely_given_up,
            is_percentile: false,
            simulation: |inputs| simulation($variant, inputs),
        }
    };
}

use delay;

use super::{inconsistency, losses, wake};
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::Quantity;
use bellwether_protocols::announce_listen::Variant;

/// What delays of LE-S depend on.
const READS: &[&str] = &["nodes", "loss", "delay", "suppress", "announce", "listen", "timer"];
/// What delays of LE-A depend on.
const READS_LE_A: &[&str] = &["nodes", "loss", "delay", "announce", "listen"];

/// What delays depend on where nobody has to wake up or to be heard by all.
const READS_HEARD: &[&str] = &["nodes", "loss", "announce", "listen"];

/// The quantities of these files.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &departure::LE_A,
    &departure::LE_S,
    &false_departure::LE_A,
    &false_departure::LE_S,
    &joiner_greater::LE_A,
    &joiner_greater::LE_S,
    &joiner_smaller::LE_A,
    &joiner_smaller::LE_S,
];

/// E\[t_s\], for the two protocols that the section is about.
fn mean_wake(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    match variant {
        Variant::LeA => Ok(0.0),
        Variant::LeS => Ok(wake::mean(inputs)),
        _ => Err(OutOfDomain::Condition {
            rule: "the chapter has re-establishment delays of le-a and le-s only",
            way_out: "choose one of these",
        }),
    }
}

/// Without loss, too, leaders are given up between announcements if T_L < T_A.
fn settled(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.listen >= inputs.announce {
        return Ok(());
    }
    Err(OutOfDomain::Condition {
        rule: "listen < announce: leaders are given up between any two announcements, \
               and the group never settles",
        way_out: "choose a listen of at least announce",
    })
}

/// Whether a leader that is there is given up for less than a ten-thousandth of the time.
pub fn rarely_given_up(inputs: &ValidInputs) -> bool {
    const RARE: f64 = 1e-4;
    let rare = |fraction| fraction < RARE;
    inputs.nodes < 2 || inconsistency::false_departures(inputs).is_ok_and(rare)
}

/// T_L, where it must end.
fn finite_listen(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let value = inputs.listen;
    if value.is_finite() {
        return Ok(value);
    }
    let rule = "it must be finite: a leader that is never given up is never replaced";
    Err(OutOfDomain::Time { name: "listen", value, rule })
}

/// Long enough for everyone to hear somebody, but for one run in many: in seconds.
fn until_heard(inputs: &ValidInputs) -> f64 {
    let announcements = losses::beyond_first(u64::from(inputs.nodes) + 1, inputs.loss);
    inputs.suppress + 2.0 * inputs.delay + inputs.announce * (40.0 + 4.0 * announcements)
}

/// T_L = (m + θ) T_A, 0 ≤ θ < 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Intervals {
    /// Whole announce intervals in T_L: the announcements that must be lost.
    pub(super) m: f64,
    /// What is left of T_L, as a part of T_A.
    pub(super) theta: f64,
}

/// How often `length` holds T_A. A ratio that is whole but for rounding is whole: at equal times a
/// message comes before a timer, so that .3 must be three times .1.
pub(super) fn intervals(length: f64, announce: f64) -> Intervals {
    let ratio = length / announce;
    let whole = libm::round(ratio);
    if (ratio - whole).abs() <= 1e-12 * whole {
        return Intervals { m: whole, theta: 0.0 };
    }
    let m = libm::floor(ratio);
    Intervals { m, theta: ratio - m }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listen_interval_is_so_many_announce_intervals_and_a_rest() {
        assert_eq!(intervals(0.3, 0.1), Intervals { m: 3.0, theta: 0.0 });
        assert_eq!(intervals(2.5, 1.0), Intervals { m: 2.0, theta: 0.5 });
        assert_eq!(intervals(0.25, 1.0), Intervals { m: 0.0, theta: 0.25 });
        assert_eq!(intervals(0.0, 1.0), Intervals { m: 0.0, theta: 0.0 });
        let Intervals { m, theta } = intervals(2.999, 1.0);
        assert!(m == 2.0 && (theta - 0.999).abs() < 1e-12);
    }
}
