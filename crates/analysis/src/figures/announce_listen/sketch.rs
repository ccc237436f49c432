//! The builders that our own figures share.

use super::super::{Curve, Dot, Kind, Points, Series};
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
    let points = xs.iter().map(|&x| (x, cell(x))).collect();
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
    let value = |x: f64| form?(&Setting::try_from(given(x)).ok()?).ok();
    let points = xs.iter().filter_map(|&x| Some((x, value(x)?))).collect();
    let name = format!("{name}, {}", kind.name());
    Series { name, hue, drawn: true, points: Points::Formula(kind, points) }
}

/// A quantity's formula.
fn form(kind: Kind, name: &str) -> Option<Formula> {
    let quantity = quantity(name)?;
    Some(if kind == Kind::Printed { quantity.printed } else { quantity.corrected })
}

/// Whether the one lies below the other: somewhere beyond doubt, and nowhere above beyond doubt.
/// A report of few runs is then less sure, but not of the contrary.
pub(super) fn below(less: &Curve, more: &Curve) -> bool {
    let mut pairs = less.beside(more);
    let contradicted = less.beside(more).any(|(less, more)| less.exceeds(more));
    !contradicted && pairs.any(|(less, more)| more.exceeds(less))
}

/// A point as a sentence has it: with its standard error, if it has one.
pub(super) fn number(dot: &Dot) -> String {
    let Dot { y, stderr, .. } = *dot;
    // The place of a number's first digit after the point; none of its digits are if it is large.
    let place = |value: f64| (-libm::floor(libm::log10(value.abs()))).clamp(0.0, 9.0) as usize;
    if stderr > 0.0 {
        let digits = place(stderr);
        return format!("{y:.digits$} ± {stderr:.digits$}");
    }
    if y == libm::round(y) {
        return format!("{y}");
    }
    let digits = place(y) + 2;
    format!("{y:.digits$}")
}
