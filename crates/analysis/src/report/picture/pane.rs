//! One pane: two axes, a light grid, and the curves.

use super::super::markup::{Indexed, N, Text, put};
use super::look::{Look, Looks};
use super::scale::{Fit, Scale};
use super::words::{LABEL, SMALL, width_of, wrapped};
use crate::figures::{Axis, Curve, Dot, Kind, Pane};
use crate::numbers::short;

/// Where something is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// No marker lies on the edge of a pane.
const INSET: f64 = 10.0;
/// The length of a tick.
const TICK: f64 = 4.0;
/// From one line of a label to the next.
const LINE: f64 = 15.0;
/// The room below a pane for numbers and for a label of two lines.
const BELOW: f64 = 20.0;
/// What a printed formula may add to an axis, as a multiple of what else is there. Where it has
/// gone astray it leaves the pane, and the rest can still be seen.
const ASTRAY: f64 = 1.6;
const ASTRAY_BY_FACTORS: f64 = 20.0;
/// And downwards, as a part of the height of what else is there.
const BELOW_ALL: f64 = 0.3;

/// A pane that has been measured.
pub(super) struct Plot<'a> {
    pane: &'a Pane,
    looks: &'a Looks,
    x: Scale,
    y: Scale,
    x_label: Vec<String>,
    y_label: Vec<String>,
    /// Between the axes.
    area: Frame,
}

impl<'a> Plot<'a> {
    /// Fits a pane into a frame, whose height is that of the area between the axes.
    pub(super) fn new(pane: &'a Pane, looks: &'a Looks, frame: Frame) -> Self {
        let heights = heights(pane);
        let most = (frame.height / 45.0) as usize;
        let y = Scale::new(pane.y, heights.into_iter(), Fit::Round, most);
        let y_label = wrapped(&titled(pane.y), LABEL, frame.height);
        let numbers = y.ticks.iter().map(|tick| width_of(&tick.label, SMALL)).fold(0.0, f64::max);
        let margin = LINE * y_label.len() as f64 + 8.0 + numbers + TICK + 3.0;
        let width = (frame.width - margin - INSET).max(40.0);
        let x = across(pane, width);
        // The last number may stand out to the right.
        let last = x.ticks.last().map_or(0.0, |tick| width_of(&tick.label, SMALL));
        let width = (width - (last / 2.0 - 2.0 * INSET).max(0.0)).max(40.0);
        let area = Frame { left: frame.left + margin, width, ..frame };
        let x_label = wrapped(&titled(pane.x), LABEL, width);
        Self { pane, looks, x, y, x_label, y_label, area }
    }

    /// The height of what stands below the area.
    pub(super) fn below(&self) -> f64 {
        BELOW + LINE * self.x_label.len() as f64 + 4.0
    }

    /// Where the area begins, from the left.
    pub(super) fn left(&self) -> f64 {
        self.area.left
    }

    /// Draws it; `clip` is a name that no other pane of the page has.
    pub(super) fn draw(&self, out: &mut String, clip: &str) {
        let Frame { left, top, width, height } = self.area;
        if !self.pane.title.is_empty() {
            let (x, y) = (N(left + width / 2.0), N(top - 9.0));
            let title = Indexed(self.pane.title);
            put!(
                out,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-weight=\"600\">\
                 {title}</text>\n"
            );
        }
        self.grid(out);
        put!(
            out,
            "<clipPath id=\"{clip}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
             </clipPath>\n",
            N(left),
            N(top),
            N(width),
            N(height + 1.0)
        );
        self.axes(out);
        // Formulas below, measurements above.
        put!(out, "<g clip-path=\"url(#{clip})\">\n");
        for kind in [Kind::Printed, Kind::Corrected, Kind::Simulated, Kind::Measured] {
            for (curve, look) in self.drawn(kind) {
                look.line(out, &self.places(curve));
            }
        }
        for (curve, look) in self.drawn(Kind::Simulated) {
            self.bars(out, curve, look);
        }
        out.push_str("</g>\n");
        let marked = [Kind::Simulated, Kind::Measured].map(|kind| self.drawn(kind));
        for (curve, look) in marked.into_iter().flatten() {
            for dot in curve.dots.iter().filter(|dot| self.shows(dot)) {
                look.marker(out, self.place(dot.x, dot.y), &self.tip(curve, dot));
            }
        }
    }

    /// Where the area begins and ends, from the left.
    pub(super) fn sides(&self) -> (f64, f64) {
        (self.area.left, self.area.left + self.area.width)
    }

    /// Where this point is, if it lies between the axes.
    pub(super) fn spot(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (across, _) = self.place(x, y);
        let (left, right) = self.sides();
        let inside = self.x.shows(x) && (left..=right).contains(&across);
        inside.then_some(across).zip(self.height(y))
    }

