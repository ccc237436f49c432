//! Tables for people, JSON and CSV for programs.

pub(in crate::cli) mod change;
pub(in crate::cli) mod judgement;
pub(in crate::cli) mod progress;
mod rows;
pub(in crate::cli) mod verdict;
pub(in crate::cli) mod view;

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

/// A number with about five digits that matter.
pub(in crate::cli) fn short(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        size if size >= 10_000.0 => 0,
        size if size >= 100.0 => 2,
        size if size >= 1.0 => 4,
        _ => 6,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The same for numbers that may be very small.
pub(in crate::cli) fn digits(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.3e}") } else { short(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_need_to_be() {
        for (value, text) in
            [(0.0, "0"), (1.0, "1"), (7.39854, "7.3985"), (0.0312, "0.0312"), (68.5, "68.5")]
        {
            assert_eq!(short(value), text);
        }
    }
}
