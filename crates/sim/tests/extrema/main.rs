//! Chang-Roberts and Hirschberg-Sinclair in a world: the message counts of the literature to the
//! letter, and agreement after any trouble.

mod chang_roberts;
mod crashes;
#[path = "../support/schedules.rs"]
mod drawer;
mod hirschberg_sinclair;
mod schedules;
mod support;
