//! A figure with its numbers.

use super::claim::Claim;
use super::run::Played;
use super::{Axis, Kind, Table};

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
    /// Instead of them: one run.
    pub run: Option<Played>,
    /// What stands beside the pictures.
    pub tables: Vec<Table>,
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
    /// The standard error of the mean; zero for a formula.
    pub stderr: f64,
    /// Where the true mean lies with 95 % confidence.
    pub ci95: [f64; 2],
    /// How many runs gave a value; none for a formula.
    pub runs: usize,
    /// How many other runs gave none, because they were not watched for long enough. `y` is too low
    /// then, and has no interval.
    pub cut: u64,
    /// The command that makes the point again; none for a formula.
    pub command: Option<String>,
    /// How it came to be, as far as verdicts depend on it.
    pub origin: Origin,
}

/// How a point came to be, as far as verdicts depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// What its samples are.
    pub law: Law,
    /// How often the claims of its figure have been looked at, this time included; zero for a
    /// formula.
    pub look: u32,
    /// What is simulated for it, and would be with more runs.
    pub sources: Vec<String>,
    /// Whether the true value may be anything below, and anything above, because runs were cut.
    pub open: [bool; 2],
}

/// What the samples of a point are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// Numbers.
    #[default]
    Mean,
    /// Numbers from 0 to 1.
    Share,
    /// 1 if something happened, and 0 if it did not.
    Chance,
    /// All the same: nothing is random.
    Fixed,
}

impl Dot {
    /// A point without error.
    pub fn exactly(x: f64, y: f64) -> Self {
        let origin = Origin::default();
        Self { x, y, stderr: 0.0, ci95: [y; 2], runs: 0, cut: 0, command: None, origin }
    }
}

impl Finding {
    /// Whether no paper has the figure.
    pub fn is_ours(&self) -> bool {
        super::is_ours(self.source)
    }

    /// The run that it shows.
    ///
    /// # Panics
    /// If it shows none: the figure and its claims are written side by side.
    pub fn played(&self) -> &Played {
        self.run.as_ref().unwrap_or_else(|| panic!("figure {} shows no run", self.id))
    }

    /// The fewest and the most runs of its simulated points, those that were cut included; nothing,
    /// if none is simulated.
    pub fn runs(&self) -> Option<[u64; 2]> {
        let curves = self.panes.iter().flat_map(|pane| &pane.curves);
        let dots = curves.flat_map(|curve| &curve.dots).filter(|dot| dot.runs > 0);
        let runs = dots.map(|dot| dot.runs as u64 + dot.cut);
        let range = |[least, most]: [u64; 2], runs: u64| [least.min(runs), most.max(runs)];
        runs.fold(None, |known, runs| Some(range(known.unwrap_or([runs; 2]), runs)))
    }

    /// A sentence for each point of which runs were cut.
    pub fn cuts(&self) -> Vec<String> {
        let curves = self.panes.iter().flat_map(|pane| &pane.curves);
        let cut = |curve: &Curve, dot: &Dot| {
            let (Dot { x, cut, .. }, name) = (dot, &curve.name);
            let all = dot.runs as u64 + cut;
            format!("{name}, at {x}: {cut} of {all} runs were cut; the mean of the others is low")
        };
        let mut all = Vec::new();
        for curve in curves {
            all.extend(curve.dots.iter().filter(|dot| dot.cut > 0).map(|dot| cut(curve, dot)));
        }
        all
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

    /// Whether both have points at the same x, and this holds for all of them.
    pub(super) fn all_beside(&self, other: &Self, holds: impl Fn(&Dot, &Dot) -> bool) -> bool {
        let mut pairs = self.beside(other).peekable();
        pairs.peek().is_some() && pairs.all(|(mine, other)| holds(mine, other))
    }

    /// Whether this lies above the other beyond doubt, wherever both have a point.
    pub fn exceeds(&self, other: &Self) -> bool {
        self.all_beside(other, Dot::exceeds)
    }

    /// Whether both may be the same wherever both have a point.
    pub fn agrees(&self, other: &Self) -> bool {
        self.all_beside(other, Dot::agrees)
    }

    /// The point that is farthest from the other curve, in standard errors, and how far that is:
    /// infinitely far, if both have no error and yet differ by more than rounding.
    pub fn worst(&self, other: &Self) -> Option<(&Dot, f64)> {
        let mut worst: Option<(&Dot, f64)> = None;
        for mine in &self.dots {
            let Some(other) = other.dots.iter().find(|dot| dot.x == mine.x) else { continue };
            let error = libm::hypot(mine.stderr, other.stderr);
            let off = match (mine.y - other.y).abs() {
                gap if error > 0.0 => gap / error,
                gap if gap <= 1e-9 * other.y.abs() => 0.0,
                _ => f64::INFINITY,
            };
            if worst.is_none_or(|(_, most)| off > most) {
                worst = Some((mine, off));
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(dots: &[(f64, f64, f64)]) -> Curve {
        let dot = |&(x, y, stderr): &(f64, f64, f64)| {
            let runs = if stderr > 0.0 { 1000 } else { 0 };
            Dot { stderr, runs, ..Dot::exactly(x, y) }
        };
        let dots = dots.iter().map(dot).collect();
        Curve { name: String::new(), kind: Kind::Simulated, hue: 0, drawn: true, dots }
    }

    #[test]
    fn what_differs_without_error_is_infinitely_far() {
        let line = curve(&[(1.0, 5.0, 0.0), (2.0, 5.0, 0.0)]);
        let worst =
            |dots: &[(f64, f64, f64)]| curve(dots).worst(&line).map(|(dot, off)| (dot.x, off));
        assert_eq!(worst(&[(1.0, 8.0, 1.0), (2.0, 5.0, 0.0)]), Some((1.0, 3.0)));
        assert_eq!(worst(&[(1.0, 8.0, 1.0), (2.0, 5.1, 0.0)]), Some((2.0, f64::INFINITY)));
        assert_eq!(worst(&[(1.0, 5.0 + 1e-12, 0.0)]), Some((1.0, 0.0)));
        assert_eq!(worst(&[(3.0, 5.0, 0.0)]), None);
    }
}
