//! Figure 25: how long elections take in groups of one to eight, as a distribution.

use super::common::{Group, HARDWARE, MODEL, NEIGHBOUR, PROCESSING, neighbour};
use crate::figures::evidence::{more_together, value};
use crate::figures::{Axis, Claim, Curve, Dot, Figure, Finding, Law, Panel, Series, Trial};

/// How many processes there are.
const SIZES: std::ops::RangeInclusive<u32> = 1..=8;
/// The times at which the distribution is drawn, in quarters of a millisecond.
const QUARTERS: std::ops::RangeInclusive<u32> = 4..=32;
/// Elections in a run.
const ELECTIONS: usize = 25;
/// Runs at a budget of a thousand.
const RUNS: u64 = 30;

fn name(nodes: u32) -> String {
    let processes = if nodes == 1 { "process" } else { "processes" };
    format!("{nodes} {processes}")
}

pub(super) fn figure() -> Figure {
    let trial = |nodes: u32, quarters: u32| Trial {
        name: "election within",
        argument: nodes * 1000 + quarters,
        runs: RUNS,
        messages: 2 * ELECTIONS as u64 * u64::from(nodes),
        law: Law::Share,
        run: within,
    };
    let series = |nodes: u32| {
        let trials = QUARTERS.step_by(2).map(|quarters| (milliseconds(quarters), quarters));
        let trials = trials.map(|(x, quarters)| (x, trial(nodes, quarters)));
        Series::measured(name(nodes), nodes as usize - 1, trials)
    };
    let x = Axis::linear("election time", "ms");
    let y = Axis::linear("part of the elections that take no longer", "");
    Figure {
        title: "How long an election takes, for one to eight processes",
        source: "Fetzer and Cristian, figure 25",
        says: "The distribution of the election time, from the sending of a request until the \
            process leads, for 1 to 8 processes. The more processes, the longer it takes. The step \
            from 1 to 2 is smaller than the others, because nobody sends itself a reply if there \
            are more than one.",
        choices: &[
            HARDWARE,
            MODEL,
            NEIGHBOUR,
            "Renewals count, as most of the paper's 100,000 elections must have been renewals; a \
             first election waits for 2Δ, whatever the processes do.",
            "Each point is a share of elections of runs of its own, so that a curve need not rise \
             to the letter.",
            "That the step from 1 to 2 is smaller than the others is not judged. A process of ours \
             counts its own vote without any message, also if it is alone: its election takes no \
             time, and the step to two is the greatest.",
        ],
        panels: vec![Panel { title: "", x, y, series: SIZES.map(series).collect() }],
        claims,
        ..Figure::BARE
    }
}

fn milliseconds(quarters: u32) -> f64 {
    f64::from(quarters) / 4.0
}

/// The part of a run's elections that take no longer.
fn within(argument: u32, seed: u64, run: u64) -> Option<f64> {
    let (nodes, quarters) = (argument / 1000, argument % 1000);
    let group = Group { config: neighbour(), nodes, processing: PROCESSING };
    let limit = milliseconds(quarters) / 1000.0;
    let took = group.renewals(ELECTIONS, seed, run)?;
    let count = took.iter().filter(|took| **took <= limit).count();
    Some(count as f64 / took.len() as f64)
}

fn claims(finding: &Finding) -> Vec<Claim> {
    vec![longer(finding)]
}

/// At all times together, more elections are over than of a group with one process more.
fn longer(finding: &Finding) -> Claim {
    let (says, section) = ("Elections take longer with every process more.", "figure 25");
    let (mut comparisons, mut list) = (Vec::new(), Vec::new());
    for nodes in SIZES.skip(1) {
        let [few, many] = [nodes - 1, nodes].map(|nodes| finding.curve(&name(nodes)));
        comparisons.extend(more_together(few, many));
        list.push(format!("{} and {nodes}: {}", nodes - 1, widest(few, many)));
    }
    let asked = "of each two sizes that follow each other, more of the lesser are over, all times \
        together";
    let because = format!("where they differ most, the part that is over: {}", list.join(", "));
    Claim::compared(says, section, asked, &comparisons, because)
}

/// Both curves in words, where they are farthest apart.
fn widest(few: &Curve, many: &Curve) -> String {
    let apart = |(few, many): &(&Dot, &Dot)| (few.y - many.y).abs();
    let most = few.beside(many).max_by(|one, other| apart(one).total_cmp(&apart(other)));
    most.map_or_else(
        || "no point".to_owned(),
        |(few, many)| format!("{} against {} within {} ms", value(few), value(many), few.x),
    )
}
