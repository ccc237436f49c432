//! The processes: who leads, who follows whom, who is gone, who called.

use super::layout::Point;
use super::map::{Map, Presence, Process};
use crate::diagram::flights::cross;
use crate::diagram::svg::{N, Text, colour, put, shortened};
use bellwether_protocols::ad_hoc::VALUE_MAX;

/// How processes are drawn.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) radius: f64,
    /// Whether there is room for ids and arrows.
    pub(super) labelled: bool,
    /// Whether to write what each is worth, because that is not its id.
    pub(super) values: bool,
}

/// What the claim of a process is worth: the greatest that has not retired leads.
pub(super) fn value(weight: u64) -> u64 {
    weight & VALUE_MAX
}

/// Draws them all, at these places.
pub(super) fn draw(map: &Map, at: &[Point], look: Look, out: &mut String) {
    out.push_str("<g text-anchor=\"middle\">\n");
    for (process, point) in map.processes.iter().zip(at) {
        put!(out, "<g><title>{}</title>", Text(&told(process, look)));
        out.push_str(&body(process, *point, look.radius));
        if look.labelled {
            words(process, *point, look, out);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

/// The class of its filling.
fn filling(process: &Process) -> String {
    match (process.presence, process.follows) {
        (Presence::Down | Presence::Absent, _) => "p-out".to_owned(),
        (Presence::There, Some(place)) if process.leads => format!("p-on l{}", colour(place)),
        (Presence::There, Some(place)) => format!("p-on f{}", colour(place)),
        (Presence::There, None) => "p-on und".to_owned(),
    }
}

/// The process itself, with a rim if it called an election and a cross if it crashed.
fn body(process: &Process, point: Point, radius: f64) -> String {
    let mut drawn = disc(&filling(process), point, radius);
    if process.leads {
        drawn.push_str(&disc("p-lead", point, radius));
    }
    if process.part.called {
        drawn.push_str(&rim(point, radius));
    }
    if process.presence == Presence::Down {
        drawn.push_str(&crossed(point, radius));
    }
    drawn
}

pub(super) fn disc(class: &str, [x, y]: Point, radius: f64) -> String {
    format!("<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", N(x), N(y), N(radius))
}

/// The mark of one who called.
pub(super) fn rim(point: Point, radius: f64) -> String {
    disc("p-rim", point, radius + (radius * 0.25).clamp(1.2, 3.6))
}

/// The mark of one who crashed.
pub(super) fn crossed([x, y]: Point, radius: f64) -> String {
    format!("<path class=\"p-cross\" d=\"{}\"/>", cross(x, y, radius * 0.95))
}

fn words(process: &Process, [x, y]: Point, look: Look, out: &mut String) {
    let class = if process.leads { " class=\"on\"" } else { "" };
    let id = shortened(&process.id.to_string(), 5);
    let value = process.part.claim.filter(|_| look.values).map(value).map(|v| v.to_string());
    let inside = value.as_ref().is_some_and(|value| value.len() <= 3);
    let lift = if inside { 0.0 } else { 3.8 };
    put!(out, "<text{class} x=\"{}\" y=\"{}\">{id}</text>", N(x), N(y + lift));
    if let Some(value) = value {
        let (class, below) = match (inside, process.leads) {
            (true, true) => ("p-value on", 9.0),
            (true, false) => ("p-value", 9.0),
            (false, _) => ("p-value p-halo", look.radius + 11.0),
        };
        put!(out, "<text class=\"{class}\" x=\"{}\" y=\"{}\">{value}</text>", N(x), N(y + below));
    }
}

fn told(process: &Process, look: Look) -> String {
    let mut told = format!("{} {}", process.id, process.belief);
    if let Some(weight) = process.part.claim.filter(|_| look.values) {
        told.push_str(&format!("; its value is {}", value(weight)));
    }
    if process.part.called {
        told.push_str("; called an election");
    }
    if let Some(parent) = process.part.parent {
        told.push_str(&format!("; its parent is {parent}"));
    }
    told
}
