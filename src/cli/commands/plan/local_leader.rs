//! `bellwether plan local-leader`: the time constants of leases from goals, what to expect of them,
//! and whether that happens.

use super::confirm::{Confirming, Evidence, Found};
use super::{YEAR_DAYS, rate};
use crate::cli::Done;
use crate::cli::commands::sim;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags::circumstances::{Circumstances, seconds};
use crate::cli::flags::common::Spreading;
use crate::cli::flags::{Offers, Parameters, read_by_formulas};
use crate::cli::output::{Format, Rows, digits};
use bellwether::analysis::plan::lease::{
    Comparison, Confirmed, Goals, LossRate, Plan, SHARE, Takeover, Watch, YEAR, budget,
};
use bellwether::analysis::report::bars::{self, Bar};
use bellwether::core::Duration;
use bellwether::protocols::answers::Answers as _;
use bellwether::protocols::choice::Config;
use bellwether::protocols::local_leader::DRIFT_PPM;
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("nodes", |flag| flag.default_value("5")))]
#[command(mut_arg("delay", |flag| flag.default_value("1ms")))]
#[command(mut_arg("simulate", |flag| flag.help(SIMULATE)))]
pub(super) struct LocalLeader {
    #[command(flatten)]
    circumstances: Circumstances,
    #[command(flatten)]
    spread: Spreading,
    /// A process reacts within this: how late a thread may wake up
    #[arg(long, value_name = "D", default_value = "20ms", help_heading = "Machines")]
    scheduling: Duration,
    /// How long it takes to store a vote; 0s if tokens are volatile
    #[arg(long, value_name = "D", default_value = "0s", help_heading = "Machines")]
    fsync: Duration,
    #[command(flatten)]
    clocks: Parameters<Clocks>,
    /// A dead leader must be replaced within this, in 99 of 100 crashes
    #[arg(long, value_name = "D", default_value = "1s", help_heading = "Goals")]
    detect: Duration,
    /// Maximum number of times per year that a live leader may lose its leadership; or in another
    /// time, as in 1/10y or 2/30d
    #[arg(long, value_name = "X", default_value = "1", help_heading = "Goals")]
    #[arg(value_parser = per_year)]
    losses_per_year: f64,
    /// Draw the parts of the lease and of the takeover into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    confirming: Confirming,
}

/// Parses a number per year, or in so many days or years.
fn per_year(text: &str) -> Result<f64, String> {
    rate(text, "year", YEAR_DAYS)
}

/// Each run is a crash.
const SIMULATE: &str =
    "How many crashes to simulate, to confirm what is expected; 0 for no simulation";

/// The parameter that is not planned, but given.
#[derive(Debug)]
struct Clocks;

impl Offers for Clocks {
    const ONLY: &'static [&'static str] = &["drift-ppm"];
}

const EXAMPLES: &str = "\
Examples:
  bellwether plan local-leader --detect 1s --loss .01 --delay 2ms
  bellwether plan local-leader --detect 5s --loss .02 --delay 40ms --delay-model exponential \\
    --scheduling 50ms --fsync 20ms --svg budget.svg
  bellwether plan local-leader --nodes 3 --detect 300ms --losses-per-year 1/10y --simulate 0

How to read it: --detect counts from a leader's crash until the next one leads. Within that time the
lease is as long as possible, since a longer one has room for more requests: leadership is lost only
if too few members answer any of them. The first bar shows the parts of a lease, the second those of
the takeover. Losses of messages are assumed to be independent, which those of real
networks are not always. What is predicted stands beside its simulation. Losses of leadership are
too rare to be seen with most plans: their formula is confirmed with a shorter lease and more loss.
Where the plan itself was watched for too short a time to see one, their rate is estimated as that
of a rare event (see `bellwether sim --rare`), if it is not too rare for that as well.

Exit code: 0 if the simulation confirms the prediction, 1 if something differs, 2 if no parameters
reach the goals; 130 if it was interrupted (Ctrl-C), and then the plan is printed without its
simulation.";

impl Found for Confirmed {
    fn doubts(&self) -> Vec<String> {
        Self::doubts(self).into_iter().map(str::to_owned).collect()
    }
}

impl LocalLeader {
    pub(super) fn run(&self) -> Done {
        if let Some(path) = &self.svg {
            file::check_writable(path)?;
        }
        let (plan, evidence) = self.planned()?;
        if let Some(path) = &self.svg {
            file::write(path, &bars::svg(&title(&plan), &budget(&plan)))?;
        }
        let text = match self.confirming.format {
            Format::Table => for_people(&plan, &evidence),
            Format::Json => for_programs(&plan, &evidence).to_string(),
            Format::Csv => expectations(&plan, evidence.found()).to_csv(),
        };
        evidence.print(&text)
    }

