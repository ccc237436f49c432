//! `bellwether check`: try to break what a protocol promises.

use crate::cli::commands::explore::{self, Explore};
use crate::cli::commands::live::Live;
use crate::cli::commands::protocols::Named;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags;
use crate::cli::flags::calling::InitiationFlags;
use crate::cli::flags::channel::Channel;
use crate::cli::flags::common::Threads;
use crate::cli::flags::group::{Conditions, Group};
use crate::cli::flags::probabilistic::Probabilistic;
use crate::cli::output::Format;
use crate::cli::output::progress::{Interrupt, Progress, Stopwatch};
use crate::cli::output::verdict::{Evidence, Verdict};
use crate::cli::{Done, Written};
use bellwether::check::shrink::shrink_choice;
use bellwether::check::{Fuzz, Report, Schedule, Trial, Varied, scenario, vary};
use bellwether::core::{Record, SimTime};
use bellwether::protocols::choice::{Choice, Config, Entry, Promise};
use bellwether::sim::ScenarioFile;
use bellwether::sim::diagram::{Options, space_time};
use clap::Args;
use serde_json::{Value, json};
use std::fs::create_dir_all;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Try to break what a protocol promises, with random faults
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Check {
    /// The protocol; `bellwether protocols` lists them
    #[arg(value_parser = Named, hide_possible_values = true, required_unless_present = "trace")]
    #[arg(conflicts_with = "trace")]
    protocol: Option<&'static Entry>,
    /// How many schedules of faults
    #[arg(long, value_name = "N", default_value = "2000")]
    #[arg(value_parser = schedules)]
    schedules: u64,
    /// Only the schedule with this number
    #[arg(long, value_name = "I", conflicts_with = "schedules")]
    #[arg(value_parser = clap::value_parser!(u64).range(..u64::MAX))]
    schedule: Option<u64>,
    /// Judge by this promise alone: never-two, one-per-partition, eventually-one, elects-nobody
    /// [default: the protocol's own, with all that belongs to it]
    #[arg(long, value_name = "PROMISE")]
    promise: Option<Promise>,
    /// Every schedule also draws --preempt, --preempt-delay, --replace-after, --spare and --tree
    #[arg(long)]
    vary: bool,
    #[command(flatten)]
    threads: Threads,
    /// Where to write the scenario and the picture of a violation
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// How to write the verdict
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    live: Live,
    #[command(flatten)]
    explore: Explore,
    #[command(flatten)]
    group: Group,
}

const EXAMPLES: &str = "\
Examples:
  bellwether check le-s
  bellwether check local-leader --schedules 100000 --seed 7
  bellwether check local-leader --mode local --nodes 7
  bellwether check local-leader --nodes 9 --vary          with parameters that are drawn, too
  bellwether check le-s --promise never-two               what it does not promise
  bellwether check le-s --promise never-two --schedule 3  one schedule again
  bellwether check local-leader --as-published            the protocol as printed: exit code 1
  bellwether check probabilistic --k 9 --nodes 9
  bellwether check local-leader --explore --crashes 1 --ticks 9
  bellwether check --trace 1.jsonl 2.jsonl 3.jsonl --faults faults.jsonl --svg run.svg

Exit code: 0 if the promise held, 1 if it is broken; 130 if it was interrupted (Ctrl-C) and held so
far: it then prints what was checked. A second Ctrl-C ends it at once.

How to read it: each schedule draws its own network, faults and clocks; then the faults stop. Safety
must hold all the time, and a leader must come soon after the faults stop. That nothing was found is
no proof: the counts say how much was tried. A probability is not judged, because one run proves
nothing about it: probabilistic is certain to elect one in a group no larger than K, and is judged
there; for larger groups `bellwether sim probabilistic` counts how often it does.";

/// The flags that a replay does not repeat as they were.
const NOT_REPLAYED: [&str; 6] = ["schedules", "schedule", "seed", "threads", "out", "format"];

/// Parses a number of schedules.
fn schedules(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(schedules) if schedules > 0 => Ok(schedules),
        _ => Err("schedules are a whole number, at least 1".to_owned()),
    }
}

/// The flags whose values every schedule draws itself.
fn drawn() -> Vec<String> {
    let mut drawn = [flags::of::<Channel>(), flags::of::<InitiationFlags>()].concat();
    drawn.extend(flags::of::<Probabilistic>());
    drawn.push("clock-drift".to_owned());
    drawn
}

