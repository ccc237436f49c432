//! Elections on a ring.
//!
//! Each process sends to the next that is up. The greatest live process leads.

mod circle;
pub mod collecting;
mod key;
pub mod merea;
mod message;
mod params;

pub use collecting::Collecting;
pub use key::Key;
pub use message::{Call, Message};
pub use params::{BadConfig, Config, Params, Variant};
