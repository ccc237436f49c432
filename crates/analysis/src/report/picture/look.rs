//! How a curve looks: its kind decides line or marker, its hue which colour, dash and shape.
//!
//! Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart,
//! without the yellow, which is hard to see on white paper. Every hue also has its own marker and
//! dashes, so that curves can be told apart without colour.

use super::super::markup::{N, put};
use super::names::plain;
use crate::figures::{Curve, Kind};
use std::collections::BTreeSet;

const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#b3488a", "#000000", "#56b4e9", "#e69f00"];
/// Of lines that no markers of their hue accompany; with markers a line is solid.
const DASHES: [&str; 6] = ["", "9 3", "9 2.5 2 2.5", "5 2", "14 3", "9 2 2 2 2 2"];
/// Of formulas as printed: always broken, always finer.
const DOTS: [&str; 6] = ["1.5 2.5", "4 2.5", "4 2 1.2 2", "1.5 5", "7 2.5", "4 2 1.2 2 1.2 2"];

/// Corners of markers, in units of their size; the first, which has none, is a circle.
const SHAPES: [&[(f64, f64)]; 10] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.1, 0.75), (-1.1, 0.75)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.2), (1.1, -0.75), (-1.1, -0.75)],
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
    &[(0.0, -1.15), (1.09, -0.36), (0.68, 0.93), (-0.68, 0.93), (-1.09, -0.36)],
    &[(-1.0, -1.1), (1.0, -1.1), (-1.0, 1.1), (1.0, 1.1)],
    &[
        (-1.2, -0.7),
        (-0.7, -1.2),
        (0.0, -0.5),
        (0.7, -1.2),
        (1.2, -0.7),
        (0.5, 0.0),
        (1.2, 0.7),
        (0.7, 1.2),
        (0.0, 0.5),
        (-0.7, 1.2),
        (-1.2, 0.7),
        (-0.5, 0.0),
    ],
    &[
        (0.0, -1.5),
        (0.35, -0.48),
        (1.43, -0.46),
        (0.57, 0.19),
        (0.88, 1.21),
        (0.0, 0.6),
        (-0.88, 1.21),
        (-0.57, 0.19),
        (-1.43, -0.46),
        (-0.35, -0.48),
    ],
];

/// The size of a marker: half its width.
const SIZE: f64 = 3.6;

/// How one curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    kind: Kind,
    colour: &'static str,
    dash: &'static str,
    shape: usize,
    /// A second simulation of one hue has full markers.
    full: bool,
    /// Markers that no line of their hue accompanies are joined by a faint one.
    joined: bool,
}

/// The looks of curves that share a legend.
pub(super) struct Looks {
    /// What there is: (kind, hue, name), by first appearance.
    seen: Vec<(Kind, usize, String)>,
    marked: BTreeSet<usize>,
    lined: BTreeSet<usize>,
}

impl Looks {
    pub(super) fn of<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Self {
        let mut looks = Self { seen: Vec::new(), marked: BTreeSet::new(), lined: BTreeSet::new() };
        for curve in curves {
            let entry = (curve.kind, curve.hue, curve.name.clone());
            if !looks.seen.contains(&entry) {
                looks.seen.push(entry);
            }
            let marked = curve.kind.is_marked();
            if marked { &mut looks.marked } else { &mut looks.lined }.insert(curve.hue);
        }
        looks
    }

    /// Whether no two names look the same, so that one legend can stand for all.
    pub(super) fn are_distinct(&self) -> bool {
        let looks: Vec<_> = self.all().map(|(_, look)| look).collect();
        looks.iter().enumerate().all(|(index, look)| !looks[..index].contains(look))
    }

    /// Every name and its look.
    fn all(&self) -> impl Iterator<Item = (&str, Look)> {
        self.seen.iter().map(|(kind, hue, name)| (name.as_str(), self.look(*kind, *hue, name)))
    }

    /// What a legend lists: a formula and its simulation are one entry, a line with a marker.
    pub(super) fn entries(&self) -> Vec<(String, Vec<Look>)> {
        let mut entries: Vec<(String, Vec<Look>)> = Vec::new();
        for (index, (kind, hue, name)) in self.seen.iter().enumerate() {
            let look = self.look(*kind, *hue, name);
            let Some(companion) = self.companion(index) else {
                entries.push((name.clone(), vec![look]));
                continue;
            };
            if companion > index {
                let (kind, hue, other) = &self.seen[companion];
                let both = vec![look, self.look(*kind, *hue, other)];
                entries.push((plain(name, look.kind), both));
            }
        }
        entries
    }

    /// The simulation of a corrected formula, or the other way round.
    fn companion(&self, index: usize) -> Option<usize> {
        let (kind, hue, name) = &self.seen[index];
        let wanted = match kind {
            Kind::Corrected => Kind::Simulated,
            Kind::Simulated => Kind::Corrected,
            Kind::Printed | Kind::Measured => return None,
        };
        let short = plain(name, *kind);
        self.seen.iter().position(|(kind, other_hue, other)| {
            (*kind, other_hue) == (wanted, hue) && plain(other, wanted) == short
        })
    }

