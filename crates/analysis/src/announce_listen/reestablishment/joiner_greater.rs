//! One arrives that is to lead (section 5.3.2, "joiner > leader").
//!
//! N is the size of the group *before* the arrival; all N must hear the joiner.
//!
//! | loss | printed | corrected |
//! |---|---|---|
//! | none | E\[t_s\] + Δ | the same |
//! | correlated | E\[t_s\] + Δ + T_A·l/(1−l) | the same |
//! | uncorrelated | E\[t_s\] + Δ + T_A·(1 + X(N)) | E\[t_s\] + Δ + T_A·X(N) |
//!
//! The text equates it with its leadership delay, which charges T_A for the first announcement too.
//! Here N receivers are right: the joiner is not among those that were there.

use super::{READS_LE_A, delay, mean_wake, settled, until_heard};
use crate::announce_listen::{losses, point_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};

/// The mean delay in seconds, as printed.
///
/// # Errors
/// [`OutOfDomain::Condition`], if the protocol is neither LE-A nor LE-S.
pub fn printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let lost = losses::printed(inputs.nodes, inputs.loss);
    Ok(mean_wake(variant, inputs)? + inputs.delay + inputs.announce * lost)
}

/// The mean delay in seconds, as it should read.
///
/// # Errors
/// As [`printed`]; and the same if T_L < T_A, so that the group is never settled.
pub fn corrected(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    settled(inputs)?;
    let lost = losses::beyond_first(u64::from(inputs.nodes), inputs.loss);
    Ok(mean_wake(variant, inputs)? + inputs.delay + inputs.announce * lost)
}

pub(super) const LE_S: Quantity = Quantity {
    about: "from an arrival until all N that were there agree that the joiner leads LE-S",
    ..delay!("le-s.reestablishment-delay.joiner-greater", Variant::LeS)
};

pub(super) const LE_A: Quantity = Quantity {
    about: "from an arrival until all N that were there agree that the joiner leads LE-A",
    reads: READS_LE_A,
    ..delay!("le-a.reestablishment-delay.joiner-greater", Variant::LeA)
};

fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "right as printed: the joiner's wake-up and one transmission",
        Loss::Correlated(_) => "right as printed: T_A more for each announcement lost",
        Loss::Uncorrelated(_) => {
            "printed with 1 + X(N), but the first announcement costs no T_A: X(N), all N that were \
             there having to hear it"
        }
    }
}

fn simulation(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let point = point_of(variant, inputs).scenario(Scenario::JoinGreater, until_heard(inputs));
    Some((point, Measure::ReestablishmentDelay))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::leadership_delay;
    use crate::announce_listen::testing::{assert_near, inputs};

    #[test]
    fn all_that_were_there_must_hear_the_joiner() {
        // l = 1/2: X(1) = 1, X(3) = 15/7.
        let forms = |nodes, loss| {
            let given = inputs(nodes, loss, |given| {
                (given.suppress, given.announce, given.delay) = (0.5, 2.0, 0.03);
            });
            [printed, corrected].map(|form| form(Variant::LeS, &given).unwrap())
        };
        assert_eq!(forms(9, Loss::None), [0.28; 2]);
        for form in forms(9, Loss::Correlated(0.5)) {
            assert_near(form, 2.28, 1e-14);
        }
        let [wrong, right] = forms(3, Loss::Uncorrelated(0.5));
        assert_near(right, 0.28 + 2.0 * 15.0 / 7.0, 1e-14);
        assert_near(wrong, 0.28 + 2.0 * 22.0 / 7.0, 1e-14);
        assert_near(forms(1, Loss::Uncorrelated(0.5))[1], 2.28, 1e-14);
    }

    #[test]
    fn it_is_the_leadership_delay_of_the_group_with_the_joiner() {
        for variant in [Variant::LeA, Variant::LeS] {
            let before = inputs(40, Loss::Uncorrelated(0.4), |_| ());
            let after = inputs(41, Loss::Uncorrelated(0.4), |_| ());
            assert_eq!(corrected(variant, &before), leadership_delay::corrected(variant, &after));
            // As the text says of its own forms, with one and the same N.
            assert_eq!(printed(variant, &before), leadership_delay::printed(variant, &before));
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
