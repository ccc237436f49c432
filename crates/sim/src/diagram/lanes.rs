//! Draws the processes: whether each one runs, what it believes, and what happens to it.

use super::axis;
use super::flights::cross;
use super::holds;
use super::layout::{Layout, lane_label};
use super::story::{Belief, Lane, Message, Phase, Sign, Span, Story, coarsen};
use super::svg::{LABEL_SIZE, N, Text, colour, put, text_width};
use super::views;
use crate::trace::believes;
use bellwether_core::{NodeId, SimTime, Stage};

/// Draws the labels, life lines, beliefs and pauses of the processes.
pub(super) fn bands(
    story: &Story,
    layout: &Layout,
    marks_max: usize,
    out: &mut String,
    notes: &mut Vec<String>,
) {
    labels(story, layout, out);
    let spans = |lane: &Lane| {
        lane.beliefs.len() + lane.holds.len() + lane.works.len() + 2 * lane.phases.len()
    };
    let spans: usize = story.lanes.iter().map(spans).sum();
    let finest = if spans > marks_max { layout.finest(marks_max) } else { 0 };
    if finest > 0 {
        let width = axis::rounded(finest, finest);
        notes.push(format!("What lasted less than {width} is left out of the bands."));
    }
    for (index, lane) in story.lanes.iter().enumerate() {
        let phases = coarsen(&lane.phases, finest);
        life_line(layout, index, &phases, out);
        for span in coarsen(&lane.beliefs, finest) {
            let what = &span.what;
            let words = believes(lane.id, &what.leaders, what.term, None, what.stage);
            let (class, share) = look(story, lane.id, what);
            band(layout, index, &span, share, &class, &format!("{} {words}", lane.id), out);
        }
        for span in phases.iter().filter(|span| span.what == Phase::Paused) {
            band(layout, index, span, 0.62, "still", &format!("{} stands still", lane.id), out);
        }
    }
    holds::bars(story, layout, finest, out);
    works(story, layout, finest, out);
}

/// Draws a thin line above the band while the command ran, or may have run.
fn works(story: &Story, layout: &Layout, finest: u64, out: &mut String) {
    for (index, lane) in story.lanes.iter().enumerate() {
        let y = N(layout.y(index) - layout.lane * 0.36);
        for span in coarsen(&lane.works, finest) {
            let (from, to) = (SimTime::from_nanos(span.from), SimTime::from_nanos(span.to));
            put!(
                out,
                "<path {WORK} d=\"M{} {y}H{}\"><title>{}'s command, run {}, {from} to {to}</title>\
                 </path>\n",
                N(layout.x(span.from)),
                N(layout.x(span.to).max(layout.x(span.from) + 0.5)),
                lane.id,
                span.what
            );
        }
    }
}

/// The style of a command's line; few pictures have one.
pub(super) const WORK: &str = "class=\"work\" stroke=\"#c2410c\" stroke-width=\"2\"";

fn labels(story: &Story, layout: &Layout, out: &mut String) {
    let every = (13.0 / layout.lane).ceil().max(1.0) as usize;
    out.push_str("<g text-anchor=\"end\">\n");
    for (index, lane) in story.lanes.iter().enumerate().step_by(every) {
        let (x, y) = (layout.left - 12.0, layout.y(index) + 4.0);
        let id = lane.id.to_string();
        put!(out, "<text x=\"{}\" y=\"{}\">{}</text>\n", N(x), N(y), lane_label(&id));
    }
    out.push_str("</g>\n");
}

fn life_line(layout: &Layout, index: usize, phases: &[Span<Phase>], out: &mut String) {
    for span in phases {
        let class = match span.what {
            Phase::Absent => continue,
            Phase::Up | Phase::Paused => "life",
            Phase::Down => "down",
        };
        let (from, to) = (N(layout.x(span.from)), N(layout.x(span.to)));
        put!(out, "<path class=\"{class}\" d=\"M{from} {}H{to}\"/>\n", N(layout.y(index)));
    }
}

