//! `bellwether sim … --rare EVENT`: the probability of something that hardly ever happens.

use crate::cli::Done;
use crate::cli::commands::sim::Sim;
use crate::cli::failure::Failure;
use crate::cli::flags::one_of;
use crate::cli::output::progress::{Interrupt, Progress, Stopwatch};
use crate::cli::output::{Format, Rows};
use bellwether::core::Duration;
use bellwether::sim::rare::{Estimate, Method, NotEstimated, Rare, RareEvent};
use bellwether::sim::{BadExperiment, Control, Experiment, Scenario};
use clap::Args;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The heading of these flags.
const HEADING: &str = "Rare events";
/// A year, of 365.25 days.
const YEAR: f64 = 31_557_600.0;

#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct RareFlags {
    /// Estimate how probable this is within --window; failed-election: in one election
    #[arg(long, value_name = "EVENT", value_parser = one_of::<RareEvent>(), help_heading = HEADING)]
    rare: Option<RareEvent>,
    /// With two-leaders: for longer than this
    #[arg(long, value_name = "D", help_heading = HEADING, requires = "rare")]
    longer: Option<Duration>,
    /// How it is estimated: by copies of runs that come near, or by tilted coins [default: split;
    /// tilt for leadership-loss and failed-election]
    #[arg(long, value_parser = one_of::<Method>(), requires = "rare")]
    #[arg(help_heading = HEADING)]
    method: Option<Method>,
    /// How many runs each stage of splitting makes; without splitting, how many runs
    /// (failed-election), pairs of runs (false-departure) or copies (leadership-loss) each
    /// replication makes
    #[arg(long, value_name = "N", default_value = "500", help_heading = HEADING, requires = "rare")]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    effort: u32,
    /// How many independent estimates are made
    #[arg(long, value_name = "M", default_value = "20", help_heading = HEADING, requires = "rare")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=100_000))]
    replications: u32,
}

/// The flags that have no effect on an estimate.
const IDLE: [(&str, &str); 4] = [
    ("runs", "choose --effort and --replications"),
    ("samples", "leave it out"),
    ("trace", "leave it out"),
    ("engine", "leave it out"),
];

impl RareFlags {
    /// What is rare, if that is asked.
    pub(in crate::cli) fn asked(&self) -> Option<Rare> {
        let mut rare = Rare::new(self.rare?);
        (rare.effort, rare.replications) = (self.effort, self.replications);
        rare.longer = self.longer.unwrap_or(Duration::ZERO);
        rare.method = self.method.unwrap_or(rare.method);
        Some(rare)
    }

    /// The same, after every rule for it.
    pub(in crate::cli) fn checked(&self, given: &[String]) -> Result<Option<Rare>, Failure> {
        let Some(rare) = self.asked() else { return Ok(None) };
        let idle = IDLE.iter().find(|(flag, _)| given.iter().any(|given| given == flag));
        if let Some((flag, way_out)) = idle {
            let line = format!("--{flag} has no effect with --rare; {way_out}");
            return Err(Failure::usage(line));
        }
        if rare.event != RareEvent::TwoLeaders && given.iter().any(|flag| flag == "longer") {
            let line = "--longer has no effect on this event, only on two-leaders; leave it out";
            return Err(Failure::usage(line));
        }
        Ok(Some(rare))
    }
}

/// An estimate, of what, and how many seconds it took.
type Estimated = (Experiment, Estimate, f64);

/// Makes the estimate: of fewer replications than asked, if it is interrupted.
fn estimated(sim: &Sim, rare: &Rare, given: &[String]) -> Result<Estimated, Failure> {
    let experiment = Experiment { threads: sim.threads(), ..sim.of_flags(given)? };
    let progress = Progress::of(u64::from(rare.replications) + 1, "replications");
    let interrupt = Interrupt::catch()?;
    let control = Control { progress: &|| progress.tick(), over: &|| interrupt.came() };
    let watch = Stopwatch::start();
    let estimate = experiment.estimate(rare, control).map_err(|why| match why {
        _ if interrupt.came() => Failure::Interrupted(Some("interrupted before two replications")),
        BadExperiment::Rare(why) => not_estimated(rare.event, why),
        why => Failure::usage(why),
    })?;
    Ok((experiment, estimate, watch.elapsed().as_secs_f64()))
}

/// The estimate for a program.
pub(in crate::cli) fn answer(sim: &Sim, rare: &Rare, given: &[String]) -> Result<Value, Failure> {
    let (experiment, estimate, seconds) = estimated(sim, rare, given)?;
    Ok(for_programs(sim, rare, &experiment, &estimate, seconds))
}

