//! Bully in a world: exactly the message counts of the literature, and agreement after any faults.

mod counts;
#[path = "../support/schedules.rs"]
mod drawer;
mod schedules;
mod support;
