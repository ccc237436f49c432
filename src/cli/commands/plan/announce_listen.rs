//! `bellwether plan announce-listen`: timers from goals, what to expect of them, and whether that
//! happens.

use super::confirm::{Confirming, Evidence, Found};
use super::{YEAR_DAYS, rate};
use crate::cli::Done;
use crate::cli::commands::sim;
use crate::cli::failure::Failure;
use crate::cli::flags::circumstances::{Circumstances, seconds};
use crate::cli::flags::group::{finite, number};
use crate::cli::flags::{Offers, Parameters, read_by_formulas};
use crate::cli::output::{Format, Rows, digits};
use bellwether::analysis::plan::{
    Confirmation, Forecast, GROUP_MAX, Goals, Plan, Rate, Unknown, Verdict, Watch,
};
use bellwether::analysis::point::duration;
use bellwether::protocols::choice::Config;
use clap::Args;
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct AnnounceListen {
    #[command(flatten)]
    circumstances: Circumstances,
    #[command(flatten)]
    timers: Parameters<Announce>,
    /// Maximum number of live leaders that the group gives up per day; or in another time, as in
    /// 1/10y or 2/30d
    #[arg(long, value_name = "X", default_value = "1", help_heading = "Goals")]
    #[arg(value_parser = per_day)]
    false_departures: f64,
    /// The required probability that all hear a leader's goodbye
    #[arg(long, value_name = "P", default_value = "0.99", help_heading = "Goals")]
    #[arg(value_parser = number)]
    bye_confidence: f64,
    /// How many messages a start may take [default: as few as T_A allows]
    #[arg(long, value_name = "M", help_heading = "Goals")]
    #[arg(value_parser = number)]
    messages: Option<f64>,
    #[command(flatten)]
    confirming: Confirming,
}

/// The parameter that is not planned, but given.
#[derive(Debug)]
struct Announce;

impl Offers for Announce {
    const ONLY: &'static [&'static str] = &["announce"];
}

const EXAMPLES: &str = "\
Examples:
  bellwether plan announce-listen --nodes 50 --loss .05
  bellwether plan announce-listen --nodes 50 --loss .05 --false-departures .01 --announce 250ms \\
    --delay 5ms
  bellwether plan announce-listen --nodes 1000 --loss .2 --loss-model correlated --messages 200
  bellwether plan announce-listen --nodes 20 --loss .05 --false-departures 1/10y

How to read it: T_L counts the announcements that must be lost in a row, T_S spreads the first ones,
after a goodbye the group need not wait for T_L. Each prediction stands beside its simulation;
`agrees` means that the simulation does not contradict the formula at 99.9 %, `near` that it is as
near as an approximation can be. Where a goal is too rare to be watched for, as one in ten years,
the rate at the planned T_L is estimated as that of a rare event (see `bellwether sim --rare`).

Exit code: 0 if the simulation confirms the prediction, 1 if something differs; 130 if it was
interrupted (Ctrl-C), and then the plan is printed without its simulation.";

/// Parses a number per day, or in so many days or years.
fn per_day(text: &str) -> Result<f64, String> {
    rate(text, "day", 1.0)
}

/// What the simulations found.
#[derive(Default)]
struct Simulated {
    confirmations: Vec<Confirmation>,
    watch: Option<Watch>,
}

impl Found for Simulated {
    fn doubts(&self) -> Vec<String> {
        let Self { confirmations, watch } = self;
        let differing = confirmations.iter().filter(|found| found.verdict == Verdict::Differs);
        let mut doubts: Vec<_> = differing.map(|found| found.name.to_owned()).collect();
        if watch.as_ref().is_some_and(|watch| !watch.consistent) {
            doubts.push("false departures per day".to_owned());
        }
        let rate = watch.as_ref().and_then(|watch| watch.rate.as_ref());
        if rate.is_some_and(|rate| !rate.agrees) {
            doubts.push("the rate of false departures".to_owned());
        }
        doubts
    }
}

impl AnnounceListen {
    pub(super) fn run(&self) -> Done {
        let plan = Plan::new(self.goals()?).map_err(Failure::usage)?;
        let evidence = self.evidence(plan.clone())?;
        let text = match self.confirming.format {
            Format::Table => for_people(&plan, &evidence),
            Format::Json => for_programs(&plan, &evidence).to_string(),
            Format::Csv => for_spreadsheets(&plan, &evidence),
        };
        evidence.print(&text)
    }

