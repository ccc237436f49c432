//! `bellwether transfer`: a running leader hands over to another member.

use crate::cli::Done;
use crate::cli::flags::target::Target;
use crate::cli::output::TableOrJson;
use clap::Args;
use std::io::{self, Write};

/// Make a running leader hand over to another member; it stays in the group
#[derive(Args, Debug)]
#[command(
    allow_missing_positional = true,
    after_help = "\
If the member runs a command, that is ended first. A member that cannot lead now is refused, and \
nothing changes. Example: bellwether transfer web 2"
)]
pub(in crate::cli) struct Transfer {
    #[command(flatten)]
    target: Target,
    /// The member that should lead next
    #[arg(value_name = "MEMBER")]
    to: u64,
}

impl Transfer {
    pub(in crate::cli) fn run(&self) -> Done {
        // A member that is stopped would let the caller wait for the end of its command.
        self.target.connect()?.status()?;
        let mut client = self.target.connect()?;
        client.transfer(self.to)?;
        let (group, id) = (&client.place().group, client.place().id);
        match self.target.format {
            TableOrJson::Table => {
                writeln!(io::stdout(), "member {id} hands {group} over to {}", self.to)?;
            }
            TableOrJson::Json => writeln!(io::stdout(), "{{\"done\":true}}")?,
        }
        Ok(())
    }
}
