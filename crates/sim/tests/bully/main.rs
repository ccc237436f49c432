//! Bully in a world: the message counts of the literature to the letter, and agreement after any
//! trouble.

mod counts;
mod schedules;
mod support;
