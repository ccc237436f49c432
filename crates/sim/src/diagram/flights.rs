//! Draws the messages with their receptions and losses.

use super::kinds::Look;
use super::layout::Layout;
use super::story::{Message, Story};
use super::svg::{N, Text, put};
use bellwether_core::SimTime;

/// How far towards its receiver a lost message is drawn: as a fraction of the way, and in pixels.
const STUB_SHARE: f64 = 0.45;
const STUB_MAX: f64 = 30.0;

/// Lanes of at least this height have room for shapes.
const LANE_LARGE: f64 = 9.0;

/// Draws the messages; a regular subset if all of them need more marks than `marks_max`.
pub(super) fn draw(
    story: &Story,
    layout: &Layout,
    marks_max: usize,
    out: &mut String,
    notes: &mut Vec<String>,
) {
    let stride = stride(&story.messages, marks_max);
    let mut room = marks_max;
    let mut shown = Vec::new();
    for message in story.messages.iter().step_by(stride) {
        // The stride makes the average fit; one message with many copies may still be too much.
        if let Some(left) = room.checked_sub(message.weight()) {
            room = left;
            shown.push(message);
        }
    }
    let lines = marks_max - room;
    // Overlapping lines are transparent.
    let opacity = (400.0 / lines as f64).clamp(0.12, 0.6);
    let class = if layout.lane < LANE_LARGE { " class=\"fine\"" } else { "" };
    put!(out, "<g{class} stroke-opacity=\"{opacity:.2}\">\n");
    // Quiet messages are drawn below the others.
    let (quiet, spoken): (Vec<_>, Vec<_>) =
        shown.iter().copied().partition(|message: &&Message| message.kind.is_none());
    if !quiet.is_empty() {
        // One opacity for the whole group, independent of overlaps.
        out.push_str("<g opacity=\".35\">\n");
        quiet.into_iter().for_each(|message| flight(story, layout, message, out));
        out.push_str("</g>\n");
    }
    spoken.into_iter().for_each(|message| flight(story, layout, message, out));
    out.push_str("</g>\n");
    if shown.len() < story.messages.len() {
        let (some, all) = (shown.len(), story.messages.len());
        notes.push(format!("Thinned out: {some} of {all} messages are drawn."));
    }
}

/// The smallest n for which drawing every n-th message fits.
fn stride(messages: &[Message], marks_max: usize) -> usize {
    let mut stride = 1;
    while stride < messages.len() {
        let marks: usize = messages.iter().step_by(stride).map(Message::weight).sum();
        if marks <= marks_max {
            break;
        }
        // At least one more, and as many more as the excess suggests.
        stride = (stride * marks / marks_max.max(1)).max(stride + 1);
    }
    stride
}

fn flight(story: &Story, layout: &Layout, message: &Message, out: &mut String) {
    let large = layout.lane >= LANE_LARGE;
    let (x, y) = (layout.x(message.sent), layout.y(message.lane));
    let (mut lines, mut ends, mut stubs, mut crosses) =
        (String::new(), String::new(), String::new(), String::new());
    for &(at, lane) in &message.received {
        let (to_x, to_y) = (layout.x(at), layout.y(lane));
        put!(lines, "M{} {}L{} {}", N(x), N(y), N(to_x), N(to_y));
        put!(ends, "M{} {}h0", N(to_x), N(to_y));
    }
    for &(at, lane) in &message.lost {
        let (far_x, far_y) = (layout.x(at) - x, layout.y(lane) - y);
        let length = far_x.hypot(far_y).max(1.0);
        let share = (STUB_MAX / length).min(STUB_SHARE);
        let (to_x, to_y) = (x + share * far_x, y + share * far_y);
        put!(stubs, "M{} {}L{} {}", N(x), N(y), N(to_x), N(to_y));
        put!(crosses, "{}", cross(to_x, to_y, if large { 2.0 } else { 1.2 }));
    }
    let shown = story.look(message);
    put!(out, "<g class=\"m {}\">", class(shown));
    put!(out, "<title>{}</title>", Text(&tooltip(story, message)));
    for (class, d, drawn) in [
        ("", &lines, true),
        (" class=\"e\"", &ends, large && message.kind.is_some()),
        (" class=\"x\"", &stubs, true),
        (" class=\"c\"", &crosses, true),
    ] {
        if drawn && !d.is_empty() {
            put!(out, "<path{class} d=\"{d}\"/>");
        }
    }
    put!(out, "{}</g>\n", sending(shown, x, y, large));
}

/// The class of a kind of message; none is a quiet one.
pub(super) fn class(look: Option<Look>) -> String {
    look.map_or_else(|| "quiet".to_owned(), |look| format!("k{}", look.colour))
}

/// A cross of two lines at this point.
pub(super) fn cross(x: f64, y: f64, half: f64) -> String {
    let side = N(2.0 * half);
    format!("M{} {}l{side} {side}m-{side} 0l{side} -{side}", N(x - half), N(y - half))
}

/// The shape of a sending. Kinds differ by shape as well as by colour.
pub(super) fn sending(look: Option<Look>, x: f64, y: f64, large: bool) -> String {
    let (x_, y_) = (N(x), N(y));
    let Some(Look { shape, .. }) = look.filter(|_| large) else {
        return format!("<path class=\"p\" d=\"M{x_} {y_}h0\"/>");
    };
    let d = match shape {
        0 => format!("M{x_} {y_}h0"),
        1 => format!("M{} {}h2v2h-2z", N(x - 1.0), N(y - 1.0)),
        2 => format!("M{} {y_}l2 -2l2 2l-2 2z", N(x - 2.0)),
        _ => format!("M{} {}h4l-2 -3.4z", N(x - 2.0), N(y + 1.4)),
    };
    let (ring, class) = if shape == 0 { ("ring rb", "b") } else { ("ring rs", "s") };
    format!("<path class=\"{ring}\" d=\"{d}\"/><path class=\"{class}\" d=\"{d}\"/>")
}

fn tooltip(story: &Story, message: &Message) -> String {
    let from = story.lanes[message.lane].id;
    let to = message.to.map_or_else(|| "all".to_owned(), |to| to.to_string());
    let fate = match (message.received.len(), message.lost.len()) {
        (received, 0) => format!("received by {received}"),
        (received, lost) => format!("received by {received}, lost for {lost}"),
    };
    let (kind, number) = (story.kind(message), message.number);
    format!(
        "{kind} #{number} from {from} to {to}, sent {}: {fate}",
        SimTime::from_nanos(message.sent)
    )
}
