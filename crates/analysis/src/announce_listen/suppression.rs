//! SUP, suppression alone: what the figures of section 5.4 compare LE with.
//!
//! A process that has heard no message by its wake-up sends once; any message silences it. The
//! chapter refers to chapters 2 and 3 of the thesis for formulas, which we do not have: there is no
//! printed form here.
//!
//! If all receivers lose together (l = 0 included), the first message that is not lost silences a
//! process, from any sender. So all that matters is which processes woke Δ before:
//!
//! * messages: N ∫ p(t) (1 − (1−l) P(t−Δ))^{N−1} dt = N·P(Δ) + (1 − c^N)/(s(1−l)),
//!   c = 1 − (1−l) P(T_S−Δ), s the slope of P(t−Δ) over P(t), which is 1 for uniform timers.
//! * t_max: the last message is sent at the last wake-up up to x + Δ, x being when the first
//!   message is sent that is not lost. With uniform timers, T_S = 1: Δ + [(1 − c^{N+1})/(1−l) − 1 +
//!   (1−Δ)^{N+1} (1 − l^N)]/(N+1).
//! * delay, until the last has spoken or has been silenced: E[min(x + Δ, last wake-up)]; uniform:
//!   Δ + [−Δ^{N+1} + (1 − c^{N+1})/(1−l) − (c^{N+1} − Δ^{N+1})/l]/(N+1).
//!
//! If each receiver loses for itself and Δ = 0, the processes speak one by one (`one_by_one.rs`):
//! exact as well. With Δ > 0 there is no form for that.

use super::one_by_one::Line;
use super::point_of;
use super::sums::{any_of, power_of_rest};
use super::wake;
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::integral::Integral;
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;
use libm::{ceil, expm1, log1p, pow};

/// The largest group whose processes are put in line one by one.
pub const LINE_MAX: u32 = 1_000_000;

/// The text of this chapter has no formula for SUP.
///
/// # Errors
/// Always [`OutOfDomain::NoValue`].
pub fn printed(_setting: &ValidInputs) -> Result<f64, OutOfDomain> {
    Err(OutOfDomain::NoValue(
        "the chapter prints no formula for SUP; it refers to its chapters 2, 3",
    ))
}

/// The mean number of messages.
///
/// # Errors
/// [`OutOfDomain`], with uncorrelated loss if Δ > 0 or the group is too large.
pub fn messages(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_an_order(inputs)?;
    let (n, kept) = (f64::from(inputs.nodes), 1.0 - inputs.loss.rate());
    if apart(inputs)? {
        return Ok(Line::after(inputs.loss.rate(), inputs.nodes).mean());
    }
    if inputs.delay >= inputs.suppress {
        return Ok(n);
    }
    let early = wake::cdf(inputs, inputs.delay);
    let heard = wake::cdf(inputs, inputs.suppress - inputs.delay);
    Ok(n * early + any_of(kept * heard, n) / (kept * wake::slope(inputs)))
}

/// The mean of t_max: when the last message is sent.
///
/// # Errors
/// [`OutOfDomain`], with uncorrelated loss if Δ > 0, timers are not uniform or the group is too
/// large.
pub fn convergence_time(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_an_order(inputs)?;
    if inputs.suppress == 0.0 {
        return Ok(0.0);
    }
    let n = f64::from(inputs.nodes);
    if apart(inputs)? {
        needs_uniform(inputs)?;
        let last = Line::after(inputs.loss.rate(), inputs.nodes).mean_last();
        return Ok(inputs.suppress * last / (n + 1.0));
    }
    if inputs.shape != Shape::Uniform {
        return Ok(convergence_integral(inputs));
    }
    let (l, delay) = (inputs.loss.rate(), (inputs.delay / inputs.suppress).min(1.0));
    let heard = (1.0 - l) * (1.0 - delay);
    let sum = (any_of(heard, n + 1.0) - (1.0 - l)) / (1.0 - l)
        + power_of_rest(delay, n + 1.0) * -expm1(n * libm::log(l));
    Ok(inputs.suppress * (delay + sum / (n + 1.0)))
}

