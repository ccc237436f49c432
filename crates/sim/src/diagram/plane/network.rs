//! Draws the network: links, and the election tree on them.

use super::arrangement::{Graph, Pairs};
use super::layout::{Point, places};
use super::map::Map;
use super::people::{self, Look};
use super::sheet::Sheet;
use crate::diagram::svg::{N, SMALL_SIZE, Text, put, text_width};
use bellwether_core::SimTime;
use bellwether_protocols::simulated::worth;
use std::collections::BTreeMap;

/// With more processes than this, labels of reports are illegible.
const REPORTS_MAX: usize = 30;
/// The length of an arrow head.
const HEAD: f64 = 9.0;

/// Draws the network at this time at the top of the sheet.
pub(super) fn draw(map: &Map, graph: &Graph, until: SimTime, sheet: &mut Sheet) {
    let count = map.processes.len();
    let look = look(map);
    let apart = match count {
        _ if !look.labelled => 0.0,
        0..=REPORTS_MAX => 2.0 * look.radius + 26.0,
        _ => 2.0 * look.radius + 12.0,
    };
    let height = (110.0 * libm::sqrt(count as f64)).clamp(120.0, 720.0);
    let margin = look.radius + 26.0;
    let area = [margin, sheet.top + margin, sheet.width - margin, sheet.top + height + margin];
    let at = places(graph, until, area, apart);
    // A flat network needs only its own height.
    let low = at.iter().map(|point| point[1]).fold(f64::INFINITY, f64::min);
    let high = at.iter().map(|point| point[1]).fold(f64::NEG_INFINITY, f64::max);
    let up = if at.is_empty() { 0.0 } else { low - area[1] };
    let at: Vec<Point> = at.into_iter().map(|[x, y]| [x, y - up]).collect();
    sheet.take((high - low).max(0.0) + 2.0 * margin);
    sheet.labelled = look.labelled;
    let (there, gone) = graph.at(until);
    links(&there, "p-link", &at, sheet);
    if gone.len() <= count {
        links(&gone, "p-link p-past", &at, sheet);
        sheet.has_past = !gone.is_empty();
    } else {
        sheet.notes.push(format!("{} links that are gone are not drawn.", gone.len()));
    }
    sheet.has_links = !there.is_empty();
    tree(map, &at, look, &there, sheet);
    people::draw(map, &at, look, &mut sheet.body);
    if look.labelled && count <= REPORTS_MAX {
        reports(map, &at, look, sheet);
    }
}

fn look(map: &Map) -> Look {
    let count = map.processes.len();
    let worth = |process: &super::map::Process| {
        process.part.claim.is_some_and(|weight| worth(weight) != process.id.0)
    };
    let labelled = count <= super::LABELLED_MAX;
    let radius = match count {
        0..=REPORTS_MAX => 15.0,
        _ if labelled => 13.0,
        _ => (50.0 / libm::sqrt(count as f64)).clamp(1.6, 5.0),
    };
    Look { radius, labelled, values: map.processes.iter().any(worth) }
}

fn links(links: &Pairs, class: &str, at: &[Point], sheet: &mut Sheet) {
    let mut d = String::new();
    for &(a, b) in links.iter().take(sheet.marks_max) {
        let ([x, y], [to_x, to_y]) = (at[a as usize], at[b as usize]);
        put!(d, "M{} {}L{} {}", N(x), N(y), N(to_x), N(to_y));
    }
    if !d.is_empty() {
        put!(sheet.body, "<path class=\"{class}\" d=\"{d}\"/>\n");
    }
    if links.len() > sheet.marks_max {
        let (all, shown) = (links.len(), sheet.marks_max);
        sheet.notes.push(format!("Of {all} links the first {shown} are drawn."));
    }
}

