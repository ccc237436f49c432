//! Elections in ad hoc networks: exact counts where nothing goes wrong, and the right leader in
//! every component once everything that went wrong is over.

mod counts;
mod meetings;
mod motion;
mod schedules;
mod steps;
mod support;
