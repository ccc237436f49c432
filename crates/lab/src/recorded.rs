//! What live members recorded: played like a simulated run, and judged.
//!
//! **Assumptions.** The bytes are the traces of members, one after the other, with line breaks
//! between them, and perhaps what their guardians and whoever caused faults recorded.

use crate::head::circle;
use crate::reply;
use crate::routes::{Shared, body};
use crate::stage::NODES_MAX;
use crate::work::Lines;
use axum::extract::{Request, State};
use axum::response::Response;
use bellwether_check::live::{Judgement, Outcome, Ruling, Trace, judge_until, merged};
use bellwether_core::{Event, NodeId, Record, SimTime};
use bellwether_sim::ending::Ending;
use bellwether_sim::trace;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The most bytes.
pub(crate) const BYTES_MAX: usize = 64 << 20;
/// The most processes that recorded something.
const MEMBERS_MAX: usize = NODES_MAX as usize;

/// Who recorded a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Member(NodeId),
    Guardian(NodeId),
    Faults,
}

fn source(record: &Record) -> Source {
    match record.event {
        Event::Guardian(_) | Event::Work { .. } => Source::Guardian(record.node),
        // No member records its own death, or what is done to the network.
        Event::Crash | Event::Pause | Event::Resume | Event::Cut { .. } | Event::Heal => {
            Source::Faults
        }
        _ => Source::Member(record.node),
    }
}

/// The traces of members and guardians, and the faults if there are any.
fn split(whole: Trace) -> (Vec<Trace>, Option<Trace>) {
    let mut parts: BTreeMap<Source, Trace> = BTreeMap::new();
    for line in whole.lines {
        let from = source(&line.record);
        let name = || match from {
            Source::Member(id) => format!("member {id}"),
            Source::Guardian(id) => format!("guardian of {id}"),
            Source::Faults => "faults".to_owned(),
        };
        let part = parts.entry(from);
        let empty = || Trace { name: name(), lines: Vec::new(), torn: 0 };
        part.or_insert_with(empty).lines.push(line);
    }
    let faults = parts.remove(&Source::Faults);
    (parts.into_values().collect(), faults)
}

/// What the judge says, under the keys of `check --trace --format json`.
fn verdict(judgement: &Judgement) -> Value {
    let word = |outcome: &Outcome| match outcome {
        Outcome::Holds => "holds",
        Outcome::Violated { .. } => "violated",
        Outcome::Undecidable(_) => "undecidable",
    };
    let note = |outcome: &Outcome| match outcome {
        Outcome::Holds => String::new(),
        Outcome::Violated { place, .. } => place.clone(),
        Outcome::Undecidable(why) => why.to_string(),
    };
    let invariants: Map<String, Value> = judgement
        .rulings
        .iter()
        .map(|Ruling { invariant, looks, outcome }| {
            let said = json!({ "verdict": word(outcome), "looks": looks, "note": note(outcome) });
            ((*invariant).to_owned(), said)
        })
        .collect();
    let violation = |ruling: &Ruling| match &ruling.outcome {
        Outcome::Violated { at, text, place } => Some(json!({
            "invariant": ruling.invariant, "at": at, "place": place, "seen": text,
        })),
        _ => None,
    };
    let any = |wanted| judgement.rulings.iter().any(|ruling| word(&ruling.outcome) == wanted);
    let whole = match (any("violated"), any("holds")) {
        (true, _) => "violated",
        (false, true) => "holds",
        (false, false) => "undecidable",
    };
    let reigns = judgement.reigns.as_ref().map(|reigns| {
        let reign = |reign: &bellwether_check::live::Reign| {
            json!({ "leader": reign.leader, "from": reign.from, "to": reign.to })
        };
        reigns.past.iter().map(reign).collect::<Vec<_>>()
    });
    json!({
        "lab": "verdict",
        "group": judgement.group,
        "protocol": judgement.protocol,
        "promise": judgement.promise.to_string(),
        "verdict": whole,
        "invariants": invariants,
        "violations": judgement.rulings.iter().filter_map(violation).collect::<Vec<_>>(),
        "reigns": reigns,
        "notes": judgement.notes,
    })
}

