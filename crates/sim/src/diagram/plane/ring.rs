//! Draws the ring: processes on a circle, and the messages around it.
//!
//! Messages along the order go outside the circle and messages against it inside, each kind on its
//! own track. Tracks run beside the processes, so a message can skip some.

use super::layout::{Point, angle, on_circle};
use super::map::{Hop, Map};
use super::people::{self, Look};
use super::sheet::Sheet;
use crate::diagram::flights::cross;
use crate::diagram::story::Story;
use crate::diagram::svg::{N, Text, put};

/// The preferred distance of processes along the circle.
const PITCH: f64 = 48.0;
/// The smallest radius.
const RADIUS_MIN: f64 = 115.0;
/// The radius of rings without labels.
const RADIUS_BARE: f64 = 300.0;
/// The distance of tracks.
const TRACK: f64 = 14.0;
/// The distance of tracks with bars.
const TRACK_OF_BARS: f64 = 30.0;
/// The most tracks on one side.
const TRACKS_MAX: usize = 8;

/// The messages of one kind from one place to another.
struct Arc<'a> {
    hop: &'a Hop,
    /// The first place, clockwise, and how many places further it ends.
    from: usize,
    places: usize,
    clockwise: bool,
    /// The track, counted from the circle.
    track: usize,
}

/// The position of the circle.
struct Circle {
    middle: Point,
    radius: f64,
    places: usize,
    look: Look,
    /// The distance of tracks.
    track: f64,
    /// How many messages the longest bar represents.
    most: u64,
}

/// Draws the ring at the top of the sheet.
pub(super) fn draw(map: &Map, story: &Story, both_ways: bool, sheet: &mut Sheet) {
    let places = map.processes.len();
    let (arcs, left_out) = arcs(map, both_ways);
    let tracks = |clockwise: bool| {
        let side = arcs.iter().filter(|arc| arc.clockwise == clockwise);
        side.map(|arc| arc.track + 1).max().unwrap_or(0)
    };
    let most = arcs.iter().map(|arc| arc.hop.sent).max().unwrap_or(0);
    let circle = Circle::new(places, [tracks(true), tracks(false)], most, sheet);
    sheet.take(2.0 * (circle.middle[1] - sheet.top));
    sheet.labelled = circle.look.labelled;
    let around = circle.point(0.0, 0.0);
    put!(
        sheet.body,
        "<circle class=\"p-link\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
        N(circle.middle[0]),
        N(circle.middle[1]),
        N(circle.middle[1] - around[1])
    );
    for arc in arcs.iter().take(sheet.marks_max) {
        circle.draw(arc, map, story, &mut sheet.body);
    }
    if left_out > 0 {
        sheet.notes.push(format!("{left_out} ways of messages, over each other, are not drawn."));
    }
    if arcs.len() > sheet.marks_max {
        let (all, shown) = (arcs.len(), sheet.marks_max);
        sheet.notes.push(format!("Of {all} ways of messages the first {shown} are drawn."));
    }
    if !circle.look.labelled && most > 0 {
        sheet.notes.push(match most {
            1 => "The longest bar is 1 message.".to_owned(),
            most => format!("The longest bar is {most} messages."),
        });
    }
    let points: Vec<Point> =
        (0..places).map(|place| circle.point(angle(place, places), 0.0)).collect();
    people::draw(map, &points, circle.look, &mut sheet.body);
}

/// Assigns every hop a track of its kind; also returns how many found none.
fn arcs<'a>(map: &'a Map, both_ways: bool) -> (Vec<Arc<'a>>, usize) {
    let around = map.processes.len();
    let arc = |hop: &'a Hop| {
        let Hop { from, to, .. } = *hop;
        let ahead = (to + around - from) % around;
        let clockwise = !both_ways || ahead <= around - ahead;
        let (from, places) = if clockwise { (from, ahead) } else { (to, around - ahead) };
        Arc { hop, from, places, clockwise, track: 0 }
    };
    let mut arcs: Vec<Arc<'_>> = map.hops.iter().map(arc).collect();
    arcs.sort_by_key(|arc| (arc.clockwise, arc.hop.kind, arc.places, arc.from));
    let hops = arcs.len();
    // For each track, its kind and the places that are occupied.
    let mut sides: [Vec<(usize, Vec<bool>)>; 2] = [Vec::new(), Vec::new()];
    arcs.retain_mut(|arc| {
        let tracks = &mut sides[usize::from(arc.clockwise)];
        let stretch: Vec<usize> = (arc.from..arc.from + arc.places).map(|at| at % around).collect();
        let fits = |(kind, taken): &(usize, Vec<bool>)| {
            *kind == arc.hop.kind && stretch.iter().all(|at| !taken[*at])
        };
        let found = tracks.iter().position(fits).or_else(|| {
            (tracks.len() < TRACKS_MAX).then(|| {
                tracks.push((arc.hop.kind, vec![false; around]));
                tracks.len() - 1
            })
        });
        arc.track = found.unwrap_or(0);
        found.inspect(|track| stretch.iter().for_each(|at| tracks[*track].1[*at] = true)).is_some()
    });
    let left_out = hops - arcs.len();
    (arcs, left_out)
}

