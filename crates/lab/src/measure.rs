//! Many runs: how a measure is distributed, sharper with every answer; and how it depends on one
//! flag.
//!
//! **Promise.** The last answer is that of the same command line, to the last bit. Each answer has
//! [`SHARPER`] times as many runs as the one before, and contains them: none is made twice. The
//! first one has as many as are made in a [`MOMENT`], by the time that one run takes. Where a run
//! takes longer than that, something else that is true is [said before](first). When the client
//! goes away, runs are given up where they are.

use crate::first::{self, First, MOMENT};
use crate::forms;
use crate::program::{Asked, Flags, Measured, Program};
use crate::reply;
use crate::routes::{Shared, read};
use crate::work::Lines;
use axum::extract::{Request, State};
use axum::response::Response;
use bellwether_core::Duration;
use bellwether_net::clock::{BootTime, Clock};
use bellwether_sim::{Answer, Control, Experiment, Measure, RunsMade};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most processes of a measured group.
pub(crate) const NODES_MAX: u32 = 1_000_000;
/// The most runs.
pub(crate) const RUNS_MAX: u64 = 1_000_000;
/// The most process starts of all runs together, which bounds time and memory.
const WORK_MAX: u64 = 1_000_000_000;
/// The most points of a sweep.
const POINTS_MAX: usize = 200;
/// The most runs of the first answer.
const FIRST: u64 = 16;
/// What people ask for first, if it is measured.
const USUAL: [&str; 5] =
    ["leadership_delay", "reestablishment_delay", "election_time", "time", "messages"];
/// So many runs are made before it is said that none gives a number.
const TRIES: u64 = 64;
/// How many times as many runs the next answer has.
const SHARPER: u64 = 4;
/// The bars of a histogram.
const BARS: usize = 40;
/// The points of a cumulative curve, at most.
const STEPS: usize = 200;

/// What is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    protocol: String,
    #[serde(default)]
    flags: Flags,
    #[serde(default)]
    pub(crate) measure: Option<String>,
    #[serde(default = "usual_runs")]
    pub(crate) runs: u64,
}

impl Wanted {
    /// So many runs of the same, in a group of so many processes.
    pub(crate) fn among(&self, nodes: u32, runs: u64) -> Self {
        let mut other = Self { runs, ..self.clone() };
        other.flags.insert("nodes".to_owned(), nodes.into());
        other
    }
}

/// The same over several values of one flag.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub(crate) struct Swept {
    wanted: Wanted,
    over: String,
    values: Vec<Value>,
}

impl Swept {
    /// Each value as text, and as a number if it is one.
    pub(crate) fn values(&self) -> Vec<(String, Option<f64>)> {
        self.values.iter().map(valued).collect()
    }
}

/// The two keys of its own; all others are those of one point, and unknown ones are refused there.
#[derive(Deserialize)]
struct Range {
    over: String,
    values: Vec<Value>,
}

impl TryFrom<Map<String, Value>> for Swept {
    type Error = serde_json::Error;

    fn try_from(mut keys: Map<String, Value>) -> serde_json::Result<Self> {
        let own = ["over", "values"].map(|key| keys.remove_entry(key));
        let own: Map<String, Value> = own.into_iter().flatten().collect();
        let Range { over, values } = Range::deserialize(Value::Object(own))?;
        Ok(Self { wanted: Wanted::deserialize(Value::Object(keys))?, over, values })
    }
}

fn usual_runs() -> u64 {
    1000
}

/// The experiment that is meant, within the limits.
pub(crate) fn asked(program: &dyn Program, wanted: &Wanted) -> Result<Measured, String> {
    let Wanted { protocol, flags, runs, .. } = wanted;
    if !(1..=RUNS_MAX).contains(runs) {
        return Err(format!("runs = {runs}, but there are from 1 to {RUNS_MAX} runs"));
    }
    let measured = program.measure(Asked { protocol, flags }, *runs)?;
    let nodes = measured.experiment.nodes;
    if nodes > NODES_MAX {
        return Err(format!("nodes = {nodes}, but at most {NODES_MAX} are measured here"));
    }
    if u64::from(nodes) * runs > WORK_MAX {
        return Err(format!(
            "{runs} runs of {nodes} processes are more than {WORK_MAX} starts; choose fewer runs \
             or fewer processes"
        ));
    }
    Ok(measured)
}

