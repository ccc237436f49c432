//! Leadership by leases: local leaders in every partition, or one leader of a majority.

pub mod message;
pub mod params;
pub mod preset;
pub mod rules;

pub use params::{BadConfig, Config, Mode, Params};
pub use preset::Preset;
