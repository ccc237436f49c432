//! `bellwether sim`: simulates an election many times and summarises the runs.

use crate::cli::Done;
use crate::cli::commands::protocols::Named;
use crate::cli::commands::rare::{self, RareFlags};
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags::common::{Churning, Threads};
use crate::cli::flags::group::{Conditions, Group};
use crate::cli::flags::one_of;
use crate::cli::flags::target_file::{self, ProtocolOrFile};
use crate::cli::memory::{self, Load};
use crate::cli::output::progress::{Interrupt, Progress, Stopwatch};
use crate::cli::output::{Format, Rows, cuts, short};
use bellwether::core::Duration;
use bellwether::protocols::choice::{Choice, Config, Entry};
use bellwether::sim::rare::Rare;
use bellwether::sim::stats::Summary;
use bellwether::sim::{
    Answer, Churn, Control, Engine, Experiment, Measure, Samples, Scenario, ScenarioKind, trace,
};
use clap::Args;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Simulate a protocol many times and sum up how it did
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Sim {
    /// The protocol (`bellwether protocols` lists them), or a scenario file, which replaces all
    /// flags but --runs, --seed, --threads and those of the output
    #[arg(value_name = "PROTOCOL", value_parser = Named::or_file(), hide_possible_values = true)]
    what: ProtocolOrFile,
    /// How many runs
    #[arg(long, short, value_name = "R", default_value = "1000")]
    #[arg(value_parser = runs)]
    runs: u64,
    #[command(flatten)]
    threads: Threads,
    /// What happens; in all but `start`, --nodes counts the group before it happens
    #[arg(long, value_parser = one_of::<ScenarioKind>(), default_value_t)]
    #[arg(help_heading = "Scenario")]
    scenario: ScenarioKind,
    #[command(flatten)]
    churning: Churning,
    /// How long a disturbed group is watched; with leases, any group
    #[arg(long, value_name = "D", default_value_t = WINDOW, help_heading = "Scenario")]
    window: Duration,
    /// Simulate every message, or only those that decide the outcome
    #[arg(long, value_parser = one_of::<Engine>(), default_value_t)]
    engine: Engine,
    /// Write what was measured in every run to this file, as CSV
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Write the first run to this file, one JSON record a line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    rare: RareFlags,
    #[command(flatten)]
    group: Group,
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
  bellwether sim local-leader --mode local --scenario merge
  bellwether sim scenarios/failover.toml --runs 100 --samples runs.csv
  bellwether sim le-s --nodes 5 --listen 8.5s --loss .1 --window 60s --rare false-departure

How to read it: times are in seconds; the interval holds the true mean with 95 % confidence.

Exit code: 0; 130 if it was interrupted (Ctrl-C). It then prints the result of the runs made so far,
and says that it is partial. A second Ctrl-C ends it at once.";

/// How long a disturbed group is watched by default.
const WINDOW: Duration = Duration::from_secs(100);

/// The flags that go with a scenario file.
const BESIDE_A_FILE: [&str; 5] = ["runs", "seed", "threads", "format", "samples"];

/// What was asked and answered, every run's values, and how many seconds it took.
type Outcome = (Asked, Answer, Option<Samples>, f64);

/// A number with its noun.
pub(in crate::cli) fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Parses a number of runs.
fn runs(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(runs) if runs > 0 => Ok(runs),
        _ => Err("runs are a whole number, at least 1".to_owned()),
    }
}

/// What is printed with the numbers: the protocol, and the conditions.
struct Asked {
    protocol: String,
    nodes: u32,
    /// How many runs were made.
    runs: u64,
    /// How many were not made, because it was interrupted.
    left_out: u64,
    seed: u64,
    scenario: String,
    conditions: String,
    loss: f64,
    params: Map<String, Value>,
}

impl Sim {
    /// Runs the command; `given` are the flags that were given.
    pub(in crate::cli) fn run(&self, given: &[String]) -> Done {
        if let Some(rare) = self.rare.checked(given)? {
            return rare::run(self, &rare, given, self.format);
        }
        if let Some(path) = &self.samples {
            file::check_writable(path)?;
        }
        let (asked, answer, samples, seconds) = self.simulate(given, self.samples.is_some())?;
        if let (Some(path), Some(samples)) = (&self.samples, samples) {
            file::write(path, &(asked.every_run(&samples).to_csv() + "\n"))?;
        }
        let text = match self.format {
            Format::Table => asked.for_people(&answer, seconds),
            Format::Json => asked.for_programs(&answer, seconds).to_string(),
            Format::Csv => asked.rows(&answer).to_csv(),
        };
        // Whoever stops reading still gets the exit code.
        let printed = writeln!(io::stdout(), "{text}");
        if asked.left_out > 0 { Err(Failure::Interrupted(None)) } else { Ok(printed?) }
    }

