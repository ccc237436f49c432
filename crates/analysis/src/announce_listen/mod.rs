//! The announce-listen chapter: Schooler, "Why multicast protocols (don't) scale", chapter 5.

mod chain;
mod one_by_one;
mod sums;

pub mod closure;
pub mod messages;
pub mod messages_in_suppression;
pub mod messages_le_a;
pub mod messages_le_m;
pub mod recurrence;
pub mod suppression;
pub mod wake;

use crate::quantity::Quantity;

/// All quantities of the chapter.
pub const QUANTITIES: &[&Quantity] = &[
    &messages_in_suppression::QUANTITY,
    &messages::QUANTITY,
    &messages_le_a::LE_A,
    &messages_le_a::AL,
    &messages_le_m::QUANTITY,
    &suppression::MESSAGES,
    &suppression::CONVERGENCE_TIME,
    &suppression::DELAY,
    &closure::QUANTITY,
    &recurrence::TOTAL,
    &recurrence::Q,
    &recurrence::S,
];
