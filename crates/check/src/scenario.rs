//! A schedule as a scenario file, which `bellwether trace` runs just so.

use crate::schedule::Schedule;
use bellwether_core::Duration;
use bellwether_sim::{Network, Ranks, Timed};
use serde::Serialize;
use std::fmt;

/// A scenario file, in the order in which people read one.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Written<'a, C> {
    about: &'a str,
    protocol: &'a str,
    nodes: u32,
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    absent: &'a [u32],
    ranks: Ranks,
    seed: u64,
    until: Duration,
    offset: Duration,
    params: &'a C,
    network: &'a Network,
    #[serde(skip_serializing_if = "<[Timed]>::is_empty")]
    faults: &'a [Timed],
}

/// A schedule that cannot be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable(String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schedule cannot be written as a scenario: {}", self.0)
    }
}

impl std::error::Error for Unwritable {}

/// Writes a schedule as a scenario of this protocol with these parameters, as a person writes them.
///
/// # Errors
/// [`Unwritable`] if the parameters have no form in a file.
pub fn to_toml<C: Serialize>(
    schedule: &Schedule,
    about: &str,
    protocol: &str,
    params: &C,
) -> Result<String, Unwritable> {
    let plan = &schedule.plan;
    let written = Written {
        about,
        protocol,
        nodes: plan.nodes,
        absent: &plan.absent,
        ranks: plan.ranks,
        seed: schedule.luck,
        until: plan.horizon,
        offset: plan.offset,
        params,
        network: &plan.network,
        faults: &plan.faults,
    };
    toml::to_string(&written).map_err(|error| Unwritable(error.to_string()))
}
