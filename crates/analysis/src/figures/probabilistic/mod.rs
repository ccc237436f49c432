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
mod tell;
mod to_a_million;
mod view;

use super::Figure;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    let mut all = vec![fig_4::figure()];
    all.extend(loss::figures());
    all.extend(group::figures());
    all.extend(view::figures());
    all.extend([
        to_a_million::figure(),
        failures::figure(),
        rules::figure(),
        size::figure(),
        one_round::figure(),
    ]);
    all
}
