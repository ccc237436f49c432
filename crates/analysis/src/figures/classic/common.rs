//! What the figures of elections that are called have in common: inputs, series, values.

use crate::figures::{Curve, Finding, Kind, Points, Series};
use crate::inputs::{Inputs, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, quantity};
use bellwether_sim::Measure;

/// The usual parameters, but for these.
pub(super) fn inputs(nodes: u32, change: impl FnOnce(&mut Inputs)) -> ValidInputs {
    let mut given = Inputs { nodes, ..Inputs::default() };
    change(&mut given);
    given.try_into().expect("figures ask for what formulas can tell")
}

/// The quantity of this name, which a figure names and a list has.
pub(super) fn known(name: &str) -> &'static Quantity {
    quantity(name).unwrap_or_else(|| panic!("no quantity is called {name}"))
}

/// What a corrected formula comes to.
pub(super) fn value_of(name: &str, inputs: &ValidInputs) -> f64 {
    (known(name).corrected)(inputs).expect("figures ask for what formulas can tell")
}

/// The name of a subject's curve.
pub(super) fn named(subject: &str, kind: Kind) -> String {
    format!("{subject}, {}", kind.name())
}

/// The curve of a subject.
pub(super) fn curve<'a>(finding: &'a Finding, subject: &str, kind: Kind) -> &'a Curve {
    finding.curve(&named(subject, kind))
}

/// A series of formula values; those that there are.
pub(super) fn formula(
    subject: &str,
    hue: usize,
    kind: Kind,
    points: impl Iterator<Item = (f64, Option<f64>)>,
) -> Series {
    let points = points.filter_map(|(x, y)| Some((x, y?))).collect();
    Series { name: named(subject, kind), hue, drawn: true, points: Points::Formula(kind, points) }
}

/// A series of simulations.
pub(super) fn simulated(
    subject: &str,
    hue: usize,
    measure: Measure,
    points: impl Iterator<Item = (u32, Point)>,
) -> Series {
    let points = points.map(|(nodes, point)| (f64::from(nodes), point)).collect();
    let points = Points::Simulated(measure, points);
    Series { name: named(subject, Kind::Simulated), hue, drawn: true, points }
}

/// By what factor what each process has to bear grows along a curve, `of` saying for how many
/// processes a point stands: near one if it is proportional to their number.
pub(super) fn growth_per_process(curve: &Curve, of: impl Fn(f64) -> f64) -> Option<[f64; 3]> {
    let (first, last) = (curve.dots.first()?, curve.dots.last()?);
    let (first, last) = (first.y / of(first.x), last.y / of(last.x));
    Some([first, last, last / first])
}

/// What still counts as the same: a twentieth more for ten times as many processes. What grows with
/// the logarithm of their number grows by more than a third from a hundred to a thousand.
pub(super) const STEADY: f64 = 1.05;
