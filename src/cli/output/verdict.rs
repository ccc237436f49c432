//! The verdict of `bellwether check`: for people, for programs, for spreadsheets.

use crate::cli::commands::sim::count;
use crate::cli::output::{Rows, short};
use bellwether::check::{BrokenInvariant, FaultKind, Report, Schedule, Trial};
use bellwether::core::Duration;
use bellwether::protocols::choice::Promise;
use bellwether::sim::network::{Delay, Probability};
use bellwether::sim::{Fault, Network, Timed, Who};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The verdict, and what it rests on.
pub(in crate::cli) struct Verdict<'a> {
    pub(in crate::cli) name: &'a str,
    pub(in crate::cli) trial: &'a Trial,
    pub(in crate::cli) report: &'a Report,
    pub(in crate::cli) seconds: f64,
    pub(in crate::cli) evidence: Option<&'a Evidence>,
    /// How many schedules were not run, because it was interrupted.
    pub(in crate::cli) left_out: u64,
}

/// What is known of a violation, once it is shrunk and written down.
pub(in crate::cli) struct Evidence {
    /// The shrunk schedule.
    pub(in crate::cli) schedule: Schedule,
    /// The invariant that it breaks.
    pub(in crate::cli) broken: BrokenInvariant,
    /// How many faults there were at first.
    pub(in crate::cli) before: usize,
    /// The number of the schedule.
    pub(in crate::cli) number: u64,
    /// The command that shows it again.
    pub(in crate::cli) replay: String,
    pub(in crate::cli) toml: PathBuf,
    pub(in crate::cli) svg: PathBuf,
}

