//! The first picture of a measurement: what is said before there are runs of it.
//!
//! **Promise.** A reader who moves a slider sees something true within a [`MOMENT`] or two, however
//! long one run takes: a run, if it is quick; else what a formula gives; and then a few runs of a
//! group that is smaller, or is watched for a shorter time, and a line that says so. The first run
//! goes on meanwhile, on a thread of its own.

use crate::forms;
use crate::measure::{self, Wanted};
use crate::program::{Measured, Program};
use crate::work::Lines;
use bellwether_core::Duration;
use bellwether_net::clock::{BootTime, Clock};
use bellwether_sim::{Answer, Control, Experiment, Measure, RunsMade, Scenario};
use serde_json::{Map, Value, json};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::{thread, time};

/// About how long the runs of the first answer take: a page is to have a picture soon.
pub(crate) const MOMENT: Duration = Duration::from_millis(30);
/// From so many processes on all of which vote, nobody waits for a run before there is a picture.
const MANY_VOTERS: u32 = 200;
/// The groups that stand in for one whose runs take long, and for how long they may run. The second
/// one is closer to what was asked for.
const FEWER: [(u32, Duration); 2] =
    [(5, Duration::from_millis(15)), (50, Duration::from_millis(200))];
/// The most runs of a group that stands in for another.
const RUNS: u64 = 16;
/// How much shorter the first of them is watched while no run of it ends in time, if
/// [that shows](parts) what was asked for.
const SHORTER: [u64; 4] = [1, 16, 256, 4096];
/// How long the last of those may take until a run ends: there must be a picture.
const LONGEST: Duration = Duration::from_secs(1);

/// Whether a first run may be quick. In large groups that vote even its beginning is not, and what
/// a formula gives there is known at once.
fn is_quick(experiment: &Experiment) -> bool {
    experiment.choice.profile().leases.is_none() || experiment.nodes < MANY_VOTERS
}

/// The first run, and what was said before it.
pub(crate) struct First {
    pub(crate) answer: Answer,
    pub(crate) made: RunsMade,
    /// How long it took.
    pub(crate) took: Duration,
    /// What a formula gives, if that was said.
    pub(crate) form: Option<(Measure, Value)>,
}

/// Makes the first run on a thread of its own. If it takes longer than a [`MOMENT`], something else
/// is said while it goes on: how soon that comes does not depend on the run.
pub(crate) fn run(
    program: &dyn Program,
    wanted: &Wanted,
    measured: &Measured,
    lines: &mut Lines,
) -> Result<First, String> {
    let over = lines.watch();
    let ended = AtomicBool::new(false);
    let (done, waiting) = channel();
    let work = || {
        let began = BootTime.now();
        let made = measure::more(&measured.experiment, RunsMade::default(), 1, &over);
        ended.store(true, Ordering::Relaxed);
        let _ = done.send(()); // nobody may wait for it
        made.map(|(answer, made)| (answer, made, BootTime.now().since(began)))
    };
    thread::scope(|scope| {
        let running = thread::Builder::new().name("lab-first".to_owned());
        let running = running
            .spawn_scoped(scope, work)
            .map_err(|error| format!("there is no thread for the first run: {error}"))?;
        let late = || waiting.recv_timeout(time::Duration::from_nanos(MOMENT.as_nanos())).is_err();
        let mut form = None;
        if !is_quick(&measured.experiment) || late() {
            form = say_form(wanted, measured, lines);
            say_instead(program, wanted, measured, lines, &ended, form.as_ref());
        }
        let (answer, made, took) = running.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(First { answer, made, took, form })
    })
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
fn say_form(wanted: &Wanted, measured: &Measured, lines: &mut Lines) -> Option<(Measure, Value)> {
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
        "measure": measure.name(),
        "forms": form,
    }));
    lines.send();
    Some((measure, form))
}

