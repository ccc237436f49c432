//! The world.
pub mod diagram;
pub mod stats;
pub mod trace;
