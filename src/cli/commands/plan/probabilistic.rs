//! `bellwether plan probabilistic`: the smallest strategy that succeeds as often as asked for.

use crate::cli::Done;
use crate::cli::commands::sim;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags::circumstances::seconds;
use crate::cli::flags::common::{Chances, Delaying, Nodes, Seed, Threads};
use crate::cli::flags::group::number;
use crate::cli::flags::{Offers, Parameters, read_by_formulas};
use crate::cli::output::progress::{Interrupt, Progress};
use crate::cli::output::{Format, Rows, digits};
use bellwether::analysis::plan::strategy::{
    Attainment, Effort, Found, Goals, Tactic, Trial, search,
};
use bellwether::analysis::{Loss, Point};
use bellwether::protocols::choice::Config;
use bellwether::sim::Measure;
use bellwether::sim::network::Probability;
use clap::Args;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("nodes", |flag| flag.default_value("1000")))]
#[command(mut_arg("delay", |flag| flag.default_value("0.1s")))]
#[command(mut_arg("ucast_loss", |flag| flag.default_value("0")))]
#[command(mut_arg("mcast_loss", |flag| flag.default_value("0")))]
pub(super) struct Probabilistic {
    #[command(flatten)]
    nodes: Nodes,
    #[command(flatten)]
    chances: Chances,
    #[command(flatten)]
    delay: Delaying,
    /// The required probability that all name the same live leader in the end
    #[arg(long, value_name = "P", default_value = "0.99", help_heading = "Goals")]
    #[arg(value_parser = number)]
    success: f64,
    #[command(flatten)]
    params: Parameters<Rounds>,
    /// How much to simulate, as a multiple of the default: 3000 million deliveries, and 100000 runs
    /// of one strategy
    #[arg(long, value_name = "X", default_value = "1", value_parser = effort)]
    effort: f64,
    /// Draw what was tried into this file: messages against success
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    seed: Seed,
    #[command(flatten)]
    threads: Threads,
    /// How to write the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The parameters that are not planned, but given.
#[derive(Debug)]
struct Rounds;

impl Offers for Rounds {
    const ONLY: &'static [&'static str] = &["max-rounds", "reinitiate"];
}

const EXAMPLES: &str = "\
Examples:
  bellwether plan probabilistic --nodes 1000 --mcast-loss .05 --ucast-loss .05 --success .999
  bellwether plan probabilistic --nodes 500 --mcast-loss .2 --fail .001 --view .3 --svg plan.svg
  bellwether plan probabilistic --nodes 200 --success .9 --max-rounds 1 --format csv

How to read it: the smallest strategy is that with the fewest messages on average, unicasts and
multicasts together, of those tried: K the same in every round or twice that of the round before,
in one round or up to --max-rounds. It reaches the goal if the whole interval of its simulated
success does, at 99.9 % since many are tried; what is printed is the interval of 95 %. Twice as many
runs with the next seed then confirm it or not. The bound is that of the paper for one round.

Exit code: 0 if fresh runs confirm the success asked for, 1 if not, 2 if nothing tried reaches it;
130 if it was interrupted (Ctrl-C): a strategy that was found by then is printed, unconfirmed.";

/// Parses a multiple of the usual effort.
fn effort(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if (0.001..=1000.0).contains(&scale) => Ok(scale),
        _ => Err("an effort is a number from 0.001 to 1000".to_owned()),
    }
}

/// What is shown of a strategy beside its success.
const SHOWN: [(Measure, &str); 4] = [
    (Measure::Rounds, "rounds"),
    (Measure::Time, "time, seconds"),
    (Measure::Unicasts, "unicasts"),
    (Measure::Multicasts, "multicasts"),
];

impl Probabilistic {
    pub(super) fn run(&self) -> Done {
        if let Some(path) = &self.svg {
            file::check_writable(path)?;
        }
        let interrupt = Interrupt::catch()?;
        let found = self.search(&interrupt)?;
        let fresh = self.confirm(&found, &interrupt)?;
        let fresh = fresh.as_ref();
        if let Some(path) = &self.svg {
            file::write(path, &found.picture())?;
        }
        let text = match self.format {
            Format::Table => self.for_people(&found, fresh),
            Format::Json => self.for_programs(&found, fresh).to_string(),
            Format::Csv => for_spreadsheets(&found),
        };
        // Whoever stops reading still gets the exit code.
        let printed = writeln!(io::stdout(), "{text}");
        match fresh.map(|fresh| found.confirmed_by(fresh)) {
            Some(true) => Ok(printed?),
            Some(false) => Err(Failure::Violated),
            None => Err(Failure::Interrupted(None)),
        }
    }

