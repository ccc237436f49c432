//! MEREA's figure 1: messages of MEREA and of the plain ring, for 100 to 1000 processes.

use super::common::{STEADY, growth_per_process};
use crate::classic::point_of;
use crate::figures::evidence::{Margin, exactly, matched_within, scaled};
use crate::figures::series::{known, named};
use crate::figures::tell::at_least;
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Kind, Panel, Series};
use crate::inputs::{ValidInputs, usual};
use crate::numbers::number;
use crate::point::Point;
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Initiators, Measure, Order};

/// The paper's sizes, "100, 200 and so on".
pub(super) const SIZES: [u32; 10] = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];

/// One case of one of the two protocols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    hue: usize,
    variant: Variant,
    all_call: bool,
    order: fn() -> Order,
    messages: &'static str,
    time: &'static str,
}

pub(super) const RING_ONE: Case = Case {
    name: "ring, one calls",
    hue: 0,
    variant: Variant::Ring,
    all_call: false,
    order: || Order::Ascending,
    messages: "ring.messages",
    time: "ring.time",
};
pub(super) const RING_ALL: Case =
    Case { name: "ring, all call", hue: 1, all_call: true, ..RING_ONE };
pub(super) const BEST: Case = Case {
    name: "MEREA, best: one calls",
    hue: 2,
    variant: Variant::Merea,
    messages: "merea.messages.best",
    time: "merea.time",
    ..RING_ONE
};
pub(super) const WORST_BEST: Case = Case {
    name: "MEREA, worst-best",
    hue: 3,
    all_call: true,
    order: || Order::Descending,
    messages: "merea.messages.worst-best",
    ..BEST
};
pub(super) const WORST_WORST: Case = Case {
    name: "MEREA, worst-worst",
    hue: 4,
    order: || Order::Ascending,
    messages: "merea.messages.worst-worst",
    ..WORST_BEST
};
pub(super) const ANY_ORDER: Case = Case {
    name: "MEREA, all call in any order",
    hue: 5,
    order: || Order::Random,
    messages: "merea.messages.mean",
    ..WORST_BEST
};
pub(super) const CASES: [Case; 6] = [RING_ONE, RING_ALL, BEST, WORST_BEST, WORST_WORST, ANY_ORDER];

/// Coordinator messages of the worst case, for a claim.
const NEWS: &str = "Coordinator messages, worst-worst";

pub(super) const DOWN: &str = "As in the paper's experiments the process with the highest id is \
    down. N counts it, so N − 1 live. Formulas as printed take n = N, corrected ones n = N − 1.";
pub(super) const TIMES: &str = "Messages take 3 s from process to process, and each takes 1 s to \
    be dealt with, as the paper says.";
pub(super) const AT_ONCE: &str = "All who call do so at the same time, before they hear of \
    another; the lesser id counts as older. So ids that descend along the ring make the worst-best \
    case and ids that ascend the worst-worst.";
pub(super) const RUNS: &str = "Where nothing is random there are two runs, and otherwise 300, or \
    the number asked for in the same proportion.";

impl Case {
    /// What formulas are asked, for so many processes.
    fn at(&self, nodes: u32) -> ValidInputs {
        usual(nodes, |given| {
            (given.delay, given.processing) = (3.0, 1.0);
            given.initiators = Some(if self.all_call { nodes } else { 1 });
        })
    }

    fn point(&self, nodes: u32) -> Point {
        let who = if self.all_call { Initiators::All } else { Initiators::One };
        let order = (self.order)();
        let runs = if order == Order::Random { 300 } else { 2 };
        let point = point_of(self.variant.name(), &self.at(nodes));
        let mut point = point.initiators(who).order(order).runs(runs);
        point.initiation.top_dead = true;
        point
    }

