//! One arrives that is not to lead (section 5.3.2, "joiner ≯ leader").
//!
//! | loss | printed | corrected |
//! |---|---|---|
//! | none | T_A·E\[⌈(t_a−Δ)/T_A⌉\] + Δ − E\[t_a\] | T_A/2 |
//! | correlated | the same + T_A·l/(1−l) | T_A/2 + T_A·l/(1−l) |
//! | uncorrelated | the same + T_A·(1 + X(N)) | T_A/2 + T_A·l/(1−l) |
//!
//! The inner brackets should be ceilings; the typesetting lost them: as plain brackets all cancels
//! to 0. For an
//! arrival at any moment of the interval E\[⌈(t_a−Δ)/T_A⌉\] = 1 − Δ/T_A, so the first form is
//! T_A/2. With uncorrelated loss the text waits until *all* have heard the leader; but only the
//! joiner has not, and for one receiver both models of loss are the same. Neither N, Δ nor T_S
//! matters, and LE-S is LE-A.

use super::{READS_HEARD, delay, mean_wake, settled, until_heard};
use crate::announce_listen::{losses, point_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};

/// The mean delay in seconds, as printed, its brackets being ceilings.
///
/// # Errors
/// [`OutOfDomain::Condition`], if the protocol is neither LE-A nor LE-S.
pub fn printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    mean_wake(variant, inputs)?;
    let lost = losses::printed(inputs.nodes, inputs.loss);
    Ok(inputs.announce * (0.5 + lost))
}

/// The mean delay in seconds, as it should read.
///
/// # Errors
/// As [`printed`]; and the same if T_L < T_A, so that the group is never settled.
pub fn corrected(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    mean_wake(variant, inputs)?;
    settled(inputs)?;
    Ok(inputs.announce * (0.5 + losses::beyond_first(1, inputs.loss)))
}

pub(super) const LE_S: Quantity = Quantity {
    about: "from an arrival until the joiner has heard the leader of LE-S",
    reads: READS_HEARD,
    ..delay!("le-s.reestablishment-delay.joiner-smaller", Variant::LeS)
};

pub(super) const LE_A: Quantity = Quantity {
    about: "from an arrival until the joiner has heard the leader of LE-A",
    reads: READS_HEARD,
    ..delay!("le-a.reestablishment-delay.joiner-smaller", Variant::LeA)
};

fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "right, the printed brackets being ceilings: on average half of T_A",
        Loss::Correlated(_) => {
            "right, the printed brackets being ceilings: half of T_A, and T_A for each loss"
        }
        Loss::Uncorrelated(_) => {
            "printed with 1 + X(N), as if all had to hear; only the joiner must, so it is l/(1-l) \
             as with correlated loss"
        }
    }
}

fn simulation(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let point = point_of(variant, inputs).scenario(Scenario::JoinSmaller, until_heard(inputs));
    Some((point, Measure::ReestablishmentDelay))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, inputs};

    fn forms(nodes: u32, loss: Loss) -> [f64; 2] {
        let given = inputs(nodes, loss, |given| given.announce = 2.0);
        [printed, corrected].map(|form| form(Variant::LeS, &given).unwrap())
    }

    #[test]
    fn only_the_joiner_must_hear() {
        assert_eq!(forms(20, Loss::None), [1.0; 2]);
        assert_eq!(forms(20, Loss::Correlated(0.5)), [3.0; 2]);
        // X(3) = 15/7.
        let [wrong, right] = forms(3, Loss::Uncorrelated(0.5));
        assert_near(right, 3.0, 1e-14);
        assert_near(wrong, 1.0 + 2.0 * 22.0 / 7.0, 1e-14);
        assert_eq!(forms(1_000_000, Loss::Uncorrelated(0.5))[1], right);
    }

    /// The ceilings averaged over arrivals, also for Δ > T_A: T_A/2.
    #[test]
    fn with_ceilings_the_print_is_half_an_interval() {
        const STEPS: u32 = 100_000;
        for (announce, delay) in [(2.0, 0.1), (1.0, 0.99), (0.5, 1.7)] {
            let waits = (0..STEPS).map(|i| {
                let arrival = announce * (f64::from(i) + 0.5) / f64::from(STEPS);
                libm::ceil((arrival - delay) / announce) * announce + delay - arrival
            });
            assert_near(waits.sum::<f64>() / f64::from(STEPS), announce / 2.0, 1e-4);
        }
    }

    #[test]
    fn a_group_that_never_settles_has_no_delay() {
        let hasty = inputs(5, Loss::None, |given| given.listen = 0.5);
        assert!(matches!(corrected(Variant::LeS, &hasty), Err(OutOfDomain::Condition { .. })));
        let luck = inputs(5, Loss::None, |_| ());
        for form in [printed, corrected] {
            assert!(matches!(form(Variant::LeM, &luck), Err(OutOfDomain::Condition { .. })));
        }
    }
}
