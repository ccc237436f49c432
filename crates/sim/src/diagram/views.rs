//! Writes the partition that each process belongs to above its lane, wherever that changes: its
//! number, and its members. So what two sides of a cut believe stands side by side.

use super::layout::Layout;
use super::story::{Story, View};
use super::svg::{N, SMALL_SIZE, Text, put, text_width};

/// Writes them, each as far as it has room before the next.
pub(super) fn words(story: &Story, layout: &Layout, out: &mut String) {
    for (index, lane) in story.lanes.iter().enumerate() {
        let y = N(layout.y(index) - layout.lane * 0.34);
        let mut last = None;
        let news = lane.views.iter().filter(|view| {
            let what = Some((view.version, &view.members));
            std::mem::replace(&mut last, what) != what
        });
        let news: Vec<&View> = news.collect();
        for (place, View { at, version, members }) in news.iter().enumerate() {
            if *version == 0 {
                continue; // the one before ends here
            }
            let end = news.get(place + 1).map_or(story.to, |next| next.at);
            let room = layout.x(end) - layout.x(*at) - 4.0;
            let ids: Vec<String> = members.iter().map(ToString::to_string).collect();
            let long = format!("partition {version}: {}", ids.join(", "));
            let short = format!("{version}: {}", ids.join(" "));
            let fits = |text: &String| text_width(text, SMALL_SIZE) <= room;
            let Some(text) = [long, short, version.to_string()].into_iter().find(fits) else {
                continue;
            };
            let x = N(layout.x(*at) + 2.0);
            put!(out, "<text class=\"tiny\" x=\"{x}\" y=\"{y}\">{}</text>\n", Text(&text));
        }
    }
}
