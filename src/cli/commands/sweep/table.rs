//! Rows: one for each point and measure, with all that says what it is.

use super::Planned;
use super::folder::Folder;
use super::parquet;
use super::point::{Asked, target_column, text};
use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::output::Rows;
use bellwether::analysis::sweep::Asks;
use bellwether::analysis::sweep::work::{Measured, Outcome};
use bellwether::sim::part::BROKEN;
use bellwether::sim::rare::{PROBABILITY, is_large};
use bellwether::sim::stats::Summary;
use clap::ValueEnum;
use serde_json::{Value, json};

/// How rows are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TableFormat {
    /// For people
    #[default]
    Table,
    /// One object a line, stable keys
    Json,
    /// A header and rows
    Csv,
}

/// The rows of a sweep.
pub(super) struct Table {
    rows: Rows,
    for_people: Rows,
    /// What pictures are made of.
    pub(super) cells: Vec<Cell>,
}

/// One row.
pub(super) struct Cell {
    /// The number of its point.
    pub(super) point: usize,
    pub(super) metric: String,
    pub(super) mean: f64,
    pub(super) stderr: f64,
    pub(super) interval: [f64; 2],
    pub(super) count: usize,
    /// In how many runs the end of the watch cut it: the mean of the others is too low.
    pub(super) cut: u64,
    pub(super) command: String,
}

/// The columns after those of the point.
const NUMBERS: [&str; 14] = [
    "metric",
    "runs",
    "count",
    "unsettled",
    "mean",
    "stderr",
    "low",
    "high",
    "confidence",
    "min",
    "p50",
    "p99",
    "max",
    "narrow",
];

impl Table {
    pub(super) fn new(plan: &Planned, outcomes: &[Outcome]) -> Self {
        let axes: Vec<String> =
            plan.sweep.columns().iter().map(|name| name.replace('-', "_")).collect();
        let own_seed = plan.sweep.columns().contains(&"seed");
        let target = target_column(plan.sweep.asks).to_owned();
        let point = ["point".to_owned(), target.clone()];
        let numbers = NUMBERS.map(str::to_owned);
        let (judges, rare) = (plan.sweep.asks == Asks::Check, plan.sweep.is_rare());
        let end = [(rare, "large_error"), (!own_seed, "seed"), (judges, "broke_first")];
        let end = end.into_iter().chain([(true, "command")]);
        let end = end.filter(|(has, _)| *has).map(|(_, name)| name.to_owned());
        let columns = point.into_iter().chain(axes.clone()).chain(numbers).chain(end);
        let few = [target].into_iter().chain(axes).chain(
            ["metric", "mean", "±", "interval", "min", "p50", "p99", "max", "runs"]
                .map(str::to_owned),
        );
        let (rows, for_people) = (Rows::new(columns), Rows::new(few));
        let mut table = Self { rows, for_people, cells: Vec::new() };
        let mut outcomes = outcomes.iter();
        for (number, asked) in plan.points.iter().enumerate() {
            for (form, value) in &asked.forms {
                table.formula(number, asked, form, *value, own_seed);
            }
            if let Some(outcome) = asked.task.as_ref().and_then(|_| outcomes.next()) {
                for measured in &outcome.measured {
                    table.measured(plan, (number, asked), outcome, measured);
                }
            }
        }
        table
    }

    fn formula(&mut self, point: usize, asked: &Asked, form: &str, value: f64, own_seed: bool) {
        let mut row = head(point, asked);
        row.extend([json!(form), Value::Null, Value::Null, Value::Null, json!(value)]);
        row.extend(std::iter::repeat_n(Value::Null, 9 + usize::from(!own_seed)));
        let command = asked.command.split(" --seed ").next().unwrap_or_default().to_owned();
        row.push(json!(command));
        self.rows.push(row);
        let mut few = head(point, asked).split_off(1);
        few.extend([json!(form), json!(value)]);
        self.for_people.push(few);
        let (metric, interval) = (form.to_owned(), [value; 2]);
        let (mean, stderr, count, cut) = (value, 0.0, 0, 0);
        self.cells.push(Cell { point, metric, mean, stderr, interval, count, cut, command });
    }

