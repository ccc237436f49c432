//! Section 5.3.4: the part of the time in which the group does not agree.
//!
//! | cause | printed | corrected |
//! |---|---|---|
//! | false departures, none | 1 − T_L/T_A | max(0, 1 − T_L/T_A) |
//! | false departures, correlated | 1 − (1−l)·T_L/T_A | l^m·(1 − θ(1−l)) |
//! | false departures, uncorrelated | 1 − T_L/(T_A·(2 + X(N))) | θ·s(m+1) + (1−θ)·s(m) |
//! | departures | delay/T_d | delay/(N·T_d) |
//! | arrivals | delay/T_a | (greater/(N+1) + smaller·N/(N+1))/T_a |
//!
//! T_L = (m + θ)T_A, s(k) = 1 − (1−l^k)^{N−1}: somebody has lost the last k announcements. At any
//! time of the announce interval up to θ it takes m+1 of them to be out, and m after that.
//!
//! The printed fractions of false departures are the printed [lengths](false_departure) over the
//! mean of a run, so they go negative where a leader is given up rarely. Delays are those of
//! [`reestablishment`](super::reestablishment), each form with its own. Only the
//! departure of the leader matters, which is one in N. The text counts every departure. It does not
//! say how many joiners are greater; both forms assume one in N+1, as for random ids.
//!
//! Delay times rate is an approximation: N stays the same, and no event happens before the group
//! has recovered from the one before.

use super::reestablishment::{
    Intervals, departure, false_departure, intervals, joiner_greater, joiner_smaller,
};
use super::{losses, point_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::{Churn, Measure, Scenario};
use libm::{ceil, expm1, log, log1p, pow, sqrt};

/// The part of the time in which somebody has given up a leader that is there.
///
/// # Errors
/// [`OutOfDomain::Nodes`], if nobody listens.
pub fn false_departures(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    if inputs.listen.is_infinite() {
        return Ok(0.0);
    }
    let Intervals { m, theta } = intervals(inputs.listen, inputs.announce);
    let l = inputs.loss.rate();
    let somebody_lost = |count: f64| match inputs.loss {
        Loss::None | Loss::Correlated(_) => pow(l, count),
        Loss::Uncorrelated(_) => -expm1(f64::from(inputs.nodes - 1) * log1p(-pow(l, count))),
    };
    Ok(theta * somebody_lost(m + 1.0) + (1.0 - theta) * somebody_lost(m))
}

/// The same as printed: negative where leaders are rarely given up.
///
/// # Errors
/// [`OutOfDomain`], if nobody listens, or T_L is infinite.
pub fn false_departures_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    if inputs.listen.is_infinite() {
        return Err(OutOfDomain::NoValue("listen is infinite, and so is the printed fraction"));
    }
    let run = losses::printed(inputs.nodes, inputs.loss) + 1.0;
    Ok(1.0 - inputs.listen / (inputs.announce * run))
}

/// A formula of a protocol.
type Form = fn(Variant, &ValidInputs) -> Result<f64, OutOfDomain>;

/// The part of the time that departures cost, as printed: as if each were the leader's.
///
/// # Errors
/// As [`departure::printed`].
pub fn departures_printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(departure::printed(variant, inputs)? * inputs.departures)
}

/// The part of the time that departures cost, one in N of which is the leader's.
///
/// # Errors
/// As [`departure::corrected`]; and [`OutOfDomain::Condition`], if they come too fast.
pub fn departures(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let leaders = inputs.departures / f64::from(inputs.nodes);
    part_of_time(departure::corrected(variant, inputs)? * leaders)
}

/// The part of the time that arrivals cost, with the printed delays.
///
/// # Errors
/// As [`joiner_greater::printed`].
pub fn joiners_printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let delay = mean_joiner(variant, inputs, joiner_greater::printed, joiner_smaller::printed)?;
    Ok(delay * inputs.arrivals)
}

/// The part of the time that arrivals cost.
///
/// # Errors
/// As [`joiner_greater::corrected`]; and [`OutOfDomain::Condition`], if they come too fast.
pub fn joiners(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let (greater, smaller) = (joiner_greater::corrected, joiner_smaller::corrected);
    part_of_time(mean_joiner(variant, inputs, greater, smaller)? * inputs.arrivals)
}

