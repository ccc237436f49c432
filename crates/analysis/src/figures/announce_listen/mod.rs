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

use super::Figure;
use common::TO_500;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    let mut all = chapter();
    all.extend(ours());
    all.extend(to_a_million::figures());
    all
}

/// Those the chapter prints.
fn chapter() -> Vec<Figure> {
    vec![
        table_5_1::figure(),
        fig_5_6::figure(&TO_500),
        fig_5_7::figure(&TO_500),
        fig_5_8::figure(&TO_500),
        fig_5_9::figure(&TO_500),
        fig_5_10::figure(&TO_500),
        fig_5_11::figure(&TO_500),
        fig_5_12::figure(),
        fig_5_13::figure(),
    ]
}

/// What the chapter has no figure of.
fn ours() -> Vec<Figure> {
    vec![
        reestablishment_delay::figure(),
        inconsistent_fraction::figure(),
        timers::figure(),
        mappings::figure(),
        measured_criteria::figure(),
        churn::figure(),
        query::figure(),
    ]
}