    fn measured(
        &mut self,
        plan: &Planned,
        (point, asked): (usize, &Asked),
        outcome: &Outcome,
        measured: &Measured,
    ) {
        let Measured { name, summary, interval: [low, high], cut } = measured;
        let Summary { mean, stderr, min, p50, p99, max, count, .. } = *summary;
        let Outcome { runs, unsettled, narrow, .. } = outcome;
        let runs_flag = match plan.sweep.is_rare() {
            true => "replications",
            false => plan.sweep.asks.runs_flag(),
        };
        // Of schedules that broke the promise, the first is shown.
        let command = match outcome.broke {
            Some(number) => format!("{} --schedule {number}", asked.command),
            None => format!("{} --{runs_flag} {runs}", asked.command),
        };
        let confidence = plan.sweep.rule.as_ref().map(|rule| rule.confidence);
        let mut row = head(point, asked);
        row.extend([json!(name), json!(runs), json!(count), json!(unsettled)]);
        row.push(json!(mean));
        let unless_cut = |number: f64| if *cut > 0 { Value::Null } else { json!(number) };
        row.extend([stderr, *low, *high].map(unless_cut));
        row.push(json!(confidence));
        row.extend([min, p50, p99, max].map(|number| json!(number)));
        row.push(json!(narrow));
        let large_error = name == PROBABILITY && is_large(mean, stderr);
        if plan.sweep.is_rare() {
            row.push(if name == PROBABILITY { json!(large_error) } else { Value::Null });
        }
        if !plan.sweep.columns().contains(&"seed") {
            row.push(json!(asked.seed));
        }
        if plan.sweep.asks == Asks::Check {
            row.push(json!(outcome.broke));
        }
        row.push(json!(command));
        self.rows.push(row);
        let show = crate::cli::output::digits;
        let digits = |number: f64| json!(show(number));
        let mut few = head(point, asked).split_off(1);
        few.extend([json!(name), digits(mean)]);
        few.extend(match cut {
            0 => {
                let doubt = if large_error { " (large error)" } else { "" };
                [digits(stderr), json!(format!("{} .. {}{doubt}", show(*low), show(*high)))]
            }
            cut => [json!("-"), json!(format!("- ({cut} cut)"))],
        });
        few.extend([min, p50, p99, max].map(digits));
        few.push(json!(runs));
        self.for_people.push(few);
        let (metric, interval, cut) = (name.clone(), [*low, *high], *cut);
        self.cells.push(Cell { point, metric, mean, stderr, interval, count, cut, command });
    }

    /// Writes the rows of a folder, and removes what is left of interrupted work.
    pub(super) fn write(&self, folder: &Folder, with_parquet: bool) -> Done {
        folder.write("rows.csv", (self.rows.to_csv() + "\n").as_bytes())?;
        folder.write("rows.jsonl", (self.lines() + "\n").as_bytes())?;
        if with_parquet {
            folder.write("rows.parquet", &parquet::bytes(&self.rows).map_err(Failure::Io)?)?;
        }
        folder.tidy();
        Ok(())
    }

    /// Whether a schedule of faults broke a promise.
    pub(super) fn has_broken(&self) -> bool {
        self.cells.iter().any(|cell| cell.metric == BROKEN && cell.mean > 0.0)
    }

    pub(super) fn to(&self, format: TableFormat) -> String {
        match format {
            TableFormat::Table => self.for_people.to_text(),
            TableFormat::Json => self.lines(),
            TableFormat::Csv => self.rows.to_csv(),
        }
    }

    /// An array of objects.
    pub(super) fn to_json(&self) -> Value {
        self.rows.to_json()
    }

    /// One object a line.
    fn lines(&self) -> String {
        let rows = self.to_json();
        let lines = rows.as_array().into_iter().flatten().map(Value::to_string);
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// What says which point it is.
fn head(point: usize, asked: &Asked) -> Vec<Value> {
    let mut row = vec![json!(point), json!(asked.at.target)];
    row.extend(asked.at.settings.iter().map(|(_, value)| match value {
        Value::Array(_) => json!(text(value)),
        value => value.clone(),
    }));
    row
}
