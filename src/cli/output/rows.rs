//! Rows of values under named columns, which are written as text, JSON, CSV or Markdown.

use super::{Format, short};
use bellwether::analysis::report::csv::cell;
use comfy_table::{Table, presets};
use serde_json::{Map, Value};

/// Rows with the same columns.
#[derive(Debug)]
pub(in crate::cli) struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// None yet, with these columns.
    pub(in crate::cli) fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// These rows, with these columns.
    pub(in crate::cli) fn of<R>(
        columns: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = R>,
    ) -> Self
    where
        R: IntoIterator<Item: Into<Value>>,
    {
        let mut all = Self::new(columns);
        rows.into_iter().for_each(|row| all.push(row));
        all
    }

    /// A row for each object: the values that it has under the names of the columns.
    pub(in crate::cli) fn picked<const N: usize>(
        columns: [&str; N],
        objects: impl IntoIterator<Item = Value>,
    ) -> Self {
        Self::of(columns, objects.into_iter().map(|object| columns.map(|key| object[key].clone())))
    }

    /// Adds a row; what is missing at its end stays empty.
    pub(in crate::cli) fn push(&mut self, cells: impl IntoIterator<Item: Into<Value>>) {
        let mut row: Vec<Value> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns.len(), Value::Null);
        self.rows.push(row);
    }

    /// The names of the columns, each with its cells.
    #[cfg(feature = "parquet")]
    pub(in crate::cli) fn columns(
        &self,
    ) -> impl Iterator<Item = (&str, impl Iterator<Item = &Value>)> {
        let names = self.columns.iter().enumerate();
        names.map(|(place, name)| (name.as_str(), self.rows.iter().map(move |row| &row[place])))
    }

    /// As text, JSON or CSV.
    pub(in crate::cli) fn to(&self, format: Format) -> String {
        match format {
            Format::Table => self.to_text(),
            Format::Json => self.to_json().to_string(),
            Format::Csv => self.to_csv(),
        }
    }

    fn written(&self, cell: impl Fn(&Value) -> String) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(&cell).collect()).collect()
    }

    /// Columns for people, without boxes; numbers with as many digits as matter.
    pub(in crate::cli) fn to_text(&self) -> String {
        let cell = |value: &Value| match value.as_f64().filter(|_| value.is_f64()) {
            Some(number) => short(number),
            None => plain(value),
        };
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(&self.columns);
        table.add_rows(self.written(cell));
        let lines = table.to_string();
        lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// An object for each row.
    pub(in crate::cli) fn to_json(&self) -> Value {
        let object = |row: &Vec<Value>| -> Map<String, Value> {
            self.columns.iter().cloned().zip(row.iter().cloned()).collect()
        };
        self.rows.iter().map(object).map(Value::Object).collect()
    }

    /// A header and lines with commas between the cells; a cell that needs quotes gets them.
    pub(in crate::cli) fn to_csv(&self) -> String {
        let quoted = |value: &Value| cell(&plain(value));
        let mut lines = vec![self.columns.join(",")];
        lines.extend(self.written(quoted).iter().map(|row| row.join(",")));
        lines.join("\n")
    }

    /// A table of a page.
    pub(in crate::cli) fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let mut lines = vec![line(&self.columns), "|---".repeat(self.columns.len()) + "|"];
        let cell = |value: &Value| plain(value).replace('|', "\\|").replace('<', "&lt;");
        lines.extend(self.written(cell).iter().map(|row| line(row)));
        lines.join("\n")
    }
}

/// A value without quotes: numbers as Rust prints them, and nothing for an absent value.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map(|number| number.to_string()).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_rows_are_text_json_csv_and_markdown() {
        let mut rows = Rows::new(["name", "mean"]);
        rows.push([json!("a,b"), json!(1.0)]);
        rows.push([json!("c")]);
        assert_eq!(rows.to_csv(), "name,mean\n\"a,b\",1\nc,");
        assert_eq!(
            rows.to_json(),
            json!([{"name": "a,b", "mean": 1.0}, {"name": "c", "mean": null}])
        );
        assert_eq!(rows.to_markdown(), "| name | mean |\n|---|---|\n| a,b | 1 |\n| c |  |");
        assert!(rows.to_text().contains("mean"));
        for (format, text) in [
            (Format::Table, rows.to_text()),
            (Format::Json, rows.to_json().to_string()),
            (Format::Csv, rows.to_csv()),
        ] {
            assert_eq!(rows.to(format), text);
        }
    }

    #[test]
    fn a_cell_with_a_comma_is_quoted() {
        let rows = Rows::of(["one", "two"], [["a,b", "say \"x\""]]);
        assert_eq!(rows.to_csv(), "one,two\n\"a,b\",\"say \"\"x\"\"\"");
    }

    #[test]
    fn columns_are_picked_from_objects_and_what_is_absent_stays_empty() {
        let objects = [json!({"b": 2, "a": "x", "c": true}), json!({"a": "y"})];
        assert_eq!(Rows::picked(["a", "b"], objects).to_csv(), "a,b\nx,2\ny,");
    }

    #[test]
    fn whole_numbers_keep_all_their_digits() {
        assert!(Rows::of(["seed"], [[u64::MAX]]).to_text().contains("18446744073709551615"));
    }
}