    /// Where this height is, if it lies between the axes.
    pub(super) fn height(&self, y: f64) -> Option<f64> {
        let (_, up) = self.place(1.0, y);
        let inside = (self.area.top..=self.area.top + self.area.height).contains(&up);
        (self.y.shows(y) && inside).then_some(up)
    }

    fn drawn(&self, kind: Kind) -> Vec<(&Curve, Look)> {
        let curves = self.pane.curves.iter();
        // Markers that no line of their hue accompanies here are joined, to be followed by eye.
        let joined = |hue| !curves.clone().any(|curve| curve.hue == hue && !curve.kind.is_marked());
        let of_kind: Vec<&Curve> = curves.clone().filter(|curve| curve.kind == kind).collect();
        let look = |curve: &Curve| self.looks.look_of(curve).joined(joined(curve.hue));
        of_kind.into_iter().map(|curve| (curve, look(curve))).collect()
    }

    fn shows(&self, dot: &Dot) -> bool {
        self.x.shows(dot.x) && self.y.shows(dot.y)
    }

    fn places(&self, curve: &Curve) -> Vec<(f64, f64)> {
        let shown = curve.dots.iter().filter(|dot| self.shows(dot));
        shown.map(|dot| self.place(dot.x, dot.y)).collect()
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let Frame { left, top, width, height } = self.area;
        let floor = if self.y.begins_at_zero() { 0.0 } else { INSET };
        let x = left + INSET + (width - 2.0 * INSET) * self.x.place(x);
        let y = top + height - floor - (height - floor - INSET) * self.y.place(y);
        (x, y)
    }

    fn bars(&self, out: &mut String, curve: &Curve, look: Look) {
        let certain = |dot: &&Dot| self.shows(dot) && dot.runs > 1 && dot.cut == 0;
        for dot in curve.dots.iter().filter(certain) {
            let [low, high] = dot.ci95;
            let (x, bottom) = self.place(dot.x, dot.y);
            // An end that has no place, as zero on an axis of factors, is beyond the pane.
            let low = if self.y.shows(low) { self.place(dot.x, low).1 } else { bottom + 1e4 };
            let high = if self.y.shows(high) { self.place(dot.x, high).1 } else { bottom };
            look.bar(out, x, low.min(self.area.top + self.area.height + 20.0), high);
        }
    }

    fn tip(&self, curve: &Curve, dot: &Dot) -> String {
        let [low, high] = dot.ci95.map(short);
        let unit = match self.pane.y.unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let (name, across) = (Text(&curve.name), Text(self.pane.x.label));
        let (x, y, runs) = (short(dot.x), short(dot.y), dot.runs);
        let told = format!("{name}\n{across} {x}: {y}{}", Text(&unit));
        match curve.kind {
            Kind::Measured => told,
            _ if dot.cut > 0 => {
                let all = runs as u64 + dot.cut;
                format!("{told} or more ({} of {all} runs were cut)", dot.cut)
            }
            _ => format!("{told} ({low} to {high}, {runs} runs)"),
        }
    }

    fn grid(&self, out: &mut String) {
        let Frame { left, top, width, height } = self.area;
        let (right, bottom) = (left + width, top + height);
        out.push_str("<path fill=\"none\" stroke=\"#e4e6ea\" d=\"");
        for tick in &self.x.ticks {
            let (x, _) = self.place(tick.at, 0.0);
            put!(out, "M{},{}V{}", N(x), N(top), N(bottom));
        }
        for tick in &self.y.ticks {
            let (_, y) = self.place(0.0, tick.at);
            put!(out, "M{},{}H{}", N(left), N(y), N(right));
        }
        out.push_str("\"/>\n");
    }

