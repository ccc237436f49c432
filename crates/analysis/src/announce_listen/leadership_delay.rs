//! Section 5.3.1: from a simultaneous start until all have heard the leader.
//!
//! | loss | printed | corrected |
//! |---|---|---|
//! | none (5.3.1.1) | E\[t_s\] + Δ | the same |
//! | correlated (5.3.1.2) | E\[t_s\] + Δ + T_A·l/(1−l) | the same |
//! | uncorrelated (5.3.1.3) | E\[t_s\] + Δ + T_A·(1 + X(N)) | E\[t_s\] + Δ + T_A·X(N−1) |
//!
//! With uncorrelated loss the text charges T_A for the first announcement too, and counts the
//! leader among those that must hear it; see [`losses`].
//!
//! E\[t_s\] is the mean of the leader's wake-up: 0 for LE-A and AL, which begin at once (AL in
//! words only, section 5.4.2); the mean of the timer for LE-S; for LE-M, where the earliest to wake
//! leads, E\[min t_i\], the "minimum delay metric in SUP" of section 5.4.3, which is T_S/(N+1) with
//! uniform timers.

use super::{losses, point_of, wake};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

/// The mean of the leader's first announcement.
///
/// # Errors
/// [`OutOfDomain::Condition`] for protocols other than LE-A, LE-S, LE-M and AL.
pub fn first_announcement(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    match variant {
        Variant::LeA | Variant::Al => Ok(0.0),
        Variant::LeS => Ok(wake::mean(inputs)),
        Variant::LeM => Ok(wake::mean_of_earliest(inputs)),
        _ => Err(OutOfDomain::Condition {
            rule: "the chapter has a leadership delay of le-a, le-s, le-m and al only",
            way_out: "choose one of these",
        }),
    }
}

/// The delay in seconds, as printed.
///
/// # Errors
/// [`OutOfDomain`], if the group has fewer than two processes or the protocol no such delay.
pub fn printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    delay(variant, inputs, losses::printed)
}

/// The delay in seconds, as it should read.
///
/// # Errors
/// As [`printed`].
pub fn corrected(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    delay(variant, inputs, losses::corrected)
}

fn delay(
    variant: Variant,
    inputs: &ValidInputs,
    beyond_first: fn(u32, Loss) -> f64,
) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    let late = inputs.announce * beyond_first(inputs.nodes, inputs.loss);
    Ok(first_announcement(variant, inputs)? + inputs.delay + late)
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&LE_A, &LE_S, &LE_M, &AL];

const LE_S: Quantity = Quantity {
    name: "le-s.leadership-delay",
    section: "5.3.1",
    about: "from the start of LE-S until all have heard the leader",
    unit: Unit::Seconds,
    reads: &["nodes", "loss", "delay", "suppress", "announce", "timer"],
    printed: |inputs| printed(Variant::LeS, inputs),
    corrected: |inputs| corrected(Variant::LeS, inputs),
    note,
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| Some((point_of(Variant::LeS, inputs), Measure::LeadershipDelay)),
};

const LE_A: Quantity = Quantity {
    name: "le-a.leadership-delay",
    about: "from the start of LE-A until all have heard the leader",
    reads: &["nodes", "loss", "delay", "announce"],
    printed: |inputs| printed(Variant::LeA, inputs),
    corrected: |inputs| corrected(Variant::LeA, inputs),
    simulation: |inputs| Some((point_of(Variant::LeA, inputs), Measure::LeadershipDelay)),
    ..LE_S
};

const LE_M: Quantity = Quantity {
    name: "le-m.leadership-delay",
    section: "5.4.3",
    about: "from the start of LE-M until all have heard the first to wake",
    printed: |inputs| printed(Variant::LeM, inputs),
    corrected: |inputs| corrected(Variant::LeM, inputs),
    simulation: |inputs| Some((point_of(Variant::LeM, inputs), Measure::LeadershipDelay)),
    ..LE_S
};