    /// The result for a program.
    pub(super) fn answer(&self) -> Result<Value, Failure> {
        let (plan, evidence) = self.planned()?;
        Ok(for_programs(&plan, &evidence))
    }

    fn planned(&self) -> Result<(Plan, Evidence<Confirmed>), Failure> {
        let plan = Plan::new(self.goals()?).map_err(Failure::usage)?;
        let planned = plan.clone();
        let evidence =
            self.confirming.simulate(move |effort, tick| planned.confirm(effort, tick))?;
        Ok((plan, evidence))
    }

    fn goals(&self) -> Result<Goals, Failure> {
        let Config::LocalLeader(config) = read_by_formulas("local-leader", &self.clocks)? else {
            return Err(Failure::usage("local-leader has other parameters"));
        };
        Ok(Goals {
            nodes: self.circumstances.nodes(),
            loss: self.circumstances.loss()?,
            delay: self.circumstances.delay(),
            delay_model: self.spread.delay_model,
            scheduling: self.scheduling,
            drift_ppm: config.drift_ppm.unwrap_or(DRIFT_PPM),
            fsync: self.fsync,
            detect: self.detect,
            losses_per_year: self.losses_per_year,
        })
    }
}

fn title(plan: &Plan) -> String {
    let Goals { nodes, loss, delay, delay_model, scheduling, drift_ppm, fsync, .. } = plan.goals;
    let lossy = match loss.rate() {
        0.0 => String::new(),
        rate => format!(", loss {rate} {}", loss.name()),
    };
    let stored = match fsync {
        Duration::ZERO => String::new(),
        fsync => format!(", fsync {fsync}"),
    };
    format!(
        "local-leader with {}, delay {delay} {}{lossy}, scheduling {scheduling}{stored}, drift \
         {drift_ppm} ppm",
        sim::count(u64::from(nodes), "process", "processes"),
        delay_model.name(),
    )
}

fn for_people(plan: &Plan, evidence: &Evidence<Confirmed>) -> String {
    let [lease, takeover] = budget(plan);
    let mut text = format!(
        "{}\n\n{}\n\n{}\n\n{}\n\n{}\n",
        title(plan),
        parameters(plan).to_text(),
        expectations(plan, evidence.found()).to_text(),
        lease.to_text(),
        takeover.to_text(),
    );
    if let Some(found) = evidence.found() {
        text += &format!("\n{}\n{}\n", simulated(found).to_text(), watched(&found.watch));
    }
    if let Some(conclusion) = evidence.conclusion() {
        text += &format!("\n{conclusion}\n");
    }
    let file: Vec<String> = plan.parameters().iter().map(written).collect();
    text + &format!(
        "\nin a file, under [params]:\n  {}\nas flags of run, sim and check: {}\ntry it: {}",
        file.join("\n  "),
        flags(plan),
        plan.crash().command()
    )
}

