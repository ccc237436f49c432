//! One run: its records as they are, what the judge says of it, the command and the picture.
//!
//! **Promise.** The records are those of a trace of the same scenario, byte for byte. A fault that
//! is added changes nothing before its time. A run of more than [`EVENTS_MAX`] records is cut off
//! there, and its end says so.

use crate::head::{self, ids};
use crate::plain::plain;
use crate::reply;
use crate::routes::{Shared, read};
use crate::what::{Chosen, RunRequest};
use crate::work::Lines;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::response::Response;
use bellwether_check::invariants::BrokenInvariant;
use bellwether_check::{GiveUp, Judged, judge_plan_until};
use bellwether_core::{Duration, NodeId, Record, SimTime};
use bellwether_sim::diagram::{Arrangement, Options, plane, plane_and_time, space_time};
use bellwether_sim::ending::Ending;
use bellwether_sim::{Plan, Reader, trace};
use hyper::StatusCode;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::Arc;

/// The most processes on the stage.
pub const NODES_MAX: u32 = 64;
/// The fewest.
const NODES_MIN: u32 = 2;
/// The most records of a run.
pub const EVENTS_MAX: usize = 200_000;
/// The most characters that are shown of a message.
const CARRIES_MAX: usize = 400;

/// A message and what it holds.
struct Carried {
    t: SimTime,
    node: NodeId,
    number: u64,
    text: String,
}

/// Reads a run while it is made.
struct Recorder<'a> {
    records: Vec<Record>,
    /// What messages hold, and before which record each belongs.
    carried: Vec<(usize, Carried)>,
    over: &'a dyn Fn() -> bool,
}

impl Reader for Recorder<'_> {
    fn on_record(&mut self, record: Record) {
        self.records.push(record);
    }

    fn on_send(&mut self, t: SimTime, node: NodeId, number: u64, message: &dyn Debug) {
        let mut text = plain(&format!("{message:?}"));
        if let Some((end, _)) = text.char_indices().nth(CARRIES_MAX) {
            text.truncate(end);
            text.push('…');
        }
        self.carried.push((self.records.len(), Carried { t, node, number, text }));
    }

    fn is_done(&self) -> bool {
        self.records.len() > EVENTS_MAX || (self.over)()
    }
}

/// A run that was made and judged.
struct Played {
    records: Vec<Record>,
    carried: Vec<(usize, Carried)>,
    judged: Option<Judged>,
    ending: Ending,
    /// The limit that was reached, if one was.
    limit: Option<String>,
    /// Whether it went and ended as its file states, if that states an outcome.
    as_stated: Option<bool>,
}

/// What is said of a run that is not shown to its end.
fn cut_off() -> String {
    format!(
        "the run was cut off after {EVENTS_MAX} records; choose fewer processes or a shorter time"
    )
}

impl Played {
    /// Makes the run, and lets the judge see it.
    fn of(chosen: &Chosen, over: &GiveUp) -> Self {
        let scenario = &chosen.scenario;
        let watch = over.as_ref();
        let mut recorder = Recorder { records: Vec::new(), carried: Vec::new(), over: watch };
        scenario.read(scenario.seed, &mut recorder);
        let Recorder { mut records, mut carried, .. } = recorder;
        let cut = records.len() > EVENTS_MAX;
        let limit = cut.then(cut_off);
        if cut {
            records.truncate(EVENTS_MAX);
            carried.retain(|(before, _)| *before < EVENTS_MAX);
        }
        let last = records.last().map_or(SimTime::ZERO, |record| record.t);
        let plan = &scenario.plan;
        let endless = cut || plan.horizon >= Duration::LONGEST_WRITTEN;
        let end = if endless { last } else { SimTime::ZERO + plan.horizon };
        let judged = match over() {
            true => None,
            false => {
                let shown = Plan { horizon: end.since(SimTime::ZERO), ..plan.clone() };
                let (choice, promise, seed) = (&scenario.choice, scenario.promise, scenario.seed);
                judge_plan_until(choice, &shown, promise, seed, Arc::clone(over)).ok()
            }
        };
        let ending = Ending::of(&records, end);
        let found = judged.as_ref().and_then(|judged| judged.breaches.first());
        let broken = found.map(|broken| broken.invariant);
        let captions = || scenario.captions.iter().all(|told| told.differs(&records).is_none());
        let stated = scenario.outcome.as_ref();
        let as_stated =
            stated.map(|stated| stated.differs(&ending, broken).is_none() && captions());
        Self { records, carried, judged, ending, limit, as_stated }
    }

