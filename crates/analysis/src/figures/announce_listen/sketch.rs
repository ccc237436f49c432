//! The builders that our own figures share.

use super::super::{Kind, Points, Series};
use crate::inputs::{Inputs, ValidInputs};
use crate::point::Point;
use crate::quantity::{Formula, quantity};
use bellwether_sim::Measure;

/// Markers: this measure of the point at each x.
pub(super) fn simulated(
    name: &str,
    hue: usize,
    measure: Measure,
    xs: &[f64],
    point: impl Fn(f64) -> Point,
) -> Series {
    let points = xs.iter().map(|&x| (x, point(x))).collect();
    Series { name: name.to_owned(), hue, drawn: true, points: Points::Simulated(measure, points) }
}

/// The lines of a quantity, printed and corrected, wherever each has a value.
pub(super) fn formulas(
    quantity: &str,
    name: &str,
    hue: usize,
    xs: &[f64],
    given: impl Fn(f64) -> Inputs,
) -> [Series; 2] {
    [Kind::Printed, Kind::Corrected].map(|kind| formula(kind, quantity, name, hue, xs, &given))
}

/// One of the two.
pub(super) fn formula(
    kind: Kind,
    quantity: &str,
    name: &str,
    hue: usize,
    xs: &[f64],
    given: impl Fn(f64) -> Inputs,
) -> Series {
    let form = form(kind, quantity);
    let value = |x: f64| form(&ValidInputs::try_from(given(x)).ok()?).ok();
    let points = xs.iter().filter_map(|&x| Some((x, value(x)?))).collect();
    let name = format!("{name}, {}", kind.name());
    Series { name, hue, drawn: true, points: Points::Formula(kind, points) }
}

/// A quantity's formula.
///
/// # Panics
/// If there is no such quantity: figures name those that there are.
fn form(kind: Kind, name: &str) -> Formula {
    let quantity = quantity(name).unwrap_or_else(|| panic!("there is no quantity {name:?}"));
    if kind == Kind::Printed { quantity.printed } else { quantity.corrected }
}