/// The measure with this name, or the one that people ask for first.
pub(crate) fn choose(answer: &Answer, name: Option<&str>) -> Result<Measure, String> {
    let has = |wanted: &str| answer.measures.iter().find(|(known, _)| known.name() == wanted);
    let names = || {
        let names: Vec<String> = answer.measures.iter().map(|(known, _)| known.name()).collect();
        names.join(", ")
    };
    let found = match name {
        Some(name) => has(name),
        None => USUAL.iter().find_map(|usual| has(usual)).or(answer.measures.first()),
    };
    found.map(|(measure, _)| *measure).ok_or_else(|| match (name, answer.measures.is_empty()) {
        (Some(name), false) => format!("'{name}' is not measured here; there are {}", names()),
        _ => "no run gave a number: none reached what it was for; choose a longer window or \
              other timers"
            .to_owned(),
    })
}

/// How the samples of a measure are distributed.
fn distribution(made: &RunsMade, measure: Measure) -> (Value, Value) {
    let mut values = made.values(measure);
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (values.first().copied(), values.last().copied()) else {
        return (Value::Null, Value::Null);
    };
    let width = (last - first) / BARS as f64;
    let mut counts = vec![0_u64; if width > 0.0 { BARS } else { 1 }];
    for value in &values {
        let bar = if width > 0.0 { ((value - first) / width) as usize } else { 0 };
        let bar = bar.min(counts.len() - 1);
        counts[bar] += 1;
    }
    let count = values.len();
    let step = count.div_ceil(STEPS).max(1);
    let mut curve: Vec<[f64; 2]> = vec![[first, 0.0]];
    for index in (step - 1..count).step_by(step) {
        curve.push([values[index], (index + 1) as f64 / count as f64]);
    }
    if curve.last().is_some_and(|point| point[1] < 1.0) {
        curve.push([last, 1.0]);
    }
    (json!({ "from": first, "to": last, "counts": counts }), json!(curve))
}

/// Makes so many runs of an experiment, those that were made before included, until it is told to
/// stop.
pub(crate) fn more(
    experiment: &Experiment,
    before: RunsMade,
    runs: u64,
    over: &(dyn Fn() -> bool + Sync),
) -> Result<(Answer, RunsMade), String> {
    let experiment = Experiment { runs, ..experiment.clone() };
    let control = Control { progress: &|| (), over };
    experiment.run_on(before, control).map_err(|bad| bad.to_string())
}

/// The parameters of the protocol, by name, lengths in seconds.
pub(crate) fn params(measured: &Measured) -> Map<String, Value> {
    measured.config.to_map().into_iter().collect()
}

/// What runs give, without how many were asked for and what formulas say.
pub(crate) fn result(answer: &Answer, made: &RunsMade, measure: Measure) -> Value {
    let (histogram, cumulative) = distribution(made, measure);
    let one = |(measure, _): &(Measure, _)| (measure.name(), json!(answer.told(*measure)));
    json!({
        "lab": "result",
        "unsettled": answer.unsettled,
        "engine": if answer.lazy { "lazy" } else { "event" },
        "measure": measure.name(),
        "summary": answer.told(measure),
        "all": answer.measures.iter().map(one).collect::<Map<_, _>>(),
        "histogram": histogram,
        "cumulative": cumulative,
    })
}

/// How many runs the first answer has, if one run took so long.
fn first_runs(one: Duration, most: u64) -> u64 {
    (MOMENT.as_nanos() / one.as_nanos().max(1)).clamp(1, FIRST.min(most))
}

