//! `bellwether analyze`: what a paper computes, as printed, as corrected and as simulated.

use crate::cli::Done;
use crate::cli::commands::sim;
use crate::cli::failure::Failure;
use crate::cli::flags::calls::Calls;
use crate::cli::flags::chances::Chances;
use crate::cli::flags::circumstances::{Circumstances, seconds};
use crate::cli::flags::common::{Churning, Seed, Threads, refuse_effort};
use crate::cli::flags::group::finite;
use crate::cli::flags::leases::Leases;
use crate::cli::flags::{Offers, Parameters, read_by_formulas};
use crate::cli::memory::{self, Load};
use crate::cli::output::judgement::{Judgement, difference};
use crate::cli::output::progress::{Interrupt, Progress};
use crate::cli::output::simulated::{Estimate, Simulated};
use crate::cli::output::{Format, Rows, digits};
use bellwether::analysis::{
    Inputs, OutOfDomain, Point, Quantity, ValidInputs, errata, quantities, quantity,
};
use bellwether::protocols::announce_listen;
use bellwether::protocols::choice::Config;
use bellwether::sim::{Control, Measure, Quantile};
use clap::Args;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Compute what a paper computes: as printed, as corrected, and as simulated
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Analyze {
    /// What to compute; --list names everything
    #[arg(value_parser = named)]
    quantity: Option<&'static Quantity>,
    /// List all quantities
    #[arg(long, conflicts_with_all = ["quantity", "simulate"])]
    list: bool,
    /// Write the mistakes in the papers, with the simulations that decide, as Markdown
    #[arg(long, conflicts_with_all = ["quantity", "simulate", "list"])]
    errata: bool,
    /// Also simulate it, this many times, and say which form the simulation supports
    #[arg(long, value_name = "R", value_parser = runs)]
    simulate: Option<u64>,
    #[command(flatten)]
    seed: Seed,
    #[command(flatten)]
    threads: Threads,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    arguments: Arguments,
}

/// The inputs of formulas.
#[derive(Args, Debug)]
struct Arguments {
    #[command(flatten)]
    circumstances: Circumstances,
    #[command(flatten)]
    timers: Parameters<Timers>,
    #[command(flatten)]
    churning: Churning,
    /// Of a recurrence Q(i, n, r) or S(n, r): the round r, from 1
    #[arg(long, value_name = "r", default_value = "1", help_heading = "Recurrence")]
    round: u32,
    /// Of a recurrence Q(i, n, r): how many messages are sent in that round
    #[arg(long, value_name = "i", default_value = "1", help_heading = "Recurrence")]
    sent: u32,
    #[command(flatten)]
    calls: Calls,
    #[command(flatten)]
    chances: Chances,
    #[command(flatten)]
    leases: Leases,
}

/// The parameters of le-s that formulas read.
#[derive(Debug)]
struct Timers;

impl Offers for Timers {
    const ONLY: &'static [&'static str] =
        &["suppress", "announce", "listen", "timer", "timer-rate"];
}

const EXAMPLES: &str = "\
Examples:
  bellwether analyze --list
  bellwether analyze --errata > errata.md
  bellwether analyze le-s.leadership-delay --nodes 500 --loss .4
  bellwether analyze le-s.leadership-delay --nodes 10 --loss .4 --simulate 2000
  bellwether analyze le-s.reestablishment-delay.departure --listen 8s --loss .1 --format json
  bellwether analyze merea.messages.worst-worst --nodes 1000 --simulate 2
  bellwether analyze probabilistic.success --nodes 10000 --k 40 --view .4 --mcast-loss .01
  bellwether analyze local-leader.failover.mean --nodes 5 --delay 1ms --simulate 2000

How to read it: `printed` is the paper's formula, `corrected` what it should read. A simulation
supports a form if it does not contradict it at 99.9 %; for an approximation it prints how far the
value is off. Where there is no form, --simulate still measures.