/// Changes the flags of `sim` that have another meaning here, or none.
pub(in crate::cli) fn with_defaults(command: clap::Command) -> clap::Command {
    let command = command.mut_arg("nodes", |flag| flag.default_value("5"));
    let command = flags::help::unattended(command);
    let drawn = drawn();
    command.mut_args(|flag| {
        let hidden = flag.get_long().is_some_and(|long| drawn.iter().any(|name| name == long));
        flag.hide(hidden)
    })
}

/// Refuses flags whose values every schedule draws itself.
fn refuse_drawn(given: &[String]) -> Done {
    let drawn = drawn();
    match given.iter().find(|flag| drawn.contains(flag)) {
        None => Ok(()),
        Some(flag) => Err(Failure::usage(format!(
            "--{flag}: every schedule draws its own networks, clocks and calls; leave it out"
        ))),
    }
}

/// A trial that flags describe.
pub(in crate::cli) struct Tried {
    pub(in crate::cli) trial: Trial,
    pub(in crate::cli) config: Config,
    pub(in crate::cli) choice: Choice,
    /// The flags of the parameters that differ from the defaults.
    params: String,
    /// The same with parameters that every schedule draws, if that was asked for.
    varied: Option<Varied>,
}

impl Tried {
    /// The trial and the protocol of the schedule with this number.
    fn of(&self, number: u64) -> (Trial, Config, Choice) {
        match self.varied.as_ref().map(|varied| varied.of(number)) {
            Some(one) => (one.trial, one.config, one.choice),
            None => (self.trial.clone(), self.config.clone(), self.choice.clone()),
        }
    }
}

/// What the schedules showed.
struct Judged {
    report: Report,
    seconds: f64,
    /// How many were not run, because it was interrupted.
    left_out: u64,
}

/// A violation, shrunk, as a scenario file and as a picture.
struct Shrunk {
    evidence: Evidence,
    scenario: String,
    picture: String,
}

impl Check {
    /// Runs the command; `written` are the flags that were given, with their values.
    pub(in crate::cli) fn run(&self, written: &[(String, Vec<String>)]) -> Done {
        let given: Vec<String> = written.iter().map(|(flag, _)| flag.clone()).collect();
        let Some(protocol) = self.protocol.filter(|_| !self.live.is_on()) else {
            return self.live.run(self.promise, self.format, &given);
        };
        if self.explore.is_on() {
            refuse_drawn(&given)?;
            let setting = self.group.with(protocol, &given)?.unsteady();
            return self.run_explore(protocol, setting, &given);
        }
        let tried = self.tried(protocol, &given)?;
        // Before anything is run, because a verdict that cannot be written would be lost.
        create_dir_all(&self.out).map_err(|error| Failure::io("make", &self.out, &error))?;
        file::check_writable(&self.out.join("violation"))?;
        let judged = self.judge(&tried)?;
        let shrunk = self.shrunk(&tried, &judged, written)?;
        let evidence = shrunk.map(|shrunk| self.keep(&tried, shrunk)).transpose()?;
        let (evidence, left_out) = (evidence.as_ref(), judged.left_out);
        let verdict = judged.verdict(protocol.name, &tried.trial, evidence);
        let text = match self.format {
            Format::Table => verdict.for_people(),
            Format::Json => verdict.for_programs().to_string(),
            Format::Csv => verdict.for_spreadsheets(),
        };
        // A reader that stops early still gets the exit code.
        let printed = writeln!(io::stdout(), "{text}");
        match (evidence, left_out) {
            (Some(_), _) => Err(Failure::Violated),
            (None, 0) => Ok(printed?),
            (None, _) => Err(Failure::Interrupted(None)),
        }
    }

    /// The verdict for a program; a violation has its scenario and its picture in it.
    pub(in crate::cli) fn answer(&self, written: &Written) -> Result<Value, Failure> {
        let given: Vec<String> = written.iter().map(|(flag, _)| flag.clone()).collect();
        let Some(protocol) = self.protocol.filter(|_| !self.explore.is_on()) else {
            return Err(Failure::usage("name a protocol, whose schedules are drawn"));
        };
        let tried = self.tried(protocol, &given)?;
        let judged = self.judge(&tried)?;
        let shrunk = self.shrunk(&tried, &judged, written)?;
        let evidence = shrunk.as_ref().map(|shrunk| &shrunk.evidence);
        let mut result = judged.verdict(protocol.name, &tried.trial, evidence).for_programs();
        if let Some(Shrunk { scenario, picture, .. }) = shrunk {
            result["violations"][0]["scenario"] = json!(scenario);
            result["violations"][0]["diagram"] = json!(picture);
        }
        Ok(result)
    }

