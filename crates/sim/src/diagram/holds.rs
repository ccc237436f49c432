//! Draws the locks of supporters: a thin bar under the lane of each process, in the colour of the
//! process it is locked to.

use super::layout::Layout;
use super::story::{Hold, Span, Story, coarsen};
use super::svg::{N, SMALL_SIZE, Text, colour, put, text_width};
use bellwether_core::{NodeId, SimTime};

/// Draws the bars, except those shorter than `finest` nanoseconds.
pub(super) fn bars(story: &Story, layout: &Layout, finest: u64, out: &mut String) {
    for (index, lane) in story.lanes.iter().enumerate() {
        let (y, height) = layout.hold(index);
        for span in coarsen(&lane.holds, finest) {
            let x = layout.x(span.from);
            let width = (layout.x(span.to) - x).max(0.5);
            let (from, to) = (SimTime::from_nanos(span.from), SimTime::from_nanos(span.to));
            let told = format!("{} {}", lane.id, said(lane.id, span.what));
            put!(
                out,
                "<rect class=\"hold {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\
                 <title>{}, {from} to {to}</title></rect>\n",
                look(story, span.what),
                N(x),
                N(y),
                N(width),
                N(height),
                Text(&told)
            );
        }
    }
}

/// Writes the name into each bar that has room for it.
pub(super) fn words(story: &Story, layout: &Layout, out: &mut String) {
    for (index, lane) in story.lanes.iter().enumerate() {
        let (y, height) = layout.hold(index);
        if height < SMALL_SIZE {
            return;
        }
        for Span { from, to, what } in &lane.holds {
            let Hold::To(id) = what else { continue }; // text on hatching is illegible
            let room = layout.x(*to) - layout.x(*from) - 4.0;
            let fits = |text: &String| text_width(text, SMALL_SIZE) <= room;
            let Some(text) = [said(lane.id, *what), id.to_string()].into_iter().find(fits) else {
                continue;
            };
            let (x, y) = (N(layout.x(*from) + 2.0), N(y + height / 2.0 + 2.9));
            put!(out, "<text class=\"tiny\" x=\"{x}\" y=\"{y}\">{}</text>\n", Text(&text));
        }
    }
}

fn said(me: NodeId, hold: Hold) -> String {
    match hold {
        Hold::To(id) if id == me => "locked to itself".to_owned(),
        Hold::To(id) => format!("locked to {id}"),
        Hold::Nobody => "bound to nobody".to_owned(),
    }
}

/// The class of a bar's fill.
pub(super) fn look(story: &Story, hold: Hold) -> String {
    match hold {
        Hold::To(id) => format!("f{}", colour(story.leaders.get(&id).copied().unwrap_or(0))),
        Hold::Nobody => "still".to_owned(),
    }
}
