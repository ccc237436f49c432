//! `bellwether sim`: the same election many times, and how it went.

use super::Done;
use super::failure::Failure;
use super::file;
use super::group::{self, Group, Setting};
use super::memory::{self, Load};
use super::output::{Format, csv, short, table};
use super::progress::{Progress, Stopwatch};
use super::threads;
use bellwether::core::Duration;
use bellwether::protocols::choice::Entry;
use bellwether::sim::stats::Summary;
use bellwether::sim::{Answer, Churn, Experiment, Measure, Scenario, trace};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
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
    #[arg(long, value_name = "T", default_value = "0", allow_negative_numbers = true)]
    #[arg(value_parser = threads::parse)]
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
    /// How long a disturbed group is watched; with leases, any group
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
  bellwether sim local-leader --loss .01 --window 24h --runs 1
  bellwether sim local-leader --mode local --scenario split

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
    /// One joins with the greatest id
    JoinGreater,
    /// One joins with the least id
    JoinSmaller,
    /// A cut divides the group, with the leader in the smaller part; with leases only
    Split,
    /// Processes come and go
    Churn,
}

impl What {
    /// The scenario, with what churn needs to know.
    fn with(self, departures: f64, arrivals: f64) -> Scenario {
        match self {
            Self::Start => Scenario::Start,
            Self::Departure => Scenario::Departure,
            Self::FalseDeparture => Scenario::FalseDeparture,
            Self::JoinGreater => Scenario::JoinGreater,
            Self::JoinSmaller => Scenario::JoinSmaller,
            Self::Split => Scenario::Split,
            Self::Churn => Scenario::Churn(Churn { departures, arrivals }),
        }
    }
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

/// So many of them.
pub(super) fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Parses a number of runs.
fn runs(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(runs) if runs > 0 => Ok(runs),
        _ => Err("runs are a whole number, at least 1".to_owned()),
    }
}

/// Parses a rate.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.0..=1e6).contains(&rate) => Ok(rate),
        _ => Err("a rate is a number per second, from 0 to 1000000".to_owned()),
    }
}

impl Sim {
    /// Runs it; `given` are the flags that were written.
    pub(super) fn run(&self, given: &[String]) -> Done {
        let setting = self.group.with(self.protocol, given)?;
        let experiment = self.experiment(setting)?;
        // Before anything else: even to check a plan is to build one.
        let lazy = self.engine != Which::Event && experiment.not_lazy().is_none();
        memory::check(&Load::of_runs(&experiment, lazy)).map_err(Failure::Usage)?;
        if self.trace.is_some() {
            memory::check(&Load::of_first_run(&experiment)).map_err(Failure::Usage)?;
        }
        experiment.check().map_err(Failure::usage)?;
        let progress = Progress::new(experiment.runs);
        if let Some(path) = &self.trace {
            write_trace(&experiment, path)?;
        }
        let watch = Stopwatch::start();
        let answer = experiment.run(&|| progress.tick()).map_err(Failure::usage)?;
        let seconds = watch.elapsed().as_secs_f64();
        drop(progress);
        let text = match self.format {
            Format::Table => self.for_people(setting, &experiment, &answer, seconds),
            Format::Json => self.for_programs(setting, &experiment, &answer, seconds).to_string(),
            Format::Csv => self.for_spreadsheets(&experiment, &answer),
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }

    fn experiment(&self, setting: Setting<'_>) -> Result<Experiment, Failure> {
        let scenario = self.scenario.with(self.departures, self.arrivals);
        if self.window == Duration::ZERO || self.window == Duration::MAX {
            return Err(Failure::usage(format!(
                "--window {}: a window lasts longer than nothing and comes to an end; try 100s",
                self.window
            )));
        }
        let nodes = setting.nodes();
        let choice = setting.choice(scenario.ids(nodes, self.protocol.family.has_leases()))?;
        let convening = setting.convening(&choice, self.window)?;
        Ok(Experiment {
            nodes,
            network: setting.network()?,
            ranks: setting.ranks(),
            drift: setting.drift(&choice),
            choice,
            convening,
            scenario,
            window: self.window,
            runs: self.runs,
            seed: setting.seed(),
            threads: threads::start(self.threads, self.runs),
            engine: match self.engine {
                Which::Event => bellwether::sim::Engine::Event,
                Which::Lazy => bellwether::sim::Engine::Lazy,
                Which::Auto => bellwether::sim::Engine::Auto,
            },
        })
    }

    fn for_people(
        &self,
        setting: Setting<'_>,
        experiment: &Experiment,
        answer: &Answer,
        seconds: f64,
    ) -> String {
        let header = ["measure", "mean", "±", "95 % interval", "min", "p50", "p99", "max"];
        let row = |(measure, summary): &(Measure, Summary)| {
            let Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, .. } = *summary;
            // One sample says nothing about how far it is from the mean.
            let (error, interval) = if summary.count < 2 {
                ("-".to_owned(), "-".to_owned())
            } else {
                (short(stderr), format!("{} .. {}", short(low), short(high)))
            };
            let mut cells = vec![measure.name(), short(mean), error, interval];
            cells.extend([min, p50, p99, max].map(short));
            cells
        };
        let rows: Vec<_> = answer.measures.iter().map(row).collect();
        let engine = if answer.lazy { "lazy" } else { "event" };
        let mut text = format!(
            "{} with {}, {} from seed {}\n{}{}\n\n{}\n\n",
            self.protocol.name,
            count(u64::from(experiment.nodes), "process", "processes"),
            count(self.runs, "run", "runs"),
            experiment.seed,
            experiment.scenario.name(),
            setting.conditions(&experiment.choice),
            table(&header, &rows)
        );
        if answer.unsettled > 0 {
            text += &format!(
                "{} of {} did not settle while watched, and are in no mean\n",
                answer.unsettled,
                count(self.runs, "run", "runs")
            );
        }
        let rate = answer.deliveries.map_or_else(String::new, |deliveries| {
            format!(", {deliveries} deliveries, {:.2e} a second", deliveries as f64 / seconds)
        });
        text + &format!("{engine} engine: {:.3} s{rate}", seconds)
    }