    /// The result for a program.
    pub(super) fn answer(&self) -> Result<Value, Failure> {
        let interrupt = Interrupt::catch()?;
        let found = self.search(&interrupt)?;
        let fresh = self.confirm(&found, &interrupt)?;
        Ok(self.for_programs(&found, fresh.as_ref()))
    }

    fn threads(&self) -> usize {
        self.threads.start(u64::MAX)
    }

    fn search(&self, interrupt: &Interrupt) -> Result<Found, Failure> {
        let Config::Probabilistic(params) = read_by_formulas("probabilistic", &self.params)? else {
            return Err(Failure::usage("probabilistic has other parameters"));
        };
        let Chances { view, fail, ucast_loss, mcast_loss } = self.chances;
        let apart = |loss: Option<Probability>| Loss::apart(loss.map_or(0.0, Probability::value));
        let nodes = self.nodes.nodes.unwrap_or_default();
        let point = Point {
            view: view.value(),
            unicast_loss: apart(ucast_loss),
            multicast_loss: apart(mcast_loss),
            fail: fail.value(),
            delay: self.delay.delay.unwrap_or_default(),
            ..Point::new("probabilistic", nodes).with("reinitiate", params.reinitiate.name())
        };
        let goals = Goals { point, success: self.success, max_rounds: params.max_rounds };
        let effort = Effort { scale: self.effort, seed: self.seed.get(), threads: self.threads() };
        let progress = Arc::new(Progress::of(100, "% of the most it may take"));
        let shown = Arc::clone(&progress);
        let found = interrupt.unless(move || {
            let tell = |tactic: &Tactic, part: f64| {
                if shown.reach((100.0 * part.min(1.0)) as u64) {
                    shown.tell(&tactic.to_string());
                }
            };
            search(goals, effort, &tell)
        })?;
        progress.clear();
        let nothing = "interrupted before a strategy was found, so there is nothing to print";
        found.ok_or(Failure::Interrupted(Some(nothing)))?.map_err(Failure::usage)
    }

    /// Fresh runs of the strategy that was found; none if they are interrupted.
    fn confirm(&self, found: &Found, interrupt: &Interrupt) -> Result<Option<Trial>, Failure> {
        let progress = Arc::new(Progress::new(found.fresh_runs()));
        let (found, shown, threads) = (found.clone(), Arc::clone(&progress), self.threads());
        let fresh = interrupt.unless(move || found.confirm(threads, &|| shown.tick()))?;
        progress.clear();
        fresh.transpose().map_err(Failure::usage)
    }

    fn for_people(&self, found: &Found, fresh: Option<&Trial>) -> String {
        let Found { goals, chosen, .. } = found;
        let mut text = format!(
            "probabilistic with {}, delay {}, view {}, loss of unicasts {}, of multicasts {}, \
             failures {} a round, begun again by {}\n\n",
            sim::count(u64::from(goals.point.nodes), "process", "processes"),
            goals.point.delay,
            goals.point.view,
            goals.point.unicast_loss.rate(),
            goals.point.multicast_loss.rate(),
            goals.point.fail,
            goals.point.param("reinitiate").unwrap_or_default(),
        );
        text += &format!("{}\n\n", parameters(found).to_text());
        text += &expectations(found).to_text();
        let Some(fresh) = fresh else {
            return text
                + &format!(
                    "\n\nINTERRUPTED: no fresh runs confirm it\n\nthe same runs: {}",
                    chosen.point.command()
                );
        };
        let verdict = match found.confirmed_by(fresh) {
            true => "confirmed",
            false => {
                "not confirmed: the interval begins below the goal; ask for a little more than \
                 the goal, or try a greater --effort"
            }
        };
        let [low, high] = fresh.interval().map(fine);
        text += &format!(
            "\n\nfresh runs, seed {}: success in {} of {} runs, {} (95 % interval {low} .. \
             {high}): {verdict}\n",
            fresh.point.seed,
            fresh.success.successes,
            fresh.success.runs,
            fine(fresh.success.share()),
        );
        text + &format!(
            "\nthe same runs: {}\nfresh ones: {}",
            chosen.point.command(),
            fresh.point.command()
        )
    }

