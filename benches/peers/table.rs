//! What is printed: one line per system, as soon as it was measured.

use crate::Fault;
use serde_json::{Value, json};

/// What was measured of one system.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figures {
    pub(crate) name: String,
    pub(crate) gives_up_after: f64,
    /// For each fault the times of all repetitions in milliseconds, sorted.
    pub(crate) failovers: Vec<Vec<f64>>,
    pub(crate) two_led: f64,
    pub(crate) packets: f64,
    pub(crate) memory: f64,
}

fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        length => f64::midpoint(sorted[(length - 1) / 2], sorted[length / 2]),
    }
}

fn worst(sorted: &[f64]) -> f64 {
    sorted.last().copied().unwrap_or(f64::NAN)
}

impl Figures {
    /// Whether it is ours.
    pub(crate) fn is_ours(&self) -> bool {
        self.name.starts_with("bellwether")
    }

    /// All that is compared, with its name and unit; less is better.
    pub(crate) fn columns(&self) -> Vec<(String, f64, &'static str)> {
        let times = Fault::ALL.into_iter().zip(&self.failovers).flat_map(|(fault, times)| {
            let name = fault.name();
            [
                (format!("{name}, median"), median(times), "ms"),
                (format!("{name}, worst"), worst(times), "ms"),
            ]
        });
        let rest = [
            ("two led".to_owned(), self.two_led, "ms"),
            ("packets".to_owned(), self.packets, "a second"),
            ("memory".to_owned(), self.memory, "MiB"),
        ];
        times.chain(rest).collect()
    }

    /// One line of a file of results.
    pub(crate) fn to_line(&self) -> String {
        let Self { name, gives_up_after, failovers, two_led, packets, memory } = self;
        json!({
            "name": name, "gives_up_after_ms": gives_up_after, "failovers_ms": failovers,
            "two_led_ms": two_led, "packets": packets, "memory_mib": memory,
        })
        .to_string()
    }

    /// Reads such a line; `None` if it is none, or has other faults.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let number = |key: &str| value[key].as_f64();
        let times = |times: &Value| {
            let times = times.as_array()?.iter().map(Value::as_f64);
            times.collect::<Option<Vec<f64>>>()
        };
        let failovers = value["failovers_ms"].as_array()?.iter().map(times);
        let failovers: Vec<Vec<f64>> = failovers.collect::<Option<_>>()?;
        let figures = Self {
            name: value["name"].as_str()?.to_owned(),
            gives_up_after: number("gives_up_after_ms")?,
            failovers,
            two_led: number("two_led_ms")?,
            packets: number("packets")?,
            memory: number("memory_mib")?,
        };
        (figures.failovers.len() == Fault::ALL.len()).then_some(figures)
    }

    fn shown(&self) -> String {
        let cells = self
            .failovers
            .iter()
            .map(|times| format!(" {:>15}", format!("{:.1} / {:.1}", median(times), worst(times))));
        let cells: String = cells.collect();
        let Self { name, gives_up_after, two_led, packets, memory, .. } = self;
        format!(
            "{name:<32} {gives_up_after:>8.0}{cells} {two_led:>9.1} {packets:>9.1} {memory:>7.1}"
        )
    }
}

/// The lines so far.
pub(crate) struct Table(pub(crate) Vec<Figures>);

impl Table {
    pub(crate) fn new(repetitions: usize) -> Self {
        println!("three members in namespaces; failover: median / worst of {repetitions}, in ms\n");
        let heads = |words: [&str; 5]| words.map(|word| format!(" {word:>15}")).concat();
        let above = heads(["kill -9 of", "kill -9", "", "", ""]);
        let below = heads(["the member", "of all", "silent cut", "pause", "SIGTERM"]);
        println!("{:<32} given up{above}  two led,   packets  memory,", "");
        println!("{:<32}   after{below}        ms  a second     MiB", "");
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, figures: Figures) {
        println!("{}", figures.shown());
        self.0.push(figures);
    }
}
