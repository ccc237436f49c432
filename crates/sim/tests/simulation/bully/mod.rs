//! Bully in a world: exactly the message counts of the literature, and agreement after any faults.

mod counts;
mod schedules;
mod support;
