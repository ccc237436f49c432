//! The announce-listen chapter: Schooler, "Why multicast protocols (don't) scale", chapter 5.
//!
//! **Source.** Sections 5.3 (metrics and closed forms) and 5.4 (what the simulations showed), each
//! formula as printed and as corrected in our reading. One file per quantity; each says what is
//! printed, what is right, and why.
//!
//! **Assumptions**, those of the text: N processes, all of which hear each other; every message
//! takes Δ; a message is lost with probability l, by all receivers together (*correlated*) or by
//! each for itself (*uncorrelated*), whatever else is lost; clocks run alike; at equal times a
//! message comes before a timer. A start is simultaneous. Other events happen to a settled group at
//! any moment of the announce interval, so E\[t_d\] = E\[t_a\] = T_A/2.
//!
//! **Promise.** Corrected forms are exact, or say that they are not; all are evaluated without
//! cancellation, to a relative error of 10⁻⁹ or better, for N up to a million and l up to .99.
//!
//! | paper | code | unit | meaning |
//! |---|---|---|---|
//! | N | [`nodes`](crate::Inputs::nodes) | | all processes, the leader included; before the event |
//! | l | [`loss`](crate::Inputs::loss) | | how often a message is lost |
//! | l=0, corr, uc | [`Loss`] | | nobody loses, all together, each for itself |
//! | Δ | [`delay`](crate::Inputs::delay) | s | how long a message takes |
//! | T_S | [`suppress`](crate::Inputs::suppress) | s | the longest wait before the first message |
//! | t_s, E\[t_s\] | [`wake::mean`] | s | the wait, and its mean |
//! | p(t), P(t) | [`wake::density`], [`wake::cdf`] | 1/s, – | the law of the wait |
//! | t_min (SUP) | [`wake::mean_of_earliest`] | s | the shortest wait of all N |
//! | T_A | [`announce`](crate::Inputs::announce) | s | between a leader's announcements |
//! | T_L = (m+θ)T_A | [`listen`](crate::Inputs::listen) | s | silence after which a leader is given up |
//! | t_d, t_a | – | s | how far into the announce interval one departs or arrives |
//! | T_d, T_a | 1/[`departures`](crate::Inputs::departures), 1/[`arrivals`](crate::Inputs::arrivals) | s | time between departures, arrivals |
//! | X(n), E\[# consecutive lost\] | [`losses::beyond_first`] | announcements | those beyond the first until n have one |
//! | leadership delay | [`leadership_delay`] | s | from the start until all have heard the leader |
//! | t_max, rounds, avg_rounds | [`convergence`] | s, announcements | Table 5.1 |
//! | re-establishment delay | [`reestablishment`] | s | from an event until all agree again |
//! | inconsistent state | [`inconsistency`] | fraction | part of the time without agreement |
//! | Q(i,n,r), S(n,r) | [`round`](crate::Inputs::round), [`sent`](crate::Inputs::sent) | | i messages in round r; reaching it |

mod chain;
mod one_by_one;
pub(crate) mod sums;
#[cfg(test)]
pub(crate) mod testing;

pub mod closure;
pub mod convergence;
pub mod first_round;
pub mod inconsistency;
pub mod leadership_delay;
pub mod losses;
pub mod messages;
pub mod messages_at_convergence;
pub mod messages_in_suppression;
pub mod messages_le_a;
pub mod messages_le_m;
pub mod recurrence;
pub mod reestablishment;
pub mod suppression;
pub mod wake;

use crate::inputs::{Loss, ValidInputs};
use crate::point::{Point, duration};
use crate::quantity::Quantity;
use bellwether_protocols::announce_listen::Variant;

/// A start with the parameters of the thesis's figures.
pub fn point(variant: Variant, nodes: u32, loss: Loss) -> Point {
    Point::new(variant.name(), nodes).loss(loss)
}

/// The simulation of what formulas are asked about.
pub fn point_of(variant: Variant, inputs: &ValidInputs) -> Point {
    let mut point = point(variant, inputs.nodes, inputs.loss).shape(inputs.shape);
    point.delay = duration(inputs.delay);
    point
        .with_own("suppress", duration(inputs.suppress))
        .with_own("announce", duration(inputs.announce))
        .listen(inputs.listen)
}

/// All quantities of the chapter, one list per file or group of files.
pub const QUANTITIES: &[&[&Quantity]] = &[
    losses::QUANTITIES,
    leadership_delay::QUANTITIES,
    convergence::QUANTITIES,
    reestablishment::QUANTITIES,
    inconsistency::QUANTITIES,
    MESSAGES,
];

/// Those that count messages, and those of SUP.
const MESSAGES: &[&Quantity] = &[
    &messages_in_suppression::QUANTITY,
    &messages::QUANTITY,
    &messages_at_convergence::QUANTITY,
    &messages::SECOND_ROUND,
    &messages_le_a::LE_A,
    &messages_le_a::FIRST_ROUND,
    &messages_le_a::AL,
    &messages_le_m::QUANTITY,
    &suppression::MESSAGES,
    &suppression::FIRST_MESSAGE_TIME,
    &suppression::CONVERGENCE_TIME,
    &suppression::DELAY,
    &first_round::QUANTITY,
    &closure::QUANTITY,
    &recurrence::TOTAL,
    &recurrence::Q,
    &recurrence::S,
];