/// Runs the command.
pub(in crate::cli) fn run(sim: &Sim, rare: &Rare, given: &[String], format: Format) -> Done {
    let (experiment, estimate, seconds) = estimated(sim, rare, given)?;
    let made = estimate.replications.len();
    let text = match format {
        Format::Table => for_people(sim, rare, &experiment, &estimate, seconds),
        Format::Json => for_programs(sim, rare, &experiment, &estimate, seconds).to_string(),
        Format::Csv => rows(sim, rare, &experiment, &estimate).to_csv(),
    };
    let printed = writeln!(io::stdout(), "{text}");
    let whole = made as u64 == u64::from(rare.replications);
    if whole { Ok(printed?) } else { Err(Failure::Interrupted(None)) }
}

/// What is wrong, in the names of the flags. A question that only runs could refuse was a good one.
fn not_estimated(event: RareEvent, why: NotEstimated) -> Failure {
    let text = why.explain(&|parameter| format!("--{parameter}"));
    let line = format!("--rare {}: {text}", event.name());
    if why.was_tried() { Failure::NoAnswer(line) } else { Failure::Usage(line) }
}

/// How often that is in a year, if windows follow one another. Elections are called, and a start is
/// not repeated.
fn per_year(rare: &Rare, experiment: &Experiment, estimate: &Estimate) -> Option<f64> {
    let from_start = matches!(rare.event, RareEvent::TwoLeaders | RareEvent::SplitVote);
    let once = from_start && experiment.scenario != Scenario::FalseDeparture;
    let once = once || rare.event == RareEvent::FailedElection;
    (!once).then(|| estimate.rate(YEAR))
}

fn for_people(
    sim: &Sim,
    rare: &Rare,
    experiment: &Experiment,
    estimate: &Estimate,
    seconds: f64,
) -> String {
    let Estimate { probability, stderr, ci95: [low, high], levels, runs, simulated, .. } = estimate;
    let longer = match rare.event {
        RareEvent::TwoLeaders => format!(" for longer than {}", rare.longer),
        _ => String::new(),
    };
    let error = 100.0 * estimate.relative_error();
    let warning = match estimate.has_large_error() {
        true => "\nThe relative error is large: the interval may be too narrow; raise --effort",
        false => "",
    };
    let within = match rare.event {
        RareEvent::FailedElection => "in one election".to_owned(),
        _ => format!("within {}", estimate.window),
    };
    let in_a_year = match per_year(rare, experiment, estimate) {
        Some(count) => format!("a year has     {count:.4e} of them\n"),
        None => String::new(),
    };
    format!(
        "{} with {} processes: {}{longer}, {within}\n\n\
         probability    {probability:.4e}\n\
         95 % interval  {low:.4e} .. {high:.4e}\n\
         standard error {stderr:.1e}, {error:.1} % of it\n\
         {in_a_year}\n\
         {} replications, {} levels, {runs} runs, {simulated:.0} s simulated, seed {}: \
         {seconds:.3} s{warning}",
        sim.name(),
        experiment.nodes,
        rare.event.name(),
        estimate.replications.len(),
        levels.len(),
        experiment.seed
    )
}

fn for_programs(
    sim: &Sim,
    rare: &Rare,
    experiment: &Experiment,
    estimate: &Estimate,
    seconds: f64,
) -> Value {
    let two = rare.event == RareEvent::TwoLeaders;
    json!({
        "protocol": sim.name(),
        "nodes": experiment.nodes,
        "event": rare.event.name(),
        "longer": two.then(|| rare.longer.as_secs_f64()),
        "window": estimate.window.as_secs_f64(),
        "probability": estimate.probability,
        "stderr": estimate.stderr,
        "relative_error": Some(estimate.relative_error()).filter(|error| error.is_finite()),
        "ci95": estimate.ci95,
        "large_error": estimate.has_large_error(),
        "per_year": per_year(rare, experiment, estimate),
        "replications": estimate.replications,
        "levels": estimate.levels,
        "effort": rare.effort,
        "runs": estimate.runs,
        "simulated_seconds": estimate.simulated,
        "seed": experiment.seed,
        "wall_seconds": seconds,
    })
}

fn rows(sim: &Sim, rare: &Rare, experiment: &Experiment, estimate: &Estimate) -> Rows {
    let all = for_programs(sim, rare, experiment, estimate, 0.0);
    let [low, high] = estimate.ci95;
    let mut row = Rows::new([
        "protocol",
        "nodes",
        "event",
        "longer",
        "window",
        "probability",
        "stderr",
        "ci95_low",
        "ci95_high",
        "large_error",
        "per_year",
        "effort",
        "replications",
        "levels",
        "runs",
        "seed",
    ]);
    let of = |key: &str| all[key].clone();
    let mut cells: Vec<Value> =
        ["protocol", "nodes", "event", "longer", "window", "probability", "stderr"].map(of).into();
    cells.extend([json!(low), json!(high)]);
    cells.extend(["large_error", "per_year", "effort"].map(of));
    cells.extend([json!(estimate.replications.len()), json!(estimate.levels.len())]);
    cells.extend(["runs", "seed"].map(of));
    row.push(cells);
    row
}
