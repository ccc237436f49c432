//! One run as a picture: a space-time diagram in SVG.
//!
//! **How to read it.** Time runs from left to right; every process has a lane. A band shows what
//! the process believes: strong while it leads, light in its leader's colour while it follows, grey
//! while it is undecided or quiet. A band of a lease ends when the lease does. A thin bar under a
//! band shows a lock, in the colour of the process it is for. A shape on a lane is a sending, a
//! thin line goes to its reception, and a dashed stub with a cross is a loss. Hovering over
//! anything shows details.
//!
//! **What it promises.** The picture is a function of records and options alone, is self-contained,
//! has a bounded size, and is well-formed whatever texts the records hold. If it leaves something
//! out to stay readable, it says so at the bottom.
//!
//! | part | holds |
//! |---|---|
//! | `story` | the records, sorted into lanes, spans and messages |
//! | `track` | one process while its records are read |
//! | `layout` | positions |
//! | `kinds` | colours and shapes of messages |
//! | `lanes`, `holds`, `flights`, `legend`, `axis` | one layer of the drawing each |
//! | [`markup`] | numbers and escaped characters, for other pictures too |
//! | `svg` | escaped text, colours |
//! | `plane` | another picture: the ring, or the network with the election tree |

mod axis;
mod flights;
mod holds;
mod kinds;
mod lanes;
mod layout;
mod legend;
pub mod markup;
mod plane;
pub mod steps;
mod story;
mod svg;
#[cfg(test)]
mod tests;
mod track;
mod views;

pub use kinds::known_kinds;
pub use plane::{Arrangement, Graph, TooMany, plane, plane_and_time};

use crate::trace::believes;
use bellwether_core::{NodeId, Record, SimTime};
use layout::Layout;
use std::collections::BTreeMap;
use story::{LANES_MAX, Story, in_order};
use svg::{LABEL_SIZE, N, STYLE, STYLE_OF_LEASES, Text, put, text_width};

/// What the picture shows, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The title above the picture; none if empty.
    pub title: String,
    /// The width in pixels, from 320 to 4096. The height follows from the number of processes.
    pub width: u32,
    /// The end of the picture; the last record if absent.
    pub until: Option<SimTime>,
    /// The most marks for messages. Beyond that only every second, third, … message is drawn, with
    /// all its receptions and losses.
    pub max_marks: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { title: String::new(), width: 960, until: None, max_marks: 20_000 }
    }
}

impl Options {
    fn page_width(&self) -> f64 {
        f64::from(self.width.clamp(320, 4096))
    }
}

/// Draws the run as a space-time diagram.
pub fn space_time(records: &[Record], options: &Options) -> String {
    over_time(records, options, &[]).svg()
}

fn over_time(records: &[Record], options: &Options, order: &[NodeId]) -> Drawing {
    let story = Story::of(&in_order(records, options.until), options.until, LANES_MAX, order);
    let layout = Layout::new(&story, options);
    let summary = summary(&story);
    let mut notes = Vec::new();
    let mut body = String::new();
    header(options, layout.width, &summary, &mut body);
    axis(&layout, &story, &mut body);
    lanes::bands(&story, &layout, options.max_marks, &mut body, &mut notes);
    flights::draw(&story, &layout, options.max_marks, &mut body, &mut notes);
    lanes::words(&story, &layout, &mut body);
    lanes::signs(&story, &layout, options.max_marks, &mut body, &mut notes);
    if story.left_out > 0 {
        let (all, shown) = (story.left_out + story.lanes.len(), story.lanes.len());
        notes.push(format!("Of {all} processes the {shown} with the greatest ids are shown."));
    }
    let mut bottom = legend::draw(&story, &layout, &mut body);
    for note in &notes {
        put!(body, "<text class=\"dim\" x=\"16\" y=\"{}\">{}</text>\n", N(bottom), Text(note));
        bottom += 18.0;
    }
    let title = if options.title.is_empty() { "Space-time diagram" } else { &options.title };
    Drawing {
        width: layout.width,
        height: bottom,
        title: title.to_owned(),
        description: vec![summary, describe(&story)],
        more_style: if story.has_leases() { STYLE_OF_LEASES } else { "" }.to_owned(),
        body,
    }
}

/// A picture without its frame.
struct Drawing {
    width: f64,
    height: f64,
    title: String,
    /// A description in sentences, for readers who cannot see the picture.
    description: Vec<String>,
    /// Additional style, besides that of all pictures.
    more_style: String,
    body: String,
}

