//! One run as a picture without time: the ring, or the network with the election tree.
//!
//! **How to read it.** Every process is a disc: strong if it leads at the end, light in its
//! leader's colour if it follows, crossed out if it crashed. A process that called an election has
//! a second rim. On a ring an arc goes from each process to each receiver of its messages, one for
//! each kind of message, with their number. In a network thin lines are links. Thick arrows go from
//! each process to its parent in the last election it took part in; their labels are the processes
//! reported as the best of the subtree.
//!
//! **What it promises.** As [the other picture](super::space_time): it is a function of its inputs,
//! has a bounded size, is well-formed whatever the records hold, and says what it leaves out. Up to
//! sixty processes have their ids written; more than two thousand are an error.
//!
//! | part | holds |
//! |---|---|
//! | `arrangement` | the ring or the network |
//! | `map` | the contents |
//! | `steps`, `tree` | who called an election, and who joined because of whom |
//! | `layout`, `shape` | positions |
//! | `ring`, `network`, `people`, `legend` | one layer of the drawing each |

mod arrangement;
mod layout;
mod legend;
mod map;
mod network;
mod people;
mod ring;
mod shape;
mod sheet;
mod steps;
#[cfg(test)]
mod tests;
mod tree;

pub use arrangement::{Arrangement, Graph};

use super::story::{Story, in_order};
use super::svg::{N, Text, put};
use super::{Drawing, Options};
use crate::observer::id;
use bellwether_core::{NodeId, Record, SimTime};
use map::{Map, Presence};
use sheet::Sheet;
use std::fmt;

/// With more processes than this there is no room for ids.
const LABELLED_MAX: usize = 60;
/// With more processes than this the picture is illegible.
const PROCESSES_MAX: usize = 2_000;

/// There are too many processes to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// How many there are.
    pub processes: usize,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} processes, but a picture of a ring or network can tell at most {PROCESSES_MAX} \
             apart; choose fewer",
            self.processes
        )
    }
}

impl std::error::Error for TooMany {}

/// Draws the ring or the network.
///
/// # Errors
/// If there are too many processes.
pub fn plane(
    records: &[Record],
    arrangement: &Arrangement,
    options: &Options,
) -> Result<String, TooMany> {
    Ok(drawing(records, arrangement, options)?.svg())
}

/// Draws the ring or the network, and the run over time below it; the lanes of a ring are in its
/// order.
///
/// # Errors
/// If there are too many processes.
pub fn plane_and_time(
    records: &[Record],
    arrangement: &Arrangement,
    options: &Options,
) -> Result<String, TooMany> {
    let above = drawing(records, arrangement, options)?;
    let untitled = Options { title: String::new(), ..options.clone() };
    let order: Vec<NodeId> = match arrangement {
        Arrangement::Ring { order, .. } => order.iter().map(|node| id(*node)).collect(),
        Arrangement::Graph(_) => Vec::new(),
    };
    Ok(above.over(super::over_time(records, &untitled, &order)).svg())
}

fn drawing(
    records: &[Record],
    arrangement: &Arrangement,
    options: &Options,
) -> Result<Drawing, TooMany> {
    arrangement.check()?;
    let records = in_order(records, options.until);
    let story = Story::of(&records, options.until, usize::MAX, &[]);
    let map = Map::of(&records, &story, arrangement);
    let summary = summary(&map, &story, arrangement);
    let width = options.page_width();
    let mut sheet =
        Sheet::new(width, if options.title.is_empty() { 34.0 } else { 52.0 }, options.max_marks);
    super::header(options, width, &summary, &mut sheet.body);
    match arrangement {
        Arrangement::Ring { both_ways, .. } => ring::draw(&map, &story, *both_ways, &mut sheet),
        Arrangement::Graph(graph) => {
            network::draw(&map, graph, SimTime::from_nanos(story.to), &mut sheet);
        }
    }
    legend::draw(&map, &story, matches!(arrangement, Arrangement::Ring { .. }), &mut sheet);
    for note in &sheet.notes {
        put!(
            sheet.body,
            "<text class=\"dim\" x=\"16\" y=\"{}\">{}</text>\n",
            N(sheet.top),
            Text(note)
        );
        sheet.top += 18.0;
    }
    let title = match (options.title.as_str(), arrangement) {
        ("", Arrangement::Ring { .. }) => "Ring".to_owned(),
        ("", Arrangement::Graph(_)) => "Network".to_owned(),
        (title, _) => title.to_owned(),
    };
    Ok(Drawing {
        width,
        height: sheet.top,
        title,
        description: vec![summary, outcome(&map)],
        more_style: STYLE.to_owned(),
        body: sheet.body,
    })
}

