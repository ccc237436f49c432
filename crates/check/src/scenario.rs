//! A schedule as a scenario file, which `bellwether trace` runs in the same way.

use crate::Trial;
use crate::schedule::Schedule;
use bellwether_sim::{ScenarioFile, Unwritable};
use serde::Serialize;

/// Writes a schedule of a trial as a scenario of this protocol with these parameters. If the trial
/// has another promise than the protocol, the file says by which one the run is judged.
///
/// # Errors
/// [`Unwritable`] if the parameters cannot be written to a file.
pub fn to_toml<C: Serialize>(
    trial: &Trial,
    schedule: &Schedule,
    about: &str,
    protocol: &str,
    params: &C,
) -> Result<String, Unwritable> {
    let promise = (!trial.own).then_some(trial.promise);
    ScenarioFile::write_judged(about, protocol, params, &schedule.plan, schedule.luck, promise)
}
