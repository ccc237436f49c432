//! E5: the elected leader lives; and what follows for any K.
//!
//! 1 − p_fail, printed and corrected. Nobody notices if the leader fails within the round: relays
//! cannot tell that a member of their view has crashed, and decide by the final messages alone.
//! Another round begins only if these disagree. So [`ceiling`] is the upper limit of strong
//! success, however large K is and however little is lost, where the text speaks of probabilities
//! near 1 and of graphs for p_fail that are "very similar". The limit holds where all know whom to
//! prefer, for example by ids. Where only a candidate itself knows how good it is, a candidate that
//! crashes before it sends anything is not chosen, so success can be slightly higher.

use super::{CHANCE, round_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_sim::Measure;

/// 1 − p_fail.
pub fn leader_lives(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(1.0 - inputs.fail)
}

/// The most that strong success can come to.
pub fn ceiling(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    leader_lives(inputs)
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "probabilistic.e5",
        section: "Gupta 4: E5",
        about: "that the elected leader does not fail within the round",
        reads: &["fail"],
        printed: leader_lives,
        corrected: leader_lives,
        note: |_| "printed and corrected agree",
        exact: |_| true,
        ..CHANCE
    },
    &Quantity {
        name: "probabilistic.ceiling",
        section: "Gupta 4: E5; 5",
        about: "the most that strong success can come to, whatever K is",
        reads: &["nodes", "fail"],
        printed: |_| Err(OutOfDomain::NoValue("the text has no limit below 1")),
        corrected: ceiling,
        note: |_| "nobody notices that the leader failed within the round, so none begins another",
        exact: |_| true,
        simulation: |inputs| {
            // Everyone is a relay and nothing is lost: a leader that lives tells everyone itself.
            let all = round_of(inputs).with("k", inputs.nodes).loss(Loss::None);
            let point = Point { view: 1.0, ..all };
            (inputs.nodes <= 200).then_some((point, Measure::StrongSuccess))
        },
        ..CHANCE
    },
];