impl Verdict<'_> {
    pub(in crate::cli) fn for_people(&self) -> String {
        let Self { name, trial, report, .. } = self;
        let tally = &report.tally;
        let own = if trial.own { "" } else { " alone" };
        let mut text = format!(
            "{name} with {}, {} from seed {}\nby: {}{own}\n\n",
            count(u64::from(trial.nodes), "process", "processes"),
            count(tally.schedules, "schedule", "schedules"),
            trial.seed,
            trial.promise,
        );
        if trial.invariants().is_empty() {
            return text
                + match trial.promise {
                    Promise::ProbablyOne => {
                        "nothing to judge: one run proves nothing about a probability. Agreement \
                         is certain in a group no larger than K; try a greater --k, fewer --nodes, \
                         or count with `bellwether sim probabilistic`"
                    }
                    _ => "nothing to judge; try --promise eventually-one or --promise never-two",
                };
        }
        let rows = self.checks().map(|(name, checks, breaches)| {
            let verdict = if breaches == 0 { "held" } else { "BROKEN" };
            [json!(name), json!(checks), json!(if checks == 0 { "not asked" } else { verdict })]
        });
        text += &Rows::of(["invariant", "checks", "verdict"], rows).to_text();
        text += "\n\nwhat went wrong, and how often:\n";
        let trouble = self.trouble().map(|(kind, n)| format!("{} {n}", kind.name()));
        text += &wrapped(&trouble.collect::<Vec<_>>());
        if !tally.parameters.is_empty() {
            text += "\nschedules that drew a parameter:\n";
            let drawn = tally.parameters.iter().map(|(name, n)| format!("{name} {n}"));
            text += &wrapped(&drawn.collect::<Vec<_>>());
        }
        text += &format!(
            "\n{}, {}, {} s of calm without a leader\n\
             {} s simulated in {} s, {} times as fast as real time; {} schedules a second",
            count(tally.elections, "election", "elections"),
            count(tally.deliveries, "delivery", "deliveries"),
            short(seconds(tally.leaderless)),
            short(seconds(tally.simulated)),
            short(self.seconds),
            short(self.per_second(seconds(tally.simulated))),
            short(self.per_second(tally.schedules as f64)),
        );
        if self.left_out > 0 {
            let left_out = count(self.left_out, "schedule was", "schedules were");
            text += &format!("\nINTERRUPTED: {left_out} not run");
        }
        if let Some(evidence) = self.evidence {
            text += &self.describe_violation(evidence);
        }
        text
    }

    /// What was broken, how, and how to see it.
    fn describe_violation(&self, evidence: &Evidence) -> String {
        let Evidence { schedule, broken, before, number, replay, toml, svg } = evidence;
        let faults = &schedule.plan.faults;
        let mut text = format!(
            "\n\nVIOLATED by schedule {number}: {broken}\n\n\
             shrunk from {} to {}{}{}:\n",
            count(*before as u64, "fault", "faults"),
            faults.len(),
            absent(&schedule.plan.absent),
            if schedule.plan.offset == Duration::ZERO { "" } else { ", clocks set differently" },
        );
        text += &format!("  {:<13} the network {}\n", "0s", describe(&schedule.plan.network));
        for timed in faults {
            text += &format!("  {}\n", line_of(timed));
        }
        text += &format!(
            "\nagain:   {replay}\nscript:  bellwether trace {}\npicture: {}",
            toml.display(),
            svg.display()
        );
        text
    }

    /// What went wrong, and how often. Not every protocol takes transfers, and changes of its
    /// voters and of lockTime.
    fn trouble(&self) -> impl Iterator<Item = (FaultKind, u64)> {
        let all = self.report.tally.trouble.iter();
        use FaultKind::{AllRestart, Lengths, Members, Release, Transfer};
        let rare = [Transfer, Members, Release, Lengths, AllRestart];
        all.filter(move |(kind, n)| *n > 0 || !rare.contains(kind))
    }

    pub(in crate::cli) fn for_programs(&self) -> Value {
        let Self { name, trial, report, seconds: wall, .. } = self;
        let tally = &report.tally;
        let invariants: Map<String, Value> = self
            .checks()
            .map(|(name, checks, breaches)| {
                (name.to_owned(), json!({ "checks": checks, "breaches": breaches }))
            })
            .collect();
        let faults: Map<String, Value> =
            self.trouble().map(|(kind, n)| (kind.name().to_owned(), json!(n))).collect();
        let mut verdict = json!({
            "protocol": name,
            "promise": trial.promise.name(),
            "own_promise": trial.own,
            "nodes": trial.nodes,
            "schedules": tally.schedules,
            "seed": trial.seed,
            "verdict": self.word(),
            "interrupted": self.left_out > 0,
            "invariants": invariants,
            "violations": self.violations(),
            "simulated_seconds": seconds(tally.simulated),
            "leaderless_calm_seconds": seconds(tally.leaderless),
            "elections": tally.elections,
            "faults": faults,
            "deliveries": tally.deliveries,
            "wall_seconds": wall,
            "schedules_per_second": self.per_second(tally.schedules as f64),
            "simulated_per_wall": self.per_second(seconds(tally.simulated)),
        });
        if !tally.parameters.is_empty() {
            verdict["parameters"] = json!(tally.parameters);
        }
        verdict
    }

    fn violations(&self) -> Vec<Value> {
        let found = self.report.violation.as_ref().zip(self.evidence);
        let shown = found.map(|(violation, evidence)| {
            json!({
                "schedule": violation.number,
                "invariant": violation.breach.invariant,
                "at": violation.breach.at.as_secs_f64(),
                "seen": violation.breach.text,
                "faults": evidence.before,
                "shrunk": {
                    "faults": evidence.schedule.plan.faults.len(),
                    "at": evidence.broken.at.as_secs_f64(),
                    "seen": evidence.broken.text,
                },
                "replay": evidence.replay,
                "scenario": evidence.toml.display().to_string(),
                "diagram": evidence.svg.display().to_string(),
            })
        });
        shown.into_iter().collect()
    }

    pub(in crate::cli) fn for_spreadsheets(&self) -> String {
        let header = [
            "protocol",
            "promise",
            "nodes",
            "schedules",
            "seed",
            "invariant",
            "checks",
            "breaches",
        ];
        let rows = self.checks().map(|(invariant, checks, breaches)| {
            [
                json!(self.name),
                json!(self.trial.promise.name()),
                json!(self.trial.nodes),
                json!(self.report.tally.schedules),
                json!(self.trial.seed),
                json!(invariant),
                json!(checks),
                json!(breaches),
            ]
        });
        Rows::of(header, rows).to_csv()
    }

    /// Each invariant, how often it was asked and how often it was broken.
    fn checks(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let counted = self.report.tally.checks.iter();
        let names = self.trial.invariants().into_iter();
        names.zip(counted).map(|(name, counts)| (name, counts.checks, counts.breaches))
    }

    fn word(&self) -> &'static str {
        if self.evidence.is_some() {
            "violated"
        } else if self.trial.invariants().is_empty() {
            "nothing to judge"
        } else {
            "holds"
        }
    }

    fn per_second(&self, what: f64) -> f64 {
        what / self.seconds.max(1e-9)
    }
}

/// Nanoseconds as seconds.
fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}