    /// The result for a program.
    pub(super) fn answer(&self) -> Result<Value, Failure> {
        let plan = Plan::new(self.goals()?).map_err(Failure::usage)?;
        let evidence = self.evidence(plan.clone())?;
        Ok(for_programs(&plan, &evidence))
    }

    fn goals(&self) -> Result<Goals, Failure> {
        Ok(Goals {
            nodes: self.circumstances.nodes(),
            loss: self.circumstances.loss()?,
            delay: seconds(self.circumstances.delay()),
            announce: match read_by_formulas("le-s", &self.timers)? {
                Config::AnnounceListen(config) => seconds(config.announce),
                _ => return Err(Failure::usage("le-s has other parameters")),
            },
            false_departures: self.false_departures,
            bye_confidence: self.bye_confidence,
            messages: self.messages,
        })
    }

    fn evidence(&self, plan: Plan) -> Result<Evidence<Simulated>, Failure> {
        let evidence = self.confirming.simulate(move |effort, tick| {
            let (confirmations, watch) = plan.confirm(effort, tick)?;
            Ok(Simulated { confirmations, watch })
        })?;
        Ok(match evidence {
            // There may be nothing to simulate.
            Evidence::Found(Simulated { confirmations, watch: None })
                if confirmations.is_empty() =>
            {
                Evidence::None
            }
            evidence => evidence,
        })
    }
}

/// What the user of this plan must know first.
fn warning(plan: &Plan) -> Option<String> {
    let why = Unknown::NoAgreement(plan.disagreement()?);
    Some(format!(
        "{why}: no delay of a departure can be predicted; accept fewer --false-departures"
    ))
}

fn for_people(plan: &Plan, evidence: &Evidence<Simulated>) -> String {
    let found = evidence.found();
    let confirmations = found.map_or(&[][..], |found| &found.confirmations);
    let Goals { nodes, loss, delay, announce, .. } = plan.goals;
    let lossy = match loss.rate() {
        0.0 => String::new(),
        rate => format!(", loss {rate} {}", loss.name()),
    };
    let mut text = format!(
        "announce-listen (le-s) with {}, delay {}{lossy}\n\n{}\n\n{}\n",
        sim::count(u64::from(nodes), "process", "processes"),
        duration(delay),
        parameters(plan, announce).to_text(),
        expectations(&plan.forecasts()).to_text(),
    );
    if let Some(warning) = warning(plan) {
        text += &format!("\nwarning: {warning}\n");
    }
    if !confirmations.is_empty() {
        let header = ["simulated", "processes", "T_L", "predicted", "mean", "95 % interval", ""];
        let rows = Rows::of(header, confirmations.iter().map(row));
        text += &format!("\n{}\n", rows.to_text());
        let fewest = confirmations.iter().map(|found| found.nodes).min();
        if let Some(fewest) = fewest.filter(|fewest| *fewest < nodes) {
            text += &format!(
                "rows with {fewest} processes: simulated and predicted for {fewest} processes, \
                 with the T_L planned for {nodes}\n"
            );
        }
    }
    if let Some(watch) = found.and_then(|found| found.watch.as_ref()) {
        text += &format!("\n{}\n", watched(plan, watch));
    }
    if let Some(conclusion) = evidence.conclusion() {
        text += &format!("\n{conclusion}\n");
    }
    let fewer = match nodes > GROUP_MAX {
        true => format!(" with {GROUP_MAX} processes and the T_L of {nodes}"),
        false => String::new(),
    };
    text + &format!("\ntry it{fewer}: {}", plan.point().command())
}

fn parameters(plan: &Plan, announce: f64) -> Rows {
    let Plan { goals, losses, byes, .. } = plan;
    let percent = |chance: f64| format!("{} %", digits(100.0 * chance));
    let suppress = match goals.messages {
        None => "T_A less the delay: the longest, so the fewest messages".to_owned(),
        Some(goal) => format!("the shortest with at most {goal} messages at a start"),
    };
    let listen = format!(
        "{losses} T_A and {}: {} must be lost",
        duration(goals.margin()),
        sim::count(u64::from(*losses), "announcement", "announcements in a row"),
    );
    let all_hear = format!(
        "all hear one with {}; the thesis's mean of {} would reach all with {}",
        percent(plan.all_hear),
        plan.byes_on_average,
        percent(goals.all_hear(plan.byes_on_average)),
    );
    let row = |name: &str, value: String, why: String| [name.to_owned(), value, why];
    let rows = [
        row("T_A  --announce", duration(announce).to_string(), "as given".to_owned()),
        row("T_S  --suppress", duration(plan.inputs.suppress).to_string(), suppress),
        row("T_L  --listen", duration(plan.inputs.listen).to_string(), listen),
        row("     --bye-copies", byes.to_string(), all_hear),
    ];
    Rows::of(["parameter", "value", "because"], rows)
}

