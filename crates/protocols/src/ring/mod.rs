//! Elections on a ring.
//!
//! Each process sends to the next that is up. The greatest live process leads.

mod circle;
mod key;
mod params;

pub use key::Key;
pub use params::{BadConfig, Config, Params, Variant};
