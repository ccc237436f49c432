//! A finding as a picture: SVG for print and screen.
//!
//! **Why by hand.** *kuva* 0.6 was tried: it draws most of it well, but numbers its clip paths
//! with one counter for the whole process, so that a picture's bytes depend on those drawn before
//! it; its legend shows full markers where hollow ones were drawn, and samples of lines too short
//! for their dashes; and it cuts markers at the ends of an axis in half. *plotters* 0.3, by its
//! source, places legends within the axes only and makes every dash an element of its own. What
//! is left to do by hand is small.
//!
//! **What it promises.** The legend covers no data. Every hue is a colour, a marker and a dash.
//! Axes have units. Nothing is referred to that is not in the text, and the same finding gives
//! the same bytes.
//!
//! | file | what it knows |
//! |---|---|
//! | `scale` | from numbers to places, and where ticks stand |
//! | `look` | colours, dashes, markers |
//! | `pane` | one pair of axes and what is between them |
//! | `legend` | what the looks mean |
//! | `names` | what is drawn, and how it is called |
//! | `notes` | a level, and names at points |
//! | `words` | how wide a text is |

mod legend;
mod look;
mod names;
mod notes;
mod pane;
mod scale;
mod words;

pub use notes::Notes;

use super::markup::{Indexed, N, Text, put};
use super::stem;
use crate::figures::{Finding, Pane};
use legend::Legend;
use look::Looks;
use names::prepared;
use pane::{Frame, Plot};
use words::{HEADING, LABEL, SMALL, wrapped};

/// Around everything.
const EDGE: f64 = 12.0;
/// Between two panes.
const BETWEEN: f64 = 24.0;
/// The room for a pane's title.
const TITLE: f64 = 26.0;

/// The picture with its title, as a file of its own.
pub fn svg(finding: &Finding) -> String {
    match &finding.run {
        Some(run) => run.picture(finding.title),
        None => draw(finding, true, &Notes::default()),
    }
}

/// The picture with its title and with notes.
pub fn noted(finding: &Finding, notes: &Notes) -> String {
    draw(finding, true, notes)
}

/// The picture without its title, to stand on a page that says it.
pub fn inline(finding: &Finding) -> String {
    match &finding.run {
        // Among others its pattern needs a name of its own.
        Some(run) => run.picture("").replace("bw-hatch", &format!("hatch-{}", stem(finding))),
        None => draw(finding, false, &Notes::default()),
    }
}

/// How many panes stand side by side, and how large the area between the axes is.
struct Grid {
    columns: usize,
    width: f64,
    height: f64,
}

impl Grid {
    fn of(panes: usize) -> Self {
        let (columns, width, height) = match panes {
            0 | 1 => (1, 720.0, 360.0),
            2 | 4 => (2, 460.0, 280.0),
            _ => (3, 360.0, 240.0),
        };
        Self { columns, width, height }
    }

    fn across(&self) -> f64 {
        self.columns as f64 * (self.width + BETWEEN) - BETWEEN
    }
}

/// The looks of all panes together if one legend can stand for all, or of each.
///
/// It can if panes have names in common, and no two names look the same.
fn looks(panes: &[Pane]) -> Vec<Looks> {
    let together = Looks::of(panes.iter().flat_map(|pane| &pane.curves));
    let each: Vec<Looks> = panes.iter().map(|pane| Looks::of(&pane.curves)).collect();
    let common = together.len() < each.iter().map(Looks::len).sum();
    if each.len() < 2 || common && together.are_distinct() { vec![together] } else { each }
}

fn draw(finding: &Finding, headed: bool, notes: &Notes) -> String {
    let grid = Grid::of(finding.panes.len());
    let panes = prepared(finding);
    let looks = looks(&panes);
    let shared = looks.len() == 1;
    let mut body = String::new();
    let mut y = EDGE + heading(finding, headed, grid.across(), &mut body);
    let mut left_of_all = EDGE;
    let has_titles = panes.iter().any(|pane| !pane.title.is_empty());
    for (row, panes) in panes.chunks(grid.columns).enumerate() {
        y += if has_titles { TITLE } else { 6.0 };
        let mut below: f64 = 0.0;
        for (column, pane) in panes.iter().enumerate() {
            let index = row * grid.columns + column;
            let left = EDGE + column as f64 * (grid.width + BETWEEN);
            let frame = Frame { left, top: y, width: grid.width, height: grid.height };
            let plot = Plot::new(pane, &looks[if shared { 0 } else { index }], frame);
            plot.draw(&mut body, &format!("clip-{}-{index}", stem(finding)));
            if index == 0 {
                notes.draw(&mut body, &plot);
            }
            let mut end = plot.below();
            left_of_all = if index == 0 { plot.left() } else { left_of_all };
            if !shared {
                let legend = Legend::new(&looks[index], left + grid.width - plot.left());
                legend.draw(&mut body, plot.left(), y + grid.height + end + 4.0);
                end += legend.height() + 8.0;
            }
            below = below.max(end);
        }
        y += grid.height + below + 8.0;
    }
    if shared {
        let legend = Legend::new(&looks[0], grid.across() + EDGE - left_of_all);
        legend.draw(&mut body, left_of_all, y);
        y += legend.height() + 8.0;
    }
    for line in wrapped(&legend::key(&looks), SMALL, grid.across() + EDGE - left_of_all) {
        let (x, base) = (N(left_of_all), N(y + 11.0));
        put!(body, "<text x=\"{x}\" y=\"{base}\" font-size=\"{SMALL}\" fill=\"#5a6472\">");
        put!(body, "{}</text>\n", Text(&line));
        y += 15.0;
    }
    wrapped_up(finding, (grid.across() + 2.0 * EDGE, y + EDGE), &body)
}

/// The title, if it is asked for; its height in any case.
fn heading(finding: &Finding, headed: bool, width: f64, out: &mut String) -> f64 {
    if !headed {
        return 0.0;
    }
    let lines = wrapped(finding.title, HEADING, width);
    for (index, line) in lines.iter().enumerate() {
        let (x, y) = (N(EDGE), N(EDGE + HEADING * (1.3 * index as f64 + 0.9)));
        put!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{HEADING}\" font-weight=\"600\">");
        put!(out, "{}</text>\n", Indexed(line));
    }
    1.3 * HEADING * lines.len() as f64 + 8.0
}

fn wrapped_up(finding: &Finding, (width, height): (f64, f64), body: &str) -> String {
    let (width, height) = (N(width), N(height));
    let (title, source) = (Text(finding.title), Text(finding.source));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" font-size=\"{LABEL}\" fill=\"#1d2430\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n\
         <title>{title}</title>\n<desc>{source}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

#[cfg(test)]
mod tests;
