//! Why there is no plan, and what can be reached.

use super::{Goals, LOSS_MAX};
use bellwether_core::Duration;
use bellwether_protocols::local_leader::BadConfig;
use libm::{ceil, exp10, floor, log10};
use std::fmt;

/// A goal that is invalid or that no parameters reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// Too few or too many processes.
    Nodes {
        /// As given.
        nodes: u32,
        /// The most there may be.
        most: u32,
    },
    /// Too much is lost.
    Loss {
        /// As given.
        loss: f64,
    },
    /// A time that is too long.
    TooLong {
        /// Its name.
        name: &'static str,
        /// As given.
        length: Duration,
        /// The longest there may be.
        most: Duration,
    },
    /// No number of losses a year.
    Rate {
        /// As given.
        losses_per_year: f64,
    },
    /// No leader can be replaced so soon.
    Detect {
        /// As given.
        goals: Box<Goals>,
        /// The soonest.
        soonest: Duration,
    },
    /// No leader can be replaced within any time that can be a goal.
    Never {
        /// As given.
        goals: Box<Goals>,
        /// The longest time that can be a goal.
        most: Duration,
    },
    /// Leadership is lost more often.
    Losses {
        /// As given.
        goals: Box<Goals>,
        /// The fewest a year.
        fewest: f64,
    },
    /// The parameters break a constraint, which no plan should.
    Config(BadConfig),
}

/// What keeps a leader from being replaced sooner.
fn circumstances(goals: &Goals) -> String {
    format!(
        "delay = {} ({}), scheduling = {}, fsync = {}, loss = {} and drift-ppm = {}",
        goals.delay,
        goals.delay_model.name(),
        goals.scheduling,
        goals.fsync,
        goals.loss.rate(),
        goals.drift_ppm
    )
}

/// The next number with three digits, so that what is told can be reached.
fn rounded_up(number: f64) -> f64 {
    let step = exp10(floor(log10(number)) - 2.0);
    let up = ceil(number / step * (1.0 + 1e-12)) * step;
    if up.is_finite() { up } else { number }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes { nodes, most } => write!(
                f,
                "nodes = {nodes}, but 3 <= nodes <= {most} must hold: two cannot replace one of \
                 them, since one is no majority"
            ),
            Self::Loss { loss } => write!(
                f,
                "loss = {loss}, but 0 <= loss <= {LOSS_MAX} must hold: beyond that no time within \
                 which a leader is replaced can be relied on; use a better network"
            ),
            Self::TooLong { name, length, most } => write!(
                f,
                "{name} = {length}, but {name} <= {most} must hold for a plan; choose a shorter \
                 time"
            ),
            Self::Rate { losses_per_year } => write!(
                f,
                "losses-per-year = {losses_per_year}, but it must be a number, not negative; try 1"
            ),
            Self::Detect { goals, soonest } => write!(
                f,
                "detect = {} cannot be reached with {}: {soonest} is the soonest; choose that or \
                 more, or a faster network, machine or disk",
                goals.detect,
                circumstances(goals),
            ),
            Self::Never { goals, most } => write!(
                f,
                "no leader can be replaced within {most} with {}; choose a faster network, machine \
                 or disk, or better clocks: quartz clocks stay below 200 ppm",
                circumstances(goals),
            ),
            Self::Losses { goals, fewest } => write!(
                f,
                "losses-per-year = {} cannot be reached with detect = {} and loss = {}: \
                 {:.2e} is the fewest; accept that many, choose a longer detect, or a better \
                 network",
                goals.losses_per_year,
                goals.detect,
                goals.loss.rate(),
                rounded_up(*fewest)
            ),
            Self::Config(bad) => bad.fmt(f),
        }
    }
}

impl std::error::Error for Refused {}
