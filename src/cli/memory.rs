//! Whether an experiment fits into this machine.

use super::failure::Failure;
use bellwether::sim::Experiment;

/// What one process takes, at most, in the event engine and in the lazy one.
const BYTES_PER_PROCESS_EVENT: u64 = 200;
const BYTES_PER_PROCESS_LAZY: u64 = 64;
/// What one run's sample takes.
const BYTES_PER_RUN: u64 = 128;

/// Refuses what would not fit, instead of starting and being killed.
pub(super) fn check(experiment: &Experiment, lazy: bool) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = if experiment.threads == 0 { cores } else { experiment.threads };
    let threads = (threads as u64).min(experiment.runs.max(1));
    let each = if lazy { BYTES_PER_PROCESS_LAZY } else { BYTES_PER_PROCESS_EVENT };
    let worlds = u64::from(experiment.nodes).saturating_mul(each).saturating_mul(threads);
    let needed = worlds.saturating_add(experiment.runs.saturating_mul(BYTES_PER_RUN));
    match available() {
        Some(free) if needed > free => Err(Failure::usage(format!(
            "{} processes and {} runs on {threads} threads need about {}, but {} are free; choose \
             fewer processes, runs or threads",
            experiment.nodes,
            experiment.runs,
            gibibytes(needed),
            gibibytes(free)
        ))),
        _ => Ok(()),
    }
}

/// The memory this machine has to spare, where that can be known.
fn available() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}
