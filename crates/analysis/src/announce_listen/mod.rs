//! The announce-listen chapter: Schooler, "Why multicast protocols (don't) scale", chapter 5.

pub mod wake;

use crate::quantity::Quantity;

/// All quantities of the chapter.
pub const QUANTITIES: &[&Quantity] = &[];
