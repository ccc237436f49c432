//! What the figures of elections that are called have in common: values, and how they grow.

use crate::figures::Curve;
use crate::figures::series::known;
use crate::inputs::ValidInputs;

/// What a corrected formula comes to.
pub(super) fn value_of(name: &str, inputs: &ValidInputs) -> f64 {
    (known(name).corrected)(inputs).expect("figures ask for what formulas can tell")
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
