//! A schedule as a scenario file, which `bellwether trace` runs in the same way.

use crate::schedule::Schedule;
use bellwether_sim::{ScenarioFile, Unwritable};
use serde::Serialize;

/// Writes a schedule as a scenario of this protocol with these parameters.
///
/// # Errors
/// [`Unwritable`] if the parameters cannot be written to a file.
pub fn to_toml<C: Serialize>(
    schedule: &Schedule,
    about: &str,
    protocol: &str,
    params: &C,
) -> Result<String, Unwritable> {
    ScenarioFile::write(about, protocol, params, &schedule.plan, schedule.luck)
}
