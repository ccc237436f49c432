//! How a plan is confirmed by simulation, for every protocol that is planned by formulas.

use super::runs;
use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::common::{Seed, Threads, refuse_effort};
use crate::cli::output::Format;
use crate::cli::output::progress::{Interrupt, Progress, followed};
use bellwether::analysis::figures::SimulationFailed;
use bellwether::analysis::plan::Effort;
use clap::Args;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

#[derive(Args, Debug)]
pub(super) struct Confirming {
    /// How many runs confirm what is expected, at most; 0 for no simulation
    #[arg(long, value_name = "R", default_value = "400")]
    #[arg(value_parser = runs)]
    simulate: u64,
    #[command(flatten)]
    seed: Seed,
    #[command(flatten)]
    threads: Threads,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

/// What simulations found.
pub(super) trait Found: Send + 'static {
    /// The names of what they do not confirm.
    fn doubts(&self) -> Vec<String>;
}

/// What the simulations of a plan say.
pub(super) enum Evidence<F> {
    /// None was asked for.
    None,
    Interrupted,
    Found(F),
}

impl Confirming {
    /// Simulates what was planned.
    pub(super) fn simulate<F: Found>(
        &self,
        confirm: impl FnOnce(Effort, &(dyn Fn(u64) + Sync)) -> Result<F, SimulationFailed>
        + Send
        + 'static,
    ) -> Result<Evidence<F>, Failure> {
        if self.simulate == 0 {
            refuse_effort(self.seed, self.threads, "with --simulate 0; leave it out")?;
            return Ok(Evidence::None);
        }
        let threads = self.threads.start(self.simulate);
        let effort = Effort { runs: self.simulate, seed: self.seed.get(), threads };
        // How many runs there are is known only when the first is done.
        let progress: Arc<OnceLock<Progress>> = Arc::default();
        let (ticked, followed) = (Arc::clone(&progress), followed());
        let confirmed = Interrupt::catch()?.unless(move || {
            let made = |total| Progress::of_runs(total, followed.clone());
            let tick = |total: u64| ticked.get_or_init(|| made(total)).tick();
            confirm(effort, &tick)
        })?;
        if let Some(progress) = progress.get() {
            progress.clear();
        }
        match confirmed {
            Some(found) => Ok(Evidence::Found(found.map_err(Failure::usage)?)),
            None => Ok(Evidence::Interrupted),
        }
    }
}

impl<F: Found> Evidence<F> {
    pub(super) fn found(&self) -> Option<&F> {
        if let Self::Found(found) = self { Some(found) } else { None }
    }

    /// Whether the simulations confirm the prediction, if there were any.
    pub(super) fn confirms(&self) -> Option<bool> {
        Some(self.found()?.doubts().is_empty())
    }

    /// The same in a line.
    pub(super) fn conclusion(&self) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Interrupted => "INTERRUPTED: no simulation confirms the prediction".to_owned(),
            Self::Found(found) => match found.doubts().join(", ").replace('_', " ").as_str() {
                "" => "the simulation confirms the prediction".to_owned(),
                doubts => format!("the simulation does not confirm: {doubts}"),
            },
        })
    }

    /// Adds to a result for programs that it is partial, if it is.
    pub(super) fn mark(&self, mut result: Value) -> Value {
        if matches!(self, Self::Interrupted) {
            result["interrupted"] = json!(true);
        }
        result
    }

    /// Prints the plan. The exit code says whether it is confirmed, also if nobody reads on.
    pub(super) fn print(&self, text: &str) -> Done {
        let printed = writeln!(io::stdout(), "{text}");
        match (self, self.confirms()) {
            (Self::Interrupted, _) => Err(Failure::Interrupted(None)),
            (_, Some(false)) => Err(Failure::Violated),
            _ => Ok(printed?),
        }
    }
}
