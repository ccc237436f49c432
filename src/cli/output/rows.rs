//! Rows of values under named columns, which are written as text, JSON, CSV or Markdown.

use super::{csv, short, table};
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

    /// Adds a row; what is missing at its end stays empty.
    pub(in crate::cli) fn push(&mut self, cells: impl IntoIterator<Item = Value>) {
        let mut row: Vec<Value> = cells.into_iter().collect();
        row.resize(self.columns.len(), Value::Null);
        self.rows.push(row);
    }

    fn written(&self, cell: impl Fn(&Value) -> String) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(&cell).collect()).collect()
    }

    fn header(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).collect()
    }

    /// Columns for people, numbers with as many digits as matter.
    pub(in crate::cli) fn to_text(&self) -> String {
        let cell = |value: &Value| match value.as_f64() {
            Some(number) => short(number),
            None => plain(value),
        };
        table(&self.header(), &self.written(cell))
    }

    /// An object for each row.
    pub(in crate::cli) fn to_json(&self) -> Value {
        let object = |row: &Vec<Value>| -> Map<String, Value> {
            self.columns.iter().cloned().zip(row.iter().cloned()).collect()
        };
        self.rows.iter().map(object).map(Value::Object).collect()
    }

    /// A header and lines with commas.
    pub(in crate::cli) fn to_csv(&self) -> String {
        csv(&self.header(), &self.written(plain))
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

/// A value without quotes; numbers as Rust prints them, and nothing for what is absent.
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
    }
}
