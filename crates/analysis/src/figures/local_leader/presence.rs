//! How much of the time there is a leader with the paper's own constants, and what it costs.

use crate::figures::evidence::{Margin, matched_within, value};
use crate::figures::series::{known, named};
use crate::figures::tell::no_less;
use crate::figures::{Axis, Claim, Figure, Finding, Kind, Panel, Series, Table};
use crate::inputs::{ValidInputs, usual};
use crate::local_leader::{constraints, presence};
use crate::numbers::{number, plain};
use crate::point::Point;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Constraint, Params, Preset};
use bellwether_sim::{Measure, Scenario};

/// EP, in milliseconds; the paper's is 50.
const PERIODS: [u32; 9] = [40, 48, 50, 55, 65, 80, 100, 150, 200];
/// From here on there is always a leader.
const LED: u32 = 50;
const NODES: u32 = 3;
/// Runs at a budget of a thousand: enough for a share of all to be known within .02.
const RUNS: u64 = 500;
/// How long a run is watched, in seconds.
const WATCHED: f64 = 1.0;

/// How long messages take, and the name of the curve.
const DELAYS: [(f64, &str); 2] = [(0.001, "δ = 1 ms"), (0.003, "δ = 3 ms")];
const TRAFFIC: &str = "datagrams, δ = 1 ms";

fn at(period: u32, delay: f64) -> ValidInputs {
    usual(NODES, |given| {
        given.delay = delay;
        given.leases.preset = Preset::Paper;
        given.leases.period = Some(Duration::from_millis(period.into()));
    })
}

fn point(period: u32, delay: f64) -> Option<Point> {
    let (point, _) = (known("local-leader.presence").simulation)(&at(period, delay))?;
    Some(point.scenario(Scenario::Start, WATCHED).runs(RUNS))
}

pub(super) fn figure() -> Figure {
    let mut series = Vec::new();
    for (hue, (delay, name)) in DELAYS.iter().enumerate() {
        let inputs = || PERIODS.iter().map(|period| (f64::from(*period), at(*period, *delay)));
        let quantity = (*name, "local-leader.presence");
        if hue == 0 {
            series.push(Series::formula(("leader", quantity.1), 2, Kind::Printed, inputs()));
        }
        series.push(Series::formula(quantity, hue, Kind::Corrected, inputs()));
        let points =
            PERIODS.iter().filter_map(|period| Some((f64::from(*period), point(*period, *delay)?)));
        let name = named(name, Kind::Simulated);
        series.push(Series::simulated(name, hue, Measure::LeaderPresence, points));
    }
    let x = Axis::linear("EP", "ms");
    let led =
        Panel { title: "leader", x, y: Axis::linear("part of the time with a leader", ""), series };
    let datagrams = Axis::log("datagrams per second", "");
    Figure {
        title: "A leader with the paper's constants: how much of the time, and at what cost",
        source: "Fetzer and Cristian, sections X and XI; the picture is ours",
        says: "Δ = 15 ms, σ = 30 ms, EP = 50 ms. The least process of a stable partition stays \
            leader for as long as the partition is stable. It asks every lockTime(1−2ρ) − 2Δ(1+ρ).",
        choices: &[
            "The protocol as printed, with lockTime by figure 30, in local mode; three processes, \
             whose messages take 1 ms or 3 ms. Nothing is lost. The corrected lines are a \
             computation of what the printed protocol does.",
            "Below EP = 45 ms a lease is over before the answers are counted. Up to 75 ms the \
             alarm for the renewal lies in the past: a leader asks again as soon as it is \
             answered, in a busy loop, if that is before its lease ends.",
            "By the text lockTime is shorter by σ than by figure 30, and with EP = 50 ms nobody \
             ever leads.",
        ],
        panels: vec![led, Panel { title: "cost", x, y: datagrams, series: traffic() }],
        tables: vec![table()],
        claims,
        ..Figure::BARE
    }
}

