//! Figures 5.6 to 5.11 continued to a million processes, where what the text says about large
//! groups can be seen.

use super::common::{Sizes, TO_A_MILLION};
use super::{fig_5_6, fig_5_7, fig_5_8, fig_5_9, fig_5_10, fig_5_11};
use crate::figures::{Claim, Figure, Finding};

/// A figure for any group sizes.
type Drawn = fn(&Sizes) -> Figure;
/// Those of its claims that small groups leave open; the others are judged once, where they stand.
type Judged = fn(&Finding) -> Vec<Claim>;

/// The figures, with the names and titles of their continuations.
const CONTINUED: [(Drawn, Judged, &str, &str, &str); 6] = [
    (
        fig_5_6::figure,
        fig_5_6::claims_of_large_groups,
        "5.6-million",
        "LE-S and SUP without loss: convergence time up to a million processes",
        "ours, continuing figure 5.6",
    ),
    (
        fig_5_7::figure,
        fig_5_7::claims_of_large_groups,
        "5.7-million",
        "LE-S and SUP without loss: messages up to a million processes",
        "ours, continuing figure 5.7",
    ),
    (
        fig_5_8::figure,
        fig_5_8::claims_of_large_groups,
        "5.8-million",
        "LE-S and SUP with a loss of .4: convergence time up to a million processes",
        "ours, continuing figure 5.8",
    ),
    (
        fig_5_9::figure,
        fig_5_9::claims_of_large_groups,
        "5.9-million",
        "LE-S and SUP with a loss of .4: messages up to a million processes",
        "ours, continuing figure 5.9",
    ),
    (
        fig_5_10::figure,
        fig_5_10::claims_of_large_groups,
        "5.10-million",
        "LE-S with correlated loss: convergence time up to a million processes",
        "ours, continuing figure 5.10",
    ),
    (
        fig_5_11::figure,
        fig_5_11::claims_of_large_groups,
        "5.11-million",
        "LE-S and AL with a loss of .4: convergence time up to a million processes",
        "ours, continuing figure 5.11",
    ),
];

/// All of them.
pub(super) fn figures() -> impl Iterator<Item = Figure> {
    let draw = |(figure, claims, id, title, source): (Drawn, Judged, _, _, _)| Figure {
        id,
        title,
        source,
        claims,
        ..figure(&TO_A_MILLION)
    };
    CONTINUED.into_iter().map(draw)
}
