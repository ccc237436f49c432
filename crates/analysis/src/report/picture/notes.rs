//! Notes among the curves of a pane: a level, and names at points.

use super::super::markup::{Indexed, N, Text, put};
use super::pane::Plot;
use super::words::{SMALL, width_of};

/// Notes in the first pane of a picture. What lies outside the axes is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// A height with its name.
    pub level: Option<(f64, String)>,
    /// Names of points: (x, y, name). The first of those that would cover each other is shown.
    pub names: Vec<(f64, f64, String)>,
}

impl Notes {
    pub(super) fn draw(&self, out: &mut String, plot: &Plot<'_>) {
        if let Some((height, name)) = &self.level
            && let Some(y) = plot.height(*height)
        {
            let (left, right) = plot.sides();
            put!(out, "<path d=\"M{},{y}H{}\" fill=\"none\" ", N(left), N(right), y = N(y));
            put!(out, "stroke=\"#3c4450\" stroke-dasharray=\"3 3\"/>\n");
            let (x, y) = (N(left + 5.0), N(y - 4.0));
            put!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{SMALL}\">{}</text>\n", Indexed(name));
        }
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for (x, y, name) in &self.names {
            let Some((x, y)) = plot.spot(*x, *y) else { continue };
            let (x, y, width) = (x + 6.0, y - 6.0, width_of(name, SMALL));
            let covers = |(left, base, wide): &(f64, f64, f64)| {
                x < left + wide + 2.0 && *left < x + width + 2.0 && (y - base).abs() < SMALL
            };
            if taken.iter().any(covers) {
                continue;
            }
            taken.push((x, y, width));
            let (x, y) = (N(x), N(y));
            put!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{SMALL}\" fill=\"#5a6472\">");
            put!(out, "{}</text>\n", Text(name));
        }
    }
}