/// How many datagrams are sent where there is always a leader.
fn traffic() -> Vec<Series> {
    let delay = DELAYS[0].0;
    let periods = || PERIODS.iter().filter(|period| **period >= LED);
    let each = |period: &u32, between: fn(&ValidInputs) -> Result<f64, crate::OutOfDomain>| {
        let wait = between(&at(*period, delay)).ok();
        (f64::from(*period), wait.map(|wait| f64::from(NODES) / wait))
    };
    // Those who only answer send a stamp now and then, which the paper leaves to its datagrams.
    let stamps = at(LED, delay)
        .leases
        .printed()
        .ok()
        .map_or(0.0, |params| f64::from(NODES - 1) / params.refresh().as_secs_f64());
    let line = |kind, between, more: f64| {
        let value = move |period| {
            let (x, y) = each(period, between);
            (x, y.map(|y| y + more))
        };
        Series::line(named(TRAFFIC, kind), 0, kind, periods().map(value))
    };
    let points = periods().filter_map(|period| Some((f64::from(*period), point(*period, delay)?)));
    vec![
        line(Kind::Printed, constraints::next_request_printed, 0.0),
        line(Kind::Corrected, presence::between_requests, stamps),
        Series::simulated(named(TRAFFIC, Kind::Simulated), 0, Measure::MessagesPerSecond, points),
    ]
}

/// The constraints of the paper, for its constants and for a neighbour that keeps them.
fn table() -> Table {
    let sides = |period: u32| {
        let params = at(period, DELAYS[0].0).leases.printed().ok();
        params.map(|params| params.constraints()).unwrap_or_default()
    };
    let shown = |constraint: &Constraint| {
        let Constraint { left, right, holds, .. } = *constraint;
        let [left, right] = [left, right].map(|side| plain(1000.0 * side.as_secs_f64()));
        vec![left, right, if holds { "yes" } else { "no" }.to_owned()]
    };
    let rows = sides(50).into_iter().zip(sides(200)).map(|(paper, neighbour)| {
        let mut row = vec![paper.rule.to_owned()];
        row.extend(shown(&paper));
        row.extend(shown(&neighbour));
        row
    });
    let head = vec![
        "constraint",
        "left, EP = 50 ms",
        "right",
        "holds",
        "left, EP = 200 ms",
        "right",
        "holds",
    ];
    Table { title: "The constraints, both sides in ms, by figure 30", head, rows: rows.collect() }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let simulated = |name: &str| finding.simulated(name);
    let pairs: Vec<_> =
        DELAYS.iter().map(|(_, name)| (simulated(name), finding.corrected(name))).collect();
    let slow = simulated(DELAYS[1].1).at(50.0);
    vec![
        feasible(),
        Claim::compared(
            "With the constants of section XI the least process stays leader.",
            "section X",
            "always is within .02, less than a marker on an axis from 0 to 1",
            &[no_less(slow, 1.0 - Margin::Share.of(1.0))],
            format!("if messages take 3 ms it leads {} of the time", value(slow)),
        ),
        matched_within(
            "How much of the time the printed protocol has a leader follows from its constants.",
            "ours",
            Margin::Share,
            "EP =",
            &pairs,
        ),
        matched_within(
            "A leader asks every lockTime(1−2ρ) − 2Δ(1+ρ).",
            "section X",
            Margin::Log,
            "EP =",
            &[(simulated(TRAFFIC), finding.printed(TRAFFIC))],
        ),
        matched_within(
            "It asks σ sooner, and in a busy loop if that lies in the past.",
            "ours, of figure 31",
            Margin::Log,
            "EP =",
            &[(simulated(TRAFFIC), finding.corrected(TRAFFIC))],
        ),
    ]
}

/// Whether the paper's constants keep the paper's constraints.
fn feasible() -> Claim {
    let params: Option<Params> = at(50, DELAYS[0].0).leases.printed().ok();
    let broken = params.map(|params| params.constraints()).unwrap_or_default();
    let broken: Vec<_> = broken.into_iter().filter(|constraint| !constraint.holds).collect();
    let told = |constraint: &Constraint| {
        let ms = |side: Duration| number(1000.0 * side.as_secs_f64());
        let Constraint { rule, left, right, .. } = constraint;
        format!("{rule}: {} ms and {} ms", ms(*left), ms(*right))
    };
    let list: Vec<_> = broken.iter().map(told).collect();
    let because = if list.is_empty() { "all hold".to_owned() } else { list.join("; ") };
    Claim::judged(
        "The constants of section XI keep the constraints of section IX-C.",
        "sections IX-C and XI",
        broken.is_empty(),
        because,
    )
}