    fn for_programs(&self, found: &Found, fresh: Option<&Trial>) -> Value {
        let Found { goals, chosen, tried, open } = found;
        let fresh_runs = fresh.map(|fresh| {
            let mut runs = trial(goals, fresh);
            runs["seed"] = json!(fresh.point.seed);
            runs
        });
        let mut result = json!({
            "protocol": "probabilistic",
            "goals": {
                "nodes": goals.point.nodes,
                "view": goals.point.view,
                "ucast_loss": goals.point.unicast_loss.rate(),
                "mcast_loss": goals.point.multicast_loss.rate(),
                "fail": goals.point.fail,
                "delay": seconds(goals.point.delay),
                "reinitiate": goals.point.param("reinitiate"),
                "success": goals.success,
                "max_rounds": goals.max_rounds,
            },
            "seed": self.seed.get(),
            "chosen": trial(goals, chosen),
            "bound_of_one_round": goals.bound(chosen.tactic.k),
            "confirmed": fresh.map(|fresh| found.confirmed_by(fresh)),
            "confirmation": fresh_runs,
            "tried": tried.iter().map(|tried| trial(goals, tried)).collect::<Vec<_>>(),
            "undecided": open.iter().map(Tactic::to_string).collect::<Vec<_>>(),
            "command": chosen.point.command(),
        });
        if fresh.is_none() {
            result["interrupted"] = json!(true);
        }
        result
    }
}

fn parameters(found: &Found) -> Rows {
    let Found { goals, chosen, tried, open } = found;
    let Tactic { rounds, growth, .. } = chosen.tactic;
    let relays: Vec<_> =
        chosen.tactic.relays(goals.point.nodes).iter().map(u32::to_string).collect();
    let mut why = format!(
        "the fewest messages of {} strategies tried, among those that reach {}",
        tried.len(),
        goals.success
    );
    if !open.is_empty() {
        why += &format!("; {} cheaper could not be decided: a greater --effort might", open.len());
    }
    let given_up = match rounds == goals.max_rounds {
        true => "as many as there may be".to_owned(),
        false => format!("of {} that there may be", goals.max_rounds),
    };
    let growth = if rounds == 1 { String::new() } else { format!(" ({})", growth.name()) };
    let row = |name: &str, value: String, why: String| [name.to_owned(), value, why];
    let rows = [
        row("K of each round  --strategy", format!("{}{growth}", relays.join(",")), why),
        row("rounds           --max-rounds", rounds.to_string(), given_up),
    ];
    Rows::of(["parameter", "value", "because"], rows)
}

fn expectations(found: &Found) -> Rows {
    let Found { goals, chosen, .. } = found;
    let mut rows = Rows::new(["to expect", "mean", "95 % interval", ""]);
    let [low, high] = chosen.interval().map(fine);
    let counted = format!("{} of {} runs", chosen.success.successes, chosen.success.runs);
    let share = fine(chosen.success.share());
    rows.push(["strong success", &share, &format!("{low} .. {high}"), &counted]);
    let k = chosen.tactic.k;
    let paper = format!("section 4, for one round with K {k}");
    rows.push(["  its bound", &digits(goals.bound(k)), "", &paper]);
    for (measure, name) in SHOWN {
        if let Some(summary) = chosen.answer.measure(measure) {
            let [low, high] = summary.ci95.map(digits);
            rows.push([name, &digits(summary.mean), &format!("{low} .. {high}")]);
        }
    }
    rows.push(["messages", &digits(chosen.messages()), "", "unicasts and multicasts"]);
    rows
}

/// A chance near 1, with the digits that matter.
fn fine(chance: f64) -> String {
    let text = format!("{chance:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn trial(goals: &Goals, trial: &Trial) -> Value {
    let Trial { tactic, success, point, .. } = trial;
    let standing: Attainment = trial.standing(goals.success);
    json!({
        "k": tactic.k,
        "growth": tactic.growth.name(),
        "max_rounds": tactic.rounds,
        "relays": tactic.relays(goals.point.nodes),
        "runs": success.runs,
        "successes": success.successes,
        "success": success.share(),
        "ci95": trial.interval(),
        "rounds": trial.mean(Measure::Rounds),
        "time": trial.mean(Measure::Time),
        "unicasts": trial.mean(Measure::Unicasts),
        "multicasts": trial.mean(Measure::Multicasts),
        "messages": trial.messages(),
        "goal": standing.name(),
        "command": point.command(),
    })
}

/// One row for each strategy that was tried.
fn for_spreadsheets(found: &Found) -> String {
    let header = [
        "k",
        "growth",
        "max_rounds",
        "runs",
        "success",
        "ci95_low",
        "ci95_high",
        "rounds",
        "time",
        "unicasts",
        "multicasts",
        "messages",
        "goal",
        "chosen",
        "command",
    ];
    let object = |tried: &Trial| {
        let mut object = trial(&found.goals, tried);
        let [low, high] = tried.interval();
        (object["ci95_low"], object["ci95_high"]) = (json!(low), json!(high));
        object["chosen"] = json!(tried.tactic == found.chosen.tactic);
        object
    };
    Rows::picked(header, found.tried.iter().map(object)).to_csv()
}