/// Says what runs of smaller groups give, which are made in a moment, until the first run has
/// `ended`; what the formula gives for the group itself is said again.
fn say_instead(
    program: &dyn Program,
    wanted: &Wanted,
    measured: &Measured,
    lines: &mut Lines,
    ended: &AtomicBool,
    form: Option<&(Measure, Value)>,
) {
    let gone = lines.watch();
    // Nobody needs it once the first run is there.
    let over = || gone() || ended.load(Ordering::Relaxed);
    let nodes = measured.experiment.nodes;
    for (fewer, time) in FEWER {
        if over() || (fewer >= nodes && fewer > FEWER[0].0) {
            return;
        }
        let smaller = wanted.among(fewer.min(nodes), RUNS);
        // What is asked for may name more processes than there are then.
        let Ok(smaller) = measure::asked(program, &smaller) else { continue };
        let smaller = smaller.experiment;
        let said = if fewer == FEWER[0].0 {
            let parts = parts(&smaller);
            parts.iter().find_map(|part| {
                let most = if Some(part) == parts.last() { LONGEST } else { time };
                instead(&smaller, wanted, *part, [time, most], &over)
            })
        } else {
            instead(&smaller, wanted, 1, [time; 2], &over)
        };
        if let Some(mut said) = said.filter(|_| !over()) {
            if let Some((_, form)) = form.filter(|(of, _)| said["measure"] == json!(of.name())) {
                said["forms"] = form.clone();
            }
            lines.say(&said);
            lines.send();
        }
    }
}

/// By how much the window of this experiment may be divided. In less than one lease, one silence or
/// one election of its own, a group shows how it begins, and not what was asked for; and a shorter
/// window changes nothing of a run that ends by itself.
fn parts(experiment: &Experiment) -> Vec<u64> {
    let choice = &experiment.choice;
    let scales = choice.time_scales(experiment.nodes);
    let rotates = scales.rotates.unwrap_or(Duration::ZERO);
    let lengths = [scales.lease, scales.announces, scales.settles, rotates];
    let least = lengths.into_iter().fold(choice.profile().interval, Duration::max);
    let shows = |parts: u64| !experiment.ends() && part_of(experiment, parts) >= least;
    SHORTER.into_iter().filter(|parts| *parts == 1 || shows(*parts)).collect()
}

/// One of so many parts of its window.
fn part_of(experiment: &Experiment, parts: u64) -> Duration {
    Duration::from_nanos(experiment.window.as_nanos() / parts)
}

/// What runs of this experiment give that end in time, if any does. They are watched for a part of
/// its window. The first time is for all of them; if none ended by then, the second is for one.
fn instead(
    experiment: &Experiment,
    wanted: &Wanted,
    parts: u64,
    [time, most]: [Duration; 2],
    over: &(dyn Fn() -> bool + Sync),
) -> Option<Value> {
    let window = part_of(experiment, parts);
    let shorter = Experiment { window, ..experiment.clone() };
    let (began, made) = (BootTime.now(), AtomicBool::new(false));
    let is_over = || {
        let time = if made.load(Ordering::Relaxed) { time } else { most };
        over() || BootTime.now().since(began) > time
    };
    let progress = || made.store(true, Ordering::Relaxed);
    let control = Control { progress: &progress, over: &is_over };
    let mut said = of_some(&shorter, wanted, control)?;
    said["seconds"] = json!(BootTime.now().since(began).as_secs_f64());
    if parts > 1 {
        said["instead"]["window"] = json!(window.to_string());
    }
    Some(said)
}

/// What as many of its first runs give as are made until it is over.
fn of_some(experiment: &Experiment, wanted: &Wanted, control: Control<'_>) -> Option<Value> {
    let experiment = Experiment { runs: RUNS, ..experiment.clone() };
    let (answer, made) = experiment.run_on(RunsMade::default(), control).ok()?;
    let measure = measure::choose(&answer, wanted.measure.as_deref()).ok()?;
    let mut said = measure::result(&answer, &made, measure);
    let stopped = RUNS - made.len() as u64;
    if stopped > 0 {
        tell_stopped(&mut said, stopped);
    }
    said["runs"] = json!(0);
    said["of"] = json!(wanted.runs);
    said["instead"] =
        json!({ "nodes": experiment.nodes, "window": Value::Null, "runs": made.len() });
    Some(said)
}

