//! `bellwether sim`: the same election many times, and how it went.

use super::Done;
use super::failure::Failure;
use super::group::{self, Group};
use super::memory;
use super::output::{Format, csv, short, table};
use super::progress::{Progress, Stopwatch};
use bellwether::core::Duration;
use bellwether::protocols::choice::{Choice, Entry};
use bellwether::sim::stats::Summary;
use bellwether::sim::{Answer, Churn, Experiment, Measure, Scenario, trace};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Simulate a protocol many times and sum up how it did
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Sim {
    /// The protocol; `bellwether protocols` lists them
    #[arg(value_parser = group::protocol)]
    protocol: &'static Entry,
    /// How many runs
    #[arg(long, short, value_name = "R", default_value = "1000", allow_negative_numbers = true)]
    #[arg(value_parser = runs)]
    runs: u64,
    /// How many threads; 0 for one per core. The result does not depend on it
    #[arg(long, value_name = "T", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    group: Group,
    /// What happens; in all but `start`, --nodes counts the group before it happens
    #[arg(long, value_enum, default_value_t, help_heading = "Scenario")]
    scenario: What,
    /// With churn: departures per second, of any process
    #[arg(long, value_name = "X", default_value = "0.01", help_heading = "Scenario")]
    #[arg(value_parser = rate, allow_negative_numbers = true)]
    departures: f64,
    /// With churn: arrivals per second
    #[arg(long, value_name = "X", default_value = "0.01", help_heading = "Scenario")]
    #[arg(value_parser = rate, allow_negative_numbers = true)]
    arrivals: f64,
    /// How long a disturbed group is watched
    #[arg(long, value_name = "D", default_value = "100s", help_heading = "Scenario")]
    #[arg(allow_negative_numbers = true)]
    window: Duration,
    /// Look at every message, or only at those that decide
    #[arg(long, value_enum, default_value_t)]
    engine: Which,
    /// Write the first run to this file, one JSON record a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  bellwether sim le-s --nodes 500 --loss .4
  bellwether sim le-m --nodes 500 --loss .4 --loss-model correlated --format json
  bellwether sim le-s --nodes 1000000 --loss .4 --runs 10
  bellwether sim le-s --nodes 20 --listen 3s --scenario departure
  bellwether sim le-s --nodes 20 --listen 3s --scenario departure --bye --loss .2
  bellwether sim le-s --nodes 20 --listen 3s --scenario churn --departures .05 --arrivals .05

How to read it: times are in seconds; the interval holds the true mean with 95 % confidence.";

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum What {
    /// All start at once
    #[default]
    Start,
    /// The leader departs
    Departure,
    /// Nobody departs, but announcements are lost
    FalseDeparture,
    /// One joins that is to lead
    JoinGreater,
    /// One joins that is not
    JoinSmaller,
    /// Processes come and go
    Churn,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Which {
    /// Every message
    Event,
    /// Only what decides; the same result
    Lazy,
    /// Lazy where that is possible
    #[default]
    Auto,
}

/// Parses a number of runs.
fn runs(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(runs) if runs > 0 => Ok(runs),
        _ => Err("runs are a whole number, at least 1".to_owned()),
    }
}

/// Parses a rate.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.0..=1e6).contains(&rate) => Ok(rate),
        _ => Err("a rate is a number per second, from 0 to 1000000".to_owned()),
    }
}

