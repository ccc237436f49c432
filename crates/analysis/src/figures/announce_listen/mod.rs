//! The figures of the thesis chapter, and ours about its protocols.

mod churn;
mod field;
mod inconsistent_fraction;
mod mappings;
mod measured_criteria;
mod query;
mod reestablishment_delay;
mod sketch;
mod timers;

use super::Figure;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    ours()
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