/// A parameter as a line of a file.
fn written((name, text): &(&'static str, String)) -> String {
    match text.parse::<u64>() {
        Ok(number) => format!("{name} = {number}"),
        Err(_) => format!("{name} = \"{text}\""),
    }
}

fn flags(plan: &Plan) -> String {
    let flags: Vec<String> =
        plan.parameters().iter().map(|(name, text)| format!("--{name} {text}")).collect();
    flags.join(" ")
}

fn parameters(plan: &Plan) -> Rows {
    let (params, renewal) = (&plan.params, plan.renewal());
    let (slowest, late) = plan.goals.slowest();
    let late = match late {
        0.0 => String::new(),
        late => format!(", all but {} % of them", digits(100.0 * late)),
    };
    let delta = format!("5/4 of what it takes to know that a message took {slowest}{late}");
    let requests =
        format!("without a stall a lease has room for {} requests", renewal.requests_in_a_lease());
    let Takeover { attempts, locks } = plan.takeover;
    let lock = match (attempts, locks) {
        (0, _) => "the longest that --detect allows".to_owned(),
        (1, 0) => "the longest that --detect allows, if an attempt fails".to_owned(),
        (_, 0) => format!("the longest that --detect allows, if {attempts} attempts fail"),
        _ => format!(
            "the longest that --detect allows, if {attempts} attempts fail and {locks} leave a \
             member bound"
        ),
    };
    let row = |name: &str, value: String, why: &str| [name.to_owned(), value, why.to_owned()];
    let rows = [
        row("Δ         --delta", params.delta().to_string(), &delta),
        row("σ         --sigma", params.sigma().to_string(), "as given"),
        row("P         --renew", params.renew().to_string(), &requests),
        row("lockTime  --lock", params.lock().to_string(), &lock),
        row("EP        --period", params.period().to_string(), "the shortest for this lockTime"),
        row("          --expires", params.expires().to_string(), "3/2 of the shortest for this EP"),
        row("ρ         --drift-ppm", params.drift_ppm().to_string(), "as given"),
    ];
    Rows::of(["parameter", "value", "because"], rows)
}

/// A number for people, to whom it does not matter how much less than nothing happens.
fn rare(value: f64) -> String {
    if value > 0.0 && value < 1e-12 { "below 1e-12".to_owned() } else { digits(value) }
}

/// How soon a majority has a leader after the last fault, as `check` judges it.
fn settles(plan: &Plan) -> Duration {
    plan.params.time_scales(plan.goals.nodes).settles
}

/// What is predicted: at least, at most, in words; and what was simulated.
fn expectations(plan: &Plan, found: Option<&Confirmed>) -> Rows {
    let renewal = plan.renewal();
    let [sent, crossing] = renewal.datagrams_per_second();
    let losses = renewal.losses_per_second().map(|rate| rate * YEAR);
    let takeover = found.and_then(|found| found.takeover.as_ref());
    let share = |value: f64| format!("{} %", digits(100.0 * value));
    let row = |name: &str, unit: &str, value: f64, about: &str| {
        [json!(name), json!(rare(value)), json!(unit), json!(about)]
    };
    let mut rows = Rows::new(["to expect", "value", "unit", "what it is"]);
    let within = format!("from a crash to the next leader, in {} of all crashes", share(SHARE));
    rows.push(row("takeover, at most", "s", seconds(plan.takeover_within()), &within));
    if let Some(summary) = takeover {
        rows.push(row("takeover, mean", "s", summary.mean, "simulated"));
        rows.push(row("takeover, p99", "s", summary.p99, "simulated"));
    }
    let params = &plan.params;
    let kappa = "a leader after the last change, by a majority";
    rows.push(row("κ", "s", seconds(settles(plan)), kappa));
    let kappa = "a leader after the last change, in local mode";
    rows.push(row("κ of timeliness", "s", seconds(params.kappa_timeliness()), kappa));
    let kappa = "all follow it after the last change, in local mode";
    rows.push(row("κ of inconsistency", "s", seconds(params.kappa_inconsistency()), kappa));
    let all = "that cross the network, in the whole group";
    rows.push(row("datagrams", "a second", crossing, all));
    rows.push(row("  as the simulator counts", "a second", sent, "one to everyone counts once"));
    let near = "of a leader that is alive, if messages are lost independently";
    rows.push(row("losses of leadership, about", "a year", losses[0], near));
    let most = renewal.losses_per_second_at_most() * YEAR;
    let far = "a bound, which counts followers that missed a request as absent";
    rows.push(row("losses of leadership, at most", "a year", most, far));
    let stalls = "if every lease loses σ by a stall; a formula, not simulated";
    rows.push(row("  with stalls, at most", "a year", plan.losses_after_stalls(), stalls));
    rows
}

fn simulated(found: &Confirmed) -> Rows {
    let mut rows = Rows::new(["simulated", "predicted", "mean", "95 % interval", ""]);
    let in_time = &found.in_time;
    let verdict = if found.is_in_time() { "agrees" } else { "differs" };
    let [low, high] = in_time.interval(0.95).map(digits);
    rows.push([
        "takeover within --detect".to_owned(),
        format!("{SHARE} or more"),
        digits(in_time.share()),
        format!("{low} .. {high}"),
        format!("{verdict}, {} of {} crashes", in_time.successes, in_time.runs),
    ]);
    for comparison in &found.comparisons {
        let Comparison { name, circumstances, predicted, simulated, verdict, .. } = comparison;
        let [least, most] = predicted.map(digits);
        let predicted = if least == most { least } else { format!("{least} .. {most}") };
        let [low, high] = simulated.ci95.map(digits);
        rows.push([
            name.replace('_', " "),
            predicted,
            digits(simulated.mean),
            format!("{low} .. {high}"),
            format!("{} {circumstances}", verdict.name()),
        ]);
    }
    rows
}

/// What a watch for rare events says, and what it cannot say.
fn watched(watch: &Watch) -> String {
    let Watch { hours, expected, seen, consistent, rate, .. } = watch;
    let says = match (consistent, *expected < 3.0) {
        (true, true) => "consistent, but too few to confirm the rate: the formula is judged above",
        (true, false) => "consistent with the rate",
        (false, _) => "not consistent with the rate",
    };
    format!(
        "the plan itself, watched for {} hours: {} losses of leadership are expected and {seen} \
         were seen: {says}",
        digits(*hours),
        rare(*expected),
    ) + &rate.as_ref().map_or_else(String::new, estimated)
}

/// What the estimate of a rare event says.
fn estimated(rate: &LossRate) -> String {
    let LossRate { predicted: [least, most], estimated, ci95: [low, high], agrees, .. } = rate;
    format!(
        "\nestimated for the plan itself: {estimated:.3e} a year (95 % interval {low:.3e} .. \
         {high:.3e}), one in {} years; predicted {least:.3e} .. {most:.3e}: {}",
        digits(1.0 / estimated),
        if *agrees { "no contradiction" } else { "a contradiction" },
    )
}

fn bar(bar: &Bar) -> Value {
    let part = |part: &bars::Part| {
        let length = seconds(part.length);
        json!({ "name": part.name, "seconds": length, "what": part.what })
    };
    json!({
        "whole": seconds(bar.whole),
        "parts": bar.parts.iter().map(part).collect::<Vec<_>>(),
    })
}

fn for_programs(plan: &Plan, evidence: &Evidence<Confirmed>) -> Value {
    let Goals {
        nodes,
        loss,
        delay,
        delay_model,
        scheduling,
        drift_ppm,
        fsync,
        detect,
        losses_per_year,
    } = plan.goals;
    let (params, renewal) = (&plan.params, plan.renewal());
    let [sent, crossing] = renewal.datagrams_per_second();
    let losses = renewal.losses_per_second().map(|rate| rate * YEAR);
    let [lease, takeover] = budget(plan);
    let parameters: Map<String, Value> = plan
        .parameters()
        .into_iter()
        .map(|(name, text)| (name.replace('-', "_"), json!(text)))
        .collect();
    evidence.mark(json!({
        "protocol": "local-leader",
        "goals": {
            "nodes": nodes,
            "loss": loss.rate(),
            "loss_model": loss.name(),
            "delay": seconds(delay),
            "delay_model": delay_model.name(),
            "scheduling": seconds(scheduling),
            "drift_ppm": drift_ppm,
            "fsync": seconds(fsync),
            "detect": seconds(detect),
            "losses_per_year": losses_per_year,
        },
        "params": parameters,
        "flags": flags(plan),
        "predicted": {
            "takeover_within": seconds(plan.takeover_within()),
            "takeover_share": SHARE,
            "failed_attempts": plan.takeover.attempts,
            "requests_in_a_lease": renewal.requests_in_a_lease(),
            "kappa": seconds(settles(plan)),
            "kappa_timeliness": seconds(params.kappa_timeliness()),
            "kappa_inconsistency": seconds(params.kappa_inconsistency()),
            "datagrams_per_second": crossing,
            "datagrams_per_second_as_sent": sent,
            "losses_per_year": losses[0],
            "losses_per_year_at_most": renewal.losses_per_second_at_most() * YEAR,
            "losses_per_year_with_stalls": plan.losses_after_stalls(),
        },
        "budget": { "lease": bar(&lease), "takeover": bar(&takeover) },
        "confirmed": evidence.confirms(),
        "simulated": evidence.found().map(found_for_programs),
        "command": plan.crash().command(),
    }))
}

fn found_for_programs(found: &Confirmed) -> Value {
    let comparison = |comparison: &Comparison| {
        json!({
            "name": comparison.name,
            "circumstances": comparison.circumstances,
            "predicted": comparison.predicted,
            "simulated": json!(comparison.simulated),
            "verdict": comparison.verdict.name(),
            "command": comparison.command,
        })
    };
    let Watch { hours, expected, seen, consistent, command, rate } = &found.watch;
    let rate = rate.as_ref().map(|rate| {
        json!({
            "predicted": rate.predicted,
            "estimated": rate.estimated,
            "ci95": rate.ci95,
            "agrees": rate.agrees,
            "command": rate.command,
        })
    });
    json!({
        "takeover": json!(found.takeover),
        "in_time": found.in_time.successes,
        "crashes": found.in_time.runs,
        "takeover_command": found.command,
        "comparisons": found.comparisons.iter().map(comparison).collect::<Vec<_>>(),
        "watched": {
            "hours": hours,
            "expected": expected,
            "seen": seen,
            "consistent": consistent,
            "command": command,
            "rate": rate,
        },
    })
}
