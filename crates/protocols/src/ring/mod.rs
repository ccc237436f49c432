//! Elections on a ring.
//!
//! Each process sends to the next that is up. The greatest live process leads.

pub mod chang_roberts;
mod circle;
pub mod collecting;
pub mod extrema;
pub mod hirschberg_sinclair;
mod key;
pub mod merea;
mod message;
mod params;

pub use chang_roberts::ChangRoberts;
pub use collecting::Collecting;
pub use hirschberg_sinclair::HirschbergSinclair;
pub use key::Key;
pub use message::{Call, Message};
pub use params::{BadConfig, Config, Params, Variant};