/// When the last process has spoken or been silenced.
///
/// # Errors
/// [`OutOfDomain`], with uncorrelated loss or if timers are not uniform.
pub fn delay(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_an_order(inputs)?;
    if let Loss::Uncorrelated(_) = inputs.loss {
        let rule = "there is no form of the delay of SUP with uncorrelated loss";
        let way_out = "choose `loss-model` correlated";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    if inputs.suppress == 0.0 {
        return Ok(0.0);
    }
    needs_uniform(inputs)?;
    let (l, delay) = (inputs.loss.rate(), (inputs.delay / inputs.suppress).min(1.0));
    let m = f64::from(inputs.nodes) + 1.0;
    let heard = any_of((1.0 - l) * (1.0 - delay), m) / (1.0 - l);
    // (c^m − Δ^m)/l, where c = Δ + l(1−Δ), without dividing a difference by a small l.
    let lost = match (l > 0.0, delay > 0.0) {
        (false, _) => m * pow(delay, m - 1.0) * (1.0 - delay),
        (true, false) => pow(l, m - 1.0),
        (true, true) => {
            let (c, ratio) = (delay + l * (1.0 - delay), log1p(l * (1.0 - delay) / delay));
            pow(c, m) * -expm1(-m * ratio) / l
        }
    };
    Ok(inputs.suppress * (delay + (heard - pow(delay, m) - lost) / m))
}

/// Whether each receiver loses for itself; then Δ must be zero.
fn apart(inputs: &ValidInputs) -> Result<bool, OutOfDomain> {
    let apart = matches!(inputs.loss, Loss::Uncorrelated(_)) && inputs.nodes > 2;
    if apart && inputs.delay > 0.0 {
        let rule = "with uncorrelated loss SUP has a form for delay = 0 only";
        let way_out = "choose `delay` 0 or `loss-model` correlated";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    if apart {
        inputs.needs_nodes(1, LINE_MAX)?;
    }
    Ok(apart)
}

/// If all wake at once and are heard at once, who speaks first is not determined.
fn needs_an_order(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.suppress > 0.0 || inputs.delay > 0.0 {
        return Ok(());
    }
    let rule = "suppress = delay = 0, so that nobody is first";
    Err(OutOfDomain::Condition { rule, way_out: "choose one of them above 0" })
}

fn needs_uniform(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.shape == Shape::Uniform {
        return Ok(());
    }
    let rule = "this holds for uniform timers only";
    Err(OutOfDomain::Condition { rule, way_out: "choose `timer` uniform" })
}

/// t_max for any timers: the integral of the probability that it is later than t.
///
/// It is not if the first message that gets through was sent by t − Δ; or if that was sent later,
/// at x, and nobody wakes between t and x + Δ; or if all are lost, and nobody wakes after t. With
/// v = P(x) the second is ∫ N(1−l) (1 − (1−l)v − P(x+Δ) + P(t))^{N−1} dv, in which P(x+Δ) is P(Δ) +
/// v/s up to T_S, and then 1: the integral of a power of a line.
fn convergence_integral(inputs: &ValidInputs) -> f64 {
    let (n, l) = (f64::from(inputs.nodes), inputs.loss.rate());
    let (kept, slope, delay) = (1.0 - l, wake::slope(inputs), inputs.delay);
    let woken = |t: f64| wake::cdf(inputs, t);
    // What begins after this is heard after T_S.
    let late = inputs.suppress - delay;
    let share = kept * slope / (kept * slope + 1.0);
    let later = |t: f64| {
        let unheard = power_of_rest(kept * woken(t - delay), n);
        // The line where v is least, and where it is greatest or begins to be late.
        let least = if t < delay { power_of_rest(woken(delay) - woken(t), n) } else { unheard };
        let (greatest, rest) = if t <= late {
            let nobody = kept * woken(t) + (woken(t + delay) - woken(t));
            (power_of_rest(nobody.min(1.0), n), pow(l * woken(t), n))
        } else {
            let nobody = power_of_rest((1.0 - woken(t) + kept * woken(late)).min(1.0), n);
            (nobody, nobody)
        };
        unheard - share * (least - greatest) - rest
    };
    let mut ends = [0.0, delay.min(inputs.suppress), late.max(0.0), inputs.suppress];
    ends.sort_by(f64::total_cmp);
    ends.windows(2).map(|ends| piecewise(inputs, ends[0], ends[1], &later)).sum()
}

/// The integral over [from, to] of what has layers at these ends, and changes with the density of
/// wake-ups elsewhere.
fn piecewise(inputs: &ValidInputs, from: f64, to: f64, f: &dyn Fn(f64) -> f64) -> f64 {
    let rate = match inputs.shape {
        Shape::Uniform => 1.0,
        Shape::Rising { rate } | Shape::Falling { rate } => rate,
    };
    let (integral, thin) = (Integral::default(), 1.0 / f64::from(inputs.nodes));
    let pieces = ceil((to - from) * rate / (2.0 * inputs.suppress)).max(1.0) as u32;
    let place = |i: u32| from + (to - from) * f64::from(i) / f64::from(pieces);
    let piece = |i: u32| {
        let layer = if i == 0 || i + 1 == pieces { thin } else { 1.0 };
        integral.over(place(i), place(i + 1), layer, f)
    };
    (0..pieces).map(piece).sum()
}

/// Which form it is, for this loss.
fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None | Loss::Correlated(_) => "nothing is printed in this chapter; exact",
        Loss::Uncorrelated(_) => "nothing is printed in this chapter; exact for delay 0",
    }
}

