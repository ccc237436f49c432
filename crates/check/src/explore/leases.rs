//! The parameters of leases in ticks, small enough that a group of three can be explored.
//!
//! Δ = 1, P = 2, lockTime = 4, EP = 5, no drift and no σ: a lease outlives a request that fails and
//! one more, and everything that is compared differs by a tick or is equal. `expires` is one tick:
//! in majority mode who is alive decides nothing, and would only multiply states.

use super::world::TICK;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, Params};

/// The same in a line.
pub const ABOUT: &str = "in ticks: Δ 1, P 2, lockTime 4, EP 5; clocks agree, delays are known";

/// Majority leases in ticks.
pub fn in_ticks() -> Params {
    in_ticks_of(2, 4, 5)
}

/// The same with lockTime 2, P 1 and EP 3: whatever goes wrong does so in fewer ticks, and where
/// messages take no time a request still fails and succeeds within a lease.
pub fn short_in_ticks() -> Params {
    in_ticks_of(1, 2, 3)
}

/// # Panics
/// Never: the values are fixed and make sense, which is all that is asked of unchecked ones.
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
