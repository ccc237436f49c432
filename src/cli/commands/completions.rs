//! Completion scripts and manual pages, from what clap knows of the commands.

use crate::cli::Done;
use crate::cli::command;
use crate::cli::failure::Failure;
use clap::Args;
use std::io::{self, Write};

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "Example: bellwether completions bash > \
    ~/.local/share/bash-completion/completions/bellwether")]
pub(in crate::cli) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(in crate::cli) fn run(&self) -> Done {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "bellwether", &mut script);
        io::stdout().write_all(&script)?;
        Ok(())
    }
}

/// Print the manual page of the command, or of one of its subcommands
#[derive(Args, Debug)]
#[command(after_help = "Example: bellwether man sim | man -l -")]
pub(in crate::cli) struct Man {
    /// The subcommand
    command: Option<String>,
}

impl Man {
    pub(in crate::cli) fn run(&self) -> Done {
        let mut page = command();
        if let Some(name) = &self.command {
            page = page
                .find_subcommand(name)
                .cloned()
                .map(|found| found.display_name(format!("bellwether-{name}")))
                .ok_or_else(|| {
                    Failure::usage(format!("'{name}' is no subcommand of bellwether; see --help"))
                })?;
        }
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text)?;
        io::stdout().write_all(&text)?;
        Ok(())
    }
}
