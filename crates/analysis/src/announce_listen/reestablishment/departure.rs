//! The leader departs without a word (sections 5.3.2.1 to 5.3.2.3).
//!
//! | loss | printed | corrected |
//! |---|---|---|
//! | none | T_L + 2Δ − E\[t_d\] + E\[t_s\] | the same |
//! | correlated | the same | the same |
//! | uncorrelated | the same | T_A·E\[max_j (max(a−f−K_j, 0) + G_j) − a\] more |
//! | any, two processes | the same | T_L + Δ − E\[t_d\] − T_A·l/(1−l) |
//!
//! With correlated loss, what was lost before the departure makes all give up earlier, what is lost
//! after it makes all hear later, and the two cancel. With uncorrelated loss they do not: listeners
//! that still trust the departed leader ignore the new one, and all N−2 of them must hear it. a and
//! K_j count what the new leader and listener j had lost of the old leader's last announcements,
//! G_j what j loses of the new one's, f = ⌊(t_s+Δ)/T_A⌋. And a
//! process that is left alone leads as soon as it notices, which the text forgets.
//!
//! Assumes T_L ≫ T_A: that nobody had given up the leader before it departed.

use super::{
    READS_LE_A, delay, finite_listen, head_start, mean_wake, rarely_given_up, settled, until_heard,
};
use crate::announce_listen::point_of;
use crate::inputs::{Loss, NODES_MAX, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};

/// The mean delay in seconds, as printed: the same for all losses.
///
/// # Errors
/// [`OutOfDomain`], if nobody is left, T_L is infinite, or the protocol is neither LE-A nor LE-S.
pub fn printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, NODES_MAX)?;
    let noticed = finite_listen(inputs)? + inputs.delay - inputs.announce / 2.0;
    Ok(noticed + mean_wake(variant, inputs)? + inputs.delay)
}

/// The mean delay in seconds, as it should read.
///
/// # Errors
/// As [`printed`]; and [`OutOfDomain::Condition`], if T_L is too short for a group to be settled.
pub fn corrected(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let printed = printed(variant, inputs)?;
    settled(inputs)?;
    if inputs.nodes == 2 {
        let left_alone = printed - mean_wake(variant, inputs)? - inputs.delay;
        let l = inputs.loss.rate();
        return positive(left_alone - inputs.announce * l / (1.0 - l));
    }
    match inputs.loss {
        Loss::None | Loss::Correlated(_) => Ok(printed),
        Loss::Uncorrelated(l) => {
            let excused = head_start::mean_excuse(variant, inputs, l);
            let listeners = f64::from(inputs.nodes - 2);
            Ok(printed + inputs.announce * head_start::extra(listeners, l, excused))
        }
    }
}

fn positive(delay: f64) -> Result<f64, OutOfDomain> {
    if delay > 0.0 {
        return Ok(delay);
    }
    Err(OutOfDomain::Condition {
        rule: "so much is lost that the leader is given up before it departs",
        way_out: "choose a listen of many times announce/(1 - loss)",
    })
}

pub(super) const LE_S: Quantity = Quantity {
    about: "from the departure of the leader of LE-S until all that are left agree on another",
    ..delay!("le-s.reestablishment-delay.departure", Variant::LeS)
};

pub(super) const LE_A: Quantity = Quantity {
    about: "from the departure of the leader of LE-A until all that are left agree on another",
    reads: READS_LE_A,
    // Without any delay or wait messages meet the ends of timers, and the order of events decides.
    exact: |inputs| rarely_given_up(inputs) && (inputs.delay > 0.0 || inputs.nodes == 2),
    ..delay!("le-a.reestablishment-delay.departure", Variant::LeA)
};

fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        _ if inputs.nodes == 2 => {
            "a process that is left alone need not be heard: it leads as soon as it notices, the \
             sooner the more it had lost (for T_L >> T_A)"
        }
        Loss::None => "right as printed, for T_L >= T_A",
        Loss::Correlated(_) => {
            "right as printed, for T_L >> T_A: what was lost before and what is lost after cancel"
        }
        Loss::Uncorrelated(_) => {
            "the text says that loss changes nothing; but listeners that still trust the departed \
             leader ignore the new one, and all must hear it (for T_L >> T_A)"
        }
    }
}