fn expectations(forecasts: &[Forecast]) -> Rows {
    let row = |forecast: &Forecast| {
        let unit = forecast.unit.map_or("a day", |unit| unit.name());
        let (value, note) = match &forecast.value {
            Ok(value) => (format!("{} {unit}", digits(*value)), about(forecast.slack)),
            Err(why) => ("no value".to_owned(), why.to_string()),
        };
        [forecast.about.to_owned(), value, note]
    };
    Rows::of(["to expect", "value", ""], forecasts.iter().map(row))
}

/// How far a value can be trusted.
fn about(slack: f64) -> String {
    if slack == 0.0 { String::new() } else { format!("to {} % or so", digits(100.0 * slack)) }
}

fn row(confirmation: &Confirmation) -> [String; 7] {
    let Confirmation { name, nodes, listen, predicted, simulated, verdict, rests_on, .. } =
        confirmation;
    let rests_on = match rests_on {
        Some(few) => {
            format!(", with about {} of {} runs without a goodbye", digits(*few), simulated.count)
        }
        None => String::new(),
    };
    let [low, high] = simulated.ci95.map(digits);
    [
        name.replace('_', " "),
        nodes.to_string(),
        duration(*listen).to_string(),
        digits(*predicted),
        digits(simulated.mean),
        format!("{low} .. {high}"),
        format!("{}{rests_on}", verdict.name()),
    ]
}

/// What a watch for rare events says, and what it cannot say.
fn watched(plan: &Plan, watch: &Watch) -> String {
    let Watch { nodes, days, runs, expected, seen, consistent, .. } = watch;
    let says = match (consistent, *expected < 3.0) {
        (true, true) => {
            "consistent, but too few to confirm the rate: that is done above, at a \
                         shorter T_L"
        }
        (true, false) => "consistent with the rate",
        (false, _) => "not consistent with the rate",
    };
    format!(
        "T_L = {} with {}, watched for {} days in {runs} runs: a false departure is expected in \
         {} of them and was seen in {seen}: {says}",
        duration(plan.inputs.listen),
        sim::count(u64::from(*nodes), "process", "processes"),
        digits(*days),
        digits(*expected),
    ) + &watch.rate.as_ref().map_or_else(String::new, estimated)
}

/// What the estimate of a rare event says.
fn estimated(rate: &Rate) -> String {
    let Rate { nodes, predicted, estimated, ci95: [low, high], agrees, .. } = rate;
    format!(
        "\nestimated at that T_L with {}: {estimated:.3e} a day (95 % interval {low:.3e} .. \
         {high:.3e}), one in {} years; predicted {predicted:.3e}: {}",
        sim::count(u64::from(*nodes), "process", "processes"),
        digits(1.0 / (estimated * YEAR_DAYS)),
        if *agrees { "agrees" } else { "differs" },
    )
}

fn for_programs(plan: &Plan, evidence: &Evidence<Simulated>) -> Value {
    let found = evidence.found();
    let confirmations = found.map_or(&[][..], |found| &found.confirmations);
    let Plan { goals, losses, byes, all_hear, byes_on_average, inputs } = plan;
    let forecast = |forecast: &Forecast| {
        let unit = forecast.unit.map_or("per day", |unit| unit.name());
        let mut value = json!({
            "value": forecast.value.as_ref().ok(),
            "unit": unit,
            "slack": forecast.slack,
        });
        if let Err(why) = &forecast.value {
            value["why"] = json!(why.to_string());
        }
        (forecast.name.to_owned(), value)
    };
    let confirmation = |confirmation: &Confirmation| {
        let mut simulated = json!(confirmation.simulated);
        simulated["unsettled"] = json!(confirmation.unsettled);
        json!({
            "name": confirmation.name,
            "nodes": confirmation.nodes,
            "listen": finite(duration(confirmation.listen)),
            "predicted": confirmation.predicted,
            "slack": confirmation.slack,
            "simulated": simulated,
            "rests_on": confirmation.rests_on,
            "verdict": confirmation.verdict.name(),
            "command": confirmation.command,
        })
    };
    evidence.mark(json!({
        "protocol": "le-s",
        "goals": {
            "nodes": goals.nodes,
            "loss": goals.loss.rate(),
            "loss_model": goals.loss.name(),
            "delay": goals.delay,
            "announce": goals.announce,
            "false_departures": goals.false_departures,
            "bye_confidence": goals.bye_confidence,
            "messages": goals.messages,
        },
        "params": {
            "announce": goals.announce,
            "suppress": inputs.suppress,
            "listen": inputs.listen,
            "listen_multiple": inputs.listen / goals.announce,
            "losses_in_a_row": losses,
            "bye_copies": byes,
        },
        "bye": {
            "all_hear": all_hear,
            "thesis_copies": byes_on_average,
            "thesis_all_hear": goals.all_hear(*byes_on_average),
        },
        "predicted": plan.forecasts().iter().map(forecast).collect::<Map<_, _>>(),
        "warning": warning(plan),
        "confirmed": evidence.confirms(),
        "confirmations": confirmations.iter().map(confirmation).collect::<Vec<_>>(),
        "watched": found.and_then(|found| found.watch.as_ref()).map(watch_for_programs),
        "command": plan.point().command(),
        "command_nodes": goals.nodes.min(GROUP_MAX),
    }))
}

