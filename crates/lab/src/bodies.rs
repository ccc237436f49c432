//! The bodies of requests as plain functions over bytes, for fuzzers.
//!
//! **Promise.** A body is read as the server reads it, up to the work that it asks for.

use crate::program::Program;
use crate::routes::parse;
use crate::what::RunRequest;
use crate::{figures, live, measure, recorded, reply, stage, trials};

/// The requests that have a body, by the last part of their paths.
pub const BODIES: [&str; 9] =
    ["run", "command", "diagram", "measure", "sweep", "figures", "check", "resign", "judge"];

/// Reads the body of one of [`BODIES`]: the scenario file of a run, and otherwise how it was
/// understood.
///
/// # Errors
/// Why it is refused, in one line.
pub fn read_body(request: &str, body: &[u8], program: &dyn Program) -> Result<String, String> {
    read(request, body, program).map_err(reply::one_line)
}

fn read(request: &str, body: &[u8], program: &dyn Program) -> Result<String, String> {
    match request {
        "run" | "command" | "diagram" => {
            let chosen = parse::<RunRequest>(body)?.choose(program)?;
            stage::check_size(chosen.scenario.plan.nodes)?;
            Ok(chosen.toml)
        }
        "measure" => parse::<measure::Wanted>(body).map(|it| format!("{it:?}")),
        "sweep" => parse::<measure::Swept>(body).map(|it| format!("{:?}", it.values())),
        "figures" => parse::<figures::Wanted>(body).map(|it| format!("{it:?}")),
        "check" => parse::<trials::Wanted>(body).map(|it| format!("{it:?}")),
        "resign" => parse::<live::Resigning>(body).map(|it| format!("{it:?}")),
        "judge" => {
            recorded::read(body, &|| false).map(|(_, records)| format!("{} records", records.len()))
        }
        other => Err(format!("{other:?} is no request with a body")),
    }
}
