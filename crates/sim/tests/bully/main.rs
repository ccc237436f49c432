//! Bully in a world: the message counts of the literature to the letter, and agreement after any
//! trouble.

mod counts;
#[path = "../support/schedules.rs"]
mod drawer;
mod schedules;
mod support;
