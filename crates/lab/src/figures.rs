//! The papers' figures: listed, made again, and judged.
//!
//! **Promise.** A figure is what `reproduce` of the same runs and seed makes. What two figures
//! share is simulated once, as long as runs and seed stay the same.

use crate::program::{Asked, Flags, Measured, Program};
use crate::reply;
use crate::routes::{App, Shared, read};
use crate::stage::NODES_MAX;
use crate::work::Lines;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use bellwether_analysis::figures::{
    Budget, Claim, Curve, Dot, Figure, Finding, Pane, Workbench, figure, figures,
};
use bellwether_analysis::report::{csv, json as as_json, picture};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::choice::Profile;
use bellwether_sim::{Experiment, ScenarioFile};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

/// The most runs at each point.
const RUNS_MAX: u64 = 100_000;

/// How often a figure that waits for its turn looks whether it has come.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(50);

/// What was simulated for figures of these runs and this seed.
type Bench = Option<(Budget, Workbench)>;

/// What is known of figures that were made.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Of the usual budget: verdicts of fewer runs are others.
    claims: Mutex<BTreeMap<&'static str, Vec<Claim>>>,
    bench: Mutex<Bench>,
}

impl Known {
    fn claims(&self, id: &str) -> Option<Vec<Claim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Waits until no other figure is made; nothing if nobody waits for this one any more.
    fn turn(&self, over: &dyn Fn() -> bool) -> Option<MutexGuard<'_, Bench>> {
        while !over() {
            match self.bench.try_lock() {
                Ok(bench) => return Some(bench),
                Err(TryLockError::Poisoned(broken)) => return Some(broken.into_inner()),
                Err(TryLockError::WouldBlock) => thread::sleep(GLANCE),
            }
        }
        None
    }

    fn learn(&self, finding: &Finding) {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.insert(finding.id, finding.claims.clone());
    }
}

/// How a figure is made.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(default = "usual_runs")]
    runs: u64,
    #[serde(default = "usual_seed")]
    seed: u64,
}

fn usual_runs() -> u64 {
    Budget::default().runs
}

fn usual_seed() -> u64 {
    Budget::default().seed
}

fn verdict(claim: &Claim) -> Value {
    json!({
        "claim": claim.says,
        "section": claim.section,
        "verdict": claim.verdict.name(),
        "why": claim.because,
    })
}

/// All figures.
pub(crate) async fn list(State(app): Shared) -> Response {
    let known = Arc::clone(&app);
    let listed = move || {
        let row = |figure: Figure| {
            let claims = known.figures.claims(figure.id);
            json!({
                "id": figure.id,
                "title": figure.title,
                "paper": figure.source,
                "published": !figure.is_ours(),
                "says": figure.says,
                "verdicts": claims.map(|all| all.iter().map(verdict).collect::<Vec<_>>()),
            })
        };
        figures().into_iter().map(row).collect::<Vec<_>>()
    };
    match app.quick.answer(listed).await {
        Ok(figures) => reply::json(&json!({ "figures": figures })),
        Err(refused) => refused,
    }
}

