//! The legend: what the lines and markers mean. It stands below the pictures and covers no data.

use super::super::markup::{Indexed, N, put};
use super::look::{Look, Looks};
use super::words::{LABEL, width_of};
use crate::figures::Kind;

/// The sample of a line, and the gap to its name.
const SAMPLE: f64 = 30.0;
const GAP: f64 = 7.0;
const BETWEEN: f64 = 20.0;
const LINE: f64 = 18.0;

/// A legend, laid out in columns.
pub(super) struct Legend {
    entries: Vec<(String, Vec<Look>)>,
    /// How wide each column is.
    columns: Vec<f64>,
}

impl Legend {
    /// As many columns as fit.
    pub(super) fn new(looks: &Looks, width: f64) -> Self {
        let entries = looks.entries();
        let layout = |columns: usize| -> Vec<f64> {
            let rows = entries.len().div_ceil(columns).max(1);
            let widest = |column: &[(String, Vec<Look>)]| {
                let names = column.iter().map(|(name, _)| width_of(name, LABEL));
                SAMPLE + GAP + names.fold(0.0, f64::max)
            };
            entries.chunks(rows).map(widest).collect()
        };
        let fits = |columns: &Vec<f64>| {
            columns.iter().sum::<f64>() + BETWEEN * columns.len() as f64 - BETWEEN <= width
        };
        let most = entries.len().clamp(1, 4);
        let columns = (2..=most).rev().map(layout).find(fits).unwrap_or_else(|| layout(1));
        Self { entries, columns }
    }

    fn rows(&self) -> usize {
        self.entries.len().div_ceil(self.columns.len().max(1))
    }

    pub(super) fn height(&self) -> f64 {
        LINE * self.rows() as f64
    }

    /// Draws it with its upper left corner here.
    pub(super) fn draw(&self, out: &mut String, left: f64, top: f64) {
        let rows = self.rows().max(1);
        let mut x = left;
        for (column, width) in self.entries.chunks(rows).zip(&self.columns) {
            for (row, (name, looks)) in column.iter().enumerate() {
                let y = top + LINE * (row as f64 + 0.5);
                looks.iter().for_each(|look| sample(out, *look, x, y));
                let (at, base) = (N(x + SAMPLE + GAP), N(y + 0.35 * LABEL));
                put!(out, "<text x=\"{at}\" y=\"{base}\">{}</text>\n", Indexed(name));
            }
            x += width + BETWEEN;
        }
    }
}

fn sample(out: &mut String, look: Look, x: f64, y: f64) {
    look.line(out, &[(x, y), (x + SAMPLE, y)]);
    if look.kind().is_marked() {
        let middle = x + SAMPLE / 2.0;
        if look.kind() == Kind::Simulated {
            look.bar(out, middle, y + 7.0, y - 7.0);
        }
        look.marker(out, (middle, y), "");
    }
}

/// What the kinds of curves are, in words.
pub(super) fn key(looks: &[Looks]) -> String {
    let has = |kind| looks.iter().any(|looks| looks.has(kind));
    let say = |kind, words: &'static str| has(kind).then_some(words);
    let words = [
        say(Kind::Simulated, "markers: simulated mean with 95 % interval"),
        say(Kind::Measured, "markers: measured"),
        say(Kind::Corrected, "heavy lines: formula, corrected"),
        say(Kind::Printed, "fine broken lines: formula, as printed"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
