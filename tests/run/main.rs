//! `bellwether run` and the commands around it, with real processes on the loopback.
//!
//! **Assumptions.** A shared machine may stall for a while, so what is waited for may take long,
//! and leases are those of a wide-area network.

mod asking;
mod blocked;
mod commands;
mod fencing;
mod guarding;
mod handing_over;
mod hooks;
mod joining;
mod keys;
mod logging;
mod member;
mod notify;
mod output;
mod partitions;
mod records;
mod reload;
mod reporting;
mod roles;
mod scheduling;
mod settings;
mod tokens;
mod voters;

#[path = "../live/lab/clock.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod clock;
#[path = "../live/lab/stalls.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod stalls;