    /// The result for a program, and the values of every run.
    pub(in crate::cli) fn answer(&self, given: &[String]) -> Result<(Value, Samples), Failure> {
        if self.rare.asked().is_some() {
            return Err(Failure::usage("--rare has an estimate and no runs; ask for that"));
        }
        let (asked, answer, samples, seconds) = self.simulate(given, true)?;
        let none = || Samples { measures: Vec::new(), runs: Vec::new() };
        Ok((asked.for_programs(&answer, seconds), samples.unwrap_or_else(none)))
    }

    /// The estimate of a rare event, for a program.
    pub(in crate::cli) fn estimate(&self, given: &[String]) -> Result<Value, Failure> {
        match self.rare.checked(given)? {
            Some(rare) => rare::answer(self, &rare, given),
            None => Err(Failure::usage("--rare names the event that is estimated; give it")),
        }
    }

    /// Simulates, and keeps the values of every run if somebody wants them.
    fn simulate(&self, given: &[String], keep: bool) -> Result<Outcome, Failure> {
        match &self.what {
            ProtocolOrFile::Protocol(entry) => self.of_protocol(entry, given, keep),
            ProtocolOrFile::File(path) => self.of_file(path, given),
        }
    }

    /// The runs of a protocol, in the conditions that the flags give.
    fn of_protocol(
        &self,
        entry: &'static Entry,
        given: &[String],
        keep: bool,
    ) -> Result<Outcome, Failure> {
        let setting = self.group.with(entry, given)?;
        let (chosen, experiment) = self.checked(entry, given, setting)?;
        let progress = Progress::new(experiment.runs);
        if let Some(path) = &self.trace {
            write_trace(&experiment, path)?;
        }
        let watch = Stopwatch::start();
        let interrupt = Interrupt::catch()?;
        let control = Control { progress: &|| progress.tick(), over: &|| interrupt.came() };
        let ran = match keep {
            true => experiment.run_and_keep(control).map(|(answer, all)| (answer, Some(all))),
            false => experiment.run_until(control).map(|answer| (answer, None)),
        };
        let (answer, samples) = ran.map_err(Failure::usage)?;
        let asked = Asked {
            protocol: entry.name.to_owned(),
            nodes: experiment.nodes,
            runs: progress.done(),
            left_out: self.runs - progress.done(),
            seed: experiment.seed,
            scenario: experiment.scenario.name().to_owned(),
            conditions: setting.conditions(&chosen.1),
            loss: experiment.network.loss().rate(),
            params: to_json(setting, &chosen, &experiment),
        };
        Ok((asked, answer, samples, watch.elapsed().as_secs_f64()))
    }

    /// What is simulated, by its name.
    pub(in crate::cli) fn name(&self) -> String {
        match &self.what {
            ProtocolOrFile::Protocol(entry) => entry.name.to_owned(),
            ProtocolOrFile::File(path) => path.display().to_string(),
        }
    }

    /// How many threads were asked for.
    pub(in crate::cli) fn threads(&self) -> usize {
        self.threads.start(u64::MAX)
    }

    /// What is rare, if that is asked.
    pub(in crate::cli) fn rare_of(&self, given: &[String]) -> Result<Option<Rare>, Failure> {
        self.rare.checked(given)
    }

    /// The experiment of a protocol, for whoever makes the runs; a file's flags cannot be changed.
    pub(in crate::cli) fn of_flags(&self, given: &[String]) -> Result<Experiment, Failure> {
        let ProtocolOrFile::Protocol(entry) = &self.what else {
            let rule = "only protocols have flags that can be changed; name one";
            return Err(Failure::usage(rule));
        };
        Ok(self.asked(entry, given)?.1)
    }

    /// The experiment that the flags describe; `given` are those that were given.
    pub(in crate::cli) fn asked(
        &self,
        entry: &'static Entry,
        given: &[String],
    ) -> Result<(Config, Experiment), Failure> {
        let (chosen, experiment) = self.checked(entry, given, self.group.with(entry, given)?)?;
        Ok((chosen.0, experiment))
    }