impl Circle {
    fn new(places: usize, [outer, inner]: [usize; 2], most: u64, sheet: &Sheet) -> Self {
        let few = places <= super::LABELLED_MAX;
        let track = if few { TRACK } else { TRACK_OF_BARS };
        let side = |tracks: usize| if tracks > 0 { 8.0 + track * tracks as f64 } else { 4.0 };
        let wanted = if few { PITCH * places as f64 / std::f64::consts::TAU } else { RADIUS_BARE };
        let widest = sheet.width / 2.0 - 40.0 - side(outer);
        let least = RADIUS_MIN.max(side(inner) + 50.0);
        let radius = wanted.clamp(least.min(widest).max(1.0), widest.max(1.0));
        let pitch = std::f64::consts::TAU * radius / places.max(1) as f64;
        let size = (pitch * 0.34).clamp(0.8, if few { 14.0 } else { 4.5 });
        let look = Look { radius: size, labelled: few && size >= 8.0, values: false };
        let middle = sheet.top + radius + size + side(outer) + 10.0;
        let middle = [sheet.width / 2.0, middle];
        Self { middle, radius, places, look, track, most }
    }

    /// The point at this angle, at this distance outside the circle.
    fn point(&self, angle: f64, outside: f64) -> Point {
        on_circle(self.middle, self.radius + outside, angle)
    }

    fn draw(&self, arc: &Arc<'_>, map: &Map, story: &Story, out: &mut String) {
        let beside = self.look.radius + 8.0 + self.track * arc.track as f64;
        let kind = story.looks[arc.hop.kind].colour;
        put!(
            out,
            "<g class=\"p-hop k{kind} p-w{kind}\"><title>{}</title>",
            tooltip(arc, map, story)
        );
        if self.look.labelled {
            self.arrow(arc, if arc.clockwise { beside } else { -beside }, out);
        } else {
            self.bar(arc, beside, out);
        }
        out.push_str("</g>\n");
    }

    /// Draws an arrow along the circle with the number of messages.
    fn arrow(&self, arc: &Arc<'_>, outside: f64, out: &mut String) {
        let radius = self.radius + outside;
        // An arrow that ends at a process leaves room for those that begin there.
        let gap = 5.0 / radius.max(1.0);
        let first = angle(arc.from, self.places) + gap;
        let last = angle(arc.from + arc.places, self.places) - gap;
        let (begin, end) = if arc.clockwise { (first, last) } else { (last, first) };
        let large = u8::from(last - first > std::f64::consts::PI);
        let sweep = u8::from(arc.clockwise);
        let ([x, y], [to_x, to_y]) = (self.point(begin, outside), self.point(end, outside));
        let (x, y, radius) = (N(x), N(y), N(radius));
        let to = format!("{} {}", N(to_x), N(to_y));
        let way = format!("M{x} {y}A{radius} {radius} 0 {large} {sweep} {to}");
        let head = match arc.hop.received {
            0 => cross(to_x, to_y, 2.6),
            _ => chevron([to_x, to_y], end, arc.clockwise),
        };
        put!(out, "<path class=\"p-way\" d=\"{way}\"/><path d=\"{head}\"/>");
        let [x, y] = self.point((first + last) / 2.0, outside);
        let (x, y, sent) = (N(x), N(y + 3.2), arc.hop.sent);
        put!(out, "<text class=\"p-halo p-value\" x=\"{x}\" y=\"{y}\">{sent}</text>");
    }

    /// Draws a bar away from the circle, as long as the number of messages: for places where arrows
    /// would overlap.
    fn bar(&self, arc: &Arc<'_>, beside: f64, out: &mut String) {
        let share = arc.hop.sent as f64 / self.most.max(1) as f64;
        let far = beside + share * (self.track - 4.0);
        let side = if arc.clockwise { 1.0 } else { -1.0 };
        let middle = angle(arc.from, self.places) + angle(arc.places, self.places) / 2.0;
        let [x, y] = self.point(middle, side * beside);
        let [to_x, to_y] = self.point(middle, side * far);
        let width = (std::f64::consts::TAU * self.radius / self.places as f64 * 0.7).min(3.0);
        put!(
            out,
            "<path style=\"stroke-width:{}\" d=\"M{} {}L{} {}\"/>",
            N(width.max(0.3)),
            N(x),
            N(y),
            N(to_x),
            N(to_y)
        );
    }
}

/// An arrow head on a circle, at this angle.
fn chevron([x, y]: Point, angle: f64, clockwise: bool) -> String {
    let turn = if clockwise { 1.0 } else { -1.0 };
    let [ahead_x, ahead_y] = [turn * libm::cos(angle), turn * libm::sin(angle)];
    let wing = |side: f64| {
        [x - 5.0 * ahead_x - side * 3.0 * ahead_y, y - 5.0 * ahead_y + side * 3.0 * ahead_x]
    };
    let ([ax, ay], [bx, by]) = (wing(1.0), wing(-1.0));
    format!("M{} {}L{} {}L{} {}", N(ax), N(ay), N(x), N(y), N(bx), N(by))
}

fn tooltip(arc: &Arc<'_>, map: &Map, story: &Story) -> String {
    let Hop { from, to, kind, sent, received } = *arc.hop;
    let (from, to) = (map.processes[from].id, map.processes[to].id);
    let kind = &story.kinds[kind];
    let told = match sent - received {
        0 => format!("{sent} {kind} from {from} to {to}"),
        lost => format!("{sent} {kind} from {from} to {to}, {lost} of them not received"),
    };
    Text(&told).to_string()
}
