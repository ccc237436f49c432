//! `bellwether members`: who is in the group, as one of its members sees it.

use crate::cli::Done;
use crate::cli::flags::target::{Format, Target};
use crate::cli::output::Rows;
use crate::cli::output::change::millis;
use bellwether::net::status::{MemberStatus, Status};
use clap::Args;
use std::io::{self, Write};

/// List the members of a group, as one that runs here sees them
#[derive(Args, Debug)]
#[command(after_help = "Example: bellwether members web --format json | jq '.[] | .address'")]
pub(in crate::cli) struct Members {
    #[command(flatten)]
    target: Target,
}

impl Members {
    pub(in crate::cli) fn run(&self) -> Done {
        let status = self.target.connect()?.status()?;
        let text = match self.target.format {
            Format::Table => list(&status),
            Format::Json => serde_json::to_string(&status.members).map_err(io::Error::from)?,
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}

/// The members as a table.
pub(in crate::cli) fn list(status: &Status) -> String {
    let row = |member: &MemberStatus| {
        let MemberStatus { id, address, me, leads, supports, heard_ms } = member;
        let role = match (leads, supports) {
            (true, _) => "leads",
            (false, true) => "supports",
            (false, false) => "-",
        };
        let heard = match (me, heard_ms) {
            (true, _) => "itself".to_owned(),
            (false, Some(ms)) => millis(*ms) + " ago",
            (false, None) => "never".to_owned(),
        };
        let address = address.clone().unwrap_or_else(|| "unknown".to_owned());
        [id.to_string(), address, role.to_owned(), heard]
    };
    let columns = ["member", "address", "role", "last heard"];
    Rows::of(columns, status.members.iter().map(row)).to_text()
}