fn point(inputs: &ValidInputs) -> Point {
    point_of(Variant::Sup, inputs).listen(f64::INFINITY)
}

/// `sup.messages`.
pub(super) const MESSAGES: Quantity = Quantity {
    name: "sup.messages",
    section: "5.4.1",
    about: "messages that SUP sends",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "loss-model", "delay", "suppress", "timer", "timer-rate"],
    printed,
    corrected: messages,
    note,
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| Some((point(inputs), Measure::Messages)),
};

/// `sup.convergence-time`.
pub(super) const CONVERGENCE_TIME: Quantity = Quantity {
    name: "sup.convergence-time",
    about: "when SUP sends its last message (t_max)",
    unit: Unit::Seconds,
    corrected: convergence_time,
    simulation: |inputs| Some((point(inputs), Measure::ConvergenceTime)),
    ..MESSAGES
};

/// `sup.first-message-time`.
pub(super) const FIRST_MESSAGE_TIME: Quantity = Quantity {
    name: "sup.first-message-time",
    about: "when SUP sends its first message (t_min): nobody silences the first to wake",
    unit: Unit::Seconds,
    reads: &["nodes", "suppress", "timer", "timer-rate"],
    corrected: |inputs| Ok(wake::mean_of_earliest(inputs)),
    note: |_| "nothing is printed in this chapter; exact",
    simulation: |inputs| Some((point(inputs), Measure::FirstMessageTime)),
    ..MESSAGES
};