impl Drawing {
    /// Puts another picture under this one.
    fn over(self, below: Self) -> Self {
        let body = format!(
            "{}<g transform=\"translate(0 {})\">\n{}</g>\n",
            self.body,
            N(self.height),
            below.body
        );
        Self {
            width: self.width.max(below.width),
            height: self.height + below.height,
            title: self.title,
            description: self.description.into_iter().chain(below.description).collect(),
            more_style: self.more_style + &below.more_style,
            body,
        }
    }

    fn svg(&self) -> String {
        let (width, height) = (N(self.width), N(self.height));
        let Self { more_style, body, .. } = self;
        let sentences = self.description.iter().map(|sentence| Text(sentence).to_string());
        let description: Vec<String> = sentences.collect();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bw\" role=\"img\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}{more_style}</style>\n\
             <defs><pattern id=\"bw-hatch\" width=\"6\" height=\"6\" \
             patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <path class=\"hatch\" d=\"M1 0v6\" stroke-width=\"1.6\"/>\
             </pattern></defs>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n",
            Text(&self.title),
            description.join(". "),
        )
    }
}

fn header(options: &Options, width: f64, summary: &str, out: &mut String) {
    let mut baseline = 26.0;
    if !options.title.is_empty() {
        let title = svg::shortened(&options.title, (width / 9.0) as usize);
        put!(out, "<text class=\"h\" x=\"16\" y=\"{}\">{}</text>\n", N(baseline), Text(&title));
        baseline += 18.0;
    }
    put!(out, "<text class=\"dim\" x=\"16\" y=\"{}\">{}</text>\n", N(baseline), Text(summary));
}

/// Draws the grid under everything else, with the axis below it.
fn axis(layout: &Layout, story: &Story, out: &mut String) {
    let (top, foot) = (layout.top, layout.foot());
    let ticks = axis::ticks(story.from, story.to, layout.right - layout.left);
    let mut grid = String::new();
    for (at, _) in &ticks {
        put!(grid, "M{} {}V{}", N(layout.x(*at)), N(top), N(foot));
    }
    put!(out, "<path class=\"grid\" d=\"{grid}\"/>\n");
    put!(
        out,
        "<path class=\"axis\" d=\"M{} {}H{}\"/>\n<g text-anchor=\"middle\">\n",
        N(layout.left),
        N(foot),
        N(layout.right)
    );
    for (at, label) in &ticks {
        // A label at the edge is moved inwards so that it is not cut off.
        let half = text_width(label, LABEL_SIZE) / 2.0 + 2.0;
        let x = layout.x(*at).min(layout.width - half);
        put!(out, "<text class=\"dim\" x=\"{}\" y=\"{}\">{label}</text>\n", N(x), N(foot + 16.0));
    }
    out.push_str("</g>\n");
}

/// A summary of the run in one line.
fn summary(story: &Story) -> String {
    let processes = match story.lanes.len() + story.left_out {
        0 => return "no records".to_owned(),
        1 => "1 process".to_owned(),
        several => format!("{several} processes"),
    };
    let received: usize = story.messages.iter().map(|message| message.received.len()).sum();
    let lost: usize = story.messages.iter().map(|message| message.lost.len()).sum();
    let sent = story.messages.len();
    let stretch = story.to - story.from;
    let (from, to) = (axis::rounded(story.from, stretch), axis::rounded(story.to, stretch));
    let shown = if story.left_out > 0 { "messages between those shown" } else { "messages" };
    format!("{processes}, {from} to {to}; {shown}: {sent} sent, {received} received, {lost} lost")
}

/// A description of how the run ended, for readers who cannot see the picture.
fn describe(story: &Story) -> String {
    let mut ends: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for lane in &story.lanes {
        let words = lane.end.as_ref().map_or_else(
            || "without belief".to_owned(),
            |end| believes(lane.id, &end.leaders, end.term, None, end.stage),
        );
        ends.entry(words).or_default().push(lane.id.to_string());
    }
    let ends = ends.iter().take(8).map(|(words, ids)| format!("{words}: {}", some(ids)));
    let ends: Vec<String> = ends.collect();
    format!("Time runs from left to right, one lane a process. At the end {}.", ends.join("; "))
}

fn some(ids: &[String]) -> String {
    match ids.get(..8) {
        Some(first) if ids.len() > 8 => format!("{} and {} more", first.join(", "), ids.len() - 8),
        _ => ids.join(", "),
    }
}
