//! Figure 26: how the election time grows with the number of processes, on average and in 99 of 100
//! cases, and why.

use super::common::{Group, HARDWARE, MODEL, NEIGHBOUR, PROCESSING, neighbour};
use crate::figures::evidence::{Margin, difference, joined, scaled, value};
use crate::figures::tell::{at_least, within};
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Law, Panel, Series, Trial};
use crate::numbers::number;
use bellwether_core::Duration;

/// How many processes there are. For one there is no message.
const SIZES: std::ops::RangeInclusive<u32> = 2..=8;
/// Elections in a run: the 99th of a hundred, by length, is what 99 of 100 do not exceed.
const ELECTIONS: usize = 100;
/// Runs at a budget of a thousand.
const RUNS: u64 = 30;

const MEAN: &str = "mean";
const MOST: &str = "99 %";
const FREE: &str = "mean, if answers take no processor time";

type Run = fn(u32, u64, u64) -> Option<f64>;

pub(super) fn figure() -> Figure {
    let series = |name: &'static str, hue, run: Run| {
        let trial = |nodes: u32| {
            let trial = Trial {
                name,
                argument: nodes,
                runs: RUNS,
                messages: 2 * ELECTIONS as u64 * u64::from(nodes),
                law: Law::Mean,
                run,
            };
            (f64::from(nodes), trial)
        };
        Series::measured(name, hue, SIZES.map(trial))
    };
    let (x, y) = (Axis::linear("processes", ""), Axis::linear("election time", "ms"));
    let series = vec![series(MEAN, 0, mean), series(MOST, 1, most), series(FREE, 2, free)];
    Figure {
        title: "How the election time grows with the number of processes",
        source: "Fetzer and Cristian, figure 26",
        says: "The average election time and the 99 % election time for 1 to 7 processes. Both \
            increase linearly, mainly because the process receives more replies, and less because \
            the Ethernet is overloaded.",
        choices: &[
            HARDWARE,
            MODEL,
            NEIGHBOUR,
            "The 99 % election time is that of the 99th of a hundred elections, by length.",
            "From two processes on: one alone asks nobody, and leads at once.",
            "There is no Ethernet that could be overloaded. What is left without the time that a \
             processor takes over messages is the slowest of more and more answers.",
        ],
        panels: vec![Panel { title: "", x, y, series }],
        claims,
        ..Figure::BARE
    }
}

fn renewals(nodes: u32, processing: Duration, seed: u64, run: u64) -> Option<Vec<f64>> {
    let group = Group { config: neighbour(), nodes, processing };
    let took = group.renewals(ELECTIONS, seed, run)?;
    Some(took.into_iter().map(|seconds| 1000.0 * seconds).collect())
}

fn average(took: &[f64]) -> f64 {
    took.iter().sum::<f64>() / took.len() as f64
}

fn mean(nodes: u32, seed: u64, run: u64) -> Option<f64> {
    Some(average(&renewals(nodes, PROCESSING, seed, run)?))
}

fn free(nodes: u32, seed: u64, run: u64) -> Option<f64> {
    Some(average(&renewals(nodes, Duration::ZERO, seed, run)?))
}

fn most(nodes: u32, seed: u64, run: u64) -> Option<f64> {
    let mut took = renewals(nodes, PROCESSING, seed, run)?;
    took.sort_by(f64::total_cmp);
    took.get(ELECTIONS - 2).copied()
}

fn claims(finding: &Finding) -> Vec<Claim> {
    vec![
        linear("The average election time increases linearly.", finding.curve(MEAN)),
        linear("The 99 % election time increases linearly.", finding.curve(MOST)),
        replies(finding),
    ]
}

/// Every point lies on the straight line that fits them best.
fn linear(says: &'static str, curve: &Curve) -> Claim {
    let section = "section XI, figure 26";
    let ([first, .., last], count) = (&curve.dots[..], curve.dots.len() as f64) else {
        return Claim::open(says, section, "fewer than two sizes were measured");
    };
    let middle = curve.dots.iter().map(|dot| dot.x).sum::<f64>() / count;
    let spread: f64 = curve.dots.iter().map(|dot| (dot.x - middle) * (dot.x - middle)).sum();
    let runs = curve.dots.iter().map(|dot| dot.runs).min().unwrap_or(0);
    let mut comparisons = Vec::new();
    for dot in &curve.dots {
        // How much each point counts for the line here.
        let part = |other: &Dot| 1.0 / count + (dot.x - middle) * (other.x - middle) / spread;
        let line: f64 = curve.dots.iter().map(|other| part(other) * other.y).sum();
        let error = |other: &Dot| {
            let own = if other.x == dot.x { 1.0 } else { 0.0 };
            (own - part(other)) * other.stderr
        };
        let stderr = curve.dots.iter().map(error).fold(0.0, libm::hypot);
        let origin = joined(curve.dots.iter());
        let off = Dot { stderr, runs, origin, ..Dot::exactly(dot.x, dot.y - line) };
        comparisons.extend(within(&off, &Dot::exactly(dot.x, 0.0), Margin::Linear.of(line)));
    }
    let because = format!(
        "from {} ms at {} to {} ms at {}: {} ms for each process more",
        value(first),
        first.x,
        value(last),
        last.x,
        number((last.y - first.y) / (last.x - first.x))
    );
    let asked = "each point lies on the line that fits all of them best, within 5 %, as a linear \
        axis is read";
    Claim::compared(says, section, asked, &comparisons, because)
}

/// More than half of the growth is gone if messages take no processor time.
fn replies(finding: &Finding) -> Claim {
    let (says, section) =
        ("That is mainly due to the replies that a process receives.", "section XI");
    let growth = |name: &str| match &finding.curve(name).dots[..] {
        [first, .., last] => Some(difference(last, first)),
        _ => None,
    };
    let (Some(with), Some(without)) = (growth(MEAN), growth(FREE)) else {
        return Claim::open(says, section, "fewer than two sizes were measured");
    };
    let because = format!(
        "it grows by {} ms, and by {} ms if a processor takes no time over a message",
        value(&with),
        value(&without)
    );
    let test = at_least(&scaled(&with, 0.5), &without);
    let asked = "mainly is more than half of the growth";
    Claim::compared(says, section, asked, &[test], because)
}
