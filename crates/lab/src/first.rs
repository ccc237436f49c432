//! The first picture of a measurement: what is said before there are runs of it.
//!
//! **Promise.** A reader who moves a slider sees something true within a [`MOMENT`] or two, however
//! long one run takes: a run, if it is quick; else what a formula gives; else a few runs of a group
//! that is smaller, or is watched for a shorter time, and a line that says so.

use crate::forms;
use crate::measure::{self, Wanted};
use crate::program::{Measured, Program};
use crate::work::Lines;
use bellwether_core::Duration;
use bellwether_net::clock::{BootTime, Clock};
use bellwether_sim::{Control, Experiment, Measure, RunsMade, Scenario};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// About how long the runs of the first answer take: a page is to have a picture soon.
pub(crate) const MOMENT: Duration = Duration::from_millis(30);
/// From so many processes on all of which vote, a run is not tried before there is a picture.
const MANY_VOTERS: u32 = 200;
/// The groups that stand in for one whose runs take long, and for how long they may run. The second
/// one is closer to what was asked for.
const FEWER: [(u32, Duration); 2] =
    [(5, Duration::from_millis(15)), (50, Duration::from_millis(200))];
/// The most runs of a group that stands in for another.
const RUNS: u64 = 16;
/// How much shorter the first of them is watched if no run ends in time, and for how long it may
/// run then: there must be a picture.
const SHORTER: (u64, Duration) = (16, Duration::from_secs(1));

/// Whether a first run may be quick. In large groups that vote even its beginning is not, and what
/// a formula gives there is known at once.
fn is_quick(experiment: &Experiment) -> bool {
    experiment.choice.profile().leases.is_none() || experiment.nodes < MANY_VOTERS
}

/// The first run, if it takes no longer than a [`MOMENT`].
pub(crate) fn run(
    measured: &Measured,
    over: &(dyn Fn() -> bool + Sync),
) -> Result<Option<RunsMade>, String> {
    if !is_quick(&measured.experiment) {
        return Ok(None);
    }
    let end = BootTime.now() + MOMENT;
    let late = AtomicBool::new(false);
    let (_, made) = measure::more(&measured.experiment, RunsMade::default(), 1, &|| {
        let now = over() || BootTime.now() > end;
        late.fetch_or(now, Ordering::Relaxed);
        now
    })?;
    Ok((!late.into_inner()).then_some(made))
}

/// What a run of this experiment measures that people ask for first, as far as it is known before.
fn expected(experiment: &Experiment) -> Option<&'static str> {
    let (profile, scenario) = (experiment.choice.profile(), experiment.scenario);
    match (profile.leases, profile.on_demand) {
        _ if experiment.choice.rounds().is_some() || experiment.initiation.wanders() => None,
        (Some(_), _) => match scenario {
            Scenario::Start => Some("election_time"),
            Scenario::Departure | Scenario::Split => Some("reestablishment_delay"),
            Scenario::Merge => Some("agreement_time"),
            _ => None,
        },
        (None, true) => Some("time"),
        (None, false) if scenario == Scenario::Start => Some("leadership_delay"),
        (None, false) => Some("reestablishment_delay"),
    }
}

/// Says what a formula gives, before there are runs to say anything of.
pub(crate) fn say_form(
    wanted: &Wanted,
    measured: &Measured,
    lines: &mut Lines,
) -> Option<(Measure, Value)> {
    let measure = wanted.measure.as_deref().or_else(|| expected(&measured.experiment))?;
    let measure = Measure::of_name(measure)?;
    let params = measure::params(measured);
    let form = forms::of(&measured.experiment, &params, &measure.name())?;
    if !["printed", "corrected"].iter().any(|key| form[key].is_number()) {
        return None;
    }
    lines.say(&json!({
        "lab": "result",
        "runs": 0,
        "of": wanted.runs,
        "seconds": MOMENT.as_secs_f64(),
        "measure": measure.name(),
        "forms": form,
    }));
    lines.send();
    Some((measure, form))
}

/// Says what runs of smaller groups give, which are made in a moment.
pub(crate) fn say_instead(
    program: &dyn Program,
    wanted: &Wanted,
    measured: &Measured,
    lines: &mut Lines,
) {
    let over = lines.watch();
    let nodes = measured.experiment.nodes;
    for (fewer, time) in FEWER {
        if over() || (fewer >= nodes && fewer > FEWER[0].0) {
            return;
        }
        let smaller = wanted.among(fewer.min(nodes), RUNS);
        // What is asked for may name more processes than there are then.
        let Ok(smaller) = measure::asked(program, &smaller) else { continue };
        let said = instead(&smaller.experiment, wanted, time, &over);
        let said = said.or_else(|| {
            if fewer != FEWER[0].0 {
                return None;
            }
            let (parts, time) = SHORTER;
            let window = Duration::from_nanos(smaller.experiment.window.as_nanos() / parts);
            let shorter = Experiment { window, ..smaller.experiment };
            let mut said = instead(&shorter, wanted, time, &over)?;
            said["instead"]["window"] = json!(window.to_string());
            Some(said)
        });
        if let Some(said) = said {
            lines.say(&said);
            lines.send();
        }
    }
}

/// What runs of this experiment give that end in this time, if any does.
fn instead(
    experiment: &Experiment,
    wanted: &Wanted,
    time: Duration,
    over: &(dyn Fn() -> bool + Sync),
) -> Option<Value> {
    let began = BootTime.now();
    let is_over = || over() || BootTime.now().since(began) > time;
    let control = Control { progress: &|| (), over: &is_over };
    let experiment = Experiment { runs: RUNS, ..experiment.clone() };
    let (answer, made) = experiment.run_on(RunsMade::default(), control).ok()?;
    let measure = measure::choose(&answer, wanted.measure.as_deref()).ok()?;
    let mut said = measure::result(&answer, &made, measure);
    said["runs"] = json!(0);
    said["of"] = json!(wanted.runs);
    said["seconds"] = json!(BootTime.now().since(began).as_secs_f64());
    said["instead"] =
        json!({ "nodes": experiment.nodes, "window": Value::Null, "runs": made.len() });
    Some(said)
}
