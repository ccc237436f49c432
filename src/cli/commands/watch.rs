//! `bellwether watch`: every change of what a running member believes, as it happens.

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::target::Target;
use crate::cli::output::TableOrJson;
use crate::cli::output::change;
use bellwether::net::control::Change;
use clap::Args;
use std::io::{self, Write};

/// Show the present state of a running member, and each change
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Watch {
    #[command(flatten)]
    target: Target,
    /// End after this many lines
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  bellwether watch web                             until the member ends, or you do
  bellwether watch web --format json --count 1     the present state, for a script";

impl Watch {
    pub(in crate::cli) fn run(&self) -> Done {
        let mut client = self.target.connect()?;
        let (mut left, mut failed) = (self.count.unwrap_or(u64::MAX), None);
        if left == 0 {
            return Ok(());
        }
        client.watch(&mut |seen: &Change| {
            let line = match self.target.format {
                TableOrJson::Table => change::text(seen),
                TableOrJson::Json => change::json(seen),
            };
            let mut out = io::stdout().lock();
            failed = writeln!(out, "{line}").and_then(|()| out.flush()).err();
            left -= 1;
            left > 0 && failed.is_none()
        })?;
        failed.map_or(Ok(()), |error| Err(Failure::from(error)))
    }
}
