//! The figures of the thesis chapter, and ours about its protocols.

mod churn;
mod common;
mod field;
mod fig_5_10;
mod fig_5_11;
mod fig_5_12;
mod fig_5_13;
mod fig_5_6;
mod fig_5_7;
mod fig_5_8;
mod fig_5_9;
mod first_round;
mod inconsistent_fraction;
mod mappings;
mod measured_criteria;
mod query;
mod reestablishment_delay;
mod sketch;
mod table_5_1;
mod timers;
mod to_a_million;
mod with_loss;

use super::Row;
use common::TO_500;
use to_a_million::continued;

/// All of them, in the order of the report: those the chapter prints, those it lacks, and some
/// continued to a million processes.
pub const FIGURES: &[Row] = &[
    ("table-5.1", table_5_1::figure),
    ("5.6", || fig_5_6::figure(&TO_500)),
    ("5.7", || fig_5_7::figure(&TO_500)),
    ("5.8", || fig_5_8::figure(&TO_500)),
    ("5.9", || fig_5_9::figure(&TO_500)),
    ("5.10", || fig_5_10::figure(&TO_500)),
    ("5.11", || fig_5_11::figure(&TO_500)),
    ("5.12", fig_5_12::figure),
    ("5.13", fig_5_13::figure),
    ("reestablishment-delay", reestablishment_delay::figure),
    ("inconsistent-fraction", inconsistent_fraction::figure),
    ("timers", timers::figure),
    ("mappings", mappings::figure),
    ("measured-criteria", measured_criteria::figure),
    ("churn", churn::figure),
    ("query", query::figure),
    ("5.6-million", || continued(&to_a_million::FIG_5_6)),
    ("5.7-million", || continued(&to_a_million::FIG_5_7)),
    ("5.8-million", || continued(&to_a_million::FIG_5_8)),
    ("5.9-million", || continued(&to_a_million::FIG_5_9)),
    ("5.10-million", || continued(&to_a_million::FIG_5_10)),
    ("5.11-million", || continued(&to_a_million::FIG_5_11)),
];
