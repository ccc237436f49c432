//! `bellwether replay`: runs recorded lives again in memory, and compares.

use crate::cli::Done;
use crate::cli::commands::live;
use crate::cli::commands::sim::count;
use crate::cli::failure::Failure;
use crate::cli::output::TextOrJson;
use bellwether::check::replay::{Replay as Outcome, replay};
use clap::Args;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Replay recorded traces and name the first difference
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Replay {
    /// What members recorded with --record
    #[arg(required = true, value_name = "FILE")]
    traces: Vec<PathBuf>,
    /// How to write the outcome
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
}

const EXAMPLES: &str = "\
Examples:
  bellwether replay 1.jsonl 2.jsonl 3.jsonl

Exit code: 0 if every step is the same, 1 if one is not or there is none.

How to read it: the same state machines are given the recorded seed, clock, messages and commands,
without a socket or a clock of their own. They must send, store and believe the same again.";

impl Replay {
    /// Runs it.
    pub(in crate::cli) fn run(&self) -> Done {
        let traces = live::read_all(&self.traces)?;
        let outcome = replay(&traces).map_err(|bad| Failure::Config(bad.to_string()))?;
        if outcome.lives == 0 {
            return Err(Failure::Io(
                "no life of a member is recorded in these files, so there is nothing to replay; \
                 name what members wrote with --record"
                    .to_owned(),
            ));
        }
        let text = match self.format {
            TextOrJson::Text => for_people(&outcome),
            TextOrJson::Json => for_programs(&outcome).to_string(),
        };
        let printed = writeln!(io::stdout(), "{text}");
        if outcome.divergence.is_some() { Err(Failure::Violated) } else { Ok(printed?) }
    }
}

fn for_people(outcome: &Outcome) -> String {
    let steps = count(outcome.steps, "step", "steps");
    let lives = count(outcome.lives, "life", "lives");
    match &outcome.divergence {
        None => format!("{steps} in {lives}: the same"),
        Some(divergence) => format!(
            "{steps} in {lives}: the same, then it DIVERGES at {}\nrecorded: {}\nreplayed: {}",
            divergence.place, divergence.recorded, divergence.replayed
        ),
    }
}

fn for_programs(outcome: &Outcome) -> Value {
    let divergence = outcome.divergence.as_ref().map(|divergence| {
        json!({
            "place": divergence.place,
            "recorded": divergence.recorded,
            "replayed": divergence.replayed,
        })
    });
    let verdict = if divergence.is_none() { "the same" } else { "diverges" };
    json!({
        "verdict": verdict,
        "steps": outcome.steps,
        "lives": outcome.lives,
        "divergence": divergence,
    })
}