    /// All broken invariants, in the order of their times.
    fn breaches(&self) -> &[BrokenInvariant] {
        self.judged.as_ref().map_or(&[], |judged| &judged.breaches)
    }

    /// Writes all lines between the first and the last.
    fn tell(&self, lines: &mut Lines) {
        let mut breaches = self.breaches().iter().peekable();
        let mut carried = self.carried.iter().peekable();
        let mut text = String::new();
        for (index, record) in self.records.iter().enumerate() {
            while let Some(broken) = breaches.next_if(|broken| broken.at < record.t) {
                lines.say(&violation(broken));
            }
            while let Some((_, sent)) = carried.next_if(|(before, _)| *before <= index) {
                let Carried { t, node, number, text } = sent;
                lines.say(&json!({
                    "lab": "carries", "t": t, "node": node, "number": number, "text": text,
                }));
            }
            text.clear();
            trace::to_json_lines(std::slice::from_ref(record), &mut text);
            lines.put(&text);
            if lines.is_over() {
                return;
            }
        }
        for broken in breaches {
            lines.say(&violation(broken));
        }
    }

    fn last_line(&self, nodes: u32) -> Value {
        let ending = &self.ending;
        let follows = |node: u32| {
            let node = NodeId(node.into());
            ending.followed.get(&node).copied().flatten().map(|leader| leader.0)
        };
        let reign = |(t, leader): &(SimTime, NodeId)| json!({ "t": t, "leader": leader.0 });
        let mut end = json!({
            "lab": "end",
            "t": ending.last,
            "records": self.records.len(),
            "sent": ending.sent,
            "received": ending.received,
            "lost": ending.lost,
            "leaders": ids(&ending.leaders),
            "followed": (0..nodes).map(follows).collect::<Vec<_>>(),
            "most_leaders": ending.most_leaders,
            "changes": ending.reigns.iter().map(reign).collect::<Vec<_>>(),
            "as_stated": self.as_stated,
            "broken": self.breaches().first().map(|broken| broken.invariant),
            "complete": self.limit.is_none(),
            "digest": format!("{:016x}", trace::digest(&self.records)),
        });
        if let Some(limit) = &self.limit {
            end["limit"] = json!(limit);
        }
        end
    }
}

fn violation(broken: &BrokenInvariant) -> Value {
    json!({
        "lab": "violation", "t": broken.at, "invariant": broken.invariant, "text": broken.text,
    })
}

/// Refuses a group that no stage has room for.
pub(crate) fn check_size(nodes: u32) -> Result<(), String> {
    if (NODES_MIN..=NODES_MAX).contains(&nodes) {
        return Ok(());
    }
    Err(format!(
        "nodes = {nodes}, but the stage has room for {NODES_MIN} to {NODES_MAX} processes; choose \
         a number between them, or measure the group instead"
    ))
}

/// The run that a request means, if the stage has room for it.
async fn chosen(app: &Shared, what: RunRequest) -> Result<Chosen, Response> {
    let program = Arc::clone(&app.program);
    let choose = move || what.choose(program.as_ref());
    let chosen = app.quick.answer(choose).await?.map_err(reply::refused)?;
    check_size(chosen.scenario.plan.nodes).map_err(reply::refused)?;
    Ok(chosen)
}