/// A list in lines that fit a terminal.
fn wrapped(words: &[String]) -> String {
    const COLUMNS: usize = 90;
    let mut lines = vec![String::from(" ")];
    for word in words {
        let last = lines.last().map_or(0, String::len);
        if last + word.len() + 2 > COLUMNS {
            lines.push(String::from(" "));
        }
        if let Some(line) = lines.last_mut() {
            *line += &format!(" {word},");
        }
    }
    let text = lines.join("\n");
    text.trim_end_matches(',').to_owned()
}

/// Who never starts.
fn absent(absent: &[u32]) -> String {
    if absent.is_empty() {
        return String::new();
    }
    let mut names: Vec<u32> = absent.to_vec();
    names.sort_unstable();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    format!(", absent at first: {}", names.join(", "))
}

/// A network in words.
fn describe(network: &Network) -> String {
    let delay = match &network.multicast.delay {
        Delay::Constant(delay) => format!("takes {delay}"),
        Delay::Uniform { min, max } => format!("takes {min} to {max}"),
        Delay::Exponential { mean, .. } => format!("takes {mean} on average"),
        Delay::LogNormal { median, .. } => format!("takes {median} at the median"),
    };
    let loss = match network.multicast.loss.rate() {
        0.0 => "loses nothing".to_owned(),
        rate => format!("loses {} % of the messages", short(100.0 * rate)),
    };
    let late = |chance: Probability, what: &str| match chance.value() {
        0.0 => String::new(),
        value => format!(", {what} {} % by up to {}", short(100.0 * value), network.straggle),
    };
    let (held, doubled) = (late(network.reorder, "holds up"), late(network.duplicate, "doubles"));
    format!("{delay}, {loss}{held}{doubled}")
}

/// One fault in a line.
fn line_of(timed: &Timed) -> String {
    let who = |node: &Who| match node {
        Who::Node(node) => format!("process {node}"),
        Who::Leader => "the leader".to_owned(),
    };
    let what = match &timed.fault {
        Fault::Crash { node } => format!("{} crashes", who(node)),
        Fault::Kill { node, release } => {
            format!("{} crashes, and is released {release} later", who(node))
        }
        Fault::Release { node } => format!("somebody releases {}", who(node)),
        Fault::Restart { node, disk, reboot } => {
            let clock = if *reboot { ", its clock at zero" } else { "" };
            format!("{} restarts, disk {disk:?}{clock}", who(node)).to_lowercase()
        }
        Fault::Renumber { node, life } => {
            format!("{} will begin with a number it used, {life:?}", who(node)).to_lowercase()
        }
        Fault::Pause { node } => format!("{} stands still", who(node)),
        Fault::Resume { node } => format!("{} goes on", who(node)),
        Fault::Slow { node, by } => format!("{} reacts late by up to {by}", who(node)),
        Fault::Drift { node, parts_per_billion } => {
            format!("{}'s clock drifts by {parts_per_billion} ppb", who(node))
        }
        Fault::Jump { node, by } => format!("{}'s clock is set forward by {by}", who(node)),
        Fault::Join { node } => format!("{} joins", who(node)),
        Fault::Leave { node } => format!("{} leaves", who(node)),
        Fault::Resign { node } => format!("{} is asked to resign", who(node)),
        Fault::Transfer { node, nominee } => {
            format!("{} is asked to hand over to process {nominee}", who(node))
        }
        Fault::Campaign { node } => format!("{} is asked to hold an election", who(node)),
        Fault::Add { node, voter } => format!("{} is asked to let {voter} vote", who(node)),
        Fault::Remove { node, voter } => {
            format!("{} is asked to let {voter} vote no longer", who(node))
        }
        Fault::Replace { node, voter, with } => {
            format!("{} is asked to let {with} vote instead of {voter}", who(node))
        }
        Fault::Lengths { node, lock, drift_ppm } => {
            let lock = lock.map(|lock| format!("lockTime {lock}"));
            let drift = drift_ppm.map(|ppm| format!("a drift of {ppm} ppm"));
            let new: Vec<String> = lock.into_iter().chain(drift).collect();
            format!("{} is asked for {}", who(node), new.join(" and "))
        }
        Fault::Link { ends: (a, b), up } => {
            format!("the link between {a} and {b} {}", if *up { "comes" } else { "goes" })
        }
        Fault::Cut { from, to } => format!("{to:?} no longer hear {from:?}"),
        Fault::Heal => "all cuts heal".to_owned(),
        Fault::Mend { from, to } => format!("{to:?} hear {from:?} again"),
        Fault::Network { network } => format!("the network {}", describe(network)),
    };
    format!("{:<13} {what}", timed.at.to_string())
}
