//! `bellwether resign`: a running leader gives up its leadership.

use crate::cli::Done;
use crate::cli::flags::target::Target;
use crate::cli::output::TableOrJson;
use clap::Args;
use std::io::{self, Write};

/// Make a running leader give up its leadership; it stays in the group
#[derive(Args, Debug)]
#[command(after_help = "\
If the member runs a command, that is ended first. Example: bellwether resign web")]
pub(in crate::cli) struct Resign {
    #[command(flatten)]
    target: Target,
}

impl Resign {
    pub(in crate::cli) fn run(&self) -> Done {
        // A member that is stopped would let the caller wait for the end of its command.
        self.target.connect()?.status()?;
        let mut client = self.target.connect()?;
        client.resign()?;
        let (group, id) = (&client.place().group, client.place().id);
        match self.target.format {
            TableOrJson::Table => writeln!(io::stdout(), "member {id} no longer leads {group}")?,
            TableOrJson::Json => writeln!(io::stdout(), "{{\"done\":true}}")?,
        }
        Ok(())
    }
}
