//! Tables for people, JSON and CSV for programs.

pub(in crate::cli) mod change;
pub(in crate::cli) mod cuts;
pub(in crate::cli) mod judgement;
pub(in crate::cli) mod progress;
mod rows;
pub(in crate::cli) mod simulated;
pub(in crate::cli) mod verdict;
pub(in crate::cli) mod view;

pub(in crate::cli) use bellwether::analysis::numbers::plain as short;
pub(in crate::cli) use rows::Rows;

use clap::ValueEnum;

/// How a result is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum Format {
    /// For people.
    #[default]
    Table,
    /// One object, stable keys.
    Json,
    /// A header and rows.
    Csv,
}

/// How an answer is written that has no rows for a spreadsheet.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum TableOrJson {
    /// For people
    #[default]
    Table,
    /// One object, or one a line, stable keys
    Json,
}

/// How events are written as they happen.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum TextOrJson {
    /// For people
    #[default]
    Text,
    /// One object, or one a line, stable keys
    Json,
}

/// The same for numbers that may be very small.
pub(in crate::cli) fn digits(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.3e}") } else { short(value) }
}
