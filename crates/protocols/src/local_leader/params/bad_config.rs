//! What is wrong with written parameters.

use super::super::row::NODES_MAX;
use super::nearest::Proposal;
use super::{DRIFT_PPM_MAX, LONGEST};
use alloc::vec::Vec;
use bellwether_core::Duration;
use core::fmt;

/// The parameter names of the symbols in the inequalities.
const SYMBOLS: &str = "lockTime is lock, EP period, P renew, Δ delta, σ sigma, δmin fastest, ρ \
                       drift-ppm; ε is 0.0001s";

/// Which rule a [`Config`](super::Config) breaks, with the values that break it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// An inequality between the time constants.
    Constraint {
        /// The inequality.
        rule: &'static str,
        /// Its left side.
        left: Duration,
        /// Its right side.
        right: Duration,
        /// Changes after which all inequalities hold.
        nearest: Vec<Proposal>,
    },
    /// A duration that must be positive.
    Nothing {
        /// The parameter.
        name: &'static str,
    },
    /// No message could be fast.
    NothingIsFast {
        /// δmin.
        fastest: Duration,
        /// Δ.
        delta: Duration,
    },
    /// The clocks drift too much.
    Drift {
        /// ρ.
        drift_ppm: u32,
    },
    /// More voters are to spare than a group can have.
    Spare {
        /// How many.
        spare: u32,
    },
    /// Replies cannot be collated so.
    Tree {
        /// How many children a process would have.
        tree: u32,
        /// Why not.
        rule: &'static str,
    },
    /// Too few announcements would have to be lost for an observer to lose sight of its leader.
    Hold {
        /// How long an announcement is believed.
        hold: Duration,
        /// How often there is one.
        announce: Duration,
    },
    /// Leases of a length for which no times are derived.
    Lease {
        /// The length.
        lease: Duration,
        /// The shortest.
        least: Duration,
        /// The longest.
        most: Duration,
    },
    /// A duration that is too long.
    TooLong {
        /// The parameter.
        name: &'static str,
        /// The length.
        length: Duration,
    },
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constraint { rule, left, right, nearest } => {
                write!(
                    f,
                    "{left} on the left and {right} on the right break the rule: {rule} \
                     ({SYMBOLS}); "
                )?;
                for (place, proposal) in nearest.iter().enumerate() {
                    let before =
                        if place == 0 { "the nearest values that keep all rules: " } else { "" };
                    write!(f, "{before}{proposal}, or ")?;
                }
                f.write_str(
                    "choose a preset (fast, lan, wan: each has longer leases than the one before), \
                     or, in a simulation, unchecked = true to see what happens",
                )
            }
            Self::Nothing { name } => {
                write!(f, "{name} leaves no time at all, but {name} > 0 must hold")
            }
            Self::NothingIsFast { fastest, delta } => write!(
                f,
                "fastest = {fastest} and delta = {delta}, but fastest < delta must hold, or no \
                 message could be fast"
            ),
            Self::Drift { drift_ppm } => write!(
                f,
                "drift-ppm = {drift_ppm}, but drift-ppm <= {DRIFT_PPM_MAX} must hold; quartz \
                 clocks stay below 200"
            ),
            Self::Spare { spare } => write!(
                f,
                "spare = {spare}, but spare <= {NODES_MAX} must hold, which is how many voters a \
                 group can have; leave it out, and all answer"
            ),
            Self::Tree { tree, rule } => write!(f, "tree = {tree}, but {rule}"),
            Self::Hold { hold, announce } => write!(
                f,
                "hold = {hold} and announce = {announce}, but hold >= 3 announce must hold, or two \
                 lost announcements would cost an observer its leader"
            ),
            Self::Lease { lease, least, most } => write!(
                f,
                "lease = {lease}, but {least} <= lease <= {most} must hold; for other leases set \
                 lock, period, renew and the other times one by one"
            ),
            Self::TooLong { name, length } => write!(
                f,
                "{name} = {length} is too long: no part of a request may take more than {LONGEST}"
            ),
        }
    }
}

impl core::error::Error for BadConfig {}