    /// The trial of a protocol, for whoever runs its schedules.
    pub(in crate::cli) fn of_flags(&self, given: &[String]) -> Result<Tried, Failure> {
        match self.protocol.filter(|_| !self.live.is_on() && !self.explore.is_on()) {
            Some(_) if self.vary => {
                Err(Failure::usage("--vary: a point has one set of parameters; leave it out"))
            }
            Some(protocol) => self.tried(protocol, given),
            None => Err(Failure::usage("only schedules of faults are counted; name a protocol")),
        }
    }

    /// The trial that the flags describe; `given` are those that were given.
    pub(in crate::cli) fn tried(
        &self,
        protocol: &'static Entry,
        given: &[String],
    ) -> Result<Tried, Failure> {
        refuse_drawn(given)?;
        let setting = self.group.with(protocol, given)?.unsteady();
        let (config, choice) = setting.choice(u64::from(setting.nodes()))?;
        if choice.must_be_told() {
            return Err(Failure::usage(
                "--detector told: in a schedule nobody is told anything; leave it out",
            ));
        }
        let mut trial = Trial::new(&choice, setting.nodes(), self.promise, setting.seed());
        trial.ranks = setting.ranks(&config);
        trial.check().map_err(Failure::usage)?;
        let params = setting.arguments(&config)?;
        let varied = self.varied(&trial, &config, given)?;
        Ok(Tried { trial, config, choice, params, varied })
    }

    /// The same with parameters that every schedule draws, if that was asked for.
    fn varied(
        &self,
        trial: &Trial,
        config: &Config,
        given: &[String],
    ) -> Result<Option<Varied>, Failure> {
        if !self.vary {
            return Ok(None);
        }
        match given.iter().find(|flag| vary::NAMES.contains(&flag.as_str())) {
            None => Varied::new(trial, config).map(Some).map_err(Failure::usage),
            Some(flag) => Err(Failure::usage(format!(
                "--{flag}: with --vary every schedule draws its own; leave one of them out"
            ))),
        }
    }

    /// Runs the schedules.
    fn judge(&self, Tried { trial, choice, varied, .. }: &Tried) -> Result<Judged, Failure> {
        let numbers = match self.schedule {
            Some(number) => number..number.saturating_add(1),
            None => 0..self.schedules,
        };
        let count = numbers.end - numbers.start;
        let progress = Progress::new(count);
        let watch = Stopwatch::start();
        let threads = self.threads.start(count);
        let fuzz = Fuzz { trial, numbers, threads, progress: &|| progress.tick() };
        let interrupt = Interrupt::catch()?;
        let over = || interrupt.came();
        let report = match varied {
            Some(varied) => fuzz.run_varied_until(varied, &over),
            None => fuzz.run_choice_until(choice.clone(), &over),
        };
        let report = report.map_err(Failure::usage)?;
        let left_out = count.saturating_sub(report.tally.schedules);
        let left_out = if interrupt.came() { left_out } else { 0 };
        Ok(Judged { report, seconds: watch.elapsed().as_secs_f64(), left_out })
    }

    /// Explores instead. Time is in ticks, so the protocol's own flags have no effect.
    fn run_explore(&self, protocol: &Entry, setting: Conditions<'_>, given: &[String]) -> Done {
        let flags = explore::flags();
        if let Some(flag) = given.iter().find(|flag| !flags.contains(flag)) {
            let text = format!("--{flag} has no effect with --explore; leave it out");
            return Err(Failure::usage(text));
        }
        let written = given.iter().any(|flag| flag == "nodes");
        let nodes = if written { setting.nodes() } else { 3 };
        let threads = self.threads.start(u64::MAX);
        let to = explore::Destination { threads, out: &self.out, format: self.format };
        self.explore.run(protocol.name, nodes, &to)
    }