/// The delay of a random joiner.
fn mean_joiner(
    variant: Variant,
    inputs: &ValidInputs,
    greater: Form,
    smaller: Form,
) -> Result<f64, OutOfDomain> {
    let n = f64::from(inputs.nodes);
    Ok((greater(variant, inputs)? + n * smaller(variant, inputs)?) / (n + 1.0))
}

fn part_of_time(fraction: f64) -> Result<f64, OutOfDomain> {
    if fraction <= 1.0 {
        return Ok(fraction);
    }
    Err(OutOfDomain::Condition {
        rule: "processes come or go faster than the group recovers",
        way_out: "choose a lower rate of departures or arrivals",
    })
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] =
    &[&LE_A_FALSE, &LE_S_FALSE, &LE_A_DEPARTURES, &LE_S_DEPARTURES, &LE_A_JOINERS, &LE_S_JOINERS];

const LE_S_FALSE: Quantity = Quantity {
    name: "le-s.inconsistent-fraction.false-departure",
    section: "5.3.4",
    about: "the part of the time in which somebody has given up the leader of LE-S, which is there",
    unit: Unit::Fraction,
    reads: &["nodes", "loss", "announce", "listen"],
    printed: false_departures_printed,
    corrected: false_departures,
    note: note_false,
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| simulate_false(Variant::LeS, inputs),
};

const LE_A_FALSE: Quantity = Quantity {
    name: "le-a.inconsistent-fraction.false-departure",
    about: "the part of the time in which somebody has given up the leader of LE-A, which is there",
    simulation: |inputs| simulate_false(Variant::LeA, inputs),
    ..LE_S_FALSE
};

const LE_S_DEPARTURES: Quantity = Quantity {
    name: "le-s.inconsistent-fraction.departures",
    about: "the part of the time that departures from LE-S cost",
    reads: &["nodes", "loss", "delay", "suppress", "announce", "listen", "timer", "departures"],
    printed: |inputs| departures_printed(Variant::LeS, inputs),
    corrected: |inputs| departures(Variant::LeS, inputs),
    note: note_departures,
    exact: |_| false,
    simulation: |inputs| simulate_departures(Variant::LeS, inputs),
    ..LE_S_FALSE
};

const LE_A_DEPARTURES: Quantity = Quantity {
    name: "le-a.inconsistent-fraction.departures",
    about: "the part of the time that departures from LE-A cost",
    reads: &["nodes", "loss", "delay", "announce", "listen", "departures"],
    printed: |inputs| departures_printed(Variant::LeA, inputs),
    corrected: |inputs| departures(Variant::LeA, inputs),
    simulation: |inputs| simulate_departures(Variant::LeA, inputs),
    ..LE_S_DEPARTURES
};

const LE_S_JOINERS: Quantity = Quantity {
    name: "le-s.inconsistent-fraction.joiners",
    about: "the part of the time that arrivals at LE-S cost",
    reads: &["nodes", "loss", "delay", "suppress", "announce", "listen", "timer", "arrivals"],
    printed: |inputs| joiners_printed(Variant::LeS, inputs),
    corrected: |inputs| joiners(Variant::LeS, inputs),
    note: note_joiners,
    simulation: |inputs| simulate_joiners(Variant::LeS, inputs),
    ..LE_S_DEPARTURES
};

const LE_A_JOINERS: Quantity = Quantity {
    name: "le-a.inconsistent-fraction.joiners",
    about: "the part of the time that arrivals at LE-A cost",
    reads: &["nodes", "loss", "delay", "announce", "listen", "arrivals"],
    printed: |inputs| joiners_printed(Variant::LeA, inputs),
    corrected: |inputs| joiners(Variant::LeA, inputs),
    simulation: |inputs| simulate_joiners(Variant::LeA, inputs),
    ..LE_S_JOINERS
};

