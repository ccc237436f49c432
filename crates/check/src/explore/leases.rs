//! The parameters of leases in ticks, small enough that a group of three can be explored.
//!
//! Δ = 1, P = 2, lockTime = 4, EP = 5, no drift and no σ: a lease outlasts a failed request and one
//! more, and all compared times are equal or differ by a tick. `expires` is one tick: in majority
//! mode liveness of peers decides nothing, and would only multiply states.

use super::world::TICK;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, Params};

/// The parameters in one line.
pub const ABOUT: &str = "in ticks: Δ 1, P 2, lockTime 4, EP 5; clocks agree, delays are known";

/// Majority leases in ticks.
pub fn in_ticks() -> Params {
    in_ticks_of(2, 4, 5)
}

/// The same with lockTime 3, P 1 and EP 4: a process that lost its disk is quarantined for less
/// long, so three of them can be explored until it votes again.
pub fn brief_in_ticks() -> Params {
    in_ticks_of(1, 3, 4)
}

/// The same with lockTime 2, P 1 and EP 3: violations need fewer ticks, and with zero delay a
/// request can still fail and succeed within a lease.
pub fn short_in_ticks() -> Params {
    in_ticks_of(1, 2, 3)
}

/// # Panics
/// Never: the fixed values are valid as unchecked ones.
fn in_ticks_of(renew: u64, lock: u64, period: u64) -> Params {
    let ticks = |count: u64| Some(TICK * count);
    let config = Config {
        delta: ticks(1),
        sigma: Some(Duration::ZERO),
        renew: ticks(renew),
        lock: ticks(lock),
        period: ticks(period),
        expires: ticks(1),
        drift_ppm: Some(0),
        unchecked: true,
        ..Config::default()
    };
    Params::try_from(config).expect("fixed values that make sense")
}
