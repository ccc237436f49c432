//! `bellwether plan`: parameters from goals, what to expect of them, and whether that happens.

mod announce_listen;
mod confirm;
mod local_leader;
mod probabilistic;

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::group::number;
use announce_listen::AnnounceListen;
use clap::{Args, Subcommand};
use local_leader::LocalLeader;
use probabilistic::Probabilistic;
use serde_json::Value;

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
    /// The time constants of leases, from how soon a dead leader must be replaced
    LocalLeader(Box<LocalLeader>),
    /// The smallest strategy of the probabilistic election: K of every round, and how many
    Probabilistic(Probabilistic),
}

impl Planning {
    pub(in crate::cli) fn run(&self) -> Done {
        match &self.protocol {
            Planned::AnnounceListen(goals) => goals.run(),
            Planned::LocalLeader(goals) => goals.run(),
            Planned::Probabilistic(goals) => goals.run(),
        }
    }

    /// The result for a program.
    pub(in crate::cli) fn answer(&self) -> Result<Value, Failure> {
        match &self.protocol {
            Planned::AnnounceListen(goals) => goals.answer(),
            Planned::LocalLeader(goals) => goals.answer(),
            Planned::Probabilistic(goals) => goals.answer(),
        }
    }
}

/// The days of a year.
const YEAR_DAYS: f64 = 365.25;

/// Parses how often something may happen in a time of so many days, or in so many days or years.
fn rate(text: &str, each: &str, days_each: f64) -> Result<f64, String> {
    let Some((count, time)) = text.split_once('/') else { return number(text) };
    let days = match (time.strip_suffix('y'), time.strip_suffix('d')) {
        (Some(years), _) => number(years).map(|years| years * YEAR_DAYS),
        (_, Some(days)) => number(days),
        _ => Err("no time".to_owned()),
    };
    match (number(count), days) {
        (Ok(count), Ok(days)) if days > 0.0 => Ok(count * (days_each / days)),
        _ => Err(format!("give a number per {each}, or X/Ny and X/Nd for N years and days")),
    }
}

/// Parses a number of runs, or zero.
fn runs(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(runs) if runs == 0 || (20..=1_000_000).contains(&runs) => Ok(runs),
        _ => Err("runs are a whole number, 0 or from 20 to 1000000".to_owned()),
    }
}