const AL: Quantity = Quantity {
    name: "al.leadership-delay",
    section: "5.4.2",
    about: "from the start of AL until all have heard the greatest process",
    printed: |inputs| printed(Variant::Al, inputs),
    corrected: |inputs| corrected(Variant::Al, inputs),
    simulation: |inputs| Some((point_of(Variant::Al, inputs), Measure::LeadershipDelay)),
    ..LE_A
};

pub(super) fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "right as printed: the leader's wake-up and one transmission, whatever N",
        Loss::Correlated(_) => "right as printed: T_A more for each announcement lost, whatever N",
        Loss::Uncorrelated(_) => {
            "printed with 1 + X(N): the first announcement costs no T_A, and the leader need not \
             hear itself; it is X(N-1), which grows like log N without limit"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, inputs};
    use bellwether_protocols::announce_listen::Shape;

    const ALL: [Variant; 4] = [Variant::LeA, Variant::LeS, Variant::LeM, Variant::Al];

    /// T_S = .5, T_A = 2, Δ = .03, so that no timer can stand for another.
    fn distinct(nodes: u32, loss: Loss) -> ValidInputs {
        inputs(nodes, loss, |given| {
            (given.suppress, given.announce, given.delay) = (0.5, 2.0, 0.03);
        })
    }

    #[test]
    fn without_loss_and_with_correlated_loss_the_print_is_right() {
        let wakes = [0.0, 0.25, 0.5 / 8.0, 0.0];
        for (loss, lost) in [(Loss::None, 0.0), (Loss::Correlated(0.25), 2.0 / 3.0)] {
            for (variant, wake) in ALL.into_iter().zip(wakes) {
                let inputs = distinct(7, loss);
                assert_near(corrected(variant, &inputs).unwrap(), wake + 0.03 + lost, 1e-14);
                assert_eq!(printed(variant, &inputs), corrected(variant, &inputs));
            }
        }
    }

    /// l = 1/2: X(1) = 1, X(2) = 2 − 1/3, X(3) = 3 − 3/3 + 1/7.
    #[test]
    fn with_uncorrelated_loss_the_print_has_an_announcement_and_a_receiver_too_many() {
        let inputs = distinct(3, Loss::Uncorrelated(0.5));
        for (variant, wake) in ALL.into_iter().zip([0.0, 0.25, 0.125, 0.0]) {
            let (right, wrong) = (corrected(variant, &inputs), printed(variant, &inputs));
            assert_near(right.unwrap(), wake + 0.03 + 2.0 * 5.0 / 3.0, 1e-13);
            assert_near(wrong.unwrap(), wake + 0.03 + 2.0 * (1.0 + 15.0 / 7.0), 1e-13);
        }
    }

    #[test]
    fn the_print_does_not_even_agree_with_itself_where_nothing_is_lost() {
        let nothing = distinct(10, Loss::Uncorrelated(0.0));
        assert_near(printed(Variant::LeA, &nothing).unwrap(), 2.03, 1e-14);
        assert_near(corrected(Variant::LeA, &nothing).unwrap(), 0.03, 1e-14);
    }

    #[test]
    fn a_rising_timer_wakes_later_and_a_falling_one_earlier() {
        let delay = |shape| {
            let given = inputs(20, Loss::None, |given| given.shape = shape);
            [Variant::LeS, Variant::LeM].map(|variant| corrected(variant, &given).unwrap())
        };
        let (rising, even, falling) = (
            delay(Shape::Rising { rate: 3.0 }),
            delay(Shape::Uniform),
            delay(Shape::Falling { rate: 3.0 }),
        );
        for which in 0..2 {
            assert!(rising[which] > even[which] && even[which] > falling[which]);
        }
    }

    #[test]
    fn there_is_no_delay_without_a_leader_or_without_others() {
        let pair = distinct(2, Loss::None);
        for form in [printed, corrected] {
            assert!(matches!(form(Variant::Sup, &pair), Err(OutOfDomain::Condition { .. })));
            let alone = distinct(1, Loss::None);
            assert!(matches!(form(Variant::LeS, &alone), Err(OutOfDomain::Nodes { .. })));
        }
    }
}
