//! `bellwether check-config`: every rule that `run` would check, and how it holds.

use crate::cli::Done;
use crate::cli::commands::run::Sources;
use crate::cli::commands::run::options::Options;
use crate::cli::output::TextOrJson;
use clap::Args;
use serde_json::json;
use std::io::{self, Write};

/// Check all settings of a member, and show the values that satisfy each rule
#[derive(Args, Debug)]
#[command(after_help = "\
It takes what `run` takes, and does not join. Exit code 78 if a rule does not hold.
Example: bellwether check-config web --config web.toml -- /usr/bin/backup")]
pub(in crate::cli) struct CheckConfig {
    #[command(flatten)]
    options: Options,
}

impl CheckConfig {
    /// Checks; `written` are the flags that were written.
    pub(in crate::cli) fn run(self, written: &[(String, Vec<String>)]) -> Done {
        let settings = Sources::of_process(self.options, written)?.gather()?;
        let format = settings.format();
        let mut rules = Vec::new();
        let outcome = settings.check(&mut |name, text| rules.push((name, text)));
        let mut out = io::stdout().lock();
        for (name, text) in &rules {
            match format {
                TextOrJson::Text => writeln!(out, "ok  {name:<10} {text}")?,
                TextOrJson::Json => writeln!(out, "{}", json!({"rule": name, "holds": text}))?,
            }
        }
        outcome
    }
}
