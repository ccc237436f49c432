//! `bellwether why`: why a running member leads, follows, or does neither.

use crate::cli::Done;
use crate::cli::commands::status::headline;
use crate::cli::flags::target::Target;
use crate::cli::output::TableOrJson;
use bellwether::net::status::{Role, Status};
use clap::Args;
use serde_json::json;
use std::io::{self, Write};

/// Explain why a running member leads, follows, or does neither
#[derive(Args, Debug)]
#[command(after_help = "Example: bellwether why web --id 2")]
pub(in crate::cli) struct Why {
    #[command(flatten)]
    target: Target,
}

impl Why {
    pub(in crate::cli) fn run(&self) -> Done {
        let status = self.target.connect()?.status()?;
        let text = match self.target.format {
            TableOrJson::Table => reasons(&status),
            TableOrJson::Json => {
                let Status { group, id, role, leaders, why, warnings, .. } = &status;
                json!({
                    "group": group,
                    "id": id,
                    "role": role,
                    "leaders": leaders,
                    "why": why,
                    "warnings": warnings,
                })
                .to_string()
            }
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}

fn reasons(status: &Status) -> String {
    let why = status.why.join("; ");
    let because = match status.role {
        Role::Leader => format!("leader because: {why}"),
        _ => format!("not leader because: {why}"),
    };
    let warnings = status.warnings.iter().map(|warning| format!("\nwarning: {warning}"));
    format!("{}\n{because}{}", headline(status), warnings.collect::<String>())
}
