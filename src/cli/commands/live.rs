//! `bellwether check --trace`: judges what members recorded by the same invariants.

use crate::cli::Done;
use crate::cli::commands::sim::count;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::output::{Format, Rows, short};
use bellwether::check::live::{
    Doubt, Gap, Judgement, Outcome, Reigns, Ruling, Trace, judge, merged,
};
use bellwether::core::Duration;
use bellwether::protocols::choice::Promise;
use bellwether::sim::diagram::{Options, space_time};
use clap::Args;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Which recorded run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Judging what live members recorded")]
pub(in crate::cli) struct Live {
    /// Judge these traces instead of simulating: the trace of each member, and that of its
    /// command's guardian
    #[arg(long, value_name = "FILE", num_args = 1..)]
    trace: Vec<PathBuf>,
    /// The faults of the members and the network, as records; without them it is undecidable
    /// whether leaders came in time
    #[arg(long, value_name = "FILE", requires = "trace")]
    faults: Option<PathBuf>,
    /// Draw the recorded run into this file
    #[arg(long, value_name = "FILE", requires = "trace")]
    svg: Option<PathBuf>,
}

/// The flags that go with traces.
const FLAGS: [&str; 5] = ["trace", "faults", "svg", "promise", "format"];

/// Reads one recorded trace.
pub(in crate::cli) fn read(path: &Path) -> Result<Trace, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::io("read", path, &error))?;
    Trace::parse(&path.display().to_string(), &bytes)
        .map_err(|bad| Failure::Config(bad.to_string()))
}

/// Reads several.
pub(in crate::cli) fn read_all(paths: &[PathBuf]) -> Result<Vec<Trace>, Failure> {
    paths.iter().map(|path| read(path)).collect()
}

impl Live {
    /// Whether there is anything of this to do.
    pub(in crate::cli) fn is_on(&self) -> bool {
        !self.trace.is_empty()
    }

    /// Judges the traces; `given` are the flags that were given.
    pub(in crate::cli) fn run(
        &self,
        promise: Option<Promise>,
        format: Format,
        given: &[String],
    ) -> Done {
        if let Some(flag) = given.iter().find(|flag| !FLAGS.contains(&flag.as_str())) {
            return Err(Failure::usage(format!(
                "--{flag} has no effect with --trace: the traces say what ran; leave it out"
            )));
        }
        let traces = read_all(&self.trace)?;
        let faults = self.faults.as_deref().map(read).transpose()?;
        let judgement = judge(&traces, faults.as_ref(), promise)
            .map_err(|bad| Failure::Config(bad.to_string()))?;
        if let Some(path) = &self.svg {
            let title = format!("{} in group {}", judgement.protocol, judgement.group);
            let options = Options { title, ..Options::default() };
            file::write(path, &space_time(&merged(traces.iter().chain(&faults)), &options))?;
        }
        let text = match format {
            Format::Table => for_people(&judgement),
            Format::Json => for_programs(&judgement).to_string(),
            Format::Csv => rows(&judgement).to_csv(),
        };
        // A reader that stops early still gets the exit code.
        let printed = writeln!(io::stdout(), "{text}");
        if judgement.violated() { Err(Failure::Violated) } else { Ok(printed?) }
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Violated { .. } => "violated",
        Outcome::Undecidable(_) => "undecidable",
    }
}

fn note(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Holds => String::new(),
        Outcome::Violated { place, .. } => place.clone(),
        Outcome::Undecidable(why @ Doubt::NoFaultSchedule) => format!("{why}: --faults FILE"),
        Outcome::Undecidable(why) => why.to_string(),
    }
}

/// A row for each invariant.
fn rows(judgement: &Judgement) -> Rows {
    let row = |ruling: &Ruling| {
        let Ruling { invariant, looks, outcome } = ruling;
        [json!(invariant), json!(word(outcome)), json!(looks), json!(note(outcome))]
    };
    Rows::of(["invariant", "verdict", "looks", "note"], judgement.rulings.iter().map(row))
}

/// The verdict of all invariants together.
fn verdict(judgement: &Judgement) -> &'static str {
    let any = |word_of: &str| judgement.rulings.iter().any(|one| word(&one.outcome) == word_of);
    match (any("violated"), any("holds")) {
        (true, _) => "violated",
        (false, true) => "holds",
        (false, false) => "undecidable",
    }
}

