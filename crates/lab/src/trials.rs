//! The judge: random faults against a promise, with the progress, until something breaks or the
//! budget is used up.
//!
//! **Promise.** A violation is shrunk, and comes as a scenario that the stage plays.

use crate::program::{Asked, Flags, Tried};
use crate::reply;
use crate::routes::{Shared, read};
use crate::work::Lines;
use axum::extract::{Request, State};
use axum::response::Response;
use bellwether_check::shrink::shrink_choice_until;
use bellwether_check::{Fuzz, Tally, Violation, scenario};
use bellwether_net::clock::{BootTime, Clock};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most schedules of one request.
pub(crate) const SCHEDULES_MAX: u64 = 10_000_000;
/// How many schedules are judged between two lines of progress. It is what one batch of the judge
/// has, so that the result is that of one call.
const BATCH: u64 = 1024;

/// What is tried.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    protocol: String,
    #[serde(default)]
    flags: Flags,
    #[serde(default)]
    promise: Option<String>,
    #[serde(default = "usual")]
    schedules: u64,
}

fn usual() -> u64 {
    2000
}

/// How far it is.
fn progress(lab: &str, tally: &Tally, of: u64, seconds: f64, names: &[&str]) -> Value {
    let faults: Map<String, Value> = tally
        .trouble
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
        .collect();
    let checks: Map<String, Value> = names
        .iter()
        .zip(&tally.checks)
        .map(|(name, counts)| ((*name).to_owned(), json!(counts.checks)))
        .collect();
    json!({
        "lab": lab,
        "schedules": tally.schedules,
        "of": of,
        "seconds": seconds,
        "per_second": if seconds > 0.0 { tally.schedules as f64 / seconds } else { 0.0 },
        "faults": faults,
        "checks": checks,
        "elections": tally.elections,
        "deliveries": tally.deliveries,
    })
}

/// The violation, shrunk, or as small as it is when nobody waits any more.
fn violation(
    tried: &Tried,
    name: &str,
    found: &Violation,
    over: &dyn Fn() -> bool,
) -> Result<Value, String> {
    let Tried { trial, choice, config, command } = tried;
    let full = trial.schedule(found.number);
    let before = full.plan.faults.len();
    // The command has the seed if it was chosen; otherwise it depends on the program's default.
    let written = command.split(' ').any(|word| word == "--seed");
    let seed = if written { String::new() } else { format!("--seed {} ", trial.seed) };
    let (choice, breach) = (choice.clone(), found.breach.clone());
    let (mut schedule, broken) = shrink_choice_until(trial, choice, full, breach, over);
    let after = schedule.plan.faults.len();
    // A shrunk schedule ends at the instant of the violation, which would have no width.
    let horizon = schedule.plan.horizon;
    schedule.plan.horizon = horizon + horizon / 10;
    let about = format!("{name} breaks {}: {}", trial.promise, broken.text);
    let toml = scenario::to_toml(trial, &schedule, &about, name, config);
    let toml = toml.map_err(|bad| bad.to_string())?;
    Ok(json!({
        "lab": "violation",
        "invariant": broken.invariant,
        "at": broken.at,
        "text": broken.text,
        "schedule": found.number,
        "before": before,
        "after": after,
        "what": { "toml": toml },
        "toml": toml,
        "command": format!("{command} {seed}--schedule {}", found.number),
    }))
}

fn judge(wanted: &Wanted, tried: &Tried, lines: &mut Lines) -> Result<(), String> {
    let names = tried.trial.invariants();
    let of = wanted.schedules;
    lines.say(&json!({
        "lab": "asked",
        "command": format!("{} --schedules {of}", tried.command),
        "promise": tried.trial.promise.to_string(),
        "invariants": names,
        "nodes": tried.trial.nodes,
    }));
    lines.send();
    let (began, over) = (BootTime.now(), lines.watch());
    let mut tally = Tally::default();
    let mut next = 0;
    while next < of && !over() {
        let numbers = next..of.min(next + BATCH);
        next = numbers.end;
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let fuzz = Fuzz { trial: &tried.trial, numbers, threads, progress: &|| () };
        let report = fuzz.run_choice_until(tried.choice.clone(), &over);
        let report = report.map_err(|bad| bad.to_string())?;
        tally.add(&report.tally);
        let seconds = BootTime.now().since(began).as_secs_f64();
        lines.say(&progress("progress", &tally, of, seconds, &names));
        lines.send();
        if let Some(found) = &report.violation {
            let Violation { number, breach } = found;
            lines.say(&json!({
                "lab": "shrinking", "schedule": number, "invariant": breach.invariant,
            }));
            lines.send();
            // Also if there was no time to shrink it further.
            lines.say(&violation(tried, &wanted.protocol, found, &over)?);
            lines.say(&json!({ "lab": "end", "held": false }));
            return Ok(());
        }
    }
    if over() {
        return Ok(()); // what was not tried has not held
    }
    let seconds = BootTime.now().since(began).as_secs_f64();
    lines.say(&progress("held", &tally, of, seconds, &names));
    lines.say(&json!({ "lab": "end", "held": true }));
    Ok(())
}

/// Tries to break a promise.
pub(crate) async fn check(State(app): Shared, request: Request) -> Response {
    let wanted: Wanted = match read(request).await {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    if !(1..=SCHEDULES_MAX).contains(&wanted.schedules) {
        return reply::refused(format!(
            "schedules = {}, but from 1 to {SCHEDULES_MAX} are tried at a time",
            wanted.schedules
        ));
    }
    let (program, meant) = (Arc::clone(&app.program), wanted.clone());
    let try_out = move || {
        let asked = Asked { protocol: &meant.protocol, flags: &meant.flags };
        program.trial(asked, meant.promise.as_deref())
    };
    let tried = match app.quick.answer(try_out).await {
        Ok(Ok(tried)) => tried,
        Ok(Err(why)) => return reply::refused(why),
        Err(refused) => return refused,
    };
    app.slots.stream(move |lines| judge(&wanted, &tried, lines)).await
}