/// Makes one.
pub(crate) async fn one(State(app): Shared, Path(id): Path<String>, request: Request) -> Response {
    let Wanted { runs, seed } = match read(request).await {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    let Some(figure) = figure(&id) else {
        let why =
            format!("no figure is called '{}'; GET /api/figures lists them", id.escape_debug());
        return reply::error(StatusCode::NOT_FOUND, why);
    };
    if !(1..=RUNS_MAX).contains(&runs) {
        return reply::refused(format!("runs = {runs}, but there are from 1 to {RUNS_MAX} runs"));
    }
    let budget = Budget { runs, seed, ..Budget::default() };
    let shared = Arc::clone(&app);
    app.slots.stream(move |lines| make(&shared, figure, budget, lines)).await
}

fn make(app: &App, figure: Figure, budget: Budget, lines: &mut Lines) -> Result<(), String> {
    let (known, over) = (&app.figures, lines.watch());
    let scenario = figure.run.map(|run| run.text);
    // One figure at a time: each uses all cores.
    let Some(mut bench) = known.turn(&over) else { return Ok(()) };
    let mut workbench = match bench.take() {
        Some((same, workbench)) if same == budget => workbench,
        _ => Workbench::new(budget),
    };
    let of = workbench.missing(std::slice::from_ref(&figure));
    let mut done = 0;
    lines.say(&json!({ "lab": "progress", "done": 0, "of": of }));
    lines.send();
    let mut step = || {
        done += 1;
        lines.say(&json!({ "lab": "progress", "done": done, "of": of }));
        lines.send();
    };
    let found = workbench.finding_until(figure, &mut step, &over);
    *bench = Some((budget, workbench));
    drop(bench);
    let Some(finding) = found.map_err(|bad| bad.to_string())? else { return Ok(()) };
    if budget == Budget::default() {
        known.learn(&finding);
    }
    lines.say(&json!({
        "lab": "figure",
        "id": finding.id,
        "title": finding.title,
        "paper": finding.source,
        "says": finding.says,
        "choices": finding.choices,
        "svg": picture::svg(&finding),
        "verdicts": finding.claims.iter().map(verdict).collect::<Vec<_>>(),
        "data": data(&finding),
        "csv": csv::csv(&finding),
        "command": finding.command,
        "points": points(&finding, scenario, app.program.as_ref()),
    }));
    Ok(())
}

/// The numbers; the records of a run are played, and not listed.
fn data(finding: &Finding) -> Value {
    let mut data = as_json::json(finding);
    if let Some(run) = data.get_mut("run").and_then(Value::as_object_mut) {
        run.remove("records");
    }
    data
}

/// For each simulated point, one run of it that the stage can play.
fn points(finding: &Finding, scenario: Option<&str>, program: &dyn Program) -> Vec<Value> {
    if let Some(text) = scenario {
        return vec![json!({ "label": finding.title, "what": { "toml": text } })];
    }
    let curves = finding.panes.iter().flat_map(|pane| pane.curves.iter().map(move |it| (pane, it)));
    let drawn = curves.filter(|(_, curve)| curve.drawn);
    let dots = drawn.flat_map(|(pane, curve)| curve.dots.iter().map(move |it| (pane, curve, it)));
    let point = |(pane, curve, dot): (&Pane, &Curve, &Dot)| {
        let Played { what, nodes, shown, at } = Played::of(dot.command.as_deref()?, program)?;
        let note = (shown < nodes).then(|| format!("{shown} processes instead of {nodes}"));
        Some(json!({
            "label": format!("{}, {} = {}", curve.name, pane.x.label, dot.x),
            "curve": curve.name,
            "value": format!("{} = {}", pane.x.label, dot.x),
            "x": dot.x,
            "y": dot.y,
            "command": dot.command,
            "what": what,
            "at": at,
            "note": note,
        }))
    };
    dots.filter_map(point).collect()
}

/// The first run of a point, as the stage plays it.
#[derive(Clone, Debug, PartialEq)]
struct Played {
    /// The run.
    what: Value,
    /// How many processes the point has, and how many of them the stage shows.
    nodes: u32,
    shown: u32,
    /// When what is measured begins.
    at: SimTime,
}

impl Played {
    /// Of the command of many runs; nothing if it is no command of a simulation.
    fn of(command: &str, program: &dyn Program) -> Option<Self> {
        let (protocol, mut flags) = read_command(command)?;
        let mut shown = NODES_MAX;
        let mut measured = program.measure(Asked { protocol, flags: &flags }, 1).ok()?;
        let nodes = measured.experiment.nodes;
        // Those that join later have places, too.
        while measured.experiment.ids() > NODES_MAX.into() && shown > 1 {
            flags.insert("nodes".to_owned(), json!(shown.min(nodes)));
            measured = program.measure(Asked { protocol, flags: &flags }, 1).ok()?;
            shown = if shown == NODES_MAX { NODES_MAX - 1 } else { shown / 2 };
        }
        let Measured { experiment, config, command } = &measured;
        let shown = experiment.nodes;
        if let Some(what) = started(protocol, &flags, program) {
            return Some(Self { what, nodes, shown, at: SimTime::ZERO });
        }
        let (mut plan, at) = experiment.first_plan();
        plan.horizon = plan.horizon.min(at.since(SimTime::ZERO) + shown_after(experiment));
        let about = format!("one run of: {command}");
        let toml = ScenarioFile::write(&about, protocol, config, &plan, experiment.seed).ok()?;
        Some(Self { what: json!({ "toml": toml }), nodes, shown, at })
    }
}

/// The protocol and the flags of a command of many runs.
fn read_command(command: &str) -> Option<(&str, Flags)> {
    let mut words = command.strip_prefix("bellwether sim ")?.split(' ').peekable();
    let (protocol, mut flags) = (words.next()?, Flags::new());
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--")?;
        let value = words.next_if(|next| !next.starts_with("--"));
        if name != "runs" && name != "threads" {
            flags.insert(name.to_owned(), value.map_or(json!(true), |value| json!(value)));
        }
    }
    Some((protocol, flags))
}

/// The same start with the flags of one run, so that a page can change them; nothing if it is no
/// start, or one that those flags do not say.
fn started(protocol: &str, flags: &Flags, program: &dyn Program) -> Option<Value> {
    let mut shown = Flags::new();
    for (name, value) in flags {
        match name.as_str() {
            "scenario" if value == "start" => {}
            "scenario" | "departures" | "arrivals" | "fail" => return None,
            "window" | "engine" => {}
            "view" => drop(shown.insert("view-prob".to_owned(), value.clone())),
            _ => drop(shown.insert(name.clone(), value.clone())),
        }
    }
    program.stage(Asked { protocol, flags: &shown }).ok()?;
    Some(json!({ "protocol": protocol, "flags": shown }))
}

/// How long a run is shown after what is measured begins: it is watched for longer.
fn shown_after(experiment: &Experiment) -> Duration {
    let Profile { trust, attempt, .. } = experiment.choice.profile();
    let time = if trust == Duration::MAX { attempt } else { trust };
    (time * 4).max(Duration::from_secs(20)).min(experiment.window)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_figure_that_nobody_waits_for_does_not_wait_for_its_turn() {
        let known = Known::default();
        let other = known.turn(&|| false);
        assert!(other.is_some());
        let asked = Cell::new(0);
        let over = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        assert!(known.turn(&over).is_none(), "the other one is made");
        drop(other);
        assert!(known.turn(&|| false).is_some());
    }

    #[test]
    fn a_command_of_many_runs_is_read_word_by_word() {
        let command = "bellwether sim le-s --nodes 500 --bye --loss 0.4 --runs 9 --seed 7";
        let flags = json!({ "nodes": "500", "bye": true, "loss": "0.4", "seed": "7" });
        let (protocol, found) = read_command(command).unwrap();
        assert_eq!((protocol, json!(found)), ("le-s", flags));
        assert_eq!(read_command("bellwether reproduce 5.6"), None);
    }
}
