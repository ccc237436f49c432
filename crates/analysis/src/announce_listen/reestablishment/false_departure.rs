//! The leader is given up although it is there (section 5.3.2, "false departure").
//!
//! The mean time for which somebody does without the leader, given that it happens.
//! T_L = (m + θ) T_A.
//!
//! | loss | printed | corrected |
//! |---|---|---|
//! | none | T_A − T_L | the same, for T_L < T_A; otherwise it never happens |
//! | correlated | T_A/(1−l) − T_L | T_A/(1−l) − θ·T_A |
//! | uncorrelated | T_A·(2 + X(N)) − T_L | T_A · fraction / rate |
//!
//! The text subtracts all of T_L from the *unconditional* mean of a run of losses, and so goes
//! negative for any T_L of use. But when T_L ends, m announcements are known to be lost, and losses
//! have no memory: what is left is the rest of the interval and a fresh run. With uncorrelated loss
//! several may be out at a time; stretches in which somebody is begin whenever T_L ends for
//! somebody while nobody is out, (1−l^{m+1})^{N−1} − (1−l^m)^{N−1} per T_A, and their mean length
//! is the [fraction](super::super::inconsistency) of the time over that rate. (For θ = 0 one
//! stretch may begin at the moment at which another ends; they count as two.)

use super::{READS_HEARD, delay, finite_listen, intervals, mean_wake};
use crate::announce_listen::{inconsistency, losses, point_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Measure, Scenario};
use libm::{exp, expm1, log1p, pow};

/// The mean length in seconds, as printed: negative for all but the shortest T_L.
///
/// # Errors
/// [`OutOfDomain`], if nobody listens, T_L is infinite, or the protocol is neither LE-A nor LE-S.
pub fn printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    mean_wake(variant, inputs)?;
    let lost = losses::printed(inputs.nodes, inputs.loss);
    Ok(inputs.announce * (lost + 1.0) - finite_listen(inputs)?)
}

/// The mean length in seconds of a stretch in which somebody has given up the leader.
///
/// # Errors
/// As [`printed`]; and [`OutOfDomain::Condition`], if that never happens, or never ends.
pub fn corrected(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    mean_wake(variant, inputs)?;
    let super::Intervals { m, theta } = intervals(finite_listen(inputs)?, inputs.announce);
    let l = inputs.loss.rate();
    if l == 0.0 && m >= 1.0 {
        return Err(OutOfDomain::Condition {
            rule: "nothing is lost and listen >= announce: the leader is never given up",
            way_out: "choose a loss, or a listen below announce",
        });
    }
    let Loss::Uncorrelated(_) = inputs.loss else {
        return Ok(inputs.announce * (1.0 / (1.0 - l) - theta));
    };
    let fraction = inconsistency::false_departures(inputs)?;
    let length = inputs.announce * fraction / beginnings(inputs, m);
    if length.is_finite() {
        return Ok(length);
    }
    Err(OutOfDomain::Condition {
        rule: "so many lose so much that somebody has always given up the leader",
        way_out: "choose a longer listen, or less loss, or fewer nodes",
    })
}

/// How many stretches begin per T_A: (1−l^{m+1})^{N−1} − (1−l^m)^{N−1}, without cancellation, and
/// with one listener for all if all lose together.
fn beginnings(inputs: &ValidInputs, m: f64) -> f64 {
    let listeners = match inputs.loss {
        Loss::None | Loss::Correlated(_) => 1.0,
        Loss::Uncorrelated(_) => f64::from(inputs.nodes - 1),
    };
    let l = inputs.loss.rate();
    let [all, more] = [pow(l, m), pow(l, m + 1.0)];
    let less = log1p(-all * (1.0 - l) / (1.0 - more));
    exp(listeners * log1p(-more)) * -expm1(listeners * less)
}

pub(super) const LE_S: Quantity = Quantity {
    about: "how long somebody does without a leader that is there, each time that happens in LE-S",
    reads: READS_HEARD,
    exact: |_| true,
    ..delay!("le-s.reestablishment-delay.false-departure", Variant::LeS)
};

pub(super) const LE_A: Quantity = Quantity {
    about: "how long somebody does without a leader that is there, each time that happens in LE-A",
    reads: READS_HEARD,
    exact: |_| true,
    ..delay!("le-a.reestablishment-delay.false-departure", Variant::LeA)
};

fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "right as printed, where it happens at all: T_L < T_A",
        Loss::Correlated(_) => {
            "printed less all of T_L, and negative for most; losses have no memory, so it is \
             T_A/(1-l) less what T_L is beyond whole announce intervals"
        }
        Loss::Uncorrelated(_) => {
            "printed with 2 + X(N) announcements and less all of T_L; it is the time in which \
             somebody has given up the leader, over how often such a stretch begins"
        }
    }
}

