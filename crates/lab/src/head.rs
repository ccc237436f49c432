//! The first line of a run: what a page must know before it is played.

use crate::what::Chosen;
use bellwether_check::Judged;
use bellwether_core::{Duration, NodeId};
use bellwether_sim::diagram::Arrangement;
use bellwether_sim::{Caption, Fault, RunSeed, Terrain, Timed};
use serde_json::{Value, json};
use std::f64::consts::TAU;

/// The radius of the circle that processes stand on, in a square of side 1.
const RADIUS: f64 = 0.42;
/// At how many moments it is said where radios are that move.
const MOMENTS: u64 = 240;

/// Where processes stand.
struct Stand {
    layout: &'static str,
    order: Vec<u32>,
    both_ways: bool,
    links: Vec<(u32, u32)>,
    places: Vec<[f64; 2]>,
    paths: Vec<Value>,
}

/// A caption, its time in nanoseconds.
pub(crate) fn caption(caption: &Caption) -> Value {
    json!({ "at": caption.at.as_nanos(), "text": caption.text })
}

/// The first line of a run, which the judge has seen.
pub(crate) fn of(chosen: &Chosen, judged: Option<&Judged>) -> Value {
    let scenario = &chosen.scenario;
    let (plan, choice) = (&scenario.plan, &scenario.choice);
    let stand = stand(chosen);
    let leases = choice.profile().leases.is_some();
    let scales = choice.time_scales(plan.nodes);
    let endless = plan.horizon >= Duration::LONGEST_WRITTEN;
    let promise = scenario.promise.unwrap_or_else(|| choice.promise_to(plan.nodes));
    json!({
        "lab": "head",
        "protocol": scenario.protocol,
        "about": scenario.about,
        "promise": promise.to_string(),
        "nodes": plan.nodes,
        "ids": (0..plan.nodes).collect::<Vec<_>>(),
        "absent": plan.absent,
        "seed": scenario.seed,
        "until": (!endless).then(|| plan.horizon.as_nanos()),
        "leases": leases,
        "layout": stand.layout,
        "order": stand.order,
        "both_ways": stand.both_ways,
        "links": stand.links,
        "changes": plan.faults.iter().filter_map(change).collect::<Vec<_>>(),
        "places": stand.places,
        "paths": stand.paths,
        "scales": {
            "delay": plan.network.longest().as_nanos(),
            "lease": leases.then(|| scales.lease.as_nanos()),
        },
        "faults": faults(chosen),
        "captions": scenario.captions.iter().map(caption).collect::<Vec<_>>(),
        "outcome": scenario.outcome,
        "invariants": judged.map(|judged| judged.invariants.clone()).unwrap_or_default(),
        "command": chosen.command(),
        "file": chosen.file(),
        "toml": chosen.toml,
        "scenario": chosen.to_json(),
    })
}

/// A link that comes or goes.
fn change(timed: &Timed) -> Option<Value> {
    match timed.fault {
        Fault::Link { ends, up } => {
            Some(json!({ "at": timed.at.as_nanos(), "ends": ends, "up": up }))
        }
        _ => None,
    }
}

/// The faults as a file has them, their times in nanoseconds.
fn faults(chosen: &Chosen) -> Vec<Value> {
    let Some(Value::Array(mut faults)) = chosen.to_json().get("faults").cloned() else {
        return Vec::new();
    };
    for (fault, timed) in faults.iter_mut().zip(&chosen.scenario.plan.faults) {
        fault["at"] = json!(timed.at.as_nanos());
    }
    faults
}

/// Places on a circle, clockwise from the top, in this order; by process.
pub(crate) fn circle(order: &[u32]) -> Vec<[f64; 2]> {
    let mut places = vec![[0.5, 0.5]; order.len()];
    for (index, node) in order.iter().enumerate() {
        let angle = TAU * index as f64 / order.len().max(1) as f64;
        if let Some(place) = places.get_mut(*node as usize) {
            *place = [0.5 + RADIUS * libm::sin(angle), 0.5 - RADIUS * libm::cos(angle)];
        }
    }
    places
}

fn stand(chosen: &Chosen) -> Stand {
    let scenario = &chosen.scenario;
    let (nodes, run_seed) = (scenario.plan.nodes, RunSeed::new(scenario.seed, 0));
    let usual: Vec<u32> = (0..nodes).collect();
    let flat = |layout, order: Vec<u32>, both_ways| Stand {
        layout,
        places: circle(&order),
        order,
        both_ways,
        links: Vec::new(),
        paths: Vec::new(),
    };
    let places = chosen.terrain.places(nodes, run_seed, Duration::ZERO);
    match Arrangement::of(scenario, scenario.seed, places.clone()) {
        None => flat("circle", usual, true),
        Some(Arrangement::Ring { order, both_ways }) => flat("ring", order, both_ways),
        Some(Arrangement::Graph(graph)) => {
            let plane = matches!(chosen.terrain, Terrain::Disc { .. } | Terrain::Moving(_));
            let (points, paths) = match (&chosen.terrain, places) {
                (Terrain::Moving(_), Some(places)) => (places, paths(chosen, run_seed)),
                _ => (graph.points(), Vec::new()),
            };
            Stand {
                layout: if plane { "plane" } else { "graph" },
                order: usual,
                both_ways: true,
                links: graph.links,
                places: points,
                paths,
            }
        }
    }
}

/// Where radios are that move, at moments of the run.
fn paths(chosen: &Chosen, run_seed: RunSeed) -> Vec<Value> {
    let Terrain::Moving(motion) = &chosen.terrain else { return Vec::new() };
    let nodes = chosen.scenario.plan.nodes;
    let Ok(journey) = motion.draw(nodes, run_seed) else { return Vec::new() };
    let lasts = chosen.scenario.plan.horizon.min(motion.lasts).as_nanos();
    let moments = (0..=MOMENTS).map(|moment| {
        let at = (u128::from(lasts) * u128::from(moment) / u128::from(MOMENTS)) as u64;
        let place = |node| journey.place(node, Duration::from_nanos(at)).unwrap_or_default();
        let places = (0..nodes).map(|node| place(node).map(|way| way / motion.side));
        json!({ "at": at, "places": places.collect::<Vec<_>>() })
    });
    moments.collect()
}

/// The ids of processes, as numbers.
pub(crate) fn ids<'a>(nodes: impl IntoIterator<Item = &'a NodeId>) -> Vec<u64> {
    nodes.into_iter().map(|node| node.0).collect()
}
