//! Messages of LE-S in [0, T_S]: sections 5.3.3.1 to 5.3.3.3.
//!
//! The process behind k greater ones sends if each of those woke too late to be heard, or what it
//! sent was lost. With one coin per message (l = 0 among them) that has the probability
//! ∫₀^{T_S} p(t) (1 − (1−l) P(t−Δ))^k dt, since whatever silences a greater process silences this
//! one too. Summed over k:
//!
//! * printed:   N·P(Δ)/(1−l) + ∫_Δ^{T_S} p(t) [1 − (1 − (1−l) P(t−Δ))^N] / P(t−Δ) dt
//! * corrected: N·P(Δ) + (1/(1−l)) ∫_Δ^{T_S} p(t) [1 − (1 − (1−l) P(t−Δ))^N] / P(t−Δ) dt
//!
//! The sum of the geometric series is [1 − x^N]/(1 − x) with 1 − x = (1−l) P(t−Δ): its factor
//! 1/(1−l) belongs to the integral and was set before the other term. Without loss both are the same.
//! With uniform timers the corrected form is N·Δ + (1/(1−l)) Σ_{k=1..N} (1 − c^k)/k for T_S = 1,
//! c = l + Δ − lΔ.
//!
//! With a coin per receiver the text gives the first round of its recurrence
//! ([`recurrence`](super::recurrence)); corrected is the first round of the
//! [`closure`](super::closure), both for Δ = 0.
//!
//! *Assumes* T_A ≥ T_S: otherwise some announce a second time, which the text does not count.

use super::sums::{geometric, harmonic_any};
use super::wake;
use crate::cell::Cell;
use crate::integral::Integral;
use crate::quantity::{Quantity, Unit};
use crate::setting::{Loss, OutOfDomain, Setting};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;

/// As section 5.3.3.2 prints it.
///
/// # Errors
/// [`OutOfDomain`], if T_A < T_S; with uncorrelated loss also if Δ > 0.
pub fn printed(setting: &Setting) -> Result<f64, OutOfDomain> {
    needs_one_announcement(setting)?;
    if let Loss::Uncorrelated(_) = setting.loss {
        return super::recurrence::first_round_messages(setting);
    }
    let kept = 1.0 - setting.loss.rate();
    Ok(early(setting) / kept + late(setting) * kept)
}

/// As it should read.
///
/// # Errors
/// [`OutOfDomain`], if T_A < T_S; with uncorrelated loss also if Δ > 0.
pub fn corrected(setting: &Setting) -> Result<f64, OutOfDomain> {
    needs_one_announcement(setting)?;
    if let Loss::Uncorrelated(_) = setting.loss {
        return super::closure::first_round_messages(setting);
    }
    Ok(early(setting) + late(setting))
}

fn needs_one_announcement(setting: &Setting) -> Result<(), OutOfDomain> {
    if setting.announce >= setting.suppress {
        return Ok(());
    }
    let rule = "announce must be at least suppress, or some announce twice in the interval";
    Err(OutOfDomain::Condition { rule, way_out: "raise --announce or lower --suppress" })
}

/// N·P(Δ): those who wake before they can hear anybody.
fn early(setting: &Setting) -> f64 {
    f64::from(setting.nodes) * wake::cdf(setting, setting.delay)
}

/// (1/(1−l)) ∫_Δ^{T_S} p(t) [1 − (1 − (1−l) P(t−Δ))^N] / P(t−Δ) dt: those who might have heard.
fn late(setting: &Setting) -> f64 {
    if setting.delay >= setting.suppress {
        return 0.0;
    }
    match setting.shape {
        Shape::Uniform => late_uniform(setting),
        _ => late_integral(setting),
    }
}

/// The same for uniform timers: (1/(1−l)) Σ_{k=1..N} (1 − c^k)/k.
fn late_uniform(setting: &Setting) -> f64 {
    let kept = 1.0 - setting.loss.rate();
    let rest = 1.0 - setting.delay / setting.suppress;
    harmonic_any(kept * rest, setting.nodes) / kept
}

/// The same for any timers, over the probability P(t) to have woken instead of t.
fn late_integral(setting: &Setting) -> f64 {
    let (n, kept) = (f64::from(setting.nodes), 1.0 - setting.loss.rate());
    let early = wake::cdf(setting, setting.delay);
    // P(t − Δ) is a line over P(t); so the layer is as thin as it is steep.
    let slope = wake::slope(setting);
    let layer = 1.0 / (n * kept * slope);
    let senders = |u: f64| geometric((kept * slope * u).min(1.0), n);
    Integral::default().over(0.0, 1.0 - early, layer, &senders)
}

/// What differs, for this loss.
fn note(setting: &Setting) -> &'static str {
    match setting.loss {
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
fn simulation(setting: &Setting) -> Option<(Cell, Measure)> {
    let mut cell = Cell::of(Variant::LeS, setting).listen(f64::INFINITY);
    cell.config.announce = cell.config.announce.max(cell.config.suppress);
    Some((cell, Measure::MessagesInOpening))
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
    exact: |setting| !matches!(setting.loss, Loss::Uncorrelated(_)),
    simulation,
};