/// A run gives one mean length, off by the order of one stretch in all that the window holds: so
/// few runs are watched for long. If there is hardly a stretch in it, nothing can be learned.
pub(in super::super) fn watched(variant: Variant, inputs: &ValidInputs) -> Option<Point> {
    const INTERVALS: f64 = 20_000.0;
    losses::agreeing(inputs).ok()?;
    let m = intervals(finite_listen(inputs).ok()?, inputs.announce).m;
    if inputs.loss.rate() > 0.0 && INTERVALS * beginnings(inputs, m) < 5.0 {
        return None;
    }
    let point = point_of(variant, inputs);
    Some(point.scenario(Scenario::FalseDeparture, INTERVALS * inputs.announce).runs(20))
}

fn simulation(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    corrected(variant, inputs).ok()?;
    Some((watched(variant, inputs)?, Measure::ReestablishmentDelay))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, float, inputs, rational};

    fn listening(nodes: u32, loss: Loss, listen: f64) -> ValidInputs {
        inputs(nodes, loss, |given| (given.announce, given.listen) = (2.0, listen))
    }

    #[test]
    fn without_loss_it_is_the_rest_of_the_announce_interval() {
        let given = listening(10, Loss::None, 0.5);
        assert_eq!(corrected(Variant::LeS, &given), Ok(1.5));
        assert_eq!(printed(Variant::LeS, &given), Ok(1.5));
    }

    #[test]
    fn with_correlated_loss_the_print_goes_negative() {
        for (listen, right, wrong) in [(1.0, 3.0, 3.0), (4.0, 4.0, 0.0), (7.0, 3.0, -3.0)] {
            let given = listening(10, Loss::Correlated(0.5), listen);
            assert_near(corrected(Variant::LeA, &given).unwrap(), right, 1e-14);
            assert!((printed(Variant::LeA, &given).unwrap() - wrong).abs() < 1e-14);
        }
    }

    /// Fraction and rate in exact arithmetic: l = a/b, T_L = (m + 1/4) T_A.
    #[test]
    fn with_uncorrelated_loss_it_is_the_fraction_over_the_rate() {
        for (nodes, (a, b), m) in
            [(3, (1, 2), 2), (11, (2, 5), 3), (40, (7, 10), 9), (2, (1, 9), 1)]
        {
            let l = rational(a, b);
            let one = rational(1, 1);
            let nobody = |count: i32| num_traits::pow(&one - l.pow(count), nodes as usize - 1);
            let [sooner, later] = [nobody(m), nobody(m + 1)];
            let fraction = rational(1, 4) * (&one - &later) + rational(3, 4) * (&one - &sooner);
            let expected = 2.0 * float(&(fraction / (later - sooner)));
            let loss = Loss::Uncorrelated(a as f64 / b as f64);
            let given = listening(nodes, loss, 2.0 * (f64::from(m) + 0.25));
            assert_near(corrected(Variant::LeS, &given).unwrap(), expected, 1e-12);
            let x = losses::beyond_first(u64::from(nodes), loss);
            let wrong = printed(Variant::LeS, &given).unwrap();
            assert_near(wrong, 2.0 * (2.0 + x) - given.listen, 1e-12);
            assert!((wrong - expected).abs() > 0.01, "{wrong} {expected}");
        }
    }

    #[test]
    fn for_one_listener_both_models_of_loss_are_one() {
        for listen in [1.0, 4.0, 9.0] {
            let [apart, together] = [Loss::Uncorrelated(0.7), Loss::Correlated(0.7)]
                .map(|loss| corrected(Variant::LeS, &listening(2, loss, listen)).unwrap());
            assert_near(apart, together, 1e-13);
        }
    }

    /// If it is rare, stretches do not overlap, and each is as long as with one listener.
    #[test]
    fn for_a_million_listeners_rare_stretches_are_those_of_one() {
        let far = 2.0 * (f64::from(6_000) + 0.5);
        let [many, one] = [1_000_000, 2].map(|nodes| {
            corrected(Variant::LeS, &listening(nodes, Loss::Uncorrelated(0.99), far)).unwrap()
        });
        assert_near(many, one, 1e-9);
    }

    #[test]
    fn what_never_happens_or_never_ends_has_no_length() {
        let refused = |nodes, loss, listen| {
            corrected(Variant::LeS, &listening(nodes, loss, listen)).unwrap_err()
        };
        for loss in [Loss::None, Loss::Correlated(0.0), Loss::Uncorrelated(0.0)] {
            assert!(matches!(refused(10, loss, 2.0), OutOfDomain::Condition { .. }));
        }
        let hopeless = refused(1_000_000, Loss::Uncorrelated(0.99), 4.0);
        assert!(matches!(hopeless, OutOfDomain::Condition { .. }));
        let trusting = refused(10, Loss::Correlated(0.4), f64::INFINITY);
        assert!(matches!(trusting, OutOfDomain::Time { name: "listen", .. }));
        let alone = refused(1, Loss::Correlated(0.4), 4.0);
        assert!(matches!(alone, OutOfDomain::Nodes { .. }));
    }
}