    /// Both formulas and the simulation, of messages or of time.
    pub(super) fn series(&self, measure: Measure) -> [Series; 3] {
        let name = if measure == Measure::Time { self.time } else { self.messages };
        let quantity = known(name);
        let line = |kind, fewer: u32| {
            let at = |n: &u32| (f64::from(*n), self.at(*n - fewer));
            Series::formula((self.name, name), self.hue, kind, SIZES.iter().map(at))
        };
        // What is printed and right is not drawn twice.
        let differs = |n: &u32| {
            let at = self.at(*n);
            (quantity.printed)(&at).is_ok_and(|value| (quantity.corrected)(&at) != Ok(value))
        };
        [
            Series { drawn: SIZES.iter().any(differs), ..line(Kind::Printed, 0) },
            line(Kind::Corrected, 1),
            self.simulated(self.name, measure),
        ]
    }

    fn simulated(&self, name: &str, measure: Measure) -> Series {
        let points = SIZES.iter().map(|n| (f64::from(*n), self.point(*n)));
        Series::simulated(named(name, Kind::Simulated), self.hue, measure, points)
    }
}

/// How many live of so many.
pub(super) fn living(nodes: f64) -> f64 {
    nodes - 1.0
}

/// The panel of one measure; formulas that have no value leave nothing to draw.
pub(super) fn panel(y: Axis, measure: Measure, more: Vec<Series>) -> Panel {
    let mut series: Vec<Series> = CASES.iter().flat_map(|case| case.series(measure)).collect();
    series.retain(|series| !series.is_formula_below(1));
    series.extend(more);
    Panel { title: "", x: Axis::linear("processes N", ""), y, series }
}

