//! The guardian of a command: started by `run`, never by people.

use super::Done;
use super::failure::Failure;
use clap::Args;

/// Keep watch over a command for the `run` that started this
#[derive(Args, Debug)]
pub(super) struct Guard {}

impl Guard {
    pub(super) fn run(&self) -> Done {
        bellwether_net::guardian::guard().map_err(|error| {
            Failure::usage(format!(
                "guard keeps watch for 'bellwether run', which starts it by itself: {error}"
            ))
        })
    }
}