Exit code: 0; 130 if a simulation was interrupted (Ctrl-C): it then counts the runs made so far.";

/// Parses the name of a quantity.
fn named(name: &str) -> Result<&'static Quantity, String> {
    if let Some(found) = quantity(name) {
        return Ok(found);
    }
    let lower = name.to_lowercase();
    let likeness = |quantity: &Quantity| strsim::jaro_winkler(&lower, quantity.name);
    let mut near: Vec<_> = quantities().filter(|quantity| likeness(quantity) > 0.6).collect();
    near.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    let near: Vec<_> = near.iter().take(3).map(|near| format!("'{}'", near.name)).collect();
    let hint = match near.is_empty() {
        true => String::new(),
        false => format!("did you mean {}? ", near.join(" or ")),
    };
    Err(format!("no quantity has that name; {hint}`bellwether analyze --list` names them"))
}

/// Parses a number of runs; one alone would say nothing about its error.
fn runs(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(runs) if runs > 1 => Ok(runs),
        _ => Err("runs are a whole number, at least 2".to_owned()),
    }
}

/// Why a formula has no value, with the flags of its parameters.
fn with_flags(why: &OutOfDomain) -> String {
    why.explain(&|parameter| format!("--{parameter}"))
}

/// All that was computed.
struct Found {
    quantity: &'static Quantity,
    inputs: ValidInputs,
    printed: Result<f64, OutOfDomain>,
    corrected: Result<f64, OutOfDomain>,
    simulated: Option<Simulated>,
}

impl Found {
    /// What a simulation says about its forms.
    fn judged_by(&self, estimate: &Estimate) -> Judgement {
        let printed = self.printed.as_ref().ok().copied();
        let corrected = self.corrected.as_ref().ok().copied();
        if self.quantity.is_bound() {
            return Judgement::Bound;
        }
        Judgement::of(estimate, printed, corrected, self.exact() == Some(true))
    }

    /// Whether the corrected form is exact, if it has a value.
    fn exact(&self) -> Option<bool> {
        self.corrected.is_ok().then(|| (self.quantity.exact)(&self.inputs))
    }

    /// The forms and the simulation, a row each.
    fn rows(&self) -> Rows {
        let Self { quantity, printed, corrected, simulated, .. } = self;
        let unit = quantity.unit.name();
        let value = |value: f64| format!("{} {unit}", digits(value));
        let row = |form: &str, found: &Result<f64, OutOfDomain>, note: String| match found {
            Ok(found) => [form.to_owned(), value(*found), note],
            Err(why) => [form.to_owned(), "no value".to_owned(), with_flags(why)],
        };
        let from = match (printed, corrected) {
            (Ok(printed), Ok(corrected)) => {
                difference(*printed, *corrected, "from the corrected form")
            }
            _ => String::new(),
        };
        let exact = match self.exact() == Some(true) {
            true => "exact",
            false if quantity.is_bound() => "an upper bound",
            false => "an approximation",
        };
        let forms = [row("printed", printed, from), row("corrected", corrected, exact.to_owned())];
        let mut rows = Rows::of(["form", "value", ""], forms);
        if let Some(simulated) = simulated {
            let told = simulated.for_people(corrected.as_ref().ok().copied());
            rows.push(["simulated".to_owned(), value(simulated.estimate.value()), told]);
        }
        rows
    }
}

/// What formulas give at one point, and what simulates it.
pub(in crate::cli) struct Forms {
    pub(in crate::cli) quantity: &'static Quantity,
    pub(in crate::cli) printed: Option<f64>,
    pub(in crate::cli) corrected: Option<f64>,
    pub(in crate::cli) simulation: Option<(Point, Measure)>,
}

