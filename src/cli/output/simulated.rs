//! What the runs of a quantity's simulation gave, for people and for programs.

use crate::cli::commands::sim;
use crate::cli::output::digits;
use crate::cli::output::judgement::Judgement;
use bellwether::analysis::support::Off;
use bellwether::sim::Quantile;
use bellwether::sim::stats::Summary;
use serde_json::{Value, json};

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

/// All that was simulated.
pub(in crate::cli) struct Simulated {
    pub(in crate::cli) estimate: Estimate,
    pub(in crate::cli) measure: String,
    pub(in crate::cli) unsettled: u64,
    /// In how many runs the window cut it: what the others say is too low and decides nothing.
    pub(in crate::cli) cut: u64,
    pub(in crate::cli) judgement: Judgement,
    pub(in crate::cli) command: String,
    /// How many runs were not made, because it was interrupted.
    pub(in crate::cli) left_out: u64,
}

impl Simulated {
    /// Its interval and what it says about the forms, in a few words.
    pub(in crate::cli) fn for_people(&self, corrected: Option<f64>) -> String {
        let Self { estimate, judgement, cut, .. } = self;
        let runs = sim::count(estimate.summary.count as u64, "run", "runs");
        if *cut > 0 {
            return format!("{runs}; too low, because the window cut {cut} more");
        }
        let verdict = match judgement {
            Judgement::Bound => {
                let most = digits(estimate.summary.max);
                format!(": the mean; the longest is {most}, and the corrected form bounds that")
            }
            _ => judgement.for_people(corrected, estimate.value()),
        };
        let [low, high] = estimate.ci95();
        let interval = match high.is_finite() {
            true => format!("{} .. {}", digits(low), digits(high)),
            false => format!("{} and above", digits(low)),
        };
        format!("{interval} at 95 %, {runs}{verdict}")
    }

    /// The same for programs. An end that an interval does not have is null.
    pub(in crate::cli) fn for_programs(&self) -> Value {
        let Self { estimate, measure, unsettled, cut, judgement, command, left_out } = self;
        let mut simulated = json!(estimate.summary);
        if estimate.p99.is_some() {
            simulated["p99_ci95"] = json!(estimate.ci95());
        }
        if *cut > 0 {
            simulated["cut"] = json!(cut);
            let of_p99 = estimate.p99.as_ref().map(|_| "p99_ci95");
            for error in ["stderr", "ci95"].into_iter().chain(of_p99) {
                simulated[error] = Value::Null;
            }
        }
        simulated["measure"] = json!(measure);
        simulated["unsettled"] = json!(unsettled);
        simulated["supports"] = json!(judgement.supports());
        if let Some(Off { part, stderr }) = judgement.off() {
            simulated["off"] = json!(part);
            simulated["off_stderr"] = json!(stderr);
        }
        simulated["command"] = json!(command);
        if *left_out > 0 {
            simulated["interrupted"] = json!(true);
        }
        simulated
    }
}
