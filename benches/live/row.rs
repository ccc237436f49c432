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
    /// The worst, if there are several.
    pub(crate) worst: Option<Worst>,
    /// How many led at once, at most.
    pub(crate) leaders: Option<u64>,
    /// The longest that a core of this machine was late meanwhile, in milliseconds.
    pub(crate) stall: f64,
}

/// The worst of several, in the unit of the row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worst {
    pub(crate) value: f64,
    /// At most this is wanted.
    pub(crate) bound: f64,
    /// Whether all that went beyond the bound did so by less than the machine stalled meanwhile.
    pub(crate) by_stalls: bool,
}

impl Row {
    /// `ok`, `MISSED`, or `stalled` if the machine is to blame for what is beyond the bound.
    fn verdict(&self) -> &'static str {
        let within = self.target.is_none_or(|target| self.value <= target);
        let alone = self.leaders.is_none_or(|leaders| leaders <= 1);
        match self.worst {
            _ if !within || !alone => "MISSED",
            Some(Worst { value, bound, by_stalls }) if value > bound => {
                if by_stalls {
                    "stalled"
                } else {
                    "MISSED"
                }
            }
            _ => "ok",
        }
    }

    fn for_people(&self) -> String {
        let wanted = |most: f64| format!("(<= {most})");
        let target = self.target.map_or(String::new(), wanted);
        let worst = self.worst.map_or(String::new(), |worst| {
            format!("worst {:.1} {}", worst.value, wanted(worst.bound))
        });
        let leaders = self.leaders.map_or(String::new(), |leaders| leaders.to_string());
        format!(
            "{:<38} {:>7.1} {:<10} {target:<9} {worst:<22} {leaders:>12} {:>10.1}  {}",
            self.what,
            self.value,
            self.unit,
            self.stall,
            self.verdict()
        )
    }

    fn for_programs(&self) -> Value {
        json!({
            "what": self.what, "value": self.value, "unit": self.unit, "target": self.target,
            "worst": self.worst.map(|worst| worst.value),
            "bound": self.worst.map(|worst| worst.bound),
            "leaders_at_once": self.leaders, "longest_stall_ms": self.stall,
            "verdict": self.verdict(),
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
                "{:<89} {:>12} {:>10}",
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

    /// Lines for people alone, about the rows.
    pub(crate) fn tell(&self, lines: &[String]) {
        if !self.json {
            lines.iter().for_each(|line| println!("{line}"));
        }
    }

    /// Two leaders at once are a failure; so is a figure that was missed, unless it is only told.
    pub(crate) fn finish(self, told: bool) -> ExitCode {
        if self.json {
            println!("{}", self.rows.iter().map(Row::for_programs).collect::<Value>());
        }
        let safe = self.rows.iter().all(|row| row.leaders.is_none_or(|leaders| leaders <= 1));
        let met = self.rows.iter().all(|row| row.verdict() != "MISSED");
        if safe && (met || told) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
