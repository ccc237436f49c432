//! The legend: the meaning of the colours, lines and marks that occur.

use super::layout::Point;
use super::map::{Map, Presence};
use super::network::{arrow, pill};
use super::people::{NAMED_MAX, crossed, disc, rim};
use super::sheet::Sheet;
use crate::diagram::legend::{Item, SAMPLE_WIDTH, flow};
use crate::diagram::story::Story;
use crate::diagram::svg::{COLOURS, N, colour};
use std::collections::BTreeSet;

enum Sample {
    Nothing,
    /// Strong where it leads, light where it is followed.
    Leader(usize),
    Disc(&'static str),
    Caller,
    Down,
    Kind(usize),
    Link(&'static str),
    /// With the class of its line.
    Tree(&'static str),
    Report,
}

/// Draws the legend at the bottom; returns its lower end.
pub(super) fn draw(map: &Map, story: &Story, is_ring: bool, sheet: &mut Sheet) {
    let mut items = people(map, story, sheet.labelled);
    items.extend(if is_ring { messages(map, story, sheet) } else { lines(sheet) });
    let edges = [24.0, sheet.width - 22.0];
    let wide = |sample: &Sample| !matches!(sample, Sample::Nothing);
    sheet.top = flow(&items, edges, sheet.top + 16.0, wide, draw_sample, &mut sheet.body);
}

fn people(map: &Map, story: &Story, labelled: bool) -> Vec<Item<Sample>> {
    let mut items = Vec::new();
    let mut add = |sample, means: &str| items.push(Item { sample, means: means.to_owned() });
    let followed: BTreeSet<usize> =
        map.processes.iter().filter_map(|process| process.follows).collect();
    if !followed.is_empty() {
        add(Sample::Nothing, "leads, is followed:");
    }
    for (id, place) in &story.leaders {
        if followed.contains(place) && *place < COLOURS {
            add(Sample::Leader(*place), &id.to_string());
        }
    }
    if followed.iter().any(|place| *place >= COLOURS) {
        add(Sample::Leader(COLOURS), "others");
    }
    let is = |presence| map.processes.iter().any(|process| process.presence == presence);
    let without = |process: &super::map::Process| {
        process.presence == Presence::There && process.follows.is_none()
    };
    if map.processes.iter().any(without) {
        add(Sample::Disc("p-on und"), "follows nobody");
    }
    if is(Presence::Down) {
        add(Sample::Down, "down");
    }
    if is(Presence::Absent) {
        add(Sample::Disc("p-out"), "not there");
    }
    let callers = map.processes.iter().filter(|process| process.part.called).count();
    if callers > 0 && (labelled || callers <= NAMED_MAX) {
        add(Sample::Caller, "called an election");
    }
    items
}

fn messages(map: &Map, story: &Story, sheet: &Sheet) -> Vec<Item<Sample>> {
    let drawn: BTreeSet<usize> = map.hops.iter().map(|hop| hop.kind).collect();
    let mut items = Vec::new();
    for kind in drawn.iter().copied() {
        let sample = Sample::Kind(story.looks[kind].colour);
        items.push(Item { sample, means: story.kinds[kind].clone() });
    }
    if !drawn.is_empty() {
        let means = if sheet.labelled { "(on each way: how many)" } else { "(bars: how many)" };
        items.push(Item { sample: Sample::Nothing, means: means.to_owned() });
    }
    items
}

fn lines(sheet: &Sheet) -> Vec<Item<Sample>> {
    let all = [
        (sheet.has_links, Sample::Link("p-link"), "link"),
        (sheet.has_past, Sample::Link("p-link p-past"), "link that is gone"),
        (sheet.has_tree, Sample::Tree("p-tree"), "to the parent in the tree"),
        (sheet.has_old_tree, Sample::Tree("p-tree p-old"), "as it was, the link is gone"),
        (sheet.has_reports, Sample::Report, "reported as the best"),
    ];
    let occurs = all.into_iter().filter(|(occurs, ..)| *occurs);
    occurs.map(|(_, sample, means)| Item { sample, means: means.to_owned() }).collect()
}

fn draw_sample(sample: &Sample, x: f64, y: f64) -> String {
    let middle: Point = [x + SAMPLE_WIDTH / 2.0, y];
    let line =
        |class: &str| format!("<path class=\"{class}\" d=\"M{} {}h{SAMPLE_WIDTH}\"/>", N(x), N(y));
    match sample {
        Sample::Nothing => String::new(),
        Sample::Leader(place) => {
            let class = colour(*place);
            let strong = disc(&format!("p-on l{class}"), [x + 6.0, y], 5.5);
            let lead = disc("p-lead", [x + 6.0, y], 5.5);
            strong + &lead + &disc(&format!("p-on f{class}"), [x + 18.5, y], 5.5)
        }
        Sample::Disc(class) => disc(class, middle, 5.5),
        Sample::Caller => disc("p-on hollow", middle, 4.5) + &rim(middle, 4.5),
        Sample::Down => disc("p-out", middle, 5.5) + &crossed(middle, 5.5),
        Sample::Kind(kind) => {
            let (x, y) = (N(x), N(y));
            format!(
                "<g class=\"p-hop k{kind} p-w{kind}\"><path class=\"p-way\" d=\"M{x} {y}h23\"/>\
                 <path d=\"M{x} {y}m18 -3l5 3l-5 3\"/></g>"
            )
        }
        Sample::Link(class) => line(class),
        Sample::Tree(class) => {
            format!("<g class=\"{class}\">{}</g>", arrow([x, y], [x + SAMPLE_WIDTH, y], 0.0))
        }
        Sample::Report => pill(middle[0], middle[1], "9"),
    }
}