/// The arrows from each process to its parent: both places, and their points.
fn branches(map: &Map, at: &[Point]) -> Vec<(usize, usize, [Point; 2])> {
    let numbers: BTreeMap<_, usize> =
        map.processes.iter().enumerate().map(|(number, process)| (process.id, number)).collect();
    let parent = |process: &super::map::Process| {
        process.part.parent.and_then(|parent| numbers.get(&parent).copied())
    };
    let branch = |(child, process)| {
        let parent = parent(process)?;
        Some((child, parent, [at[child], at[parent]]))
    };
    map.processes.iter().enumerate().filter_map(branch).collect()
}

fn tree(map: &Map, at: &[Point], look: Look, there: &Pairs, sheet: &mut Sheet) {
    for (child, parent, [from, to]) in branches(map, at) {
        let link = (child.min(parent) as u32, child.max(parent) as u32);
        let is_there = there.contains(&link);
        sheet.has_tree |= is_there;
        sheet.has_old_tree |= !is_there;
        let rim = if map.processes[parent].part.called { 3.6 } else { 0.0 };
        let (child, parent) = (map.processes[child].id, map.processes[parent].id);
        let title = format!("{child} took part because {parent} called it");
        let fine = if look.labelled { "" } else { " p-fine" };
        let old = if is_there { "" } else { " p-old" };
        put!(sheet.body, "<g class=\"p-tree{fine}{old}\"><title>{}</title>", Text(&title));
        if look.labelled {
            sheet.body.push_str(&arrow(from, to, look.radius + rim + 1.5));
        } else {
            let ([x, y], [to_x, to_y]) = (from, to);
            put!(sheet.body, "<path d=\"M{} {}L{} {}\"/>", N(x), N(y), N(to_x), N(to_y));
        }
        sheet.body.push_str("</g>\n");
    }
}

/// A thick arrow that ends at this distance before its target.
pub(super) fn arrow([x, y]: Point, [to_x, to_y]: Point, before: f64) -> String {
    let [dx, dy] = [to_x - x, to_y - y];
    let far = libm::sqrt(dx * dx + dy * dy).max(1e-6);
    let [ux, uy] = [dx / far, dy / far];
    let along = |back: f64, side: f64| {
        let [px, py] = [to_x - back * ux - side * uy, to_y - back * uy + side * ux];
        format!("{} {}", N(px), N(py))
    };
    format!(
        "<path d=\"M{} {}L{}\"/><path class=\"p-head\" d=\"M{}L{}L{}z\"/>",
        N(x),
        N(y),
        along(before + HEAD - 1.0, 0.0),
        along(before, 0.0),
        along(before + HEAD, 4.5),
        along(before + HEAD, -4.5)
    )
}

/// Labels each arrow with the process reported to the parent.
fn reports(map: &Map, at: &[Point], look: Look, sheet: &mut Sheet) {
    for (child, _, [[x, y], [to_x, to_y]]) in branches(map, at) {
        let process = &map.processes[child];
        let Some((weight, best)) = process.part.report else { continue };
        let [dx, dy] = [to_x - x, to_y - y];
        let far = libm::sqrt(dx * dx + dy * dy);
        // In the middle of the visible line, so that the arrow head is not covered.
        let share = ((far - HEAD) / 2.0 / far.max(1e-6)).max(0.0);
        if far < 2.0 * look.radius + HEAD + 12.0 {
            continue;
        }
        sheet.has_reports = true;
        let title = match look.values {
            true => format!("{} reports {best}, of value {}", process.id, worth(weight)),
            false => format!("{} reports {best}", process.id),
        };
        let (x, y) = (x + share * dx, y + share * dy);
        put!(
            sheet.body,
            "<g><title>{}</title>{}</g>\n",
            Text(&title),
            pill(x, y, &best.to_string())
        );
    }
}

/// A small label on a line.
pub(super) fn pill(x: f64, y: f64, text: &str) -> String {
    let width = text_width(text, SMALL_SIZE) + 7.0;
    format!(
        "<rect class=\"p-pill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" rx=\"3\"/>\
         <text class=\"p-value\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
        N(x - width / 2.0),
        N(y - 6.0),
        N(width),
        N(x),
        N(y + 3.1),
        Text(text)
    )
}
