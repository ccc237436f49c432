//! The collecting ring and MEREA in a world: the message counts of the literature to the letter,
//! messages that outlive their initiator or get lost, and agreement after any trouble.

mod counts;
mod crashes;
#[path = "../support/schedules.rs"]
mod drawer;
mod printed;
mod schedules;
mod support;
