//! The figures of the probabilistic election for large groups, and ours about it.
//!
//! **Source.** Indranil Gupta, Robbert van Renesse and Kenneth Birman, "A probabilistically correct
//! leader election protocol for large groups", technical report, Cornell University, April 2000,
//! section 5. The paper's pictures are not in our copy of its text; what it says of them is.

mod common;
mod failures;
mod fig_4;
mod group;
mod loss;
mod one_round;
mod rules;
mod size;
mod to_a_million;
mod view;

use super::Row;

/// All of them, in the order of the report.
pub const FIGURES: &[Row] = &[
    ("probabilistic-4", fig_4::figure),
    ("probabilistic-5a", loss::success),
    ("probabilistic-5b", loss::rounds),
    ("probabilistic-5c", loss::messages),
    ("probabilistic-5d", group::success),
    ("probabilistic-5e", group::rounds),
    ("probabilistic-5f", group::messages),
    ("probabilistic-5g", view::success),
    ("probabilistic-5h", view::rounds),
    ("probabilistic-5i", view::messages),
    ("probabilistic-n", to_a_million::figure),
    ("probabilistic-fail", failures::figure),
    ("probabilistic-rules", rules::figure),
    ("probabilistic-size", size::figure),
    ("probabilistic-round", one_round::figure),
];
