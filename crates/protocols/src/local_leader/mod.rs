//! Leadership by leases: local leaders in every partition, or one leader of a majority.

mod alive;
mod candidate;
mod commands;
mod hall;
mod line;
mod lock;
pub mod message;
mod params;
mod preset;
mod rules;
mod supporter;
mod votes;

pub use hall::{Hall, Timer};
pub use params::{BadConfig, Config, Mode, Params};
pub use preset::Preset;
pub use rules::{Rule, Rules};
