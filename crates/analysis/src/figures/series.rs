//! Series of figures: what formulas, simulations and trials give, and the names of their curves.

use super::{Curve, Finding, Kind, Points, Series, Trial};
use crate::inputs::ValidInputs;
use crate::point::Point;
use crate::quantity::{Formula, Quantity, quantity};
use bellwether_sim::Measure;

impl Series {
    fn new(name: impl Into<String>, hue: usize, points: Points) -> Self {
        Self { name: name.into(), hue, drawn: true, points }
    }

    /// The line of a formula, wherever it has a value.
    pub(super) fn line(
        name: impl Into<String>,
        hue: usize,
        kind: Kind,
        values: impl Iterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        let points = values.filter_map(|(x, y)| Some((x, y?))).collect();
        Self::new(name, hue, Points::Formula(kind, points))
    }

    /// The line of a form of a quantity, for these inputs.
    pub(super) fn formula(
        (subject, quantity): (&str, &str),
        hue: usize,
        kind: Kind,
        inputs: impl Iterator<Item = (f64, ValidInputs)>,
    ) -> Self {
        let form = form(kind, quantity);
        Self::line(named(subject, kind), hue, kind, inputs.map(|(x, at)| (x, form(&at).ok())))
    }

    /// Markers: this measure of the point at each x.
    pub(super) fn simulated(
        name: impl Into<String>,
        hue: usize,
        measure: Measure,
        points: impl Iterator<Item = (f64, Point)>,
    ) -> Self {
        Self::new(name, hue, Points::Simulated(measure, points.collect()))
    }

    /// Markers: what the trial at each x measures.
    pub(super) fn measured(
        name: impl Into<String>,
        hue: usize,
        trials: impl Iterator<Item = (f64, Trial)>,
    ) -> Self {
        Self::new(name, hue, Points::Measured(trials.collect()))
    }

    /// The same series, for the claims and the tables alone.
    pub(super) fn hidden(self) -> Self {
        Self { drawn: false, ..self }
    }

    /// Whether it is a formula with fewer values than these.
    pub(super) fn is_formula_below(&self, values: usize) -> bool {
        matches!(&self.points, Points::Formula(_, points) if points.len() < values)
    }
}

/// The name of a subject's curve of this kind.
pub(super) fn named(subject: &str, kind: Kind) -> String {
    format!("{subject}, {}", kind.name())
}

impl Finding {
    /// The curve of a subject, of this kind.
    pub(super) fn of(&self, subject: &str, kind: Kind) -> &Curve {
        self.curve(&named(subject, kind))
    }

    /// What was simulated of a subject.
    pub(super) fn simulated(&self, subject: &str) -> &Curve {
        self.of(subject, Kind::Simulated)
    }

    /// What is printed about a subject.
    pub(super) fn printed(&self, subject: &str) -> &Curve {
        self.of(subject, Kind::Printed)
    }

    /// What should be printed about a subject.
    pub(super) fn corrected(&self, subject: &str) -> &Curve {
        self.of(subject, Kind::Corrected)
    }
}

/// The quantity of this name.
///
/// # Panics
/// If there is none: figures name those that there are.
pub(super) fn known(name: &str) -> &'static Quantity {
    quantity(name).unwrap_or_else(|| panic!("no quantity is called {name}"))
}

/// A form of the quantity of this name.
fn form(kind: Kind, name: &str) -> Formula {
    let quantity = known(name);
    if kind == Kind::Printed { quantity.printed } else { quantity.corrected }
}