    fn for_programs(
        &self,
        setting: Setting<'_>,
        experiment: &Experiment,
        answer: &Answer,
        seconds: f64,
    ) -> Value {
        let mut params = setting.to_json(&experiment.choice);
        params.insert("scenario".to_owned(), json!(experiment.scenario.name()));
        params.insert("window".to_owned(), json!(self.window.as_secs_f64()));
        if let Scenario::Churn(Churn { departures, arrivals }) = experiment.scenario {
            params.insert("departures".to_owned(), json!(departures));
            params.insert("arrivals".to_owned(), json!(arrivals));
        }
        let metrics: Map<String, Value> = answer
            .measures
            .iter()
            .map(|(measure, summary)| (measure.name(), json!(summary)))
            .collect();
        json!({
            "protocol": self.protocol.name,
            "nodes": experiment.nodes,
            "runs": self.runs,
            "seed": experiment.seed,
            "params": params,
            "metrics": metrics,
            "unsettled": answer.unsettled,
            "engine": if answer.lazy { "lazy" } else { "event" },
            "deliveries": answer.deliveries,
            "wall_seconds": seconds,
        })
    }

    fn for_spreadsheets(&self, experiment: &Experiment, answer: &Answer) -> String {
        let header = [
            "protocol",
            "nodes",
            "runs",
            "seed",
            "scenario",
            "loss",
            "unsettled",
            "metric",
            "count",
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
                experiment.nodes.to_string(),
                self.runs.to_string(),
                experiment.seed.to_string(),
                experiment.scenario.name().to_owned(),
                experiment.network.loss().rate().to_string(),
                answer.unsettled.to_string(),
                measure.name(),
                summary.count.to_string(),
            ];
            cells.extend([mean, stderr, low, high, min, p50, p99, max].map(|x| x.to_string()));
            cells
        };
        csv(&header, &answer.measures.iter().map(row).collect::<Vec<_>>())
    }
}

/// Writes the first run's records.
fn write_trace(experiment: &Experiment, path: &Path) -> Done {
    file::check_writable(path)?;
    let mut text = String::new();
    trace::to_json_lines(&experiment.trace(), &mut text);
    file::write(path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Bellwether, Command};
    use bellwether::protocols::announce_listen::Mapping;
    use bellwether::protocols::choice::Choice;
    use clap::Parser;

    fn experiment(arguments: &str) -> Experiment {
        let words = "bellwether sim".split(' ').chain(arguments.split(' '));
        match Bellwether::try_parse_from(words).unwrap().command {
            Command::Sim(sim) => {
                let setting = sim.group.with(sim.protocol, &[]).unwrap();
                sim.experiment(setting).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_best_standing_is_the_greatest_id_there_can_be() {
        let best_of = |scenario: &str| {
            let flags = "le-s --listen 3s --nodes 10 --mapping standing --scenario";
            let choice = experiment(&format!("{flags} {scenario}")).choice;
            let Choice::AnnounceListen(params) = choice else { panic!("{choice:?}") };
            match params.wake().mapping {
                Mapping::ByStanding { best, worst: 0, .. } => best,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(["start", "departure", "false-departure"].map(best_of), [9; 3]);
        assert_eq!(["join-greater", "join-smaller", "churn"].map(best_of), [10, 10, 19]);
    }

    #[test]
    fn there_are_no_more_threads_than_runs() {
        assert_eq!(experiment("le-s --threads 1024 --runs 3").threads, 3);
        assert_eq!(experiment("le-s --threads 2 --runs 3").threads, 2);
        assert_eq!(experiment("le-s --runs 1").threads, 1);
    }

    #[test]
    fn scenarios_are_called_the_same_on_the_command_line_and_in_results() {
        for what in What::value_variants() {
            let written = what.to_possible_value().unwrap();
            assert_eq!(written.get_name(), what.with(0.0, 0.0).name());
        }
    }
}
