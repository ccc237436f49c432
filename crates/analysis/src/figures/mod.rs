//! Figures: what a paper drew and said, drawn again from our formulas and our simulations.
//!
//! A [`Figure`] is a value: axes, series, what the paper says about it, and a function that judges
//! each claim from the numbers. Nothing is simulated while one is described; a [`Workbench`]
//! simulates each different point once, and gives every figure its numbers. So the time a report
//! takes is known before it begins, and two figures that show the same runs share them.
//!
//! To add a figure, add one file with one function, and one [`Row`] to the list of its paper.

mod claim;
mod evidence;
mod finding;
mod jobs;
mod known;
mod run;
mod series;
mod tell;
mod workbench;

pub mod announce_listen;
pub mod classic;
pub mod local_leader;
pub mod probabilistic;

pub use claim::{Claim, Verdict};
pub use finding::{Curve, Dot, Finding, Law, Origin, Pane};
pub use run::{Played, Run};
pub use tell::{CLAIMS, FAMILY};
pub use workbench::{Budget, SimulationFailed, Workbench};

use crate::point::Point;
use bellwether_sim::Measure;

/// A picture with what is said about it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name on the command line and in file names, such as `5.6`.
    pub id: &'static str,
    /// What it shows, in a line.
    pub title: &'static str,
    /// Where it comes from, or that it is ours.
    pub source: &'static str,
    /// What the paper shows and says, in our words.
    pub says: &'static str,
    /// What the paper leaves open, and what we chose.
    pub choices: &'static [&'static str],
    /// One or more pictures side by side.
    pub panels: Vec<Panel>,
    /// Instead of panels: one run, drawn whole.
    pub run: Option<Run>,
    /// What stands beside the pictures.
    pub tables: Vec<Table>,
    /// Judges what the paper says, from the numbers of the panels or the records of the run.
    pub claims: fn(&Finding) -> Vec<Claim>,
}

impl Figure {
    /// Nothing at all, for figures to say what they have.
    pub(crate) const BARE: Self = Self {
        id: "",
        title: "",
        source: "",
        says: "",
        choices: &[],
        panels: Vec::new(),
        run: None,
        tables: Vec::new(),
        claims: |_| Vec::new(),
    };

    /// Whether no paper has it: its source begins with that word.
    pub fn is_ours(&self) -> bool {
        is_ours(self.source)
    }
}

/// Whether this is the source of a figure of ours.
fn is_ours(source: &str) -> bool {
    source.starts_with("ours")
}

/// A table of texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Table {
    /// What it shows.
    pub title: &'static str,
    /// What each column holds.
    pub head: Vec<&'static str>,
    /// As many cells in each as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// One picture: two axes and what is drawn between them.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows; the only panel of a figure needs none.
    pub title: &'static str,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: &'static str,
    /// In what; empty for a plain number.
    pub unit: &'static str,
    /// Whether it grows by factors.
    pub log: bool,
}

impl Axis {
    /// An axis that grows by steps.
    pub const fn linear(label: &'static str, unit: &'static str) -> Self {
        Self { label, unit, log: false }
    }

    /// An axis that grows by factors.
    pub const fn log(label: &'static str, unit: &'static str) -> Self {
        Self { label, unit, log: true }
    }
}

/// How a series came to be, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A formula as the paper prints it: a dotted line.
    Printed,
    /// A formula as it should read: a line.
    Corrected,
    /// A simulation: markers with error bars.
    Simulated,
    /// A measurement of real processes: markers.
    Measured,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Corrected => "corrected",
            Self::Simulated => "simulated",
            Self::Measured => "measured",
        }
    }

    /// Whether its points are drawn as markers.
    pub fn is_marked(self) -> bool {
        matches!(self, Self::Simulated | Self::Measured)
    }
}

/// One line or one row of markers.
#[derive(Clone, Debug)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Series of one hue show the same thing, by formula and by simulation.
    pub hue: usize,
    /// Whether it is drawn, or only there for the claims (and the tables).
    pub drawn: bool,
    /// Its points.
    pub points: Points,
}

/// Where the points of a series come from.
#[derive(Clone, Debug)]
pub enum Points {
    /// From a formula, printed or corrected: (x, y). Where it has no value there is no point.
    Formula(Kind, Vec<(f64, f64)>),
    /// From simulations: at x, this measure of that point.
    Simulated(Measure, Vec<(f64, Point)>),
    /// From experiments that no single command makes: at x, what the function measures.
    Measured(Vec<(f64, Trial)>),
}

/// An experiment of a figure's own: given how many runs and a seed, one sample a run.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// What tells it from others; trials of one name are made once.
    pub name: &'static str,
    /// What it is asked about, together with `name`.
    pub argument: u32,
    /// How many runs at a budget of a thousand.
    pub runs: u64,
    /// About how many messages are received in a run: what it costs.
    pub messages: u64,
    /// What its samples are.
    pub law: Law,
    /// Makes one run with this seed; `None` if it was not watched for long enough to give a number.
    pub run: fn(argument: u32, seed: u64, run: u64) -> Option<f64>,
}

/// A figure's name, and the function that describes the figure under it.
pub type Row = (&'static str, fn() -> Figure);

/// The names of all figures, in the order of the report.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|(name, _)| *name)
}

/// All figures, in the order of the report.
pub fn figures() -> Vec<Figure> {
    rows().map(described).collect()
}

/// The figure of this name; `figure-5.6`, `fig5.6` and `Figure 5.6` are 5.6 as well. No other is
/// described for that.
pub fn figure(name: &str) -> Option<Figure> {
    let plain = name.trim().to_ascii_lowercase();
    let short = ["figure", "fig."].iter().chain(&["fig"]).find_map(|word| plain.strip_prefix(word));
    let short = short.unwrap_or(&plain).trim_start_matches(['-', ' ', '_']);
    rows().find(|(name, _)| *name == plain || *name == short).map(described)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    let papers = announce_listen::FIGURES.iter().chain(classic::FIGURES);
    papers.chain(probabilistic::FIGURES).chain(local_leader::FIGURES)
}

fn described((id, describe): &Row) -> Figure {
    Figure { id, ..describe() }
}
