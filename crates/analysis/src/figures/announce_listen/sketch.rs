//! The builders that our own figures share.

use crate::figures::{Kind, Series};
use crate::inputs::{Inputs, ValidInputs};
use crate::point::Point;
use bellwether_sim::Measure;

/// Markers: this measure of the point at each x.
pub(super) fn simulated(
    name: &str,
    hue: usize,
    measure: Measure,
    xs: &[f64],
    point: impl Fn(f64) -> Point,
) -> Series {
    Series::simulated(name, hue, measure, xs.iter().map(|&x| (x, point(x))))
}

/// The lines of a quantity, printed and corrected, wherever each has a value. Without loss the text
/// has another formula than with it, to which the printed line does not lead: it begins after 0.
pub(super) fn formulas(
    quantity: &str,
    name: &str,
    hue: usize,
    xs: &[f64],
    given: impl Fn(f64) -> Inputs,
) -> [Series; 2] {
    let lossy: Vec<f64> = xs.iter().copied().filter(|x| *x > 0.0).collect();
    [(Kind::Printed, &lossy[..]), (Kind::Corrected, xs)]
        .map(|(kind, xs)| formula(kind, quantity, name, hue, xs, &given))
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
    let inputs = xs.iter().filter_map(|&x| Some((x, ValidInputs::try_from(given(x)).ok()?)));
    Series::formula((name, quantity), hue, kind, inputs)
}