/// The class of a belief's band, and how much of the lane it fills.
fn look(story: &Story, me: NodeId, belief: &Belief) -> (String, f64) {
    let leader = belief.leaders.first().and_then(|first| story.leaders.get(first));
    match (belief.stage, leader) {
        (Stage::Decided, Some(place)) if belief.leaders.contains(&me) => {
            (format!("l{}", colour(*place)), 0.62)
        }
        (Stage::Decided, Some(place)) => (format!("f{}", colour(*place)), 0.62),
        (Stage::Decided, None) | (Stage::Undecided, _) => ("und".to_owned(), 0.36),
        (Stage::Suppressed, _) => ("sup".to_owned(), 0.36),
        (Stage::Aborted, _) => ("abo".to_owned(), 0.36),
    }
}

fn band<T>(
    layout: &Layout,
    lane: usize,
    span: &Span<T>,
    share: f64,
    class: &str,
    told: &str,
    out: &mut String,
) {
    let (x, height) = (layout.x(span.from), layout.band(share));
    let width = (layout.x(span.to) - x).max(0.5);
    let (from, to) = (SimTime::from_nanos(span.from), SimTime::from_nanos(span.to));
    put!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\
         <title>{}, {from} to {to}</title></rect>\n",
        N(x),
        N(layout.y(lane) - height / 2.0),
        N(width),
        N(height),
        Text(told)
    );
}

/// Writes into each band who leads or who is followed, if there is room.
pub(super) fn words(story: &Story, layout: &Layout, out: &mut String) {
    if layout.lane < 15.0 {
        return;
    }
    let lines = lines(story, layout);
    for (index, lane) in story.lanes.iter().enumerate() {
        for span in lane.beliefs.iter().filter(|span| span.what.stage == Stage::Decided) {
            word(story, layout, index, span, lines.as_deref(), out);
        }
    }
    holds::words(story, layout, out);
    views::words(story, layout, out);
}

/// The lines of all messages, unless there are too many for text to avoid them.
fn lines(story: &Story, layout: &Layout) -> Option<Vec<[f64; 4]>> {
    let line = |message: &Message, (at, lane): (u64, usize)| {
        [layout.x(message.sent), layout.y(message.lane), layout.x(at), layout.y(lane)]
    };
    let of = |message: &'_ Message| {
        message.received.iter().map(|end| line(message, *end)).collect::<Vec<_>>()
    };
    let spoken = story.messages.iter().filter(|message| message.kind.is_some());
    let lines: Vec<[f64; 4]> = spoken.flat_map(of).take(LINES_MAX + 1).collect();
    (lines.len() <= LINES_MAX).then_some(lines)
}

const LINES_MAX: usize = 4_000;
/// Labels are moved by this much, this many times, to find a place that no line crosses.
const SHIFT: f64 = 9.0;
const SHIFTS_MAX: usize = 24;
/// A label that so many lines cross is not legible without a background.
const CROWDED: usize = 3;

fn word(
    story: &Story,
    layout: &Layout,
    index: usize,
    span: &Span<Belief>,
    lines: Option<&[[f64; 4]]>,
    out: &mut String,
) {
    let lane = &story.lanes[index];
    let Belief { leaders, term, stage } = &span.what;
    let words = believes(lane.id, leaders, *term, None, *stage);
    let room = layout.x(span.to) - layout.x(span.from) - 14.0;
    let width = text_width(&words, LABEL_SIZE);
    if room < width {
        return;
    }
    let class = if leaders.contains(&lane.id) { "in on" } else { "in" };
    let (first, y) = (layout.x(span.from) + 7.0, layout.y(index));
    let crossed = |x: &f64| {
        let taken = [x - 3.0, y - 5.0, x + width, y + 5.0];
        let crossing =
            |lines: &[[f64; 4]]| lines.iter().filter(|line| crosses(**line, taken)).count();
        lines.map_or(CROWDED, crossing)
    };
    let shifts = ((room - width) / SHIFT) as usize;
    let places = (0..=shifts.min(SHIFTS_MAX)).map(|shift| first + SHIFT * shift as f64);
    let mut best = (usize::MAX, first);
    for x in places {
        let crossed = crossed(&x);
        if crossed < best.0 {
            best = (crossed, x);
        }
        if crossed == 0 {
            break;
        }
    }
    if best.0 >= CROWDED {
        let (band, _) = look(story, lane.id, &span.what);
        let (x, y, width) = (N(best.1 - 2.0), N(y - 6.5), N(width + 4.0));
        put!(
            out,
            "<rect class=\"in {band}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"13\"/>\n"
        );
    }
    let (x, y) = (N(best.1), N(y + 3.6));
    put!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>\n", Text(&words));
}