    /// The experiment, after every rule for it.
    fn checked(
        &self,
        entry: &Entry,
        given: &[String],
        setting: Conditions<'_>,
    ) -> Result<((Config, Choice), Experiment), Failure> {
        let (chosen, experiment) = self.experiment(entry, setting)?;
        self.check_effects(given, &experiment)?;
        // Before anything else, because checking a plan builds one.
        let lazy = self.engine != Engine::Event && experiment.not_lazy().is_none();
        memory::check(&Load::of_runs(&experiment, lazy)).map_err(Failure::Usage)?;
        if self.trace.is_some() {
            memory::check(&Load::of_first_run(&experiment)).map_err(Failure::Usage)?;
        }
        experiment.check().map_err(Failure::usage)?;
        Ok((chosen, experiment))
    }

    /// The runs of a scenario file.
    fn of_file(&self, path: &Path, given: &[String]) -> Result<Outcome, Failure> {
        let scenario = target_file::read(path, given, &BESIDE_A_FILE)?;
        memory::check(&Load::of_plan(&scenario.choice, &scenario.plan))
            .map_err(|line| self.what.refused(line))?;
        let seed = self.group.seed.seed.unwrap_or(scenario.seed);
        let progress = Progress::new(self.runs);
        let watch = Stopwatch::start();
        let threads = self.threads.start(self.runs);
        let interrupt = Interrupt::catch()?;
        let control = Control { progress: &|| progress.tick(), over: &|| interrupt.came() };
        let ran = scenario.repeat(self.runs, seed, threads, control);
        let (answer, samples) = ran.map_err(Failure::usage)?;
        let name = path.display().to_string();
        let about = Some(scenario.about).filter(|about| !about.is_empty());
        let asked = Asked {
            protocol: scenario.protocol,
            nodes: scenario.plan.nodes,
            runs: progress.done(),
            left_out: self.runs - progress.done(),
            seed,
            conditions: about.map_or_else(String::new, |about| format!(": {about}")),
            loss: scenario.plan.network.loss().rate(),
            params: Map::from_iter([("scenario".to_owned(), json!(name))]),
            scenario: name,
        };
        Ok((asked, answer, Some(samples), watch.elapsed().as_secs_f64()))
    }

    /// Refuses flags that would change nothing.
    fn check_effects(&self, given: &[String], experiment: &Experiment) -> Done {
        let idle = |flag: &str, why: &str| {
            Err(Failure::usage(format!("--{flag} has no effect {why}, or leave --{flag} out")))
        };
        let is_given = |flag: &&&str| given.iter().any(|given| given == **flag);
        let churn = matches!(experiment.scenario, Scenario::Churn(_));
        if let Some(flag) = ["departures", "arrivals"].iter().find(is_given).filter(|_| !churn) {
            return idle(flag, "without churn; add --scenario churn");
        }
        let start = experiment.scenario == Scenario::Start;
        let profile = experiment.choice.profile();
        let byes = ["bye", "bye-from-all", "bye-copies"];
        if let Some(flag) = byes.iter().find(is_given).filter(|_| start && profile.byes > 0) {
            return idle(flag, "with --scenario start, in which nobody departs; choose another");
        }
        // A rare event is looked for in the window, whatever else ends a run.
        if experiment.ends() && self.window != WINDOW && self.rare.asked().is_none() {
            let why = match profile.on_demand {
                true => "where nothing is lost and nobody moves: an election ends; add --loss",
                false => {
                    "with --scenario start, which ends when all agree; choose another scenario"
                }
            };
            return idle("window", why);
        }
        Ok(())
    }

    fn experiment(
        &self,
        entry: &Entry,
        setting: Conditions<'_>,
    ) -> Result<((Config, Choice), Experiment), Failure> {
        let scenario = self.scenario.with(self.churning.churn());
        if self.window == Duration::ZERO || self.window == Duration::MAX {
            return Err(Failure::usage(format!(
                "--window {}: the window must be longer than 0 and finite; try 100s",
                self.window
            )));
        }
        let nodes = setting.nodes();
        let chosen = setting.choice(scenario.ids(nodes, entry.family.has_leases()))?;
        let choice = chosen.1.clone();
        let experiment = Experiment {
            nodes,
            network: setting.network()?,
            ranks: setting.ranks(&chosen.0),
            drift: setting.drift(&choice),
            choice,
            initiation: setting.initiation(&chosen.1, self.window)?,
            scenario,
            window: self.window,
            runs: self.runs,
            seed: setting.seed(),
            threads: self.threads.start(self.runs),
            engine: self.engine,
        };
        Ok((chosen, experiment))
    }
}