/// Says how many runs the clock stopped. Those that were made may be the quick ones, and no sample
/// of all, so no mean of them has an interval.
fn tell_stopped(said: &mut Value, stopped: u64) {
    let tell = |summary: &mut Value| {
        (summary["stderr"], summary["ci95"]) = (Value::Null, Value::Null);
        summary["stopped"] = json!(stopped);
    };
    tell(&mut said["summary"]);
    said["all"].as_object_mut().into_iter().flat_map(Map::values_mut).for_each(tell);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_protocols::choice::{Choice, find};
    use bellwether_protocols::param::GivenParams;
    use bellwether_protocols::surroundings::Surroundings;
    use bellwether_sim::{Engine, Initiation, Network, Ranks};
    use std::sync::atomic::AtomicU64;

    /// Five processes of this protocol, watched for so many seconds.
    fn experiment(protocol: &str, seconds: u64) -> Experiment {
        let calm = Surroundings::calm(5, Duration::from_millis(100));
        let config = find(protocol).unwrap().config(&calm, &GivenParams::default()).unwrap();
        Experiment {
            choice: Choice::try_from(config).unwrap(),
            nodes: 5,
            network: Network::default(),
            ranks: Ranks::default(),
            drift: 0,
            initiation: Initiation::default(),
            scenario: Scenario::Start,
            window: Duration::from_secs(seconds),
            runs: RUNS,
            seed: 1,
            threads: 1,
            engine: Engine::Event,
        }
    }

    #[test]
    fn no_part_of_a_window_is_shorter_than_what_happens_in_it() {
        const DAY: u64 = 86_400;
        let leases = |seconds| parts(&experiment("local-leader", seconds));
        assert_eq!(leases(10 * DAY), SHORTER);
        let settles = experiment("local-leader", 1).choice.time_scales(5).settles;
        let seconds = settles.as_nanos().div_ceil(1_000_000_000);
        assert_eq!(leases(16 * seconds), [1, 16]);
        assert_eq!(leases(16 * (seconds - 1)), [1]);
        // Watched for less than an election: as it was asked for, and no shorter.
        assert_eq!(leases(1), [1]);
    }

    #[test]
    fn a_run_that_ends_by_itself_is_not_watched_for_a_shorter_time() {
        for protocol in ["bully", "le-s"] {
            assert_eq!(parts(&experiment(protocol, 1 << 20)), [1], "{protocol}");
        }
        let departure = Scenario::Departure;
        let departure = Experiment { scenario: departure, ..experiment("le-s", 1 << 20) };
        assert_eq!(parts(&departure), SHORTER);
    }

    /// What the first picture says if the clock stops it when so many runs were begun.
    fn stopped_after(runs: u64) -> Value {
        let experiment = experiment("le-s", 10);
        let wanted = json!({ "protocol": "le-s", "measure": "leadership_delay" });
        let begun = AtomicU64::new(0);
        let over = || begun.fetch_add(1, Ordering::Relaxed) >= runs;
        let control = Control { progress: &|| (), over: &over };
        of_some(&experiment, &serde_json::from_value(wanted).unwrap(), control).unwrap()
    }

    #[test]
    fn where_the_clock_stopped_runs_no_mean_has_an_interval() {
        let whole = stopped_after(RUNS);
        assert!(whole["summary"]["ci95"].is_array(), "{whole}");
        assert_eq!(
            (&whole["instead"]["runs"], &whole["summary"]["stopped"]),
            (&json!(RUNS), &Value::Null)
        );
        let part = stopped_after(6);
        assert_eq!(part["instead"]["runs"], 6);
        let all = part["all"].as_object().unwrap();
        assert!(all.len() > 1 && all["leadership_delay"] == part["summary"], "{part}");
        for (measure, summary) in all {
            assert!(summary["mean"].is_number(), "{measure}: {summary}");
            assert_eq!(summary["stopped"], RUNS - 6, "{measure}");
            let (low, error) = (&summary["ci95"], &summary["stderr"]);
            assert_eq!((low, error), (&Value::Null, &Value::Null), "{measure}");
        }
    }
}
