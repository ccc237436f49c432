//! E5: the elected leader lives; and what follows for any K.
//!
//! 1 − p_fail, printed and corrected. Nobody notices if the leader fails within the round: relays
//! take the dead in their views for candidates like others, and a decision is made of what final
//! messages say. Another round begins only if those say something else. So [`ceiling`] is the most
//! that strong success can come to, however large K is and however little is lost, where the text
//! speaks of probabilities near 1 and of graphs for p_fail that are "very similar". That holds
//! where all can be told whom to prefer, as by ids. Where only a candidate itself knows how good it
//! is, one that fails before its first word is not preferred, and a little more is possible.

use super::{CHANCE, measured, round_of};
use crate::quantity::Quantity;
use crate::setting::{OutOfDomain, Setting};
use bellwether_sim::Measure;

/// 1 − p_fail.
///
/// # Errors
/// None.
pub fn leader_lives(setting: &Setting) -> Result<f64, OutOfDomain> {
    Ok(1.0 - setting.fail)
}

/// The most that strong success can come to.
///
/// # Errors
/// None.
pub fn ceiling(setting: &Setting) -> Result<f64, OutOfDomain> {
    leader_lives(setting)
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
        simulation: |setting| {
            // Everyone is a relay and nothing is lost: a leader that lives tells everyone itself.
            let ballot = round_of(setting, |ballot| {
                (ballot.config.k, ballot.view) = (setting.nodes, 1.0);
                (ballot.unicast_loss, ballot.multicast_loss) = (0.0, 0.0);
            });
            measured(ballot, Measure::StrongSuccess).filter(|_| setting.nodes <= 200)
        },
        ..CHANCE
    },
];