fn note_false(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "right as printed for T_L < T_A; negative beyond, where it is 0",
        Loss::Correlated(_) => {
            "printed as one mean run of losses less T_L; the leader is given up whenever m \
             announcements in a row are lost, however long T_L is beside the mean"
        }
        Loss::Uncorrelated(_) => {
            "printed as one mean run of losses less T_L; the leader is given up whenever anybody \
             loses m announcements in a row"
        }
    }
}

fn note_departures(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None | Loss::Correlated(_) => {
            "printed as if every departure were the leader's; of random ones one in N is"
        }
        Loss::Uncorrelated(_) => {
            "printed as if every departure were the leader's, which is one in N; and each takes \
             longer than printed"
        }
    }
}

fn note_joiners(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None | Loss::Correlated(_) => {
            "right as printed, one in N+1 random joiners being greater than all"
        }
        Loss::Uncorrelated(_) => {
            "one in N+1 random joiners is greater than all; printed with delays that have an \
             announcement too many, and all N receivers where the joiner alone must hear"
        }
    }
}

fn simulate_false(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    Some((false_departure::watched(variant, inputs)?, Measure::InconsistentFraction))
}

/// Those who depart are not replaced, so that the leader is more often among the later ones; and
/// the window cuts the last stretch short. This window makes both errors the same, to first order,
/// and they cancel.
fn simulate_departures(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let delay = departure::corrected(variant, inputs).ok()?;
    let fraction = departures(variant, inputs).ok()?;
    let (n, rate) = (f64::from(inputs.nodes), inputs.departures);
    // More than half of the group would have to go.
    if delay * rate > n / 4.0 {
        return None;
    }
    let churn = Churn { departures: rate, arrivals: 0.0 };
    simulate_churn(variant, inputs, churn, sqrt(n * delay / rate), fraction)
}

/// Watched until a tenth has come, but long beside the delay. Where anybody might depart
/// simulations want a T_L that ends: if it does not, one that is never reached.
fn simulate_joiners(variant: Variant, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let inputs = inputs.with(|given| {
        if given.listen.is_infinite() {
            let lost = log(1e-9 / f64::from(given.nodes)) / log(given.loss.rate().max(1e-3));
            given.listen = given.announce * ceil(lost);
        }
    });
    let inputs = &inputs.ok()?;
    let delay = joiner_greater::corrected(variant, inputs).ok()?;
    let fraction = joiners(variant, inputs).ok()?;
    let churn = Churn { departures: 0.0, arrivals: inputs.arrivals };
    let window = (0.1 * f64::from(inputs.nodes) / churn.arrivals).max(20.0 * delay);
    simulate_churn(variant, inputs, churn, window, fraction)
}