impl Asked {
    fn for_people(&self, answer: &Answer, seconds: f64) -> String {
        let header = ["measure", "mean", "±", "95 % interval", "min", "p50", "p99", "max"];
        let row = |(measure, summary): &(Measure, Summary)| {
            let Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, .. } = *summary;
            // One sample says nothing about how far it is from the mean.
            let (error, interval) = if summary.count < 2 || answer.cut(*measure).is_some() {
                ("-".to_owned(), "-".to_owned())
            } else {
                (short(stderr), format!("{} .. {}", short(low), short(high)))
            };
            let mut cells = vec![json!(measure.name()), json!(mean), json!(error), json!(interval)];
            cells.extend([min, p50, p99, max].map(|number| json!(number)));
            cells
        };
        let rows = Rows::of(header, answer.measures.iter().map(row));
        let engine = if answer.lazy { "lazy" } else { "event" };
        let mut text = format!(
            "{} with {}, {} from seed {}\n{}{}\n\n{}\n\n",
            self.protocol,
            count(u64::from(self.nodes), "process", "processes"),
            count(self.runs, "run", "runs"),
            self.seed,
            self.scenario,
            self.conditions,
            rows.to_text()
        );
        if answer.unsettled > 0 {
            text += &self.without_value(answer);
        }
        let rate = answer.deliveries.map_or_else(String::new, |deliveries| {
            format!(", {deliveries} deliveries, {:.2e} a second", deliveries as f64 / seconds)
        });
        text += &format!("{engine} engine: {:.3} s{rate}", seconds);
        if self.left_out > 0 {
            let left_out = count(self.left_out, "run was", "runs were");
            text += &format!("\nINTERRUPTED: {left_out} not made");
        }
        text
    }

    /// Says which measures lack the runs that did not settle, and what is known of times that were
    /// cut.
    fn without_value(&self, answer: &Answer) -> String {
        let lacks = |(_, summary): &&(Measure, Summary)| (summary.count as u64) < self.runs;
        let names: Vec<String> =
            answer.measures.iter().filter(lacks).map(|(measure, _)| measure.name()).collect();
        let cut = match answer.cuts.is_empty() {
            true => "",
            false => {
                "; what was cut is longer than what is in the mean, which has no interval: choose \
                 a longer --window"
            }
        };
        let lacking = match names.as_slice() {
            [] => "all measures have a value in them, too".to_owned(),
            names => format!("they are not in {}", names.join(", ")),
        };
        let runs = count(self.runs, "run", "runs");
        let line = format!(
            "{} of {runs} did not settle in the window; {lacking}{cut}\n",
            answer.unsettled
        );
        line + &cuts::estimates(answer)
    }

    fn for_programs(&self, answer: &Answer, seconds: f64) -> Value {
        let told =
            |(measure, _): &(Measure, Summary)| (measure.name(), json!(answer.told(*measure)));
        let metrics: Map<String, Value> = answer.measures.iter().map(told).collect();
        let mut result = json!({
            "protocol": self.protocol,
            "nodes": self.nodes,
            "runs": self.runs,
            "seed": self.seed,
            "params": self.params,
            "metrics": metrics,
            "unsettled": answer.unsettled,
            "engine": if answer.lazy { "lazy" } else { "event" },
            "deliveries": answer.deliveries,
            "wall_seconds": seconds,
        });
        if self.left_out > 0 {
            result["interrupted"] = json!(true);
        }
        result
    }

    /// A row for each measure, with the conditions in all of them.
    fn rows(&self, answer: &Answer) -> Rows {
        let summed =
            ["count", "mean", "stderr", "ci95_low", "ci95_high", "min", "p50", "p99", "max"];
        let asked =
            ["protocol", "nodes", "runs", "seed", "scenario", "loss", "unsettled", "metric"];
        let params = self.params.iter().filter(|(key, _)| !asked.contains(&key.as_str()));
        let named = params.clone().map(|(key, _)| key.as_str());
        let columns = asked.into_iter().chain(summed).chain(named).chain(cuts::COLUMNS);
        let mut rows = Rows::new(columns);
        for (measure, summary) in &answer.measures {
            let Summary { mean, stderr, ci95: [low, high], min, p50, p99, max, count } = *summary;
            let mut row = vec![
                json!(self.protocol),
                json!(self.nodes),
                json!(self.runs),
                json!(self.seed),
                json!(self.scenario),
                json!(self.loss),
                json!(answer.unsettled),
                json!(measure.name()),
                json!(count),
            ];
            let cut = answer.cut(*measure);
            let unless_cut = |number: f64| if cut.is_some() { Value::Null } else { json!(number) };
            row.push(json!(mean));
            row.extend([stderr, low, high].map(unless_cut));
            row.extend([min, p50, p99, max].map(|number| json!(number)));
            row.extend(params.clone().map(|(_, value)| value.clone()));
            row.extend(cuts::cells(cut));
            rows.push(row);
        }
        rows
    }

    /// A row for each run, with what was measured in it.
    fn every_run(&self, samples: &Samples) -> Rows {
        let measures = samples.measures.iter().map(|measure| measure.name());
        let columns = ["run", "seed", "settled"].map(str::to_owned);
        let mut rows = Rows::new(columns.into_iter().chain(measures));
        for run in &samples.runs {
            let head = [json!(run.number), json!(self.seed), json!(run.settled)];
            rows.push(head.into_iter().chain(run.values.iter().map(|value| json!(value))));
        }
        rows
    }
}