impl Analyze {
    /// What would be computed, for whoever makes the runs.
    pub(in crate::cli) fn asked(&self, given: &[String]) -> Result<Forms, Failure> {
        let Some(quantity) = self.quantity else {
            return Err(Failure::usage("name a quantity"));
        };
        self.arguments.refuse_unread(quantity, given)?;
        let inputs = ValidInputs::try_from(self.arguments.given()?)
            .map_err(|why| Failure::usage(with_flags(&why)))?;
        Ok(Forms {
            quantity,
            printed: (quantity.printed)(&inputs).ok(),
            corrected: (quantity.corrected)(&inputs).ok(),
            simulation: (quantity.simulation)(&inputs),
        })
    }

    /// Runs the command; `given` are the flags that were given.
    pub(in crate::cli) fn run(&self, given: &[String]) -> Done {
        if self.errata {
            if let Some(flag) = given.iter().find(|flag| *flag != "errata") {
                let rule = "--errata writes one page, with parameters of its own";
                return Err(Failure::usage(format!("--{flag}: {rule}; leave --{flag} out")));
            }
            // The page ends with its own line break.
            let page = errata::document(&mut |_, _| {}).map_err(Failure::usage)?;
            write!(io::stdout(), "{page}")?;
            return Ok(());
        }
        if self.quantity.is_none() && !self.list {
            let line = "name a <QUANTITY>, or --list to see them all; try --help";
            return Err(Failure::usage(line));
        }
        self.check_effort()?;
        if let Some(quantity) = self.quantity {
            self.arguments.refuse_unread(quantity, given)?;
            return self.print(&self.find(quantity)?);
        }
        let arguments = self.arguments.all();
        let is_argument = |flag: &&String| arguments.iter().any(|(known, _)| *known == **flag);
        if let Some(flag) = given.iter().find(is_argument) {
            return Err(Failure::usage(format!(
                "--{flag} has no effect with --list; leave it out"
            )));
        }
        writeln!(io::stdout(), "{}", list(self.format).to(self.format))?;
        Ok(())
    }

    /// The result for a program.
    pub(in crate::cli) fn answer(&self, given: &[String]) -> Result<Value, Failure> {
        let Some(quantity) = self.quantity else {
            return Err(Failure::usage("no quantity is named; name one"));
        };
        self.check_effort()?;
        self.arguments.refuse_unread(quantity, given)?;
        Ok(self.for_programs(&self.find(quantity)?))
    }

    fn check_effort(&self) -> Done {
        let why = "without --simulate; add --simulate 1000";
        if self.simulate.is_some() { Ok(()) } else { refuse_effort(self.seed, self.threads, why) }
    }

    fn print(&self, found: &Found) -> Done {
        let text = match self.format {
            Format::Table => self.for_people(found),
            Format::Json => self.for_programs(found).to_string(),
            Format::Csv => self.for_spreadsheets(found).to_csv(),
        };
        // A reader that stops early still gets the exit code.
        let printed = writeln!(io::stdout(), "{text}");
        let interrupted = found.simulated.as_ref().is_some_and(|found| found.left_out > 0);
        if interrupted { Err(Failure::Interrupted(None)) } else { Ok(printed?) }
    }

    fn find(&self, quantity: &'static Quantity) -> Result<Found, Failure> {
        let inputs = ValidInputs::try_from(self.arguments.given()?)
            .map_err(|why| Failure::usage(with_flags(&why)))?;
        let corrected = (quantity.corrected)(&inputs);
        if let Err(why) = &corrected {
            let point = (quantity.simulation)(&inputs).map(|(point, _)| point);
            let possible = point.is_some_and(|point| point.experiment(1).is_ok());
            if !possible || self.simulate.is_none() {
                let way_out = if possible { ", or add --simulate 1000" } else { "" };
                let why = with_flags(why);
                return Err(Failure::usage(format!("{}: {why}{way_out}", quantity.name)));
            }
        }
        let printed = (quantity.printed)(&inputs);
        let mut found = Found { quantity, inputs, printed, corrected, simulated: None };
        if let Some(runs) = self.simulate {
            found.simulated = Some(self.simulation(&found, runs)?);
        }
        Ok(found)
    }