fn simulation(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let window = 2.0 * finite_listen(inputs).ok()? + until_heard(inputs);
    let point = point_of(variant, inputs).scenario(Scenario::Departure, window);
    Some((point, Measure::ReestablishmentDelay))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, inputs};

    /// T_S = .5, T_A = 2, Δ = .03, T_L = 80: no timer can stand for another.
    fn distinct(nodes: u32, loss: Loss) -> ValidInputs {
        inputs(nodes, loss, |given| {
            (given.suppress, given.announce, given.delay) = (0.5, 2.0, 0.03);
            given.listen = 80.0;
        })
    }

    #[test]
    fn losses_before_and_after_cancel_if_all_have_the_same() {
        for loss in [Loss::None, Loss::Correlated(0.4)] {
            for (variant, wake) in [(Variant::LeA, 0.0), (Variant::LeS, 0.25)] {
                let given = distinct(10, loss);
                assert_near(corrected(variant, &given).unwrap(), 79.06 + wake, 1e-14);
                assert_eq!(printed(variant, &given), corrected(variant, &given));
            }
        }
    }

    #[test]
    fn whoever_is_left_alone_need_not_be_heard() {
        let losses = [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)];
        for (loss, gained) in losses.into_iter().zip([0.0, 4.0 / 3.0, 4.0 / 3.0]) {
            for variant in [Variant::LeA, Variant::LeS] {
                let given = distinct(2, loss);
                assert_near(corrected(variant, &given).unwrap(), 79.03 - gained, 1e-14);
                assert!(printed(variant, &given).unwrap() > 79.05);
            }
        }
    }

    /// One listener, l = 1/2: E[max(a−K, 0) + G − a] = l/(1−l²) = 2/3.
    #[test]
    fn a_listener_that_trusts_the_departed_leader_costs_time() {
        let given = distinct(3, Loss::Uncorrelated(0.5));
        let expected = 79.06 + 2.0 * 2.0 / 3.0;
        assert_near(corrected(Variant::LeA, &given).unwrap(), expected, 1e-12);
        assert_near(printed(Variant::LeA, &given).unwrap(), 79.06, 1e-12);
    }

    /// T_S = T_A = 1, Δ = .1, l = 1/2: in the last tenth of T_S the new leader speaks so late that
    /// one announcement less is ignored, which halves the 2/3.
    #[test]
    fn a_late_wake_up_is_ignored_less() {
        let given = inputs(3, Loss::Uncorrelated(0.5), |given| given.listen = 30.0);
        let expected = 30.0 + 0.2 + 2.0 / 3.0 * (0.9 + 0.1 / 2.0);
        assert_near(corrected(Variant::LeS, &given).unwrap(), expected, 1e-12);
    }

    #[test]
    fn out_of_domain_is_said_so() {
        let refused = |change: fn(&mut crate::Inputs), nodes, variant| {
            corrected(variant, &inputs(nodes, Loss::Correlated(0.9), change)).unwrap_err()
        };
        let short = refused(|given| given.listen = 0.9, 10, Variant::LeS);
        assert!(matches!(short, OutOfDomain::Condition { .. }));
        let endless = refused(|_| (), 10, Variant::LeS);
        assert!(matches!(endless, OutOfDomain::Time { name: "listen", .. }));
        let nobody = refused(|given| given.listen = 50.0, 1, Variant::LeS);
        assert!(matches!(nobody, OutOfDomain::Nodes { least: 2, .. }));
        let luck = refused(|given| given.listen = 50.0, 10, Variant::LeM);
        assert!(matches!(luck, OutOfDomain::Condition { .. }));
        let hopeless = refused(|given| given.listen = 3.0, 2, Variant::LeS);
        assert!(matches!(hopeless, OutOfDomain::Condition { .. }));
    }

    #[test]
    fn the_form_is_called_exact_only_where_leaders_are_trusted() {
        let listening = |listen| {
            let given = inputs(10, Loss::Uncorrelated(0.4), |given| given.listen = listen);
            (LE_S.exact)(&given)
        };
        assert!(!listening(3.0));
        assert!(listening(30.0));
    }
}
