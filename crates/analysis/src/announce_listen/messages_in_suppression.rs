//! Messages of LE-S in [0, T_S]: sections 5.3.3.1 to 5.3.3.3.
//!
//! The process behind k greater ones sends if each of those woke too late to be heard, or what it
//! sent was lost. If all receivers lose together (l = 0 included) that has the probability
//! ∫₀^{T_S} p(t) (1 − (1−l) P(t−Δ))^k dt, since whatever silences a greater process silences this
//! one too. Summed over k:
//!
//! * printed:   N·P(Δ)/(1−l) + ∫_Δ^{T_S} p(t) [1 − (1 − (1−l) P(t−Δ))^N] / P(t−Δ) dt
//! * corrected: N·P(Δ) + (1/(1−l)) ∫_Δ^{T_S} p(t) [1 − (1 − (1−l) P(t−Δ))^N] / P(t−Δ) dt
//!
//! The sum of the geometric series is [1 − x^N]/(1 − x) with 1 − x = (1−l) P(t−Δ): its factor
//! 1/(1−l) belongs to the integral and was set before the other term. Without loss both are the
//! same. With uniform timers the corrected form is N·Δ + (1/(1−l)) Σ_{k=1..N} (1 − c^k)/k for T_S =
//! 1, c = l + Δ − lΔ.
//!
//! If each receiver loses for itself the text gives the first round of its recurrence
//! ([`recurrence`](super::recurrence)); corrected is the first round of the
//! [`closure`](super::closure), both for Δ = 0.
//!
//! *Assumes* T_A ≥ T_S: otherwise some announce a second time, which the text does not count.

use super::point_of;
use super::sums::{geometric, harmonic_any};
use super::wake;
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::integral::Integral;
use crate::point::{Point, duration};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;

/// As section 5.3.3.2 prints it.
///
/// # Errors
/// [`OutOfDomain`], if T_A < T_S; with uncorrelated loss also if Δ > 0.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_one_announcement(inputs)?;
    if let Loss::Uncorrelated(_) = inputs.loss {
        return super::recurrence::first_round_messages(inputs);
    }
    let kept = 1.0 - inputs.loss.rate();
    Ok(early(inputs) / kept + late(inputs) * kept)
}

/// As it should read.
///
/// # Errors
/// [`OutOfDomain`], if T_A < T_S; with uncorrelated loss also if Δ > 0.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_one_announcement(inputs)?;
    if let Loss::Uncorrelated(_) = inputs.loss {
        return super::closure::first_round_messages(inputs);
    }
    Ok(early(inputs) + late(inputs))
}

fn needs_one_announcement(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.announce >= inputs.suppress {
        return Ok(());
    }
    let rule = "announce must be at least suppress, or some announce twice in the interval";
    Err(OutOfDomain::Condition { rule, way_out: "raise `announce` or lower `suppress`" })
}

/// N·P(Δ): those who wake before they can hear anybody.
fn early(inputs: &ValidInputs) -> f64 {
    f64::from(inputs.nodes) * wake::cdf(inputs, inputs.delay)
}

/// (1/(1−l)) ∫_Δ^{T_S} p(t) [1 − (1 − (1−l) P(t−Δ))^N] / P(t−Δ) dt: those who might have heard.
fn late(inputs: &ValidInputs) -> f64 {
    if inputs.delay >= inputs.suppress {
        return 0.0;
    }
    match inputs.shape {
        Shape::Uniform => late_uniform(inputs),
        _ => late_integral(inputs),
    }
}

/// The same for uniform timers: (1/(1−l)) Σ_{k=1..N} (1 − c^k)/k.
fn late_uniform(inputs: &ValidInputs) -> f64 {
    let kept = 1.0 - inputs.loss.rate();
    let rest = 1.0 - inputs.delay / inputs.suppress;
    harmonic_any(kept * rest, inputs.nodes) / kept
}

/// The same for any timers, over the probability P(t) to have woken instead of t.
fn late_integral(inputs: &ValidInputs) -> f64 {
    let (n, kept) = (f64::from(inputs.nodes), 1.0 - inputs.loss.rate());
    let early = wake::cdf(inputs, inputs.delay);
    let slope = wake::slope(inputs);
    let senders = |u: f64| geometric((kept * slope * u).min(1.0), n);
    Integral::default().over(0.0, 1.0 - early, 1.0 / n, &senders)
}

/// What differs, for this loss.
fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "printed and corrected agree without loss",
        Loss::Correlated(_) => {
            "the print has the factor 1/(1-l) on N*P(delay); it belongs to the integral"
        }
        Loss::Uncorrelated(_) => {
            "printed: first round of the recurrence, whose send times are independent; \
             corrected: the closure, approximate, for delay 0"
        }
    }
}