    /// The protocol's name.
    fn name(&self) -> &'static str {
        self.protocol.map_or("", |protocol| protocol.name)
    }

    /// The flags that are the same in a replay; `params` are those of the protocol.
    fn again(&self, written: &[(String, Vec<String>)], params: &str) -> String {
        let mut text = format!("bellwether check {}{params}", self.name());
        let params_of_all = flags::all::<flags::Every>();
        for (flag, values) in written {
            if !NOT_REPLAYED.contains(&flag.as_str()) && !params_of_all.contains(flag) {
                text += &format!(" --{flag}");
                values.iter().for_each(|value| text += &format!(" {value}"));
            }
        }
        text
    }

    /// Shrinks the schedule that broke the promise, if one did.
    fn shrunk(
        &self,
        tried: &Tried,
        judged: &Judged,
        written: &[(String, Vec<String>)],
    ) -> Result<Option<Shrunk>, Failure> {
        let Some(violation) = &judged.report.violation else { return Ok(None) };
        let number = violation.number;
        let (trial, config, choice) = tried.of(number);
        let (trial, config, choice, params) = (&trial, &config, &choice, &tried.params);
        let full = trial.schedule(number);
        let before = full.plan.faults.len();
        let (schedule, broken) =
            shrink_choice(trial, choice.clone(), full, violation.breach.clone());
        let about = format!("{} breaks {}: {}", self.name(), trial.promise, broken.text);
        let shown = going_on(&schedule);
        let scenario = self.scenario(trial, &shown, &about, config)?;
        let title = format!("{}: {}", broken.invariant, broken.text);
        let picture = self.draw(&shown, choice, title);
        let again = self.again(written, params);
        let replay = format!("{again} --seed {} --schedule {number}", trial.seed);
        let (toml, svg) = (PathBuf::new(), PathBuf::new());
        let evidence = Evidence { schedule, broken, before, number, replay, toml, svg };
        Ok(Some(Shrunk { evidence, scenario, picture }))
    }

    /// Writes the scenario and the picture of a violation to files.
    fn keep(&self, tried: &Tried, shrunk: Shrunk) -> Result<Evidence, Failure> {
        let Shrunk { evidence, scenario, picture } = shrunk;
        let (seed, number) = (tried.trial.seed, evidence.number);
        let name = format!("violation-{}-{seed}-{number}", self.name());
        let toml = unused(&self.out, &name, &scenario);
        let svg = toml.with_extension("svg");
        file::write(&toml, &scenario)?;
        file::write(&svg, &picture)?;
        Ok(Evidence { toml, svg, ..evidence })
    }

    fn scenario(
        &self,
        trial: &Trial,
        schedule: &Schedule,
        about: &str,
        config: &Config,
    ) -> Result<String, Failure> {
        let name = self.name();
        let written = scenario::to_toml(trial, schedule, about, name, config);
        written.map_err(|error| Failure::Io(error.to_string()))
    }

    fn draw(&self, schedule: &Schedule, choice: &Choice, title: String) -> String {
        let (name, plan) = (self.name().to_owned(), schedule.plan.clone());
        let scenario = ScenarioFile::of(String::new(), name, choice.clone(), plan, schedule.luck);
        let records: Vec<Record> = scenario.trace(schedule.luck);
        let until = Some(SimTime::ZERO + schedule.plan.horizon);
        space_time(&records, &Options { title, until, ..Options::default() })
    }
}

impl Judged {
    fn verdict<'a>(
        &'a self,
        name: &'a str,
        trial: &'a Trial,
        evidence: Option<&'a Evidence>,
    ) -> Verdict<'a> {
        let Self { report, seconds, left_out } = self;
        Verdict { name, trial, report, seconds: *seconds, evidence, left_out: *left_out }
    }
}

/// The same schedule, a tenth longer. A shrunk one ends at the instant of the violation, which
/// would have no width in a picture.
fn going_on(schedule: &Schedule) -> Schedule {
    let mut longer = schedule.clone();
    let horizon = longer.plan.horizon;
    longer.plan.horizon = horizon + horizon / 10;
    longer
}

/// A file with this name, or with a number behind it if another scenario has that name.
fn unused(folder: &Path, name: &str, scenario: &str) -> PathBuf {
    let file = |name: &str| folder.join(format!("{name}.toml"));
    let others = |path: &PathBuf| std::fs::read(path).is_ok_and(|it| it != scenario.as_bytes());
    let (mut path, mut number) = (file(name), 1);
    while others(&path) {
        number += 1;
        path = file(&format!("{name}-{number}"));
    }
    path
}
