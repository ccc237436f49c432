//! The figures of the paper on local leaders, and ours about its protocol.

mod collation;
mod common;
mod distribution;
mod election_time;
mod fig_24;
mod losses;
mod presence;
mod split;

use super::Row;

/// All of them, in the order of the report.
pub const FIGURES: &[Row] = &[
    ("local-leader-24", fig_24::figure),
    ("local-leader-25", distribution::figure),
    ("local-leader-26", election_time::figure),
    ("local-leader-27", split::figure),
    ("local-leader-29", collation::figure),
    ("local-leader-presence", presence::figure),
    ("local-leader-losses", losses::figure),
];