/// Runs until all are made, and says after each step what is known.
fn sharpen(
    program: &dyn Program,
    wanted: &Wanted,
    measured: &Measured,
    lines: &mut Lines,
) -> Result<(), String> {
    let began = BootTime.now();
    let over = lines.watch();
    let First { mut answer, mut made, took, form } = first::run(program, wanted, measured, lines)?;
    let mut forms = form.map(|(measure, form)| (measure, Some(form)));
    let mut runs = first_runs(took, wanted.runs);
    loop {
        if runs > 1 && !over() {
            (answer, made) = more(&measured.experiment, made, runs, &over)?;
        }
        if over() {
            return Ok(());
        }
        let measure = match choose(&answer, wanted.measure.as_deref()) {
            Ok(measure) => measure,
            // A few runs may all miss what more of them reach.
            Err(_) if runs < wanted.runs.min(TRIES) => {
                runs = runs.saturating_mul(SHARPER).min(wanted.runs);
                continue;
            }
            Err(why) => return Err(why),
        };
        // Without a wish, a few runs and many may choose another measure.
        forms = forms.filter(|(of, _)| *of == measure);
        let mut said = result(&answer, &made, measure);
        said["runs"] = json!(runs);
        said["of"] = json!(wanted.runs);
        said["seconds"] = json!(BootTime.now().since(began).as_secs_f64());
        said["forms"] = json!(forms.as_ref().and_then(|(_, found)| found.clone()));
        lines.say(&said);
        lines.send();
        // A formula may take longer than the first runs, so those are shown before it.
        if forms.is_none() {
            let found = forms::of(&measured.experiment, &params(measured), &measure.name());
            if found.is_some() {
                said["forms"] = json!(found);
                lines.say(&said);
                lines.send();
            }
            forms = Some((measure, found));
        }
        if runs >= wanted.runs || over() {
            break;
        }
        runs = runs.saturating_mul(SHARPER).min(wanted.runs);
    }
    let seconds = BootTime.now().since(began).as_secs_f64();
    lines.say(&json!({ "lab": "end", "runs": runs, "seconds": seconds }));
    Ok(())
}

/// Measures one point.
pub(crate) async fn measure(State(app): Shared, request: Request) -> Response {
    let wanted: Wanted = match read(request).await {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    let (asking, meant) = (Arc::clone(&app.program), wanted.clone());
    let program = Arc::clone(&app.program);
    let measured = match app.quick.answer(move || asked(asking.as_ref(), &meant)).await {
        Ok(Ok(measured)) => measured,
        Ok(Err(why)) => return reply::refused(why),
        Err(refused) => return refused,
    };
    let work = move |lines: &mut Lines| {
        lines.say(&json!({
            "lab": "asked",
            "command": measured.command,
            "protocol": wanted.protocol,
            "nodes": measured.experiment.nodes,
            "measure": wanted.measure,
            "runs": wanted.runs,
            "params": params(&measured),
        }));
        lines.send();
        sharpen(program.as_ref(), &wanted, &measured, lines)
    };
    app.slots.stream(work).await
}

/// A value of a flag as text, and as a number if it is one.
fn valued(value: &Value) -> (String, Option<f64>) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let length = || text.parse::<Duration>().ok().map(Duration::as_secs_f64);
    let number = text.parse::<f64>().ok().or_else(length).filter(|number| number.is_finite());
    (text, number)
}

/// One point of a sweep; why there is none, in a sentence.
fn point(
    program: &dyn Program,
    wanted: &Wanted,
    over: &(dyn Fn() -> bool + Sync),
) -> Result<Value, String> {
    let measured = asked(program, wanted)?;
    let (answer, _) = more(&measured.experiment, RunsMade::default(), wanted.runs, over)?;
    let measure = choose(&answer, wanted.measure.as_deref())?;
    let name = measure.name();
    Ok(json!({
        "measure": name,
        "summary": answer.told(measure),
        "unsettled": answer.unsettled,
        "forms": forms::of(&measured.experiment, &params(&measured), &name),
        "command": measured.command,
    }))
}

/// Measures one point after the other.
pub(crate) async fn sweep(State(app): Shared, request: Request) -> Response {
    let swept: Swept = match read(request).await {
        Ok(swept) => swept,
        Err(refused) => return refused,
    };
    if swept.values.is_empty() || swept.values.len() > POINTS_MAX {
        return reply::refused(format!(
            "{} values of {}, but a sweep has from 1 to {POINTS_MAX} points",
            swept.values.len(),
            swept.over
        ));
    }
    let program = Arc::clone(&app.program);
    let work = move |lines: &mut Lines| {
        let over = lines.watch();
        lines.say(&json!({
            "lab": "asked",
            "protocol": swept.wanted.protocol,
            "over": swept.over,
            "runs": swept.wanted.runs,
        }));
        for (value, (text, x)) in swept.values.iter().zip(swept.values()) {
            let mut wanted = swept.wanted.clone();
            wanted.flags.insert(swept.over.clone(), value.clone());
            let mut said = match point(program.as_ref(), &wanted, &over) {
                Ok(said) => said,
                Err(why) => json!({ "error": reply::one_line(why) }),
            };
            if over() {
                return Ok(());
            }
            said["lab"] = json!("point");
            (said["value"], said["x"]) = (json!(text), json!(x));
            lines.say(&said);
            lines.send();
        }
        lines.say(&json!({ "lab": "end" }));
        Ok(())
    };
    app.slots.stream(work).await
}
