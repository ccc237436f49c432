//! Completion scripts and manual pages, from what clap knows of the commands.

use crate::cli::Done;
use crate::cli::command;
use crate::cli::failure::Failure;
use clap::Args;
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::PathBuf;

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "Example: bellwether completions bash > \
    ~/.local/share/bash-completion/completions/bellwether")]
pub(in crate::cli) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(in crate::cli) fn run(&self) -> Done {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "bellwether", &mut script);
        let script = String::from_utf8_lossy(&script);
        io::stdout().write_all(with_groups(self.shell, &script).as_bytes())?;
        Ok(())
    }
}

/// Adds the names of groups to a script: clap knows names that are fixed, and groups come and go.
/// The shell lists the control sockets, so nothing is started to complete a word.
fn with_groups(shell: Shell, script: &str) -> String {
    let asks = |it: &clap::Command| {
        let has = |id: &str| it.get_arguments().any(|arg| arg.get_id() == id);
        has("group") && !has("peers") // those with peers start a member
    };
    let all = command();
    let names: Vec<&str> =
        all.get_subcommands().filter(|it| asks(it)).map(clap::Command::get_name).collect();
    let listed = |text: &str, between: &str| text.replace("COMMANDS", &names.join(between));
    match shell {
        Shell::Bash => script.to_owned() + &listed(include_str!("completions/groups.bash"), " | "),
        Shell::Fish => script.to_owned() + &listed(include_str!("completions/groups.fish"), " "),
        Shell::Zsh => {
            let (header, functions) = script.split_once("_bellwether() {").unwrap_or((script, ""));
            let lines = functions.split_inclusive('\n').map(|line| match line {
                line if line.starts_with("'::group -- ") && line.contains("BELLWETHER_GROUP") => {
                    line.replace(":_default'", ":_bellwether_groups'")
                }
                line => line.to_owned(),
            });
            let functions: String = lines.collect();
            let own = include_str!("completions/groups.zsh");
            format!("{header}{own}_bellwether() {{{functions}")
        }
        _ => script.to_owned(),
    }
}

/// Print the manual page of the command, or of one of its subcommands
#[derive(Args, Debug)]
#[command(after_help = "Example: bellwether man sim | man -l -")]
pub(in crate::cli) struct Man {
    /// The subcommand
    command: Option<String>,
    /// Write the pages of all of them into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl Man {
    pub(in crate::cli) fn run(&self) -> Done {
        let mut page = command();
        if let Some(dir) = &self.out {
            let written = clap_mangen::generate_to(page, dir);
            return written.map_err(|error| Failure::io("write pages into", dir, &error));
        }
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
