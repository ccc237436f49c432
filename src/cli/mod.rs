//! The command line: one file per subcommand, and what they share.

mod completions;
mod failure;
mod group;
mod memory;
mod output;
mod progress;
mod protocols;
mod sim;
mod trace;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Leader election without a coordinator: simulate it, look at it, measure it.
#[derive(Parser, Debug)]
#[command(name = "bellwether", version, max_term_width = 100, after_help = EXAMPLES)]
struct Bellwether {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  bellwether sim le-s                              a hundred processes elect a leader, 1000 times
  bellwether sim le-s --nodes 1000000 --loss .4    a million do, with 40 % of the messages lost
  bellwether trace le-s --nodes 8 --svg run.svg    one election, as a picture
  bellwether protocols                             what there is and what it promises

Durations: 250ms, 1.5s; a bare number is seconds. Every command knows --help.";

#[derive(Subcommand, Debug)]
enum Command {
    /// Simulate a protocol many times and sum up how it did
    Sim(Box<sim::Sim>),
    /// Simulate one run and show all that happened: as text, JSON lines or a picture
    Trace(Box<trace::Trace>),
    /// List the protocols and what they promise
    Protocols(protocols::Protocols),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the manual page of the command, or of one of its subcommands
    Man(completions::Man),
}

/// Runs the command line and says how it went: 0 well, 2 bad usage, 78 bad file, 1 anything else.
pub(crate) fn main() -> ExitCode {
    let parsed = match Bellwether::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return failure::of_usage(&error),
    };
    let done = match parsed.command {
        Command::Sim(sim) => sim.run(),
        Command::Trace(trace) => trace.run(),
        Command::Protocols(protocols) => protocols.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The command as clap knows it, for completions and manual pages.
fn command() -> clap::Command {
    use clap::CommandFactory;
    Bellwether::command()
}

type Done = Result<(), Failure>;
