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
mod inconsistent_fraction;
mod mappings;
mod measured_criteria;
mod query;
mod rare_cost;
mod reestablishment_delay;
mod sketch;
mod table_5_1;
mod timers;
mod with_loss;

use super::{Figure, Row};
use common::{TO_500, TO_A_MILLION};

/// A figure of the chapter continued to a million processes, where what the text says about large
/// groups can be seen. It has the claims that small groups leave open; the others are judged once,
/// with the chapter's figure.
macro_rules! continued {
    ($file:ident, $number:literal, $title:literal) => {
        (concat!($number, "-million"), || Figure {
            title: concat!($title, " up to a million processes"),
            source: concat!("ours, continuing figure ", $number),
            claims: $file::claims_of_large_groups,
            ..$file::figure(&TO_A_MILLION)
        })
    };
}

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
    ("rare-cost", rare_cost::figure),
    continued!(fig_5_6, "5.6", "LE-S and SUP without loss: convergence time"),
    continued!(fig_5_7, "5.7", "LE-S and SUP without loss: messages"),
    continued!(fig_5_8, "5.8", "LE-S and SUP with a loss of .4: convergence time"),
    continued!(fig_5_9, "5.9", "LE-S and SUP with a loss of .4: messages"),
    continued!(fig_5_10, "5.10", "LE-S with correlated loss: convergence time"),
    continued!(fig_5_11, "5.11", "LE-S and AL with a loss of .4: convergence time"),
];