/// Nobody speaks twice in T_S if T_A is at least as long.
fn simulation(inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let announce = duration(inputs.announce.max(inputs.suppress));
    let point = point_of(Variant::LeS, inputs).listen(f64::INFINITY).with("announce", announce);
    Some((point, Measure::MessagesInOpening))
}

/// `le-s.messages-in-suppression`.
pub(super) const QUANTITY: Quantity = Quantity {
    name: "le-s.messages-in-suppression",
    section: "5.3.3.1, 5.3.3.2",
    about: "messages that LE-S sends in the suppression interval",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "loss-model", "delay", "suppress", "announce", "timer", "timer-rate"],
    printed,
    corrected,
    note,
    exact: |inputs| !matches!(inputs.loss, Loss::Uncorrelated(_)),
    is_percentile: false,
    simulation,
};

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, float, inputs, rational};
    use super::*;
    use num_rational::BigRational;

    /// N·Δ and (1/(1−l)) Σ (1 − c^k)/k, exactly, for l = 2/5 and Δ = 1/10.
    fn exact(nodes: u32) -> (BigRational, BigRational) {
        let one = rational(1, 1);
        let (l, delay) = (rational(2, 5), rational(1, 10));
        let c = &l + &delay - &l * &delay;
        let terms = (1..=nodes).map(|k| (&one - c.pow(k as i32)) / rational(k.into(), 1));
        let late = terms.fold(rational(0, 1), |sum, term| sum + term);
        (delay * rational(nodes.into(), 1), late / (one - l))
    }

    #[test]
    fn both_forms_are_exact_for_uniform_timers() {
        let kept = rational(3, 5);
        for nodes in [1, 2, 5, 40] {
            let at = inputs(nodes, Loss::Correlated(0.4), |_| ());
            let (early, late) = exact(nodes);
            assert_near(corrected(&at).unwrap(), float(&(&early + &late)), 1e-14);
            assert_near(printed(&at).unwrap(), float(&(early / &kept + late * &kept)), 1e-14);
        }
    }

    #[test]
    fn the_misplaced_factor_matters_with_loss_and_only_then() {
        let apart = |loss| {
            let at = inputs(100, loss, |_| ());
            printed(&at).unwrap() / corrected(&at).unwrap()
        };
        assert_near(apart(Loss::None), 1.0, 1e-15);
        // H_100 + ln(1−c) is 4.5712 and 2.7794: 16.667 + 4.5712 over 10 + 7.6187, and so on.
        assert_near(apart(Loss::Correlated(0.4)), 21.2379 / 17.6187, 1e-5);
        assert_near(apart(Loss::Correlated(0.9)), 102.7794 / 37.7944, 1e-5);
    }

    /// The integral, for timers for which P(t−Δ) is a line over P(t): the uniform sum with another
    /// c, over the slope.
    #[test]
    fn the_integral_is_right_for_every_timer_and_a_million_processes() {
        for shape in [
            Shape::Uniform,
            Shape::Rising { rate: 3.0 },
            Shape::Rising { rate: 60.0 },
            Shape::Falling { rate: 0.01 },
            Shape::Falling { rate: 30.0 },
        ] {
            for nodes in [1, 2, 30, 1000, 1_000_000] {
                for l in [0.0, 0.4, 0.99] {
                    for delay in [0.0, 0.001, 0.3, 0.999] {
                        let loss = Loss::Correlated(l);
                        let change = |given: &mut crate::Inputs| {
                            (given.shape, given.delay) = (shape, delay);
                        };
                        let at = inputs(nodes, loss, change);
                        let heard = wake::cdf(&at, at.suppress - at.delay);
                        let kept = 1.0 - l;
                        let sum = harmonic_any(kept * heard, nodes) / (kept * wake::slope(&at));
                        let (got, early) = (late_integral(&at), early(&at));
                        assert_near(got + early, sum + early, 1e-10);
                    }
                }
            }
        }
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let condition = |result| matches!(result, Err(OutOfDomain::Condition { .. }));
        for formula in [printed, corrected] {
            let twice = inputs(5, Loss::None, |given| given.announce = 0.9);
            assert!(condition(formula(&twice)));
            assert!(condition(formula(&inputs(5, Loss::Uncorrelated(0.4), |_| ()))));
        }
        let all = inputs(5, Loss::Correlated(0.4), |given| given.delay = 1.0);
        assert_near(corrected(&all).unwrap(), 5.0, 1e-15);
    }
}
