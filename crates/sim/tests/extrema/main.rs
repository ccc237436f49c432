//! Chang-Roberts and Hirschberg-Sinclair in a world: exactly the message counts of the literature,
//! and agreement after any faults.

mod chang_roberts;
mod crashes;
#[path = "../support/schedules.rs"]
mod drawer;
mod hirschberg_sinclair;
mod schedules;
mod support;
