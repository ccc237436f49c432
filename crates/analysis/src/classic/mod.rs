//! Elections that somebody calls: bully, the rings, ad hoc networks.
//!
//! **Source.** A lecture on leader election (Aarhus University, 2020; bully, ring, ad hoc,
//! Hirschberg-Sinclair), and Beaulah Soundarabai and others, "An improved leader election algorithm
//! for distributed systems", International Journal of Next-Generation Networks 5(1), 2013 (MEREA),
//! each formula as printed and as corrected in our reading. Chang and Roberts, Communications of
//! the ACM 22(5), 1979, for what the lecture names after them and does not count.
//!
//! **Assumptions**, those of the texts: nothing is lost, all calls for an election come at
//! time zero, and no process fails meanwhile; a dead process is dead from the start. A message
//! counts when it is sent, to the dead too; one to several receivers counts once for each. Every
//! message takes Δ, and a process D over each that it receives, one after the other.
//!
//! **Promise.** Counts are whole numbers, computed as such and rounded once: exact below 2⁵³, which
//! n² exceeds from 95 million processes on. Means are exact to a relative error of 10⁻¹². What is
//! no count of what happens but a bound says so. With losses there is no value.
//!
//! | paper | code | unit | meaning |
//! |---|---|---|---|
//! | N, n, V | [`nodes`](crate::Inputs::nodes) | | all processes, the dead one of bully included |
//! | id(P_k) = k | – | | processes are numbered from 0; the greatest is N−1 |
//! | k | [`initiators`](crate::Inputs::initiators) | | how many call an election at once |
//! | P_i | [`initiator`](crate::Inputs::initiator) | | who calls it, where it matters |
//! | E | [`links`](crate::Inputs::links) | | links of an ad hoc network; 2N by default |
//! | T (MEREA) | – | | when an election was called; its age decides, at equal times the id |
//! | 3 s | [`delay`](crate::Inputs::delay) | s | Δ: how long a message takes |
//! | 1 s | [`processing`](crate::Inputs::processing) | s | D: how long a process takes over one |
//! | – | [`reply`](crate::Inputs::reply) | s | R: bully's time-out for an OK |
//! | H_n | – | | 1 + 1/2 + … + 1/n |
//! | n_e, n_c, y_e | – | messages | Election, Coordinator, Election of younger calls |
//!
//! # Space
//!
//! What a process keeps and what a message carries, in ids; nothing here is computed.
//!
//! | protocol | process | message |
//! |---|---|---|
//! | bully | O(1), and those known to be dead | O(1) |
//! | ring, MEREA | O(1), and the living as last told | O(n): the ids it has collected |
//! | Chang-Roberts, Hirschberg-Sinclair | O(1) | O(1) |
//! | ad hoc | O(degree): whom it waits for | O(1) |

mod count;
#[cfg(test)]
mod testing;

pub mod ad_hoc;
pub mod bully;
pub mod chang_roberts;
pub mod hirschberg_sinclair;
pub mod merea;
pub mod ring;

use crate::inputs::ValidInputs;
use crate::point::{Point, duration};
use crate::quantity::Quantity;

/// The simulation of what formulas are asked about. Nothing is lost in it.
pub(crate) fn point_of(protocol: &'static str, inputs: &ValidInputs) -> Point {
    let mut point = Point::new(protocol, inputs.nodes);
    point.delay = duration(inputs.delay);
    point.initiation.processing = duration(inputs.processing);
    point
}

/// All quantities, one list per protocol.
pub const QUANTITIES: &[&[&Quantity]] = &[
    bully::QUANTITIES,
    ring::QUANTITIES,
    chang_roberts::QUANTITIES,
    hirschberg_sinclair::QUANTITIES,
    merea::QUANTITIES,
    ad_hoc::QUANTITIES,
];