/// A summary of the run in one line.
fn summary(map: &Map, story: &Story, arrangement: &Arrangement) -> String {
    let processes = match map.processes.len() {
        1 => "1 process".to_owned(),
        several => format!("{several} processes"),
    };
    let stand = match arrangement {
        Arrangement::Ring { both_ways: false, .. } => "on a ring, clockwise".to_owned(),
        Arrangement::Ring { both_ways: true, .. } => "on a ring, both ways".to_owned(),
        Arrangement::Graph(graph) => match graph.at(SimTime::from_nanos(story.to)).0.len() {
            1 => "with 1 link".to_owned(),
            links => format!("with {links} links"),
        },
    };
    let sent = map.totals.iter().map(|(kind, total)| format!("{total} {kind}"));
    let sent: Vec<String> = sent.collect();
    match sent.is_empty() {
        true => format!("{processes} {stand}; no messages"),
        false => format!("{processes} {stand}; messages: {}", sent.join(", ")),
    }
}

/// A description of the end of the run, for readers who cannot see the picture.
fn outcome(map: &Map) -> String {
    let ids = |wanted: &dyn Fn(&map::Process) -> bool| {
        let ids: Vec<String> = map
            .processes
            .iter()
            .filter(|process| wanted(process))
            .map(|process| process.id.to_string())
            .collect();
        if ids.is_empty() { "nobody".to_owned() } else { super::some(&ids) }
    };
    format!(
        "Called by: {}. In the end these lead: {}. Down: {}",
        ids(&|process| process.part.called),
        ids(&|process| process.leads),
        ids(&|process| process.presence == Presence::Down)
    )
}

/// Kinds of messages differ by dashes as well as by colour.
const STYLE: &str = "\
.bw .p-link{fill:none;stroke:#aab2bf}\
.bw .p-past{stroke-dasharray:2 4}\
.bw .p-on{stroke:#667080;stroke-width:1}\
.bw .p-lead{fill:none;stroke:#1d2430;stroke-width:2.4}\
.bw .p-out{fill:#fff;stroke:#8a94a3;stroke-dasharray:3 2}\
.bw .p-rim{fill:none;stroke:#1d2430;stroke-width:1.3}\
.bw .p-cross{fill:none;stroke:#1d2430;stroke-width:1.4;stroke-linecap:round}\
.bw .p-value{font-size:9px}\
.bw .p-tiny{font-size:7.5px}\
.bw .p-halo{stroke:#fff;stroke-width:4;paint-order:stroke;stroke-linejoin:round;text-anchor:middle}\
.bw .p-hop path{fill:none;stroke-width:1.5;stroke-linejoin:round}\
.bw .p-hop:hover path{stroke-width:2.6}\
.bw .p-w1 .p-way{stroke-dasharray:7 3}\
.bw .p-w2 .p-way{stroke-dasharray:1.5 2.5}\
.bw .p-w3 .p-way{stroke-dasharray:9 3 1.5 3}\
.bw .p-w4 .p-way{stroke-dasharray:4 6}\
.bw .p-w5 .p-way{stroke-dasharray:12 3 1.5 3 1.5 3}\
.bw .p-w6 .p-way{stroke-dasharray:1.5 6}\
.bw .p-tree{fill:none;stroke:#1d2430;stroke-width:3}\
.bw .p-fine{stroke-width:1.5}\
.bw .p-old{stroke-dasharray:5 3}\
.bw .p-head{fill:#1d2430;stroke:none}\
.bw .p-pill{fill:#fff;stroke:#667080;stroke-width:.8}\
@media(prefers-color-scheme:dark){\
.bw .p-link{stroke:#596374}\
.bw .p-out,.bw .p-pill{fill:#12161d}\
.bw .p-halo{stroke:#12161d}\
.bw .p-lead,.bw .p-rim,.bw .p-cross,.bw .p-tree{stroke:#e4e8ef}\
.bw .p-head{fill:#e4e8ef}\
}";
