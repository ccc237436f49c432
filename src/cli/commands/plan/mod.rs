//! `bellwether plan`: parameters from goals, what to expect of them, and whether that happens.

mod announce_listen;
mod probabilistic;

use crate::cli::Done;
use announce_listen::AnnounceListen;
use clap::{Args, Subcommand};
use probabilistic::Probabilistic;

/// Choose a protocol's parameters from goals, and confirm what to expect by simulation
#[derive(Args, Debug)]
pub(in crate::cli) struct Planning {
    #[command(subcommand)]
    protocol: Planned,
}

#[derive(Subcommand, Debug)]
enum Planned {
    /// T_L, T_S and the number of goodbyes of LE-S
    AnnounceListen(AnnounceListen),
    /// The smallest strategy of the probabilistic election: K of every round, and how many
    Probabilistic(Probabilistic),
}

impl Planning {
    pub(in crate::cli) fn run(&self) -> Done {
        match &self.protocol {
            Planned::AnnounceListen(goals) => goals.run(),
            Planned::Probabilistic(goals) => goals.run(),
        }
    }
}
