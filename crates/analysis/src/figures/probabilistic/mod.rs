//! The figures of the probabilistic election for large groups, and ours about it.
//!
//! **Source.** Indranil Gupta, Robbert van Renesse and Kenneth Birman, "A probabilistically correct
//! leader election protocol for large groups", technical report, Cornell University, April 2000,
//! section 5. The paper's pictures are not in our copy of its text; what it says of them is.

mod common;
mod failures;
mod group;
mod loss;
mod rules;
mod view;

use super::Figure;

/// All of them, in the order of the report.
pub fn figures() -> Vec<Figure> {
    let mut all = Vec::new();
    all.extend(loss::figures());
    all.extend(group::figures());
    all.extend(view::figures());
    all.extend([rules::figure(), failures::figure()]);
    all
}
