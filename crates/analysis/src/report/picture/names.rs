//! What is drawn, under names as short as they can be.
//!
//! Names of curves are lists, such as `LE-S, uncorrelated, simulated`: claims look curves up by
//! them, so they are complete. In a picture, the part that all curves of one pane share and no
//! other pane has stands in the pane's title. Without that part panes often have the same names and
//! can share a legend.

use crate::figures::{Curve, Finding, Kind, Pane};
use std::collections::BTreeSet;

/// The panes, without curves that show nothing.
pub(super) fn prepared(finding: &Finding) -> Vec<Pane> {
    let visible = |pane: &Pane| {
        let (x, y) = (pane.x.log, pane.y.log);
        let placed = move |value: f64, log: bool| value.is_finite() && (!log || value > 0.0);
        let is_seen = |curve: &&Curve| {
            curve.drawn && curve.dots.iter().any(|dot| placed(dot.x, x) && placed(dot.y, y))
        };
        let curves: Vec<Curve> = pane.curves.iter().filter(is_seen).cloned().collect();
        Pane { curves, ..pane.clone() }
    };
    let mut panes: Vec<Pane> = finding.panes.iter().map(visible).collect();
    let told: Vec<BTreeSet<String>> =
        (0..panes.len()).map(|index| common_parts(&panes, index)).collect();
    for (pane, told) in panes.iter_mut().zip(&told) {
        // A curve whose name is nothing but its kind would have no name in a legend.
        let is_named = |curve: &Curve| {
            parts(&curve.name).any(|part| !told.contains(part) && part != curve.kind.name())
        };
        if !pane.curves.iter().all(is_named) {
            continue;
        }
        for curve in &mut pane.curves {
            let left: Vec<&str> = parts(&curve.name).filter(|part| !told.contains(*part)).collect();
            curve.name = left.join(", ");
        }
    }
    panes
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(", ")
}

/// What all curves of this pane say, and none of the others.
fn common_parts(panes: &[Pane], index: usize) -> BTreeSet<String> {
    let [first, rest @ ..] = panes[index].curves.as_slice() else { return BTreeSet::new() };
    if rest.is_empty() || panes.len() < 2 {
        return BTreeSet::new();
    }
    let has = |curve: &Curve, part: &str| parts(&curve.name).any(|other| other == part);
    let others = || panes.iter().enumerate().filter(move |(other, _)| *other != index);
    let is_told = |part: &&str| {
        rest.iter().all(|curve| has(curve, part))
            && !others().any(|(_, pane)| pane.curves.iter().any(|curve| has(curve, part)))
    };
    parts(&first.name).filter(is_told).map(str::to_owned).collect()
}

/// The name without the word for its kind, which the look tells.
pub(super) fn plain(name: &str, kind: Kind) -> String {
    parts(name).filter(|part| *part != kind.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn names(panes: &[Pane]) -> Vec<Vec<&str>> {
        panes.iter().map(|pane| pane.curves.iter().map(|c| c.name.as_str()).collect()).collect()
    }

    #[test]
    fn what_a_pane_alone_says_is_left_out() {
        let mut finding = sample::four();
        for (index, pane) in finding.panes.iter_mut().enumerate() {
            for curve in &mut pane.curves {
                curve.name = format!("loss {index}, {}", curve.name);
            }
        }
        let panes = prepared(&finding);
        assert_eq!(names(&panes)[0][..2], ["LE-A, corrected", "LE-A, simulated"]);
        assert_eq!(names(&panes)[3], names(&panes)[0]);
    }

    /// Figure 5.9 once had a pane of one subject, whose entry in the legend had no name.
    #[test]
    fn a_pane_of_one_subject_keeps_its_name() {
        let mut finding = sample::four();
        let pane = &mut finding.panes[1];
        pane.curves.truncate(2);
        for (curve, kind) in pane.curves.iter_mut().zip([Kind::Corrected, Kind::Simulated]) {
            (curve.kind, curve.name) = (kind, format!("LE-S in the first T_S, {}", kind.name()));
        }
        let panes = prepared(&finding);
        assert_eq!(names(&panes)[1][0], "LE-S in the first T_S, corrected");
    }

    #[test]
    fn one_pane_keeps_its_names_and_loses_what_cannot_be_seen() {
        let mut finding = sample::plain();
        finding.panes[0].curves[0].dots.clear();
        let panes = prepared(&finding);
        assert_eq!(panes[0].curves.len(), 8);
        assert_eq!(names(&panes)[0][0], "LE-A, simulated");
    }

    #[test]
    fn kinds_are_no_part_of_a_plain_name() {
        assert_eq!(plain("LE-S, simulated", Kind::Simulated), "LE-S");
        assert_eq!(plain("LE-S, simulated", Kind::Corrected), "LE-S, simulated");
    }
}
