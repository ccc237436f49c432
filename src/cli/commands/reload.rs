//! `bellwether reload`: a running member reads its settings again.

use crate::cli::Done;
use crate::cli::flags::target::Target;
use crate::cli::output::TableOrJson;
use clap::Args;
use serde_json::json;
use std::io::{self, Write};

/// Make a running member read its settings again; it goes on leading
#[derive(Args, Debug)]
#[command(after_help = "\
Flags and environment are those of the start; the file and all that it names are read again. All \
that differs changes, or nothing does: exit code 78 if the settings are bad, 1 if one of them \
cannot change while the member runs. The same is SIGHUP. Example: bellwether reload web")]
pub(in crate::cli) struct Reload {
    #[command(flatten)]
    target: Target,
}

impl Reload {
    pub(in crate::cli) fn run(&self) -> Done {
        // A member that is stopped would let the caller wait for long.
        self.target.connect()?.status()?;
        let changed = self.target.connect()?.reload()?;
        let mut out = io::stdout().lock();
        match self.target.format {
            TableOrJson::Json => writeln!(out, "{}", json!({ "changed": changed }))?,
            TableOrJson::Table if changed.is_empty() => writeln!(out, "nothing changed")?,
            TableOrJson::Table => {
                for setting in changed {
                    writeln!(out, "{setting}")?;
                }
            }
        }
        Ok(())
    }
}
