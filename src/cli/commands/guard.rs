//! The guardian of a command: started by `run`, never by people.

use crate::cli::Done;
use crate::cli::failure::Failure;
use clap::Args;

/// Keep watch over a command for the `run` that started this
#[derive(Args, Debug)]
pub(in crate::cli) struct Guard {}

impl Guard {
    pub(in crate::cli) fn run(&self) -> Done {
        bellwether_net::guardian::guard().map_err(|error| {
            Failure::usage(format!(
                "guard is part of 'bellwether run', which starts it itself: {error}"
            ))
        })
    }
}