fn for_people(judgement: &Judgement) -> String {
    let Judgement { group, protocol, promise, members, records, lives, .. } = judgement;
    let lasted = judgement.lasted.map_or_else(String::new, |lasted| format!(" in {}", ms(lasted)));
    let mut text = format!(
        "{protocol} in group {group}, {}: {} of {}{lasted}\nby: {promise}\n\n",
        count(members.len() as u64, "member", "members"),
        count(*records as u64, "record", "records"),
        count(*lives as u64, "life", "lives"),
    );
    if judgement.rulings.is_empty() {
        return text + "nothing to judge; try --promise eventually-one or --promise never-two";
    }
    text += &rows(judgement).to_text();
    text += "\n\n";
    text += &leaders(judgement);
    if judgement.runs > 0 {
        text += &format!("\nthe command ran {}", count(judgement.runs as u64, "time", "times"));
    }
    for Ruling { invariant, outcome, .. } in &judgement.rulings {
        if let Outcome::Violated { at, text: seen, place } = outcome {
            text += &format!("\nVIOLATED: {invariant} is broken at {at} ({place}): {seen}");
        }
    }
    for note in &judgement.notes {
        text += &format!("\nnote: {note}");
    }
    text
}

/// Who led, and whether the traces show that no two did at once.
fn leaders(judgement: &Judgement) -> String {
    let Some(reigns) = judgement.reigns.as_ref() else {
        return "the times of different leaders cannot be compared: the traces are from different \
                machines or boots"
            .to_owned();
    };
    // In what is missing there may be another leader.
    let only = if is_sure(judgement) { "" } else { "as far as the traces tell:\n" };
    let Some(without) = reigns.longest_without() else {
        return format!("{only}nobody ever led");
    };
    let mut text = format!(
        "{only}{}, {}; at most {} without a leader in between{}",
        count(reigns.past.len() as u64, "reign", "reigns"),
        count(reigns.changes() as u64, "change of leader", "changes of leader"),
        ms(without),
        if reigns.fell_silent() { ", from the last record of one that fell silent" } else { "" },
    );
    text += &match reigns.smallest_gap() {
        None => "\nonly one ever led".to_owned(),
        Some(Gap::Free(gap)) => format!(
            "\nno two ever led at once: at least {} passed between the reigns of two leaders",
            ms(gap)
        ),
        Some(Gap::Overlap(length)) => format!("\ntwo led at once, for up to {}", ms(length)),
    };
    text
}

/// Whether it is decided who led. Where `never-two` is not asked, nothing may be missing at all;
/// the times of faults say nothing about that.
fn is_sure(judgement: &Judgement) -> bool {
    let doubts = |ruling: &Ruling| match &ruling.outcome {
        Outcome::Undecidable(why) => *why != Doubt::NoFaultSchedule,
        _ => false,
    };
    let mut rulings = judgement.rulings.iter();
    match rulings.clone().find(|ruling| ruling.invariant == "never-two") {
        Some(asked) => !doubts(asked),
        None => !rulings.any(doubts),
    }
}

/// A length in milliseconds.
fn ms(length: Duration) -> String {
    format!("{} ms", short(length.as_nanos() as f64 / 1e6))
}

fn for_programs(judgement: &Judgement) -> Value {
    let seconds = |length: Duration| length.as_secs_f64();
    let reigns = judgement.reigns.as_ref();
    let gap = reigns.and_then(Reigns::smallest_gap).map(|gap| match gap {
        Gap::Free(length) => seconds(length),
        Gap::Overlap(length) => -seconds(length),
    });
    let invariants: Map<String, Value> = judgement
        .rulings
        .iter()
        .map(|Ruling { invariant, looks, outcome }| {
            let note = note(outcome);
            let ruling = json!({ "verdict": word(outcome), "looks": looks, "note": note });
            ((*invariant).to_owned(), ruling)
        })
        .collect();
    let violation = |ruling: &Ruling| match &ruling.outcome {
        Outcome::Violated { at, text, place } => Some(json!({
            "invariant": ruling.invariant, "at": at.as_nanos(), "place": place, "seen": text,
        })),
        _ => None,
    };
    let past = reigns.map(|reigns| {
        let reign = reigns
            .past
            .iter()
            .map(|reign| json!({ "leader": reign.leader, "from": reign.from, "to": reign.to }));
        reign.collect::<Vec<Value>>()
    });
    json!({
        "group": judgement.group,
        "protocol": judgement.protocol,
        "promise": judgement.promise.name(),
        "members": judgement.members,
        "records": judgement.records,
        "lives": judgement.lives,
        "runs": judgement.runs,
        "lasted_seconds": judgement.lasted.map(seconds),
        "verdict": verdict(judgement),
        "invariants": invariants,
        "violations": judgement.rulings.iter().filter_map(violation).collect::<Vec<_>>(),
        "changes": reigns.map(Reigns::changes),
        "longest_without_seconds": reigns.and_then(Reigns::longest_without).map(seconds),
        "smallest_gap_seconds": gap,
        "reigns": past,
        "notes": judgement.notes,
    })
}
