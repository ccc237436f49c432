//! The legend: the meaning of the colours and signs that occur.

use super::flights::{self, cross, sending};
use super::holds;
use super::kinds::Look;
use super::lanes;
use super::layout::Layout;
use super::story::{Hold, Phase, Sign, Story};
use super::svg::{COLOURS, LABEL_SIZE, N, Text, colour, put, shortened, text_width};
use bellwether_core::Stage;
use std::collections::BTreeSet;

pub(super) const SAMPLE_WIDTH: f64 = 24.0;
const ROW: f64 = 20.0;

/// One sample and its meaning.
pub(super) struct Item<S> {
    pub(super) sample: S,
    pub(super) means: String,
}

enum Sample {
    /// Strong where it leads, light where it is followed.
    Leader(usize),
    Band(&'static str),
    /// With the class of its fill.
    Hold(String),
    Work,
    Paused,
    Down,
    Kind(Option<Look>),
    Lost,
    Sign(Sign),
    Nothing,
}

/// Draws the legend under the axis, in as many rows as needed; returns its lower end.
pub(super) fn draw(story: &Story, layout: &Layout, out: &mut String) -> f64 {
    let wide = |sample: &Sample| !matches!(sample, Sample::Nothing);
    let edges = [layout.left, layout.right];
    flow(&items(story), edges, layout.foot() + 42.0, wide, draw_sample, out)
}

/// Writes samples and meanings in rows between two edges, starting on this line; returns the lower
/// end.
pub(super) fn flow<S>(
    items: &[Item<S>],
    [left, right]: [f64; 2],
    line: f64,
    wide: impl Fn(&S) -> bool,
    drawn: impl Fn(&S, f64, f64) -> String,
    out: &mut String,
) -> f64 {
    let (mut x, mut y) = (left, line);
    for Item { sample, means } in items {
        let means = shortened(means, 32);
        let sample_width = if wide(sample) { SAMPLE_WIDTH + 6.0 } else { 0.0 };
        let width = sample_width + text_width(&means, LABEL_SIZE) + 20.0;
        if x > left && x + width > right + 20.0 {
            (x, y) = (left, y + ROW);
        }
        if sample_width > 0.0 {
            put!(out, "{}\n", drawn(sample, x, y - 4.0));
        }
        put!(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", N(x + sample_width), N(y), Text(&means));
        x += width;
    }
    y + ROW
}

fn items(story: &Story) -> Vec<Item<Sample>> {
    let mut items = Vec::new();
    let mut add = |sample, means: &str| items.push(Item { sample, means: means.to_owned() });
    let mut leaders: Vec<_> = story.leaders.iter().collect();
    leaders.sort_by_key(|&(_, place)| place);
    if !leaders.is_empty() {
        add(Sample::Nothing, "leads, is followed:");
    }
    for (id, place) in leaders.iter().take(COLOURS) {
        add(Sample::Leader(**place), &id.to_string());
    }
    if leaders.len() > COLOURS {
        add(Sample::Leader(COLOURS), "others");
    }
    let stages: BTreeSet<Stage> =
        story.lanes.iter().flat_map(|lane| &lane.beliefs).map(|span| span.what.stage).collect();
    for (stage, class, means) in [
        (Stage::Undecided, "und", "undecided"),
        (Stage::Suppressed, "sup", "suppressed"),
        (Stage::Aborted, "abo", "gave up"),
    ] {
        if stages.contains(&stage) {
            add(Sample::Band(class), means);
        }
    }
    let holds: Vec<Hold> =
        story.lanes.iter().flat_map(|lane| &lane.holds).map(|span| span.what).collect();
    if let Some(hold) = holds.iter().find(|hold| **hold != Hold::Nobody) {
        add(Sample::Hold(holds::look(story, *hold)), "locked to who has this colour");
    }
    if holds.contains(&Hold::Nobody) {
        add(Sample::Hold(holds::look(story, Hold::Nobody)), "bound to nobody");
    }
    if story.lanes.iter().any(|lane| !lane.works.is_empty()) {
        add(Sample::Work, "its command runs");
    }
    for (kind, look) in story.kinds.iter().zip(&story.looks) {
        add(Sample::Kind(Some(*look)), kind);
    }
    let quiet = story.messages.iter().filter(|message| message.kind.is_none());
    let quiet: BTreeSet<&str> = quiet.map(|message| story.kind(message)).collect();
    for name in quiet {
        add(Sample::Kind(None), name);
    }
    if story.messages.iter().any(|message| !message.lost.is_empty()) {
        add(Sample::Lost, "lost");
    }
    let has =
        |phase| story.lanes.iter().any(|lane| lane.phases.iter().any(|span| span.what == phase));
    for (phase, sample, means) in
        [(Phase::Paused, Sample::Paused, "stands still"), (Phase::Down, Sample::Down, "down")]
    {
        if has(phase) {
            add(sample, means);
        }
    }
    let signs: BTreeSet<Sign> = story.marks.iter().map(|mark| mark.sign).collect();
    for sign in signs {
        add(Sample::Sign(sign), lanes::name(sign));
    }
    items
}

fn draw_sample(sample: &Sample, x: f64, y: f64) -> String {
    let middle = x + SAMPLE_WIDTH / 2.0;
    let rect = |class: &str, x: f64, width: f64| {
        format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\"/>",
            N(x),
            N(y - 5.0),
            N(width)
        )
    };
    match sample {
        Sample::Leader(place) => {
            let (class, half) = (colour(*place), SAMPLE_WIDTH / 2.0);
            let strong = rect(&format!("l{class}"), x, half);
            strong + &rect(&format!("f{class}"), middle, half)
        }
        Sample::Band(class) => rect(class, x, SAMPLE_WIDTH),
        Sample::Hold(class) => rect(&format!("hold {class}"), x, SAMPLE_WIDTH),
        Sample::Work => {
            format!("<path {} d=\"M{} {}h{SAMPLE_WIDTH}\"/>", lanes::WORK, N(x), N(y))
        }
        Sample::Paused => rect("still", x, SAMPLE_WIDTH),
        Sample::Down => format!("<path class=\"down\" d=\"M{} {}h{SAMPLE_WIDTH}\"/>", N(x), N(y)),
        Sample::Kind(kind) => format!(
            "<g class=\"m {}\"><path d=\"M{} {}h18\"/><path class=\"e\" d=\"M{} {}h0\"/>{}</g>",
            flights::class(*kind),
            N(x + 3.0),
            N(y),
            N(x + 21.0),
            N(y),
            sending(*kind, x + 3.0, y, true)
        ),
        Sample::Lost => format!(
            "<g class=\"m k0\"><path class=\"x\" d=\"M{} {}h14\"/><path class=\"c\" d=\"{}\"/></g>",
            N(x + 3.0),
            N(y),
            cross(x + 17.0, y, 2.0)
        ),
        Sample::Sign(sign) => {
            let shift = match sign {
                Sign::Command => 7.0,
                Sign::Gained => 5.0,
                Sign::Lost => -5.0,
                _ => 0.0,
            };
            lanes::sign(*sign, middle, y + shift, 4.0)
        }
        Sample::Nothing => String::new(),
    }
}
