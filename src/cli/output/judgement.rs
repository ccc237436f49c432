//! How `analyze` compares a simulation with the forms of a quantity.

use crate::cli::output::digits;
use crate::cli::output::simulated::Estimate;
use bellwether::analysis::Support;
use bellwether::analysis::support::{Off, RUNS_MIN};

/// What a simulation says about the forms.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Judgement {
    /// Which exact forms it supports.
    Supports(Support),
    /// How far an approximation is off.
    Off(Off),
    /// Too few runs to say it of a percentile.
    TooFew,
    /// Nothing of the mean: the corrected form is an upper bound of every run.
    Bound,
    /// Nothing: there is no corrected form, or nothing to compare it with.
    Nothing,
}

impl Judgement {
    /// Judges the forms that have a value.
    pub(in crate::cli) fn of(
        estimate: &Estimate,
        printed: Option<f64>,
        corrected: Option<f64>,
        exact: bool,
    ) -> Self {
        let Estimate { summary, p99 } = estimate;
        match (corrected, p99) {
            (Some(corrected), None) if exact => {
                Self::Supports(Support::of(summary, printed, corrected))
            }
            (Some(corrected), Some(p99)) if exact => {
                Support::of_percentile(p99, printed, corrected).map_or(Self::TooFew, Self::Supports)
            }
            (Some(corrected), None) => Off::of(summary, corrected).map_or(Self::Nothing, Self::Off),
            (Some(corrected), Some(p99)) => {
                Off::of_percentile(p99, corrected).map_or(Self::TooFew, Self::Off)
            }
            (None, _) => Self::Nothing,
        }
    }

    /// Which form it supports, for programs.
    pub(in crate::cli) fn supports(self) -> Option<&'static str> {
        if let Self::Supports(support) = self { Some(support.name()) } else { None }
    }

    /// How far the corrected form is off.
    pub(in crate::cli) fn off(self) -> Option<Off> {
        if let Self::Off(off) = self { Some(off) } else { None }
    }

    /// In a few words.
    pub(in crate::cli) fn for_people(self, corrected: Option<f64>, simulated: f64) -> String {
        match (self, corrected) {
            (Self::Supports(support @ (Support::Corrected | Support::Printed)), _) => {
                format!(": supports the {} form", support.name())
            }
            (Self::Supports(Support::Both), _) => ": supports both forms".to_owned(),
            (Self::Supports(Support::Neither), Some(corrected)) => format!(
                ": supports neither form: {}",
                difference(corrected, simulated, "is the corrected form from it")
            ),
            (Self::Off(Off { part, stderr }), _) => format!(
                ": the corrected form, an approximation, is {:+.1} % ± {:.1} % off",
                100.0 * part,
                100.0 * stderr
            ),
            (Self::TooFew, _) => {
                format!(": too few to judge what 99 of 100 do not exceed; choose {RUNS_MIN}")
            }
            (Self::Supports(Support::Neither), None) | (Self::Bound | Self::Nothing, _) => {
                String::new()
            }
        }
    }
}

/// How far a value is from another, in a few words.
pub(in crate::cli) fn difference(value: f64, reference: f64, from: &str) -> String {
    if value == reference {
        return "the same".to_owned();
    }
    if reference == 0.0 {
        return format!("{} {from}", digits(value - reference));
    }
    let percent = 100.0 * (value - reference) / reference.abs();
    match percent.abs() {
        ..1e-7 => "the same".to_owned(),
        0.1..1e6 => format!("{percent:+.1} % {from}"),
        _ => format!("{percent:+.1e} % {from}"),
    }
}