/// All conditions, for programs: enough to ask the same again, under the names of the flags.
fn to_json(
    setting: Conditions<'_>,
    chosen: &(Config, Choice),
    experiment: &Experiment,
) -> Map<String, Value> {
    let mut params = setting.to_json(chosen);
    params.insert("scenario".to_owned(), json!(experiment.scenario.name()));
    params.insert("window".to_owned(), json!(experiment.window.as_secs_f64()));
    if let Scenario::Churn(Churn { departures, arrivals }) = experiment.scenario {
        params.insert("departures".to_owned(), json!(departures));
        params.insert("arrivals".to_owned(), json!(arrivals));
    }
    params
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
    use bellwether::analysis::Point;
    use bellwether::protocols::announce_listen::Mapping;
    use clap::Parser;

    /// The experiment of these arguments, and what is told of its conditions.
    fn asked(arguments: &str) -> (Experiment, Map<String, Value>) {
        let words = "bellwether sim".split(' ').chain(arguments.split(' '));
        match Bellwether::try_parse_from(words).unwrap().command {
            Command::Sim(sim) => {
                let ProtocolOrFile::Protocol(entry) = &sim.what else { panic!("{arguments}") };
                let setting = sim.group.with(entry, &[]).unwrap();
                let (chosen, experiment) = sim.experiment(entry, setting).unwrap();
                let told = to_json(setting, &chosen, &experiment);
                (experiment, told)
            }
            other => panic!("{other:?}"),
        }
    }

    fn experiment(arguments: &str) -> Experiment {
        asked(arguments).0
    }

    /// What results call a condition, and what a command that replays them does, is what the flag
    /// is called.
    #[test]
    fn conditions_are_called_like_their_flags() {
        let all = crate::cli::command();
        let sim = all.find_subcommand("sim").unwrap();
        let is_flag = |name: &str| sim.get_arguments().any(|flag| flag.get_long() == Some(name));
        for flag in Point::FLAGS {
            assert!(is_flag(flag), "--{flag}");
        }
        // Each kind of election, and each way in which conditions are told.
        let lines = [
            "le-s --listen 3s --scenario churn",
            "local-leader",
            "bully --initiator 2",
            "merea",
            "ad-hoc",
            "ad-hoc --nodes 3 --link 0-1 --link 1-2",
            "probabilistic",
        ];
        let mut keys: Vec<String> =
            lines.iter().flat_map(|line| asked(line).1).map(|(key, _)| key).collect();
        keys.sort();
        keys.dedup();
        // Where ranks come from follows from the criterion.
        for key in keys.iter().filter(|key| *key != "ranks") {
            assert!(is_flag(&key.replace('_', "-")), "{key} is no flag");
        }
        assert!(keys.len() > 80, "{}", keys.len());
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
}