impl Sim {
    pub(super) fn run(&self) -> Done {
        let experiment = self.experiment()?;
        experiment.check().map_err(Failure::usage)?;
        let lazy = self.engine != Which::Event && experiment.not_lazy().is_none();
        memory::check(&experiment, lazy)?;
        if let Some(path) = &self.trace {
            write_trace(&experiment, path)?;
        }
        let progress = Progress::new(experiment.runs);
        let watch = Stopwatch::start();
        let answer = experiment.run(&|| progress.tick()).map_err(Failure::usage)?;
        let seconds = watch.elapsed().as_secs_f64();
        progress.finish();
        let text = match self.format {
            Format::Table => self.for_people(&answer, seconds),
            Format::Json => self.for_programs(&experiment, &answer, seconds).to_string(),
            Format::Csv => self.for_spreadsheets(&answer),
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }

    fn experiment(&self) -> Result<Experiment, Failure> {
        let &Self { departures, arrivals, .. } = self;
        if self.window == Duration::ZERO || self.window == Duration::MAX {
            return Err(Failure::usage(format!("--window {}: 0 < window must end", self.window)));
        }
        Ok(Experiment {
            choice: self.group.params(self.protocol)?.into(),
            nodes: self.group.nodes,
            network: self.group.network()?,
            ranks: self.group.ranks(),
            scenario: match self.scenario {
                What::Start => Scenario::Start,
                What::Departure => Scenario::Departure,
                What::FalseDeparture => Scenario::FalseDeparture,
                What::JoinGreater => Scenario::JoinGreater,
                What::JoinSmaller => Scenario::JoinSmaller,
                What::Churn => Scenario::Churn(Churn { departures, arrivals }),
            },
            window: self.window,
            runs: self.runs,
            seed: self.group.seed,
            threads: self.threads,
            engine: match self.engine {
                Which::Event => bellwether::sim::Engine::Event,
                Which::Lazy => bellwether::sim::Engine::Lazy,
                Which::Auto => bellwether::sim::Engine::Auto,
            },
        })
    }

    fn for_people(&self, answer: &Answer, seconds: f64) -> String {
        let header = ["measure", "mean", "±", "95 % interval", "min", "p50", "p99", "max"];
        let row = |(measure, summary): &(Measure, Summary)| {
            let Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, .. } = *summary;
            let interval = format!("{} .. {}", short(low), short(high));
            let mut cells = vec![measure.name().to_owned(), short(mean), short(stderr), interval];
            cells.extend([min, p50, p99, max].map(short));
            cells
        };
        let rows: Vec<_> = answer.measures.iter().map(row).collect();
        let engine = if answer.lazy { "lazy" } else { "event" };
        let mut text = format!(
            "{} with {} processes, {} runs from seed {}\n\n{}\n\n",
            self.protocol.name,
            self.group.nodes,
            self.runs,
            self.group.seed,
            table(&header, &rows)
        );
        if answer.unsettled > 0 {
            text += &format!("{} of {} runs never settled\n", answer.unsettled, self.runs);
        }
        let rate = answer.deliveries.map_or_else(String::new, |deliveries| {
            format!(", {deliveries} deliveries, {:.2e} a second", deliveries as f64 / seconds)
        });
        text + &format!("{engine} engine: {:.3} s{rate}", seconds)
    }

    fn for_programs(&self, experiment: &Experiment, answer: &Answer, seconds: f64) -> Value {
        let Choice::AnnounceListen(chosen) = &experiment.choice;
        let mut params = self.group.to_json(chosen, &experiment.network);
        params.insert("scenario".to_owned(), json!(experiment.scenario.name()));
        if experiment.scenario != Scenario::Start {
            params.insert("window".to_owned(), json!(self.window.as_secs_f64()));
        }
        if let Scenario::Churn(Churn { departures, arrivals }) = experiment.scenario {
            params.insert("departures".to_owned(), json!(departures));
            params.insert("arrivals".to_owned(), json!(arrivals));
        }
        let metrics: Map<String, Value> = answer
            .measures
            .iter()
            .map(|(measure, summary)| (measure.name().to_owned(), json!(summary)))
            .collect();
        json!({
            "protocol": self.protocol.name,
            "nodes": self.group.nodes,
            "runs": self.runs,
            "seed": self.group.seed,
            "params": params,
            "metrics": metrics,
            "unsettled": answer.unsettled,
            "engine": if answer.lazy { "lazy" } else { "event" },
            "deliveries": answer.deliveries,
            "wall_seconds": seconds,
        })
    }

    fn for_spreadsheets(&self, answer: &Answer) -> String {
        let header = [
            "protocol",
            "nodes",
            "runs",
            "seed",
            "metric",
            "mean",
            "stderr",
            "ci95_low",
            "ci95_high",
            "min",
            "p50",
            "p99",
            "max",
        ];
        let row = |(measure, summary): &(Measure, Summary)| {
            let Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, .. } = *summary;
            let mut cells = vec![
                self.protocol.name.to_owned(),
                self.group.nodes.to_string(),
                self.runs.to_string(),
                self.group.seed.to_string(),
                measure.name().to_owned(),
            ];
            cells.extend([mean, stderr, low, high, min, p50, p99, max].map(|x| x.to_string()));
            cells
        };
        csv(&header, &answer.measures.iter().map(row).collect::<Vec<_>>())
    }
}

/// Writes the first run's records.
fn write_trace(experiment: &Experiment, path: &Path) -> Done {
    let mut file = File::create(path).map_err(|error| Failure::io("write", path, &error))?;
    let mut text = String::new();
    trace::to_json_lines(&experiment.trace(), &mut text);
    file.write_all(text.as_bytes()).map_err(|error| Failure::io("write", path, &error))
}
