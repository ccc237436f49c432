//! What is printed, for people and for programs.

use serde_json::{Value, json};
use std::process::ExitCode;

/// One figure, or a distribution's middle and worst.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    /// The figure itself, or the median.
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// At most this is wanted.
    pub(crate) target: Option<f64>,
    /// The worst, and at most this is wanted of it.
    pub(crate) worst: Option<(f64, f64)>,
    /// How many led at once, at most.
    pub(crate) leaders: Option<u64>,
    /// The longest that a core of this machine was late meanwhile, in milliseconds.
    pub(crate) stall: f64,
}

impl Row {
    fn met(&self) -> bool {
        let value = self.target.is_none_or(|target| self.value <= target);
        let worst = self.worst.is_none_or(|(worst, bound)| worst <= bound);
        value && worst && self.leaders.is_none_or(|leaders| leaders <= 1)
    }

    fn for_people(&self) -> String {
        let wanted = |most: f64| format!("(<= {most})");
        let target = self.target.map_or(String::new(), wanted);
        let worst = self
            .worst
            .map_or(String::new(), |(worst, bound)| format!("worst {worst:.1} {}", wanted(bound)));
        let leaders = self.leaders.map_or(String::new(), |leaders| leaders.to_string());
        format!(
            "{:<32} {:>7.1} {:<10} {target:<9} {worst:<22} {leaders:>12} {:>10.1}  {}",
            self.what,
            self.value,
            self.unit,
            self.stall,
            if self.met() { "ok" } else { "MISSED" }
        )
    }

    fn for_programs(&self) -> Value {
        json!({
            "what": self.what, "value": self.value, "unit": self.unit, "target": self.target,
            "worst": self.worst.map(|(worst, _)| worst),
            "bound": self.worst.map(|(_, bound)| bound),
            "leaders_at_once": self.leaders, "longest_stall_ms": self.stall, "met": self.met(),
        })
    }
}

/// All of them: lines as they come for people, one array at the end for programs.
pub(crate) struct Rows {
    json: bool,
    rows: Vec<Row>,
}

impl Rows {
    pub(crate) fn new(json: bool) -> Self {
        if !json {
            println!(
                "{:<83} {:>12} {:>10}",
                "three members in namespaces", "led at once", "stall, ms"
            );
        }
        Self { json, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Row) {
        if !self.json {
            println!("{}", row.for_people());
        }
        self.rows.push(row);
    }

    /// A figure that was missed is told; two leaders at once are a failure.
    pub(crate) fn finish(self) -> ExitCode {
        if self.json {
            println!("{}", self.rows.iter().map(Row::for_programs).collect::<Value>());
        }
        let safe = self.rows.iter().all(|row| row.leaders.is_none_or(|leaders| leaders <= 1));
        if safe { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
