//! Figures 5.6 to 5.11 continued to a million processes, where what the text says about large
//! groups can be seen.

use super::common::{Sizes, TO_A_MILLION};
use super::{fig_5_6, fig_5_7, fig_5_8, fig_5_9, fig_5_10, fig_5_11};
use crate::figures::{Claim, Figure, Finding};

/// How a figure is continued.
pub(super) struct Continued {
    /// The figure, for any group sizes.
    figure: fn(&Sizes) -> Figure,
    /// Those of its claims that small groups leave open; the others are judged once, where they
    /// stand.
    claims: fn(&Finding) -> Vec<Claim>,
    title: &'static str,
    source: &'static str,
}

/// The figure up to a million processes.
pub(super) fn continued(to: &Continued) -> Figure {
    let Continued { figure, claims, title, source } = *to;
    Figure { title, source, claims, ..figure(&TO_A_MILLION) }
}

pub(super) const FIG_5_6: Continued = Continued {
    figure: fig_5_6::figure,
    claims: fig_5_6::claims_of_large_groups,
    title: "LE-S and SUP without loss: convergence time up to a million processes",
    source: "ours, continuing figure 5.6",
};

pub(super) const FIG_5_7: Continued = Continued {
    figure: fig_5_7::figure,
    claims: fig_5_7::claims_of_large_groups,
    title: "LE-S and SUP without loss: messages up to a million processes",
    source: "ours, continuing figure 5.7",
};

pub(super) const FIG_5_8: Continued = Continued {
    figure: fig_5_8::figure,
    claims: fig_5_8::claims_of_large_groups,
    title: "LE-S and SUP with a loss of .4: convergence time up to a million processes",
    source: "ours, continuing figure 5.8",
};

pub(super) const FIG_5_9: Continued = Continued {
    figure: fig_5_9::figure,
    claims: fig_5_9::claims_of_large_groups,
    title: "LE-S and SUP with a loss of .4: messages up to a million processes",
    source: "ours, continuing figure 5.9",
};

pub(super) const FIG_5_10: Continued = Continued {
    figure: fig_5_10::figure,
    claims: fig_5_10::claims_of_large_groups,
    title: "LE-S with correlated loss: convergence time up to a million processes",
    source: "ours, continuing figure 5.10",
};

pub(super) const FIG_5_11: Continued = Continued {
    figure: fig_5_11::figure,
    claims: fig_5_11::claims_of_large_groups,
    title: "LE-S and AL with a loss of .4: convergence time up to a million processes",
    source: "ours, continuing figure 5.11",
};