/// `sup.delay`.
pub(super) const DELAY: Quantity = Quantity {
    name: "sup.delay",
    about: "when the last process of SUP has spoken or been silenced",
    unit: Unit::Seconds,
    corrected: delay,
    simulation: |inputs| Some((point(inputs), Measure::LeadershipDelay)),
    ..MESSAGES
};

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, inputs};
    use super::*;

    /// Three processes, Δ = .25, nothing lost, from the definition: the first speaks, the others if
    /// they wake within Δ of it.
    #[test]
    fn three_processes_by_hand() {
        let three = inputs(3, Loss::None, |given| given.delay = 0.25);
        // 1 + 2·P(|t_i − t_j| < Δ and so on): N·Δ + 1 − Δ³.
        assert_near(messages(&three).unwrap(), 0.75 + 1.0 - 0.25 * 0.25 * 0.25, 1e-14);
        let all = three.with(|given| given.delay = 2.0).unwrap();
        assert_near(messages(&all).unwrap(), 3.0, 1e-15);
        assert_near(convergence_time(&all).unwrap(), 0.75, 1e-14);
        assert_near(delay(&all).unwrap(), 0.75, 1e-14);
    }

    #[test]
    fn the_integral_of_t_max_is_its_closed_form_for_uniform_timers() {
        for nodes in [2, 3, 50, 1_000_000] {
            for loss in [Loss::None, Loss::Correlated(0.4), Loss::Correlated(0.99)] {
                for delay in [0.0, 0.1, 0.9] {
                    let at = inputs(nodes, loss, |given| {
                        (given.delay, given.suppress) = (2.0 * delay, 2.0);
                    });
                    let closed = convergence_time(&at).unwrap();
                    assert_near(convergence_integral(&at), closed, 1e-9);
                }
            }
        }
    }

    /// From the definition, for a density of x and then of what is later than x.
    fn convergence_by_parts(inputs: &ValidInputs) -> f64 {
        let (n, l) = (f64::from(inputs.nodes), inputs.loss.rate());
        let (integral, woken) = (Integral::default(), |t: f64| wake::cdf(inputs, t));
        let first = |x: f64| {
            let (v, until) = (woken(x), (x + inputs.delay).min(inputs.suppress));
            let g = 1.0 - (1.0 - l) * v;
            let wakes = |t: f64| any_of(((woken(until) - woken(t)) / g).clamp(0.0, 1.0), n - 1.0);
            let later = piecewise(inputs, x, until, &wakes);
            n * (1.0 - l) * pow(g, n - 1.0) * wake::density(inputs, x) * (x + later)
        };
        let late = inputs.suppress - inputs.delay;
        let of_all = |u: f64| n * pow(u, n - 1.0) * wake::quantile(inputs, u);
        piecewise(inputs, 0.0, late, &first)
            + piecewise(inputs, late, inputs.suppress, &first)
            + pow(l, n) * integral.over(0.0, 1.0, 1e-13, &of_all)
    }

    #[test]
    fn the_integral_of_t_max_is_its_definition() {
        for shape in [Shape::Rising { rate: 9.0 }, Shape::Falling { rate: 2.0 }] {
            for (nodes, l) in [(2, 0.0), (3, 0.4), (5, 0.9), (1000, 0.4), (100_000, 0.99)] {
                for delay in [0.0, 0.01, 0.3, 0.8] {
                    let at = inputs(nodes, Loss::Correlated(l), |given| {
                        (given.shape, given.delay) = (shape, delay);
                    });
                    assert_near(convergence_integral(&at), convergence_by_parts(&at), 1e-9);
                }
            }
        }
    }

    /// A steep timer is a plain exponential one: with all speaking, t_max is the mean of the
    /// largest of two, 3/2 of one's mean.
    #[test]
    fn the_integral_of_t_max_follows_timers_far_from_uniform() {
        for loss in [Loss::None, Loss::Correlated(0.4)] {
            let two = inputs(2, loss, |given| given.shape = Shape::Falling { rate: 500.0 });
            assert_near(convergence_time(&two).unwrap(), 1.5 / 500.0, 1e-9);
            let late = two.with(|given| given.shape = Shape::Rising { rate: 500.0 }).unwrap();
            // Of two that wake at T_S less such times the later is T_S less the smaller.
            assert_near(convergence_time(&late).unwrap(), 1.0 - 0.5 / 500.0, 1e-9);
        }
    }

    #[test]
    fn all_three_are_finite_for_many_processes_and_heavy_loss() {
        for nodes in [2, 1000, 1_000_000] {
            for l in [0.0, 1e-9, 0.5, 0.99, 0.9999] {
                for delay_ in [0.0, 1e-6, 0.1, 1.0, 5.0] {
                    let at = inputs(nodes, Loss::Correlated(l), |given| given.delay = delay_);
                    let (last, done) = (convergence_time(&at).unwrap(), delay(&at).unwrap());
                    let sent = messages(&at).unwrap();
                    assert!((1.0..=f64::from(nodes) * (1.0 + 1e-12)).contains(&sent), "{sent}");
                    assert!(0.0 < last && last <= done * (1.0 + 1e-9), "{nodes} {l} {delay_}");
                    assert!(done <= 1.0, "{nodes} {l} {delay_}: {done}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_form_is_refused() {
        let apart = Loss::Uncorrelated(0.4);
        let condition = |result| matches!(result, Err(OutOfDomain::Condition { .. }));
        assert!(condition(messages(&inputs(3, apart, |_| ()))), "a delay");
        assert!(condition(convergence_time(&inputs(3, apart, |_| ()))));
        assert!(condition(delay(&inputs(3, apart, |given| given.delay = 0.0))));
        let many = inputs(LINE_MAX + 1, apart, |given| given.delay = 0.0);
        assert!(matches!(messages(&many), Err(OutOfDomain::Nodes { most: LINE_MAX, .. })));
        let at_once = |given: &mut crate::Inputs| (given.delay, given.suppress) = (0.0, 0.0);
        assert!(condition(messages(&inputs(3, Loss::None, at_once))));
        let rising = |given: &mut crate::Inputs| {
            (given.delay, given.shape) = (0.0, Shape::Rising { rate: 2.0 });
        };
        assert!(condition(convergence_time(&inputs(3, apart, rising))));
        assert!(matches!(printed(&inputs(3, apart, |_| ())), Err(OutOfDomain::NoValue(_))));
    }

    #[test]
    fn with_two_processes_both_models_of_loss_are_one() {
        let at = |loss| inputs(2, loss, |_| ());
        for formula in [messages, convergence_time] {
            let apart = formula(&at(Loss::Uncorrelated(0.4))).unwrap();
            assert_near(apart, formula(&at(Loss::Correlated(0.4))).unwrap(), 1e-15);
        }
    }
}
