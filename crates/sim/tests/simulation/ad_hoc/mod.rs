//! Elections in ad hoc networks: exact counts without faults, and the right leader in every
//! component once all faults are over.

mod counts;
mod meetings;
mod motion;
mod schedules;
mod steps;
mod support;