    /// Which kinds there are.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.seen.iter().any(|(other, ..)| *other == kind)
    }

    /// How many names there are.
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// The look of this curve.
    pub(super) fn look_of(&self, curve: &Curve) -> Look {
        self.look(curve.kind, curve.hue, &curve.name)
    }

    fn look(&self, kind: Kind, hue: usize, name: &str) -> Look {
        let alike = self.seen.iter().filter(|(a, b, _)| (*a, *b) == (kind, hue));
        let place = alike.take_while(|(.., other)| other != name).count();
        let dash = match kind {
            Kind::Simulated | Kind::Measured => "",
            Kind::Printed => DOTS[(hue + 2 * place) % DOTS.len()],
            Kind::Corrected if self.marked.contains(&hue) => DASHES[place % DASHES.len()],
            Kind::Corrected => DASHES[(hue + 2 * place) % DASHES.len()],
        };
        Look {
            kind,
            colour: COLOURS[hue % COLOURS.len()],
            dash,
            shape: hue % SHAPES.len(),
            full: place % 2 == 1,
            joined: kind.is_marked() && !self.lined.contains(&hue),
        }
    }
}

impl Look {
    pub(super) fn kind(self) -> Kind {
        self.kind
    }

    /// The same, with its markers joined or not.
    pub(super) fn joined(self, joined: bool) -> Self {
        Self { joined, ..self }
    }

    /// The line through these places, if the curve has one.
    pub(super) fn line(self, out: &mut String, places: &[(f64, f64)]) {
        let (width, faint) = match self.kind {
            Kind::Corrected => (1.7, ""),
            Kind::Printed => (1.1, ""),
            Kind::Simulated | Kind::Measured if self.joined => (0.8, " stroke-opacity=\".55\""),
            Kind::Simulated | Kind::Measured => return,
        };
        if places.len() < 2 {
            return;
        }
        let dash = match self.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        let points: Vec<_> = places.iter().map(|(x, y)| format!("{},{}", N(*x), N(*y))).collect();
        let (points, colour) = (points.join(" "), self.colour);
        put!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}{faint}/>\n"
        );
    }

    /// An error bar from low to high at x, with caps.
    pub(super) fn bar(self, out: &mut String, x: f64, low: f64, high: f64) {
        let (left, right) = (N(x - 2.6), N(x + 2.6));
        let (x, low, high, colour) = (N(x), N(low), N(high), self.colour);
        put!(
            out,
            "<path d=\"M{left},{low}H{right}M{x},{low}V{high}M{left},{high}H{right}\" \
             fill=\"none\" stroke=\"{colour}\"/>\n"
        );
    }

    /// A marker at this place; a browser shows `tip` when it is pointed at.
    pub(super) fn marker(self, out: &mut String, (x, y): (f64, f64), tip: &str) {
        let colour = self.colour;
        let fill = if self.full { colour } else { "#fff" };
        let paint = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.3\"");
        let tip = if tip.is_empty() { String::new() } else { format!("<title>{tip}</title>") };
        if SHAPES[self.shape].is_empty() {
            let (x, y) = (N(x), N(y));
            put!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{SIZE}\" {paint}>{tip}</circle>\n");
            return;
        }
        let corner = |(dx, dy): &(f64, f64)| format!("{},{}", N(x + SIZE * dx), N(y + SIZE * dy));
        let corners: Vec<_> = SHAPES[self.shape].iter().map(corner).collect();
        put!(out, "<polygon points=\"{}\" {paint}>{tip}</polygon>\n", corners.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, kind: Kind, hue: usize) -> Curve {
        Curve { name: name.to_owned(), kind, hue, drawn: true, dots: Vec::new() }
    }

    #[test]
    fn hues_differ_without_colour() {
        let kinds = [(Kind::Corrected, 6), (Kind::Printed, 6), (Kind::Simulated, 10)];
        for (kind, hues) in kinds {
            let curves: Vec<_> = (0..hues).map(|hue| curve(&hue.to_string(), kind, hue)).collect();
            let looks = Looks::of(&curves);
            let grey: Vec<_> = looks.all().map(|(_, look)| Look { colour: "", ..look }).collect();
            for (index, look) in grey.iter().enumerate() {
                assert!(!grey[..index].contains(look), "{look:?}");
            }
        }
    }

    #[test]
    fn a_line_with_markers_is_solid() {
        let curves = [curve("a", Kind::Corrected, 2), curve("b", Kind::Simulated, 2)];
        let looks = Looks::of(&curves);
        assert_eq!(looks.look_of(&curves[0]).dash, "");
        assert!(!looks.look_of(&curves[1]).joined);
        let looks = Looks::of(&curves[..1]);
        assert_ne!(looks.look_of(&curves[0]).dash, "");
    }

    #[test]
    fn a_formula_and_its_simulation_are_one_entry() {
        let curves = [
            curve("LE-S, corrected", Kind::Corrected, 0),
            curve("LE-S, printed", Kind::Printed, 0),
            curve("LE-S, simulated", Kind::Simulated, 0),
            curve("SUP, simulated", Kind::Simulated, 1),
        ];
        let entries = Looks::of(&curves).entries();
        let names: Vec<_> =
            entries.iter().map(|(name, looks)| (name.as_str(), looks.len())).collect();
        assert_eq!(names, [("LE-S", 2), ("LE-S, printed", 1), ("SUP, simulated", 1)]);
    }

    #[test]
    fn two_of_one_hue_and_kind_are_still_two() {
        let curves = [curve("a", Kind::Simulated, 0), curve("b", Kind::Simulated, 0)];
        let looks = Looks::of(&curves);
        assert!(looks.are_distinct());
        assert_ne!(looks.look_of(&curves[0]), looks.look_of(&curves[1]));
    }
}
