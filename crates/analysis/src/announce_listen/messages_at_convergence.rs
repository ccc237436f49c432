//! Messages of LE-S by the time that the converging announcement is sent, itself included.
//!
//! Section 5.3.3 does not say whether a message that is sent while the converging one is under way
//! counts. [`messages`](super::messages) counts it; here it does not. Without loss the converging
//! announcement is the leader's first, at its wake-up u. The process behind k greater ones has sent
//! by then if it woke at w < u and none of the k−1 others woke before w − Δ. For T_S = 1 that has
//! the probability ∫ (1−w)(1 − (w−Δ)⁺)^{k−1} dw. Summed over k = 1 … N−1, with the leader's own:
//!
//! 1 + (N−1)(Δ − Δ²/2) + (1−Δ) Σ_{k<N} (1−Δ^k)/k − (1−Δ) + (1−Δ^N)/N.
//!
//! *Assumes* that nothing is lost, uniform timers and T_A ≥ T_S: nobody announces itself twice.

use super::point_of;
use super::sums::harmonic_any;
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;
use libm::pow;

/// The mean number.
///
/// # Errors
/// [`OutOfDomain`], for a single process, with loss, if timers are not uniform, and if T_A < T_S.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
    if inputs.loss != Loss::None || inputs.shape != Shape::Uniform {
        let rule = "this holds without loss and with uniform timers";
        return Err(OutOfDomain::Condition { rule, way_out: "leave `loss` and `timer` out" });
    }
    if inputs.announce < inputs.suppress || inputs.suppress == 0.0 {
        let rule = "announce must be at least suppress, and suppress above 0";
        return Err(OutOfDomain::Condition { rule, way_out: "raise `announce`" });
    }
    let (n, others) = (f64::from(inputs.nodes), inputs.nodes - 1);
    let delay = (inputs.delay / inputs.suppress).min(1.0);
    let early = f64::from(others) * (delay - delay * delay / 2.0);
    let late = (1.0 - delay) * (harmonic_any(1.0 - delay, others) - 1.0);
    Ok(1.0 + early + late + (1.0 - pow(delay, n)) / n)
}

/// `le-s.messages-at-convergence`.
pub(super) const QUANTITY: Quantity = Quantity {
    name: "le-s.messages-at-convergence",
    section: "5.3.3.1, 5.4.1",
    about: "messages that LE-S has sent when the converging announcement is sent, itself included",
    unit: Unit::Messages,
    reads: &["nodes", "delay", "suppress", "announce"],
    printed: |_| {
        let why = "the text does not say when it stops counting; see le-s.messages";
        Err(OutOfDomain::NoValue(why))
    },
    corrected,
    note: |_| "without what is sent while the converging announcement is under way; exact",
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| {
        let point = point_of(Variant::LeS, inputs).listen(f64::INFINITY);
        Some((point, Measure::MessagesAtConvergence))
    },
};

#[cfg(test)]
mod tests {
    use super::super::messages;
    use super::super::testing::{assert_near, inputs};
    use super::*;

    /// Without a delay nothing is under way: H_N, as counted until the reception.
    #[test]
    fn without_a_delay_both_ways_to_count_agree() {
        for nodes in [2, 3, 100] {
            let at = inputs(nodes, Loss::None, |given| given.delay = 0.0);
            assert_near(corrected(&at).unwrap(), messages::corrected(&at).unwrap(), 1e-12);
        }
    }

    /// Two processes: the lesser has sent by then if it woke first.
    #[test]
    fn of_two_processes_the_lesser_wakes_first_every_other_time() {
        for delay in [0.0, 0.3, 1.0, 4.0] {
            let at = inputs(2, Loss::None, |given| given.delay = delay);
            assert_near(corrected(&at).unwrap(), 1.5, 1e-14);
        }
    }

    /// Later than T_S nothing is heard: whoever woke before the leader has sent.
    #[test]
    fn with_a_long_delay_half_of_all_others_have_sent() {
        let at = inputs(101, Loss::None, |given| given.delay = 1.0);
        assert_near(corrected(&at).unwrap(), 51.0, 1e-13);
    }
}
