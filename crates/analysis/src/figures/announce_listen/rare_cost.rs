//! What it costs to know a small probability to ten per cent: by plain simulation, by splitting,
//! and by forced losses.
//!
//! A follower whose T_L is m and a half announce intervals gives up its leader after m losses in a
//! row, which is rarer by the loss with every m. The cost is counted in simulated time. For plain
//! simulation it follows from the probability: (1 − p)/p runs for each square of an error. For the
//! others the error is learnt from replications: time times the square of their relative error.

use crate::announce_listen::point;
use crate::figures::{Axis, Figure, Kind, Law, Panel, Series, Trial};
use crate::inputs::Loss;
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::rare::{Method, Rare, RareEvent};
use bellwether_sim::{Control, Experiment, RunSeed, Scenario};
use libm::pow;

/// The loss, and the window, in announcements of a second each.
const LOSS: f64 = 0.1;
const WINDOW: u32 = 20;
/// The relative error that the cost is for.
const ERROR: f64 = 0.1;
/// How many losses in a row.
const LOSSES: [u32; 6] = [2, 4, 6, 8, 10, 12];
/// Estimates of a point at a budget of a thousand runs, and what each of them is.
const ESTIMATES: u64 = 8;
/// About how many messages are received for one.
const MESSAGES: u64 = 1_000_000;
const REPLICATIONS: u32 = 10;
const SPLIT: u32 = 100;
const FORCED: u32 = 10;

const PLAIN: &str = "plain simulation";
const SPLITTING: &str = "splitting";
const FORCING: &str = "forced losses";

pub(super) fn figure() -> Figure {
    let plain = LOSSES.iter().map(|m| (probability(*m), plain(*m)));
    let trial = |name, run: fn(u32, u64, u64) -> Option<f64>| {
        move |m: &u32| {
            (
                probability(*m),
                Trial {
                    name,
                    argument: *m,
                    runs: ESTIMATES,
                    messages: MESSAGES,
                    law: Law::Mean,
                    run,
                },
            )
        }
    };
    let series = vec![
        Series::line(PLAIN, 0, Kind::Corrected, plain),
        Series::measured(SPLITTING, 1, LOSSES.iter().map(trial("rare-split", split))),
        Series::measured(FORCING, 2, LOSSES.iter().map(trial("rare-tilt", tilt))),
    ];
    let (x, y) =
        (Axis::log("probability", ""), Axis::log("simulated time for an error of 10 %", "s"));
    Figure {
        title: "What it costs to know a small probability",
        source: "ours",
        says: "A false departure within twenty announcements, of two processes with a loss of .1, \
               by T_L. Plain simulation pays for the runs in which nothing happens; splitting for \
               the number of levels, forced losses for none of it.",
        panels: vec![Panel { title: "", x, y, series }],
        ..Figure::BARE
    }
}

/// The group, by how many losses in a row it takes.
fn group(m: u32, seed: u64) -> Option<Experiment> {
    let point = point(Variant::LeS, 2, Loss::Uncorrelated(LOSS)).seed(seed);
    let point = point.listen(f64::from(m) + 0.5);
    let point = point.scenario(Scenario::FalseDeparture, f64::from(WINDOW));
    point.experiment(1).ok()
}

fn split(m: u32, seed: u64, run: u64) -> Option<f64> {
    cost(m, seed.wrapping_add(run), Method::Split, SPLIT)
}

fn tilt(m: u32, seed: u64, run: u64) -> Option<f64> {
    cost(m, seed.wrapping_add(run), Method::Tilt, FORCED)
}

/// The simulated time of one estimate, as if its error had been the one that is asked for.
fn cost(m: u32, seed: u64, method: Method, effort: u32) -> Option<f64> {
    let replications = REPLICATIONS;
    let event = RareEvent::FalseDeparture;
    let rare = Rare { method, effort, replications, ..Rare::new(event) };
    let free = Control { progress: &|| (), over: &|| false };
    let estimate = group(m, seed)?.estimate(&rare, free).ok()?;
    let times = pow(estimate.relative_error() / ERROR, 2.0);
    Some(estimate.simulated * times).filter(|cost| cost.is_finite())
}

/// The simulated time of plain simulation.
fn plain(m: u32) -> Option<f64> {
    let length = group(m, 0)?.plan(RunSeed::new(0, 0)).0.horizon.as_secs_f64();
    let chance = probability(m);
    Some(length * (1.0 - chance) / chance / (ERROR * ERROR))
}

/// That m losses in a row end within the window: a chain over the length of the present run of
/// losses, which begins as it is after a long time.
fn probability(m: u32) -> f64 {
    let m = m as usize;
    let mut runs: Vec<f64> = (0..m).map(|j| (1.0 - LOSS) * pow(LOSS, j as f64)).collect();
    let (mut out, mut event) = (pow(LOSS, m as f64), 0.0);
    for _ in 0..WINDOW {
        let back = (1.0 - LOSS) * (runs.iter().sum::<f64>() + out);
        event += LOSS * runs[m - 1];
        runs.rotate_right(1);
        runs.iter_mut().skip(1).for_each(|chance| *chance *= LOSS);
        (runs[0], out) = (back, out * LOSS);
    }
    event
}
