//! A figure with its numbers.

use super::claim::Claim;
use super::{Axis, Kind};

/// A figure with its numbers and verdicts: all that a picture, a table or a page needs.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its name on the command line and in file names.
    pub id: &'static str,
    /// What it shows, in a line.
    pub title: &'static str,
    /// Where it comes from, or that it is ours.
    pub source: &'static str,
    /// What the paper shows and says, in our words.
    pub says: &'static str,
    /// What the paper leaves open, and what we chose.
    pub choices: &'static [&'static str],
    /// The pictures.
    pub panes: Vec<Pane>,
    /// What is claimed, and what the numbers say to it.
    pub claims: Vec<Claim>,
    /// The command that makes it again.
    pub command: String,
}

/// One picture.
#[derive(Clone, Debug)]
pub struct Pane {
    /// What it shows.
    pub title: &'static str,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// One line or one row of markers.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// How it came to be.
    pub kind: Kind,
    /// Curves of one hue show the same thing.
    pub hue: usize,
    /// Whether it is drawn.
    pub drawn: bool,
    /// Its points, by x.
    pub dots: Vec<Dot>,
}

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Across.
    pub x: f64,
    /// Up: a value, or the mean of a simulation.
    pub y: f64,
    /// The standard error of the mean; nought for a formula.
    pub stderr: f64,
    /// Where the true mean lies with 95 % confidence.
    pub ci95: [f64; 2],
    /// How many runs gave a value; none for a formula.
    pub runs: usize,
    /// The command that makes the point again, if one does.
    pub command: Option<String>,
}

impl Finding {
    /// Whether no paper has the figure.
    pub fn is_ours(&self) -> bool {
        super::is_ours(self.source)
    }

    /// The curve of this name; claims and tests look curves up by it.
    ///
    /// # Panics
    /// If there is none: the figure and its claims are written side by side.
    pub fn curve(&self, name: &str) -> &Curve {
        let mut curves = self.panes.iter().flat_map(|pane| &pane.curves);
        let found = curves.find(|curve| curve.name == name);
        found.unwrap_or_else(|| panic!("figure {} has no curve {name:?}", self.id))
    }
}

impl Pane {
    /// The curve of this name in this pane.
    ///
    /// # Panics
    /// If there is none.
    pub fn curve(&self, name: &str) -> &Curve {
        let found = self.curves.iter().find(|curve| curve.name == name);
        found.unwrap_or_else(|| panic!("pane {:?} has no curve {name:?}", self.title))
    }
}

impl Curve {
    /// The point at x.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(&self, x: f64) -> &Dot {
        let found = self.dots.iter().find(|dot| dot.x == x);
        found.unwrap_or_else(|| panic!("{} has no point at {x}", self.name))
    }

    /// The points of both curves that have the same x.
    pub fn beside<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a Dot, &'a Dot)> {
        let at = |x: f64| other.dots.iter().find(move |dot| dot.x == x);
        self.dots.iter().filter_map(move |dot| Some((dot, at(dot.x)?)))
    }

    /// Whether this lies above the other beyond doubt, wherever both have a point.
    pub fn exceeds(&self, other: &Self) -> bool {
        let mut pairs = self.beside(other).peekable();
        pairs.peek().is_some() && pairs.all(|(mine, other)| mine.exceeds(other))
    }

    /// Whether both may be the same wherever both have a point.
    pub fn agrees(&self, other: &Self) -> bool {
        let mut pairs = self.beside(other).peekable();
        pairs.peek().is_some() && pairs.all(|(mine, other)| mine.agrees(other))
    }

    /// The point that is farthest from the other curve, in standard errors, and how far that is.
    pub fn worst(&self, other: &Self) -> Option<(&Dot, f64)> {
        let mut worst: Option<(&Dot, f64)> = None;
        for mine in &self.dots {
            let Some(other) = other.dots.iter().find(|dot| dot.x == mine.x) else { continue };
            let error = libm::hypot(mine.stderr, other.stderr);
            let off = if error == 0.0 { 0.0 } else { (mine.y - other.y).abs() / error };
            if worst.is_none_or(|(_, most)| off > most) {
                worst = Some((mine, off));
            }
        }
        worst
    }
}
