//! The collecting ring and MEREA in a world: exactly the message counts of the literature, messages
//! that outlive their initiator or get lost, and agreement after any faults.

mod counts;
mod crashes;
mod printed;
mod schedules;
mod support;
