//! How `analyze` compares a simulation with the forms of a quantity.

use crate::cli::output::digits;
use bellwether::analysis::Support;
use bellwether::analysis::support::Off;
use bellwether::sim::Quantile;
use bellwether::sim::stats::Summary;
use serde::{Serialize, Serializer};

/// What a simulation gave.
pub(in crate::cli) struct Estimate {
    pub(in crate::cli) summary: Summary,
    /// What 99 of 100 runs did not exceed, if that is what was asked for.
    pub(in crate::cli) p99: Option<Quantile>,
}

impl Estimate {
    /// The mean, or the percentile.
    pub(in crate::cli) fn value(&self) -> f64 {
        self.p99.as_ref().map_or(self.summary.mean, Quantile::value)
    }

    /// Its interval; that of a percentile may have no upper end.
    pub(in crate::cli) fn ci95(&self) -> [f64; 2] {
        self.p99.as_ref().map_or(self.summary.ci95, |p99| p99.interval(0.95))
    }
}

/// As the summary, with the interval of the percentile.
impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            #[serde(flatten)]
            summary: &'a Summary,
            #[serde(skip_serializing_if = "Option::is_none")]
            p99_ci95: Option<[f64; 2]>,
        }
        let p99_ci95 = self.p99.as_ref().map(|_| self.ci95());
        Shown { summary: &self.summary, p99_ci95 }.serialize(serializer)
    }
}

/// What a simulation says about the forms.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Judgement {
    /// Which exact forms it supports.
    Supports(Support),
    /// How far an approximation is off.
    Off(Off),
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
                Self::Supports(Support::of_percentile(p99, printed, corrected))
            }
            (Some(corrected), None) => Off::of(summary, corrected).map_or(Self::Nothing, Self::Off),
            (Some(corrected), Some(p99)) => {
                Off::of_percentile(p99, corrected).map_or(Self::Nothing, Self::Off)
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
    pub(in crate::cli) fn for_people(self, corrected: Option<f64>, mean: f64) -> String {
        match (self, corrected) {
            (Self::Supports(support @ (Support::Corrected | Support::Printed)), _) => {
                format!(": supports the {} form", support.name())
            }
            (Self::Supports(Support::Both), _) => ": supports both forms".to_owned(),
            (Self::Supports(Support::Neither), Some(corrected)) => format!(
                ": supports neither form: {}",
                difference(corrected, mean, "is the corrected form from it")
            ),
            (Self::Off(Off { part, stderr }), _) => format!(
                ": the corrected form, an approximation, is {:+.1} % ± {:.1} % off",
                100.0 * part,
                100.0 * stderr
            ),
            (Self::Supports(Support::Neither), None) | (Self::Nothing, _) => String::new(),
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