    fn simulation(&self, found: &Found, runs: u64) -> Result<Simulated, Failure> {
        let name = found.quantity.name;
        let Some((point, measure)) = (found.quantity.simulation)(&found.inputs) else {
            return Err(Failure::usage(format!(
                "--simulate: no experiment measures {name} with these arguments; leave it out"
            )));
        };
        let point = point.runs(runs).seed(self.seed.get());
        let refused = |why: &dyn std::fmt::Display| {
            Failure::usage(format!("--simulate: {why} (asked was: {})", point.command()))
        };
        let threads = self.threads.start(runs);
        let experiment = point.experiment(threads).map_err(|why| refused(&why))?;
        let lazy = experiment.not_lazy().is_none();
        memory::check(&Load::of_runs(&experiment, lazy)).map_err(Failure::Usage)?;
        let progress = Progress::new(runs);
        let interrupt = Interrupt::catch()?;
        let control = Control { progress: &|| progress.tick(), over: &|| interrupt.came() };
        let (answer, p99) = if found.quantity.is_percentile {
            let made = experiment.run_and_keep(control);
            let (answer, samples) = made.map_err(|why| refused(&why))?;
            (answer, Quantile::of(0.99, samples.of_measure(measure)))
        } else {
            (experiment.run_until(control).map_err(|why| refused(&why))?, None)
        };
        let left_out = runs - progress.done();
        drop(progress);
        let summary = answer.measure(measure).cloned();
        // One run alone says nothing about its error.
        if left_out > 0 && summary.as_ref().is_none_or(|summary| summary.count < 2) {
            return Err(Failure::Interrupted(Some("interrupted before two runs were measured")));
        }
        let Some(summary) = summary else {
            return Err(refused(&nothing_shown(measure, runs)));
        };
        let cut = answer.cut(measure).map_or(0, |cut| cut.runs);
        let estimate = Estimate { summary, p99 };
        Ok(Simulated {
            judgement: if cut > 0 { Judgement::Nothing } else { found.judged_by(&estimate) },
            cut,
            estimate,
            measure: measure.name(),
            unsettled: answer.unsettled,
            command: point.command(),
            left_out,
        })
    }

    fn for_people(&self, found: &Found) -> String {
        let Found { quantity, inputs, simulated, .. } = found;
        let shown = self.arguments.shown(quantity);
        let shown = shown.iter().map(|(flag, value)| {
            let value = match value {
                Value::Null => "infinite",
                Value::String(text) => text,
                other => &other.to_string(),
            };
            format!("{} {value}", flag.replace('_', "-"))
        });
        let mut text = format!(
            "{}: {} ({})\n{}\n\n{}\n\n{}",
            quantity.name,
            quantity.about,
            place(quantity.section),
            shown.collect::<Vec<_>>().join(", "),
            found.rows().to_text(),
            (quantity.note)(inputs)
        );
        if let Some(Simulated { unsettled, command, left_out, .. }) = simulated {
            if *unsettled > 0 {
                let runs = sim::count(*unsettled, "run", "runs");
                // Writing to a string cannot fail.
                let _ =
                    write!(text, "\n{runs} did not settle in the window and are not in the means");
            }
            let _ = write!(text, "\nsimulated by: {command}");
            if *left_out > 0 {
                let left_out = sim::count(*left_out, "run was", "runs were");
                let _ = write!(text, "\nINTERRUPTED: {left_out} not made");
            }
        }
        text
    }

    fn for_programs(&self, found: &Found) -> Value {
        let Found { quantity, inputs, printed, corrected, simulated } = found;
        let mut result = json!({
            "quantity": quantity.name,
            "section": quantity.section,
            "unit": quantity.unit.name(),
            "params": self.arguments.shown(quantity),
            "printed": printed.as_ref().ok(),
            "corrected": corrected.as_ref().ok(),
            "exact": found.exact(),
            "note": (quantity.note)(inputs),
        });
        if let Err(why) = printed {
            result["printed_why"] = json!(with_flags(why));
        }
        if let Err(why) = corrected {
            result["corrected_why"] = json!(with_flags(why));
        }
        if let Some(simulated) = simulated {
            result["simulated"] = simulated.for_programs();
        }
        result
    }

