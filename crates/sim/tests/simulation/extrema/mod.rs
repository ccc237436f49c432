//! Chang-Roberts and Hirschberg-Sinclair in a world: exactly the message counts of the literature,
//! and agreement after any faults.

mod chang_roberts;
mod crashes;
mod hirschberg_sinclair;
mod schedules;
mod support;
