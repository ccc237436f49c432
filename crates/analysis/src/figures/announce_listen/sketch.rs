//! The builders that our own figures share.

use super::super::{Kind, Points, Series};
use crate::cell::Cell;
use crate::quantity::{Formula, quantity};
use crate::setting::{Given, Loss, Setting};
use bellwether_sim::Measure;

/// So much loss, which all receivers suffer together; no loss at all if that is nought.
pub(super) fn together(rate: f64) -> Loss {
    if rate == 0.0 { Loss::None } else { Loss::Correlated(rate) }
}

/// So much loss, which each receiver suffers for itself; no loss at all if that is nought.
pub(super) fn apart(rate: f64) -> Loss {
    if rate == 0.0 { Loss::None } else { Loss::Uncorrelated(rate) }
}

/// Markers: this measure of the cell at each x.
pub(super) fn simulated(
    name: &str,
    hue: usize,
    measure: Measure,
    xs: &[f64],
    cell: impl Fn(f64) -> Cell,
) -> Series {
    let points = xs.iter().map(|&x| (x, cell(x).into())).collect();
    Series { name: name.to_owned(), hue, drawn: true, points: Points::Simulated(measure, points) }
}

/// The lines of a quantity, printed and corrected, wherever each has a value.
pub(super) fn formulas(
    quantity: &str,
    name: &str,
    hue: usize,
    xs: &[f64],
    given: impl Fn(f64) -> Given,
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
    given: impl Fn(f64) -> Given,
) -> Series {
    let form = form(kind, quantity);
    let value = |x: f64| form(&Setting::try_from(given(x)).ok()?).ok();
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