    /// One row with the same columns for every quantity; what it does not read stays empty.
    fn for_spreadsheets(&self, found: &Found) -> Rows {
        let result = self.for_programs(found);
        let simulated = &result["simulated"];
        let all = self.arguments.all();
        let names: Vec<_> = all.iter().map(|(flag, _)| flag.replace('-', "_")).collect();
        let param = |name: &String| match result["params"].get(name) {
            Some(Value::Null) => json!("infinite"),
            Some(Value::Number(number)) => json!(number.to_string()),
            other => json!(other),
        };
        let of = |object: &Value, key: &'static str| (key, object[key].clone());
        let mut cells = ["quantity", "section", "unit"].map(|key| of(&result, key)).to_vec();
        cells.extend(names.iter().map(|name| (name.as_str(), param(name))));
        cells.extend(["printed", "corrected", "exact"].map(|key| of(&result, key)));
        cells.extend(["mean", "stderr"].map(|key| of(simulated, key)));
        let [low, high] = [0, 1].map(|end| simulated["ci95"][end].clone());
        cells.extend([("ci95_low", low), ("ci95_high", high)]);
        cells.extend(["supports", "off", "off_stderr"].map(|key| of(simulated, key)));
        let [low, high] = [0, 1].map(|end| simulated["p99_ci95"][end].clone());
        cells.extend([of(simulated, "p99"), ("p99_low", low), ("p99_high", high)]);
        let (header, row): (Vec<&str>, Vec<Value>) = cells.into_iter().unzip();
        Rows::of(header, [row])
    }
}

/// Why no run gave a value, and what to do. More runs do not help where all requests of a leader
/// look like repetitions.
fn nothing_shown(measure: Measure, runs: u64) -> String {
    let name = measure.name();
    let way_out = match measure {
        Measure::LeadershipLossesPerLease => {
            "leases are counted only if renew is above 1.25 round trips of 2 * delta: raise \
             --renew or lower --delta"
        }
        _ => "choose more runs",
    };
    format!("none of {runs} runs showed {name}; {way_out}")
}

/// All quantities, for a program.
pub(in crate::cli) fn listed() -> Value {
    list(Format::Json).to_json()
}

/// All quantities; in JSON with what each depends on.
fn list(format: Format) -> Rows {
    let columns = ["quantity", "section", "unit", "about", "reads"];
    let row = |quantity: &Quantity| {
        let Quantity { name, section, unit, about, reads, .. } = quantity;
        [json!(name), json!(section), json!(unit.name()), json!(about), json!(reads)]
    };
    let shown = if format == Format::Json { 5 } else { 4 };
    let rows = quantities().map(|quantity| row(quantity).into_iter().take(shown));
    Rows::of(columns.into_iter().take(shown), rows)
}

/// Its source: a bare number is a section of the thesis.
fn place(section: &str) -> String {
    let numbered = section.starts_with(|c: char| c.is_ascii_digit());
    if numbered { format!("section {section}") } else { section.to_owned() }
}

/// Whether a quantity depends on this flag. Some come in pairs.
fn reads(quantity: &Quantity, flag: &str) -> bool {
    let flag = match flag {
        "loss-model" => "loss",
        "timer-rate" => "timer",
        other => other,
    };
    quantity.reads.contains(&flag)
}

impl Arguments {
    /// The timers, of le-s.
    fn timers(&self) -> Result<announce_listen::Config, Failure> {
        match read_by_formulas("le-s", &self.timers)? {
            Config::AnnounceListen(config) => Ok(config),
            _ => Err(Failure::usage("le-s has other parameters")),
        }
    }