/// Whether a line goes through a rectangle.
fn crosses([x, y, to_x, to_y]: [f64; 4], [left, top, right, bottom]: [f64; 4]) -> bool {
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for (start, step, low, high) in [(x, to_x - x, left, right), (y, to_y - y, top, bottom)] {
        if step == 0.0 {
            if start < low || start > high {
                return false;
            }
            continue;
        }
        let (one, other) = ((low - start) / step, (high - start) / step);
        enters = enters.max(one.min(other));
        leaves = leaves.min(one.max(other));
    }
    enters <= leaves
}

/// Draws the signs of events, above everything else.
pub(super) fn signs(
    story: &Story,
    layout: &Layout,
    marks_max: usize,
    out: &mut String,
    notes: &mut Vec<String>,
) {
    for mark in story.marks.iter().take(marks_max) {
        let (x, y) = (layout.x(mark.at), layout.y(mark.lane));
        let (id, at) = (story.lanes[mark.lane].id, SimTime::from_nanos(mark.at));
        let told = match mark.told.as_str() {
            "" => format!("{id} {}, {at}", name(mark.sign)),
            more => format!("{id} {}: {more}, {at}", name(mark.sign)),
        };
        put!(
            out,
            "<g><title>{}</title>{}</g>\n",
            Text(&told),
            sign(mark.sign, x, y, layout.sign())
        );
    }
    if story.marks.len() > marks_max {
        let all = story.marks.len();
        notes.push(format!("Of {all} crashes, restarts, … the first {marks_max} are marked."));
    }
}

/// The meaning of a sign.
pub(super) fn name(sign: Sign) -> &'static str {
    match sign {
        Sign::Join => "starts",
        Sign::Crash => "crashes",
        Sign::Restart => "restarts",
        Sign::Leave => "leaves",
        Sign::Command => "command",
        Sign::Jump => "clock set forward",
        Sign::Gained => "peer or link up",
        Sign::Lost => "peer or link down",
    }
}

/// Draws a sign, with a rim in the colour of the page so that it stands out on any band.
pub(super) fn sign(sign: Sign, x: f64, y: f64, half: f64) -> String {
    let stroked = |d: String| {
        format!(
            "<path class=\"ring\" stroke-width=\"5\" d=\"{d}\"/><path class=\"sign\" d=\"{d}\"/>"
        )
    };
    let disc = |class: &str, half: f64| {
        format!("<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", N(x), N(y), N(half))
    };
    let (side, whole) = (N(half), N(2.0 * half));
    match sign {
        Sign::Crash => stroked(cross(x, y, half)),
        Sign::Restart => {
            disc("hollow", half + 2.2) + &disc("sign", half + 0.6) + &disc("solid", half * 0.55)
        }
        Sign::Join => disc("hollow", half + 1.6) + &disc("sign", half),
        Sign::Leave => stroked(format!("M{} {}v{whole}", N(x), N(y - half))),
        Sign::Command => {
            let (left, top) = (N(x - half), N(y - 3.2 * half));
            let d = format!("M{left} {top}h{whole}l-{side} {whole}z");
            stroked(d.clone()) + &format!("<path class=\"solid\" d=\"{d}\"/>")
        }
        // Small, and at the edges of the lane, because there may be many.
        Sign::Gained => {
            let (left, top) = (N(x - 0.5 * half), N(y - 1.2 * half));
            let (x, above) = (N(x), N(y - 1.7 * half));
            format!("<path class=\"tick\" d=\"M{left} {top}h{side}M{x} {above}v{side}\"/>")
        }
        Sign::Lost => {
            let (left, below) = (N(x - 0.5 * half), N(y + 1.2 * half));
            format!("<path class=\"tick\" d=\"M{left} {below}h{side}\"/>")
        }
        Sign::Jump => stroked(format!(
            "M{} {}l{side} {side}l-{side} {side}m{side} -{whole}l{side} {side}l-{side} {side}",
            N(x - half),
            N(y - half)
        )),
    }
}
