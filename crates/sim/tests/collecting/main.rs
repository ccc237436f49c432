//! The collecting ring and MEREA in a world: the message counts of the literature to the letter,
//! messages that outlive their initiator or get lost, and agreement after any trouble.

mod counts;
mod crashes;
mod printed;
mod schedules;
mod support;