/// The figure.
pub(super) fn figure() -> Figure {
    let news = WORST_WORST.simulated(NEWS, Measure::MessagesOf("coordinator")).hidden();
    Figure {
        title: "MEREA and the plain ring: messages against the number of processes",
        source: "MEREA, section 6, figure 1 (comparison of ring and MEREA)",
        says: "MEREA is the ring on which an older election destroys the younger ones. Its paper \
            compares it with the plain ring by the number of messages, in the best case and in two \
            worst cases: if all call, the later ones standing before the earlier ones or \
            after them.",
        choices: &[DOWN, TIMES, AT_ONCE, RUNS],
        panels: vec![panel(Axis::log("messages", ""), Measure::Messages, vec![news])],
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let of = |case: Case| finding.simulated(case.name);
    let (worst, formula) = (of(WORST_WORST), finding.corrected(WORST_WORST.name));
    vec![
        matched_within(
            "In the best case MEREA takes as many messages as the ring.",
            "5.A",
            Margin::Exact,
            "N =",
            &[(of(BEST), of(RING_ONE))],
        ),
        proportional("In the worst-best case it takes O(n) messages.", "5.B.1, 6", of(WORST_BEST)),
        proportional("In the average case it takes O(n) messages.", "5.B.2", of(ANY_ORDER)),
        one_fourth(worst, of(RING_ALL)),
        matched_within(
            "Equation (4): in the worst-worst case it is n² − n/2 + 2n, to the letter.",
            "5.B.2",
            Margin::Exact,
            "N =",
            &[(worst, finding.printed(WORST_WORST.name))],
        ),
        below_analysis(worst),
        because_of_travel(worst, formula),
        one_circulation(finding.simulated(NEWS)),
    ]
}

/// Claims that what a curve counts is proportional to the number of processes: from one end to the
/// other each process bears a twentieth more at most.
pub(super) fn proportional(says: &'static str, section: &'static str, curve: &Curve) -> Claim {
    let (Some([first, last, factor]), [start, .., end]) =
        (growth_per_process(curve, living), &curve.dots[..])
    else {
        return Claim::open(says, section, "there is nothing to compare");
    };
    let (least, most) = (SIZES[0], SIZES[SIZES.len() - 1]);
    let because = format!(
        "{}: {} for each process at N = {least}, {} at N = {most}: {factor:.3} times that",
        curve.name,
        number(first),
        number(last)
    );
    let [start, end] = [start, end].map(|dot| scaled(dot, 1.0 / living(dot.x)));
    let test = at_least(&scaled(&start, STEADY), &end);
    let asked = "proportional is a growth of at most 5 % for each process";
    Claim::compared(says, section, asked, &[test], because)
}

/// Within a twentieth of a quarter, everywhere.
fn one_fourth(worst: &Curve, ring: &Curve) -> Claim {
    let ratios: Vec<(f64, f64)> =
        worst.beside(ring).map(|(mine, ring)| (mine.x, mine.y / ring.y)).collect();
    let near = |(_, ratio): &(f64, f64)| (ratio - 0.25).abs() <= 0.25 * (STEADY - 1.0);
    let in_words = |pair: Option<&(f64, f64)>| {
        pair.map_or(String::new(), |(x, ratio)| format!("{ratio:.4} of them at N = {x}"))
    };
    let because = format!(
        "{}, {}; it is 1/4 + 3/(4n). Equation (4), to the letter, would make it a half",
        in_words(ratios.first()),
        in_words(ratios.last())
    );
    Claim::judged(
        "In the worst-worst case it takes one fourth of the messages of the ring.",
        "6",
        !ratios.is_empty() && ratios.iter().all(near),
        because,
    )
}

/// The analysis as its sum has it, for n = N.
fn analysed(worst: &Curve) -> Curve {
    let value = |nodes: f64| {
        let at = usual(nodes as u32, |_| ());
        (known(WORST_WORST.messages).corrected)(&at).unwrap_or(f64::NAN)
    };
    let mut analysed = worst.clone();
    for dot in &mut analysed.dots {
        *dot = exactly(dot.x, value(dot.x));
    }
    analysed
}

fn below_analysis(worst: &Curve) -> Claim {
    let analysis = analysed(worst);
    let parts: Vec<(f64, f64)> =
        worst.beside(&analysis).map(|(mine, form)| (mine.x, 1.0 - mine.y / form.y)).collect();
    let in_words = |pair: Option<&(f64, f64)>| {
        pair.map_or(String::new(), |(x, part)| format!("{:.2} % at N = {x}", 100.0 * part))
    };
    let because = format!(
        "below n(n−1)/2 + 2n with n = N by {} and {}",
        in_words(parts.first()),
        in_words(parts.last())
    );
    let little = parts.iter().all(|(_, part)| *part < STEADY - 1.0);
    Claim::judged(
        "Simulated, the worst-worst case takes a little fewer messages than the analysis says.",
        "6",
        analysis.all_beside(worst, |form, mine| form.y > mine.y) && little,
        because,
    )
}

/// If the time that messages take were the reason, those who live would send fewer than the
/// analysis says of them.
fn because_of_travel(worst: &Curve, of_the_living: &Curve) -> Claim {
    let says = "That is because what is destroyed depends on when elections are called and how \
                long messages take.";
    let because = match (worst.dots.last(), of_the_living.dots.last()) {
        (Some(mine), Some(form)) => format!(
            "{} at N = {}, and {} by the formula with n = N − 1: what is missing is the process \
             that is down",
            number(mine.y),
            mine.x,
            number(form.y)
        ),
        _ => return Claim::open(says, "6", "there is nothing to compare"),
    };
    let holds = of_the_living.all_beside(worst, |form, mine| form.y > mine.y);
    Claim::judged(says, "6", holds, because)
}

fn one_circulation(news: &Curve) -> Claim {
    let right = |dot: &Dot| dot.y == living(dot.x);
    let because = news.dots.last().map_or(String::new(), |dot| {
        format!("{} Coordinator messages at N = {}, with N − 1 alive", number(dot.y), dot.x)
    });
    Claim::judged(
        "One election message completes its way round, and one Coordinator message.",
        "7",
        !news.dots.is_empty() && news.dots.iter().all(right),
        because,
    )
}