/// The first line: as that of a simulated run.
fn head(judgement: &Judgement, records: &[Record]) -> Value {
    let recorded: BTreeSet<u64> = records.iter().map(|record| record.node.0).collect();
    let ids: Vec<u64> = judgement.members.iter().map(|id| id.0).chain(recorded).collect();
    let ids: BTreeSet<u64> = ids.into_iter().collect();
    let order: Vec<u32> = (0..ids.len() as u32).collect();
    let last = records.last().map_or(SimTime::ZERO, |record| record.t);
    json!({
        "lab": "head",
        "recorded": true,
        "protocol": judgement.protocol,
        "about": format!("{} in group {}, as recorded", judgement.protocol, judgement.group),
        "promise": judgement.promise.to_string(),
        "nodes": ids.len(),
        "ids": ids,
        "absent": [],
        "until": last,
        "layout": "circle",
        "order": order,
        "both_ways": true,
        "links": [],
        "changes": [],
        "places": circle(&order),
        "paths": [],
        "faults": [],
        "captions": [],
        "outcome": null,
        "invariants": judgement.rulings.iter().map(|it| it.invariant).collect::<Vec<_>>(),
    })
}

/// What was recorded, in the order of time, and what the judge says of it, unless it is told to
/// give up.
pub(crate) fn read(
    bytes: &[u8],
    over: &dyn Fn() -> bool,
) -> Result<(Judgement, Vec<Record>), String> {
    let whole = Trace::parse("the trace", bytes).map_err(|bad| bad.to_string())?;
    if whole.lines.is_empty() {
        return Err("the trace has no records; send the lines that members recorded".to_owned());
    }
    let nodes: BTreeSet<NodeId> = whole.lines.iter().map(|line| line.record.node).collect();
    if nodes.len() > MEMBERS_MAX {
        return Err(format!(
            "{} processes recorded this, but the stage has room for {MEMBERS_MAX}; send the \
             records of fewer, or judge them with `check --trace`",
            nodes.len()
        ));
    }
    let (traces, faults) = split(whole);
    if over() {
        return Err("nobody waits for it any more".to_owned());
    }
    let judgement = judge_until(&traces, faults.as_ref(), None, over);
    let judgement = judgement.map_err(|bad| bad.to_string())?;
    let records = merged(traces.iter().chain(&faults));
    Ok((judgement, records))
}

fn play(bytes: &[u8], lines: &mut Lines) -> Result<(), String> {
    let (judgement, records) = read(bytes, &lines.watch())?;
    if lines.is_over() {
        return Ok(());
    }
    lines.say(&head(&judgement, &records));
    let mut text = String::new();
    for record in &records {
        text.clear();
        trace::to_json_lines(std::slice::from_ref(record), &mut text);
        lines.put(&text);
        if lines.is_over() {
            return Ok(());
        }
    }
    lines.say(&verdict(&judgement));
    let last = records.last().map_or(SimTime::ZERO, |record| record.t);
    let ending = Ending::of(&records, last);
    lines.say(&json!({
        "lab": "end",
        "t": last,
        "records": records.len(),
        "sent": ending.sent,
        "received": ending.received,
        "lost": ending.lost,
        "leaders": crate::head::ids(&ending.leaders),
        "most_leaders": ending.most_leaders,
        "complete": true,
    }));
    Ok(())
}

/// Plays and judges what was recorded.
pub(crate) async fn judge(State(app): Shared, request: Request) -> Response {
    // First the slot: only as many bodies are held as are worked on.
    let slot = match app.traces.enter().await {
        Ok(slot) => slot,
        Err(refused) => return refused,
    };
    match body(request, BYTES_MAX).await {
        Ok(bytes) if bytes.trim_ascii().is_empty() => {
            reply::refused("the body has no records; send the lines that members recorded")
        }
        Ok(bytes) => app.traces.stream_in(slot, move |lines| play(&bytes, lines)),
        Err(refused) => refused,
    }
}