fn watch_for_programs(watch: &Watch) -> Value {
    json!({
        "nodes": watch.nodes,
        "days": watch.days,
        "runs": watch.runs,
        "expected": watch.expected,
        "seen": watch.seen,
        "consistent": watch.consistent,
        "command": watch.command,
        "estimated": watch.rate.as_ref().map(|rate| json!({
            "nodes": rate.nodes,
            "predicted_per_day": rate.predicted,
            "per_day": rate.estimated,
            "ci95": rate.ci95,
            "agrees": rate.agrees,
            "command": rate.command,
        })),
    })
}

/// One row for each prediction, with its simulation where there is one.
fn for_spreadsheets(plan: &Plan, evidence: &Evidence<Simulated>) -> String {
    let header = ["what", "predicted", "nodes", "listen", "predicted_there", "mean", "verdict"];
    let confirmations = evidence.found().map_or(&[][..], |found| &found.confirmations);
    let row = |forecast: &Forecast| {
        let found = confirmations.iter().find(|found| found.name == forecast.name);
        [
            json!(forecast.name),
            json!(forecast.value.as_ref().ok()),
            json!(found.map(|found| found.nodes)),
            json!(found.map(|found| duration(found.listen).to_string())),
            json!(found.map(|found| found.predicted)),
            json!(found.map(|found| found.simulated.mean)),
            json!(found.map(|found| found.verdict.name())),
        ]
    };
    Rows::of(header, plan.forecasts().iter().map(row)).to_csv()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::sim::stats::Summary;

    fn confirmation(name: &'static str, verdict: Verdict) -> Confirmation {
        Confirmation {
            name,
            nodes: 5,
            listen: 3.1,
            predicted: 1.0,
            slack: 0.0,
            simulated: Summary::of(&[1.0, 2.0]).unwrap(),
            unsettled: 0,
            rests_on: None,
            verdict,
            command: String::new(),
        }
    }

    fn watch(consistent: bool) -> Watch {
        let command = String::new();
        let (days, expected, rate) = (1.0, 0.1, None);
        Watch { nodes: 5, days, runs: 100, expected, seen: 0, consistent, command, rate }
    }

    #[test]
    fn one_that_differs_is_enough_for_doubt() {
        let (agrees, near) =
            (confirmation("messages", Verdict::Agrees), confirmation("delay", Verdict::Near));
        let evidence = |confirmations, watch| Evidence::Found(Simulated { confirmations, watch });
        let good = evidence(vec![agrees.clone(), near], Some(watch(true)));
        assert_eq!(good.confirms(), Some(true));
        assert_eq!(good.conclusion().unwrap(), "the simulation confirms the prediction");
        let bad = confirmation("leadership_delay", Verdict::Differs);
        let bad = evidence(vec![agrees.clone(), bad], Some(watch(false)));
        assert_eq!(bad.confirms(), Some(false));
        let line = "the simulation does not confirm: leadership delay, false departures per day";
        assert_eq!(bad.conclusion().unwrap(), line);
        assert_eq!(evidence(vec![agrees], Some(watch(false))).confirms(), Some(false));
        assert_eq!(Evidence::<Simulated>::None.confirms(), None, "nothing was simulated");
    }
}
