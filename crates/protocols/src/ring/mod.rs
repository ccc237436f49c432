//! Elections on a ring.
//!
//! Each process sends to the next that is up. The greatest live process leads.

pub mod chang_roberts;
mod circle;
pub mod extrema;
pub mod hirschberg_sinclair;
mod key;
mod params;

pub use chang_roberts::ChangRoberts;
pub use hirschberg_sinclair::HirschbergSinclair;
pub use key::Key;
pub use params::{BadConfig, Config, Params, Variant};
