//! Figure 24: which processes of a connected set lead, by the text, by our rule, and simulated.

use crate::connected_set::{ConnectedSet, Leads, Marks};
use crate::figures::evidence::{Margin, value};
use crate::figures::tell::no_less;
use crate::figures::{Axis, Claim, Figure, Finding, Law, Panel, Series, Trial};
use bellwether_core::{Duration, STRIDE, Seeded};

/// How probable it is that two processes are connected, in per cent.
const PERCENTS: [u32; 4] = [20, 30, 40, 60];
const PROCESSES: usize = 7;
const WATCHED: Duration = Duration::from_secs(3);
/// Runs at a budget of a thousand: enough for a share of all to be known within .02.
const RUNS: u64 = 500;

const RULE: &str = "by our rule";
const OF_LEADERS: &str = "by the text, the neighbours of leaders marked";
const OF_ALL: &str = "by the text, the neighbours of all marked";
const LEAST: &str = "the least of each set leads";

type Run = fn(u32, u64, u64) -> Option<f64>;

pub(super) fn figure() -> Figure {
    let series = |name: &'static str, hue, run: Run| {
        let trial = |percent: &u32| {
            let trial = Trial {
                name,
                argument: *percent,
                runs: RUNS,
                messages: 3_000,
                law: Law::Chance,
                run,
            };
            (f64::from(*percent), trial)
        };
        Series::measured(name, hue, PERCENTS.iter().map(trial))
    };
    let series = vec![
        series(RULE, 0, |percent, seed, run| Some(told(percent, seed, run, by_rule))),
        series(OF_LEADERS, 1, |percent, seed, run| {
            Some(told(percent, seed, run, |set, led| as_printed(set, Marks::OfLeaders, led)))
        }),
        series(OF_ALL, 2, |percent, seed, run| {
            Some(told(percent, seed, run, |set, led| as_printed(set, Marks::OfAll, led)))
        }),
        series(LEAST, 3, |percent, seed, run| Some(told(percent, seed, run, least))),
    ];
    let x = Axis::linear("pairs of processes that are connected", "%");
    let y = Axis::linear("sets for which it is right", "");
    Figure {
        title: "Which processes lead where connections are not transitive",
        source: "Fetzer and Cristian, figure 24",
        says: "The least process of a maximum connected set leads within κ. An algorithm computes \
            exactly the set of local leaders: process after process, from the least, leads if \
            neither it nor any process connected to it is marked, and those connected to it are \
            marked.",
        choices: &[
            "The figure is missing from our copy, and the prose can be read in two ways: the \
             neighbours of every process are marked, or those of leaders.",
            "Random sets of seven processes, in local mode, constants of the preset `lan`, \
             messages of up to 2 ms. They are watched for 3 s after they have settled. A \
             prediction is right for a set if all whom it has lead led all the time, and no other \
             did at any time.",
            "By our rule some lead at times: these must not lead all the time.",
        ],
        panels: vec![Panel { title: "", x, y, series }],
        claims,
        ..Figure::BARE
    }
}

/// Whether this is right for the set of a run.
fn told(percent: u32, seed: u64, run: u64, right: fn(&ConnectedSet, &[f64]) -> bool) -> f64 {
    let own = seed.wrapping_add(run.wrapping_mul(STRIDE));
    let set = ConnectedSet::drawn(PROCESSES, percent.into(), &mut Seeded::new(own));
    f64::from(u8::from(right(&set, &set.led(WATCHED, own))))
}

fn by_rule(set: &ConnectedSet, led: &[f64]) -> bool {
    set.leads().iter().zip(led).all(|(leads, led)| match leads {
        Leads::Steadily => *led == 1.0,
        Leads::AtTimes => *led < 1.0,
        Leads::Never => *led == 0.0,
    })
}

fn as_printed(set: &ConnectedSet, marks: Marks, led: &[f64]) -> bool {
    let right = |(leads, led): (bool, &f64)| *led == f64::from(u8::from(leads));
    set.printed(marks).into_iter().zip(led).all(right)
}

/// The least process of a set is one that no path connects with a lesser one.
fn least(set: &ConnectedSet, led: &[f64]) -> bool {
    let mut names: Vec<usize> = (0..led.len()).collect();
    // Each takes the least name among its neighbours, as often as there may be processes between.
    for _ in 0..led.len() {
        for one in 0..led.len() {
            let near = (0..led.len()).filter(|other| set.has(one, *other));
            names[one] = near.map(|other| names[other]).chain([names[one]]).min().unwrap_or(one);
        }
    }
    (0..led.len()).filter(|process| names[*process] == *process).all(|process| led[process] == 1.0)
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let all = 1.0 - Margin::Share.of(1.0);
    let asked = "always is within .02, less than a marker on an axis from 0 to 1";
    let claim = |says, section, name: &str| {
        let dots = &finding.curve(name).dots;
        let tests: Vec<_> = dots.iter().map(|dot| no_less(dot, all)).collect();
        let list: Vec<_> =
            dots.iter().map(|dot| format!("{} at {} %", value(dot), dot.x)).collect();
        Claim::compared(says, section, asked, &tests, list.join(", "))
    };
    vec![
        claim("The least process of a maximum connected set leads.", "section X, figure 23", LEAST),
        claim(
            "The algorithm computes exactly the leaders, the neighbours of leaders marked.",
            "section X, figure 24",
            OF_LEADERS,
        ),
        claim(
            "The algorithm computes exactly the leaders, the neighbours of all marked.",
            "section X, figure 24",
            OF_ALL,
        ),
        claim("Our rule tells who leads, who never does, and who not always.", "ours", RULE),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_least_process() {
        let set = ConnectedSet::new(5, &[(0, 2), (2, 4), (1, 3)]);
        assert!(least(&set, &[1.0, 1.0, 0.0, 0.0, 0.0]));
        assert!(!least(&set, &[1.0, 0.9, 0.0, 0.0, 0.0]));
        assert!(least(&set, &[1.0, 1.0, 0.0, 1.0, 0.0]), "more may lead");
    }
}
