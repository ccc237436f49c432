//! What is known of measures that the end of the watch cut in some runs, as text and as cells.

use super::{Rows, short};
use crate::cli::commands::sim::count;
use bellwether::sim::survival::Survival;
use bellwether::sim::{Answer, Cut, Measure};
use serde_json::{Value, json};

/// The last columns of a row of results.
pub(in crate::cli) const COLUMNS: [&str; 11] = [
    "cut",
    "watched",
    "restricted_mean",
    "restricted_low",
    "restricted_high",
    "reached",
    "reached_low",
    "reached_high",
    "reached_p50",
    "reached_p50_low",
    "reached_p50_high",
];

/// What stands in them.
pub(in crate::cli) fn cells(cut: Option<&Cut>) -> Vec<Value> {
    let survival = cut.and_then(|cut| cut.survival.as_ref());
    let mut cells = vec![json!(cut.map_or(0, |cut| cut.runs))];
    let Some(survival) = survival else {
        cells.resize(COLUMNS.len(), Value::Null);
        return cells;
    };
    let Survival { until, restricted_mean, ci95, reached, reached_ci95, p50, p50_ci95, .. } =
        survival;
    cells.extend([json!(until), json!(restricted_mean), json!(ci95[0]), json!(ci95[1])]);
    cells.extend([json!(reached), json!(reached_ci95[0]), json!(reached_ci95[1])]);
    cells.extend([json!(p50), json!(p50_ci95[0]), json!(p50_ci95[1])]);
    cells
}

/// What is known of times that were cut: Kaplan and Meier's estimate.
pub(in crate::cli) fn estimates(answer: &Answer) -> String {
    let header = [
        "cut",
        "in",
        "watched",
        "mean up to that",
        "95 % interval",
        "settled by then",
        "p50",
        "p99",
    ];
    let survivals = answer.cuts.iter().filter_map(|(measure, cut)| {
        let survival = cut.survival.as_ref()?;
        Some((measure, cut, survival))
    });
    let row = |(measure, cut, survival): (&Measure, &Cut, &Survival)| {
        let Survival { until, restricted_mean, ci95: [low, high], .. } = *survival;
        let quantile = |at: Option<f64>, [low, high]: [Option<f64>; 2]| {
            let end = |end: Option<f64>| end.map_or_else(|| "-".to_owned(), short);
            match at {
                None => format!("above {}", short(until)),
                Some(at) => format!("{} ({} .. {})", short(at), end(low), end(high)),
            }
        };
        let [least, most] = survival.reached_ci95.map(|part| format!("{:.1}", 100.0 * part));
        vec![
            json!(measure.name()),
            json!(count(cut.runs, "run", "runs")),
            json!(short(until)),
            json!(restricted_mean),
            json!(format!("{} .. {}", short(low), short(high))),
            json!(format!("{:.1} % ({least} .. {most})", 100.0 * survival.reached)),
            json!(quantile(survival.p50, survival.p50_ci95)),
            json!(quantile(survival.p99, survival.p99_ci95)),
        ]
    };
    let rows: Vec<_> = survivals.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = Rows::of(header, rows).to_text();
    let about = "times counted as the watch where they are longer; Kaplan and Meier's estimate";
    format!("\n{table}\n{about}\n\n")
}