    /// The inputs of the formula.
    fn given(&self) -> Result<Inputs, Failure> {
        let Self { circumstances, churning, round, sent, calls, chances, leases, .. } = self;
        let config = self.timers()?;
        let mut given = Inputs {
            nodes: circumstances.nodes(),
            loss: circumstances.loss()?,
            delay: seconds(circumstances.delay()),
            suppress: seconds(config.suppress),
            announce: seconds(config.announce),
            listen: seconds(config.listen),
            shape: config.shape(),
            departures: churning.departures,
            arrivals: churning.arrivals,
            round: *round,
            sent: *sent,
            ..Inputs::default()
        };
        calls.enter(&mut given)?;
        chances.enter(&mut given);
        leases.enter(&mut given)?;
        Ok(given)
    }

    /// Refuses flags that this quantity does not depend on.
    fn refuse_unread(&self, quantity: &Quantity, given: &[String]) -> Done {
        let all: Vec<&str> = self.all().into_iter().map(|(flag, _)| flag).collect();
        let unread = |flag: &&String| all.contains(&flag.as_str()) && !reads(quantity, flag);
        match given.iter().find(unread) {
            None => Ok(()),
            Some(flag) => {
                let own: Vec<_> = all.into_iter().filter(|flag| reads(quantity, flag)).collect();
                Err(Failure::usage(format!(
                    "--{flag} has no effect on {}, which depends on --{}",
                    quantity.name,
                    own.join(" --")
                )))
            }
        }
    }

    /// What this quantity depends on, under the names of the flags; infinite times are null.
    fn shown(&self, quantity: &Quantity) -> Map<String, Value> {
        let read = self.all().into_iter().filter(|(flag, _)| reads(quantity, flag));
        read.filter_map(|(flag, value)| Some((flag.replace('-', "_"), value?))).collect()
    }

    /// All of them, by the names of the flags; nothing where none is given and none is the default.
    fn all(&self) -> Vec<(&'static str, Option<Value>)> {
        let Self { circumstances, churning, round, sent, calls, chances, leases, .. } = self;
        let loss = circumstances.loss().unwrap_or(bellwether::analysis::Loss::None);
        let timers = Config::AnnounceListen(self.timers().unwrap_or_default()).to_map();
        let timers: Map<String, Value> = timers.into_iter().collect();
        let timer = |key: &str| timers.get(key).cloned();
        let rate = timer("timer_rate").filter(|rate| !rate.is_null());
        let all = [
            ("nodes", Some(json!(circumstances.nodes()))),
            ("loss", Some(json!(loss.rate()))),
            ("loss-model", Some(json!(loss.name()))),
            ("delay", Some(json!(finite(circumstances.delay())))),
            ("suppress", timer("suppress")),
            ("announce", timer("announce")),
            ("listen", timer("listen")),
            ("timer", timer("timer")),
            ("timer-rate", rate),
            ("departures", Some(json!(churning.departures))),
            ("arrivals", Some(json!(churning.arrivals))),
            ("round", Some(json!(round))),
            ("sent", Some(json!(sent))),
        ];
        let called = calls.shown(circumstances.nodes());
        let own = called.into_iter().chain(chances.shown()).chain(leases.shown());
        all.into_iter().chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags;
    use clap::FromArgMatches;

    #[test]
    fn what_is_shown_has_the_names_of_the_flags() {
        let command = Arguments::augment_args(clap::Command::new("analyze"));
        let matches = command.try_get_matches_from(["analyze"]).unwrap();
        let arguments = Arguments::from_arg_matches(&matches).unwrap();
        let mut shown: Vec<String> =
            arguments.all().into_iter().map(|(flag, _)| flag.to_owned()).collect();
        let mut flags = flags::of::<Arguments>();
        shown.sort();
        flags.sort();
        assert_eq!(shown, flags);
    }
}
