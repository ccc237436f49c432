//! The collecting ring and MEREA in a world: exactly the message counts of the literature, messages
//! that outlive their initiator or get lost, and agreement after any faults.

mod counts;
mod crashes;
#[path = "../support/schedules.rs"]
mod drawer;
mod printed;
mod schedules;
mod support;
