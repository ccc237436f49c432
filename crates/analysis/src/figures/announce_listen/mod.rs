//! The figures of the thesis chapter, and ours about its protocols.

mod inconsistent_fraction;
mod reestablishment_delay;
mod sketch;

use super::Figure;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    [reestablishment_delay::figure, inconsistent_fraction::figure].map(|figure| figure()).into()
}