/// A simulation cannot tell what comes from churn and what from false departures: of these there
/// must be few.
fn simulate_churn(
    variant: Variant,
    inputs: &ValidInputs,
    churn: Churn,
    window: f64,
    fraction: f64,
) -> Option<(Point, Measure)> {
    if fraction == 0.0 || false_departures(inputs).is_ok_and(|other| other > 0.01 * fraction) {
        return None;
    }
    let point = point_of(variant, inputs).scenario(Scenario::Churn(churn), window);
    Some((point, Measure::InconsistentFraction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, float, inputs, rational};

    fn listening(nodes: u32, loss: Loss, listen: f64) -> ValidInputs {
        inputs(nodes, loss, |given| (given.announce, given.listen) = (2.0, listen))
    }

    #[test]
    fn without_loss_only_a_short_listen_interval_costs_agreement() {
        for (listen, right, wrong) in [(0.5, 0.75, 0.75), (2.0, 0.0, 0.0), (5.0, 0.0, -1.5)] {
            let given = listening(7, Loss::None, listen);
            assert_eq!(false_departures(&given), Ok(right));
            assert_eq!(false_departures_printed(&given), Ok(wrong));
        }
        assert_eq!(false_departures(&listening(7, Loss::Correlated(0.5), f64::INFINITY)), Ok(0.0));
    }

    #[test]
    fn with_correlated_loss_it_takes_m_losses_in_a_row() {
        // m = 3, θ = 1/4: (1/8)(1 − 1/8).
        let given = listening(7, Loss::Correlated(0.5), 6.5);
        assert_near(false_departures(&given).unwrap(), 7.0 / 64.0, 1e-14);
        assert_near(false_departures_printed(&given).unwrap(), 1.0 - 3.25 / 2.0, 1e-14);
    }

    #[test]
    fn with_uncorrelated_loss_anybody_will_do() {
        for (nodes, (a, b), m) in [(3, (1, 2), 2), (11, (2, 5), 3), (40, (7, 10), 9)] {
            let (l, one) = (rational(a, b), rational(1, 1));
            let somebody =
                |count: i32| &one - num_traits::pow(&one - l.pow(count), nodes as usize - 1);
            let exact = rational(1, 4) * somebody(m + 1) + rational(3, 4) * somebody(m);
            let loss = Loss::Uncorrelated(a as f64 / b as f64);
            let given = listening(nodes, loss, 2.0 * (f64::from(m) + 0.25));
            assert_near(false_departures(&given).unwrap(), float(&exact), 1e-13);
            let x = losses::beyond_first(u64::from(nodes), loss);
            let wrong = false_departures_printed(&given).unwrap();
            let expected = 1.0 - (f64::from(m) + 0.25) / (2.0 + x);
            assert!((wrong - expected).abs() < 1e-13, "{wrong} {expected}");
            assert!((wrong - float(&exact)).abs() > 0.01, "{wrong}");
        }
        // Rare, and many: N−1 times as often as one, to first order.
        let given = listening(1_000_000, Loss::Uncorrelated(0.99), 12_000.0);
        assert_near(false_departures(&given).unwrap(), 999_999.0 * pow(0.99, 6000.0), 1e-9);
    }

    #[test]
    fn only_the_leaders_departures_count() {
        let given = inputs(20, Loss::Correlated(0.1), |given| {
            (given.listen, given.departures) = (8.0, 0.01);
        });
        // T_L + 2Δ − T_A/2 + T_S/2 = 8.2.
        assert_near(departures_printed(Variant::LeS, &given).unwrap(), 0.082, 1e-13);
        assert_near(departures(Variant::LeS, &given).unwrap(), 0.0041, 1e-13);
        assert_near(departures(Variant::LeA, &given).unwrap(), 0.00385, 1e-13);
    }

    #[test]
    fn one_joiner_in_n_plus_one_is_greater() {
        let given = inputs(4, Loss::None, |given| given.arrivals = 0.1);
        // (.6 + 4·.5)/5 = .52.
        assert_near(joiners(Variant::LeS, &given).unwrap(), 0.052, 1e-13);
        assert_eq!(joiners_printed(Variant::LeS, &given), joiners(Variant::LeS, &given));
        let apart = inputs(4, Loss::Uncorrelated(0.5), |given| given.arrivals = 0.1);
        // X(4) = 4 − 6/3 + 4/7 − 1/15.
        let x = 4.0 - 2.0 + 4.0 / 7.0 - 1.0 / 15.0;
        let right = 0.1 * (0.6 + x + 4.0 * 1.5) / 5.0;
        assert_near(joiners(Variant::LeS, &apart).unwrap(), right, 1e-13);
        let wrong = 0.1 * (1.6 + x + 4.0 * (1.5 + x)) / 5.0;
        assert_near(joiners_printed(Variant::LeS, &apart).unwrap(), wrong, 1e-13);
    }

    #[test]
    fn out_of_domain_is_said_so() {
        let alone = inputs(1, Loss::None, |given| given.listen = 3.0);
        assert!(matches!(false_departures(&alone), Err(OutOfDomain::Nodes { .. })));
        assert!(matches!(departures(Variant::LeS, &alone), Err(OutOfDomain::Nodes { .. })));
        let endless = inputs(9, Loss::None, |_| ());
        assert!(matches!(false_departures_printed(&endless), Err(OutOfDomain::NoValue(_))));
        assert!(matches!(departures(Variant::LeS, &endless), Err(OutOfDomain::Time { .. })));
        let busy = inputs(9, Loss::None, |given| {
            (given.listen, given.departures, given.arrivals) = (3.0, 9.0, 9.0);
        });
        for form in [departures, joiners] {
            assert!(matches!(form(Variant::LeS, &busy), Err(OutOfDomain::Condition { .. })));
        }
    }
}