/// Plays a run.
pub(crate) async fn run(app: Shared, request: Request) -> Response {
    let what = match read(request).await {
        Ok(what) => what,
        Err(refused) => return refused,
    };
    let chosen = match chosen(&app, what).await {
        Ok(chosen) => chosen,
        Err(refused) => return refused,
    };
    let State(app) = app;
    let played = move |lines: &mut Lines| {
        let over: GiveUp = Arc::new(lines.watch());
        let played = Played::of(&chosen, &over);
        if over() {
            return Ok(());
        }
        lines.say(&head::of(&chosen, played.judged.as_ref()));
        played.tell(lines);
        lines.say(&played.last_line(chosen.scenario.plan.nodes));
        Ok(())
    };
    app.slots.stream(played).await
}

/// How to have the same run without the page.
pub(crate) async fn command(app: Shared, request: Request) -> Response {
    let what = match read(request).await {
        Ok(what) => what,
        Err(refused) => return refused,
    };
    match chosen(&app, what).await {
        Ok(chosen) => reply::json(&json!({
            "command": chosen.command(),
            "toml": chosen.toml,
            "scenario": chosen.to_json(),
            "file": chosen.file(),
        })),
        Err(refused) => refused,
    }
}

/// Draws a run.
pub(crate) async fn diagram(app: Shared, request: Request) -> Response {
    const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");
    let what: RunRequest = match read(request).await {
        Ok(what) => what,
        Err(refused) => return refused,
    };
    let wanted = what.clone();
    let chosen = match chosen(&app, what).await {
        Ok(chosen) => chosen,
        Err(refused) => return refused,
    };
    match app.slots.answer_unless(move |over| draw(&chosen, &wanted, over)).await {
        Ok(Ok(svg)) => reply::of(StatusCode::OK, SVG, svg),
        Ok(Err(why)) => reply::refused(why),
        Err(refused) => refused,
    }
}

/// The picture of a run. One that is not shown to its end says so in its title.
fn draw(chosen: &Chosen, wanted: &RunRequest, over: &dyn Fn() -> bool) -> Result<String, String> {
    let scenario = &chosen.scenario;
    let mut recorder = Recorder { records: Vec::new(), carried: Vec::new(), over };
    scenario.read(scenario.seed, &mut recorder);
    if over() {
        return Err("nobody waits for it any more".to_owned());
    }
    let mut records = recorder.records;
    let cut = records.len() > EVENTS_MAX;
    records.truncate(EVENTS_MAX);
    let endless = cut || scenario.plan.horizon >= Duration::LONGEST_WRITTEN;
    let until = (!endless).then_some(SimTime::ZERO + scenario.plan.horizon);
    let mut title = wanted.title.clone().unwrap_or_else(|| scenario.about.clone());
    if cut {
        title = format!("{title} ({})", cut_off());
    }
    let usual = Options::default();
    let width = wanted.width.unwrap_or(usual.width);
    let options = Options { title, until, width, ..usual };
    let run_seed = bellwether_sim::RunSeed::new(scenario.seed, 0);
    let places = chosen.terrain.places(scenario.plan.nodes, run_seed, scenario.plan.horizon);
    let arrangement = Arrangement::of(scenario, scenario.seed, places);
    let drawn = match (wanted.view.as_deref().unwrap_or("all"), &arrangement) {
        ("time", _) | ("all", None) => return Ok(space_time(&records, &options)),
        ("all", Some(arrangement)) => plane_and_time(&records, arrangement, &options),
        ("ring", Some(ring @ Arrangement::Ring { .. })) => plane(&records, ring, &options),
        ("graph", Some(graph @ Arrangement::Graph(_))) => plane(&records, graph, &options),
        ("ring" | "graph", _) => {
            let protocol = &scenario.protocol;
            return Err(format!(
                "the processes of {protocol} stand on no such ring or network; ask for the view \
                 `time`"
            ));
        }
        (other, _) => {
            let views = "all, time, ring and graph";
            return Err(format!("there is no view '{other}'; there are {views}"));
        }
    };
    drawn.map_err(|bad| bad.to_string())
}