    fn axes(&self, out: &mut String) {
        let Frame { left, top, width, height } = self.area;
        let bottom = top + height;
        out.push_str("<path fill=\"none\" stroke=\"#3c4450\" d=\"");
        put!(out, "M{},{}V{}H{}", N(left), N(top), N(bottom), N(left + width));
        let small = |marks: &[f64]| marks.iter().map(|at| (*at, TICK / 2.0)).collect::<Vec<_>>();
        let large = |scale: &Scale| scale.ticks.iter().map(|tick| (tick.at, TICK)).collect();
        let (across, up): (Vec<_>, Vec<_>) = (large(&self.x), large(&self.y));
        for (at, length) in across.into_iter().chain(small(&self.x.marks)) {
            put!(out, "M{},{}v{length}", N(self.place(at, 1.0).0), N(bottom));
        }
        for (at, length) in up.into_iter().chain(small(&self.y.marks)) {
            put!(out, "M{},{}h-{length}", N(left), N(self.place(1.0, at).1));
        }
        out.push_str("\"/>\n");
        put!(out, "<g font-size=\"{SMALL}\" text-anchor=\"middle\">\n");
        for tick in &self.x.ticks {
            let (x, y) = (N(self.place(tick.at, 1.0).0), N(bottom + TICK + 12.0));
            put!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>\n", Text(&tick.label));
        }
        put!(out, "</g>\n<g font-size=\"{SMALL}\" text-anchor=\"end\">\n");
        for tick in &self.y.ticks {
            let (x, y) = (N(left - TICK - 3.0), N(self.place(1.0, tick.at).1 + 0.36 * SMALL));
            put!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>\n", Text(&tick.label));
        }
        out.push_str("</g>\n<g text-anchor=\"middle\">\n");
        self.labels(out);
        out.push_str("</g>\n");
    }

    fn labels(&self, out: &mut String) {
        let Frame { left, top, width, height } = self.area;
        for (index, line) in self.x_label.iter().enumerate() {
            let y = top + height + BELOW + LINE * (index as f64 + 0.85);
            let (x, y) = (N(left + width / 2.0), N(y));
            put!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>\n", Indexed(line));
        }
        let numbers =
            self.y.ticks.iter().map(|tick| width_of(&tick.label, SMALL)).fold(0.0, f64::max);
        let lines = self.y_label.len() as f64;
        for (index, line) in self.y_label.iter().enumerate() {
            let x = left - numbers - TICK - 12.0 - LINE * (lines - 1.0 - index as f64);
            let (x, y) = (N(x), N(top + height / 2.0));
            let turn = format!("transform=\"translate({x},{y}) rotate(-90)\"");
            put!(out, "<text {turn}>{}</text>\n", Indexed(line));
        }
    }
}

/// What an axis measures, and in what.
fn titled(axis: Axis) -> String {
    match axis.unit {
        "" => axis.label.to_owned(),
        unit => format!("{} ({unit})", axis.label),
    }
}

/// The axis across, with labels that do not touch.
fn across(pane: &Pane, width: f64) -> Scale {
    let values = pane.curves.iter();
    let values: Vec<f64> = values.flat_map(|curve| curve.dots.iter().map(|dot| dot.x)).collect();
    let room = width - 2.0 * INSET;
    let fits = |scale: &Scale| {
        let place = |at| room * scale.place(at);
        scale.ticks.windows(2).all(|pair| {
            let half = |label: &str| width_of(label, SMALL) / 2.0;
            let gap = place(pair[1].at) - place(pair[0].at);
            gap >= half(&pair[0].label) + half(&pair[1].label) + 5.0
        })
    };
    let scale = |most| Scale::new(pane.x, values.iter().copied(), Fit::Tight, most);
    let tries = (2..=if pane.x.log { 10 } else { 7 }).rev().map(scale);
    let either = tries.flat_map(|scale| {
        let powers = scale.as_powers();
        [Some(scale), powers].into_iter().flatten()
    });
    either.into_iter().find(fits).unwrap_or_else(|| scale(2))
}

/// The heights that the axis must show.
fn heights(pane: &Pane) -> Vec<f64> {
    let log = pane.y.log;
    let drawn = |printed: bool| {
        let is = move |curve: &&Curve| (curve.kind == Kind::Printed) == printed;
        pane.curves.iter().filter(is).flat_map(|curve| &curve.dots)
    };
    let finite = |value: &f64| value.is_finite() && (!log || *value > 0.0);
    let positive = drawn(false).all(|dot| dot.y >= 0.0);
    let ends = |dot: &Dot| {
        // An interval that reaches below zero does not take the axis with it; and by factors, one
        // that reaches for zero would take all of it.
        let least = if log { dot.y / 3.0 } else { 0.0 };
        let low = if positive { dot.ci95[0].max(least) } else { dot.ci95[0] };
        [dot.y, low, dot.ci95[1]]
    };
    let mut firm: Vec<f64> = drawn(false).flat_map(ends).filter(finite).collect();
    let most = firm.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = firm.iter().copied().fold(f64::INFINITY, f64::min);
    let printed = drawn(true).map(|dot| dot.y).filter(finite);
    let tamed = |value: f64| {
        if firm.is_empty() {
            value
        } else if log {
            value.clamp(least / ASTRAY_BY_FACTORS, most * ASTRAY_BY_FACTORS)
        } else {
            value.clamp(least - BELOW_ALL * (most - least), most.max(0.0) * ASTRAY)
        }
    };
    let printed: Vec<f64> = printed.map(tamed).collect();
    firm.extend(printed);
    firm
}
