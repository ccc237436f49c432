//! Draws the processes: who leads, follows, has stopped, or called an election.

use super::layout::Point;
use super::map::{Map, Presence, Process};
use crate::diagram::flights::cross;
use crate::diagram::svg::{N, Text, colour, put, shortened};
use bellwether_protocols::simulated::worth;

/// How processes are drawn.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) radius: f64,
    /// Whether there is room for ids and arrows.
    pub(super) labelled: bool,
    /// Whether to write each process's value, because it differs from the id.
    pub(super) values: bool,
}

/// Where processes are only dots, this many important ones still have ids and marks.
pub(super) const NAMED_MAX: usize = 12;

/// Draws all processes at these points.
pub(super) fn draw(map: &Map, at: &[Point], look: Look, out: &mut String) {
    out.push_str("<g text-anchor=\"middle\">\n");
    // Where processes are only dots, important ones are larger and drawn last so that nothing
    // covers them, unless too many are important.
    let few = |wanted: fn(&Process) -> bool| {
        !look.labelled && map.processes.iter().filter(|one| wanted(one)).count() <= NAMED_MAX
    };
    let (few_lead, few_called) = (few(|one| one.leads), few(|one| one.part.called));
    let matters = |one: &Process| (few_lead && one.leads) || (few_called && one.part.called);
    let (some, others): (Vec<_>, Vec<_>) =
        map.processes.iter().zip(at).partition(|(process, _)| matters(process));
    for (process, point) in others.into_iter().chain(some) {
        put!(out, "<g><title>{}</title>", Text(&tooltip(process, look)));
        let marked = look.labelled || few_called;
        if matters(process) {
            out.push_str(&body(process, *point, look.radius.max(4.0), marked));
            let (x, y, id) = (N(point[0]), N(point[1] - 9.0), process.id);
            put!(out, "<text class=\"p-halo\" x=\"{x}\" y=\"{y}\">{id}</text>");
        } else {
            out.push_str(&body(process, *point, look.radius, marked));
        }
        if look.labelled {
            words(process, *point, look, out);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

/// The class of a process's fill.
fn filling(process: &Process) -> String {
    match (process.presence, process.follows) {
        (Presence::Down | Presence::Absent, _) => "p-out".to_owned(),
        (Presence::There, Some(place)) if process.leads => format!("p-on l{}", colour(place)),
        (Presence::There, Some(place)) => format!("p-on f{}", colour(place)),
        (Presence::There, None) => "p-on und".to_owned(),
    }
}

/// The disc, with a rim if the process called an election and a cross if it crashed.
fn body(process: &Process, point: Point, radius: f64, marked: bool) -> String {
    let mut drawn = disc(&filling(process), point, radius);
    if process.leads {
        drawn.push_str(&disc("p-lead", point, radius));
    }
    if process.part.called && marked {
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

/// The mark of a process that called an election.
pub(super) fn rim(point: Point, radius: f64) -> String {
    disc("p-rim", point, radius + (radius * 0.25).clamp(1.2, 3.6))
}

/// The mark of a process that crashed.
pub(super) fn crossed([x, y]: Point, radius: f64) -> String {
    format!("<path class=\"p-cross\" d=\"{}\"/>", cross(x, y, radius * 0.95))
}

fn words(process: &Process, [x, y]: Point, look: Look, out: &mut String) {
    let (class, more) = match (process.leads, process.presence) {
        (true, _) => (" class=\"on\"", " on"),
        (false, Presence::There) => ("", ""),
        // The label must be legible over the cross.
        _ => (" class=\"dim p-halo\"", ""),
    };
    let id = shortened(&process.id.to_string(), 5);
    let value = process.part.claim.filter(|_| look.values).map(|weight| short(worth(weight)));
    let lift = if value.is_some() { 0.0 } else { 3.8 };
    put!(out, "<text{class} x=\"{}\" y=\"{}\">{id}</text>", N(x), N(y + lift));
    if let Some(value) = value {
        let (x, y) = (N(x), N(y + 8.5));
        put!(out, "<text class=\"p-tiny{more}\" x=\"{x}\" y=\"{y}\">{value}</text>");
    }
}

/// At most four characters and a unit: 7, 1234, 12.3k, 598M.
fn short(value: u64) -> String {
    let (mut rest, mut units) = (value as f64, "kMGTPE".chars());
    if value < 10_000 {
        return value.to_string();
    }
    let mut unit = ' ';
    while rest >= 999.5 {
        rest /= 1_000.0;
        unit = units.next().unwrap_or('?');
    }
    match rest {
        _ if rest < 9.995 => format!("{rest:.2}{unit}"),
        _ if rest < 99.95 => format!("{rest:.1}{unit}"),
        _ => format!("{rest:.0}{unit}"),
    }
}

fn tooltip(process: &Process, look: Look) -> String {
    let mut told = format!("{} {}", process.id, process.belief);
    if let Some(weight) = process.part.claim.filter(|_| look.values) {
        told.push_str(&format!("; its value is {}", worth(weight)));
    }
    if process.part.called {
        told.push_str("; called an election");
    }
    if let Some(parent) = process.part.parent {
        told.push_str(&format!("; its parent is {parent}"));
    }
    told
}
