//! A schedule as a scenario file, which `bellwether trace` runs just so.

use crate::schedule::Schedule;
use bellwether_sim::{ScenarioFile, Unwritable};
use serde::Serialize;

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
    ScenarioFile::write(about, protocol, params, &schedule.plan, schedule.luck)
}
