//! What the README says of groups that run for real: `cargo bench --locked --bench live`.
//!
//! **What is measured.** Three members in namespaces of their own, joined by a bridge. A failover
//! lasts from the moment before the fault is made to the instant at which another member begins to
//! lead, as that one tells it; all members read the same clock. What it takes to make the fault is
//! counted in. The faults come at random phases of the renewal period, spread evenly over it.
//! Overlap is what the judge finds in the members' traces: how many led at once, at most.
//!
//! **How to read it.** Each row names its target and whether it was met; `bound` is what the
//! parameters promise for a machine that wakes threads in time. How late this machine was is in the
//! row; `stalled` is a bound that was missed by less than the machine stalled meanwhile. For an
//! overlap there is no excuse: exit code 1 if two ever led at once, or if a figure was missed.
//!
//! `-- --quick` shortens everything, `-- --format json` is for programs, and `-- WORD` measures
//! what has this word in its name: fastest, lan, kill, cut, SIGSTOP, SIGTERM, resign, transfer,
//! idle, loaded, loss or flood (replays of what members say to each other, as fast as one processor
//! sends them). `-- hour` watches a group with preset `fastest` for an hour; of each change of
//! leader that no stall explains it tells what may have been the cause, and keeps the traces.
//! `-- address` moves an address, beside keepalived (Debian's package), and says in which columns
//! ours is best.

#[path = "live/address.rs"]
mod address;
#[allow(dead_code, reason = "the tests of attacks use the rest")]
#[path = "../tests/hostile/attacker.rs"]
mod attacker;
#[path = "live/changes.rs"]
mod changes;
#[path = "live/cost.rs"]
mod cost;
#[path = "live/failover.rs"]
mod failover;
#[path = "live/flood.rs"]
mod flood;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/live/lab/mod.rs"]
mod lab;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/address/owners.rs"]
mod owners;
#[path = "live/row.rs"]
mod row;
#[path = "live/stability.rs"]
mod stability;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/address/traffic.rs"]
mod traffic;

use bellwether::core::Duration;
use bellwether::protocols::local_leader::Preset;
use failover::{Fault, Limits};
use row::Rows;
use stability::Trouble;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo adds flags of its own, such as --bench.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let json = arguments.windows(2).any(|pair| pair == ["--format", "json"]);
    let word = arguments.iter().find(|word| !word.starts_with('-') && *word != "json");
    let asked = |name: &str| word.is_none_or(|word| name.contains(word.as_str()));
    let repetitions = if quick { 3 } else { 30 };
    let length = |seconds| Duration::from_secs(if quick { 5 } else { seconds });
    let mut rows = Rows::new(json);
    for (preset, fault, limits) in failovers() {
        if asked(&format!("{} {}", preset.name(), fault.name())) {
            rows.push(failover::measure(preset, fault, repetitions, limits));
        }
    }
    for (trouble, seconds) in [
        (Trouble::None, 600),
        (Trouble::EveryCore, 600),
        (Trouble::Loss(10), 120),
        (Trouble::Loss(50), 120),
    ] {
        if asked(&trouble.name()) {
            let all = stability::measure(Preset::Lan, trouble, length(seconds));
            all.into_iter().for_each(|row| rows.push(row));
        }
    }
    if asked("flood") {
        flood::measure(Preset::Fast, length(10)).into_iter().for_each(|row| rows.push(row));
    }
    if word.is_some_and(|word| word == "hour") {
        let all = stability::measure(Preset::Fastest, Trouble::None, length(3_600));
        all.into_iter().for_each(|row| rows.push(row));
    }
    if word.is_some_and(|word| word == "address") {
        if !address::keepalived_is_there() {
            eprintln!(
                "ours is measured beside keepalived, which is not there: apt install keepalived"
            );
            return ExitCode::from(2);
        }
        address::compare(if quick { 1 } else { 9 }, &mut rows);
    }
    rows.finish(quick) // a few repetitions say nothing of a median
}

/// What befalls a leader with which preset, and how long its replacement may take.
fn failovers() -> Vec<(Preset, Fault, Limits)> {
    let mut all = Vec::new();
    let presets = [Preset::Fastest, Preset::Fast, Preset::Lan, Preset::Wan];
    for preset in presets {
        let limits = Limits { median: 1.5, worst: Some(5.0) };
        all.extend(Fault::ORDERLY.map(|fault| (preset, fault, limits)));
    }
    for preset in presets {
        all.push((preset, Fault::Kill, Limits { median: 3.0, worst: Some(15.0) }));
    }
    for (preset, median, worst) in [
        (Preset::Fastest, 33.0, None),
        (Preset::Fast, 45.0, Some(80.0)),
        (Preset::Lan, 130.0, Some(210.0)),
    ] {
        let limits = Limits { median, worst };
        all.extend(Fault::SILENT.map(|fault| (preset, fault, limits)));
    }
    all
}

/// How many led at once, at most, by the reigns that the judge found in the traces.
fn overlap(verdict: &serde_json::Value) -> u64 {
    let reigns = verdict["reigns"].as_array().unwrap_or_else(|| panic!("no reigns: {verdict}"));
    let end = |reign: &serde_json::Value, key: &str| reign[key].as_u64().unwrap_or(u64::MAX);
    let led_at = |at: u64| {
        let then = reigns.iter().filter(|reign| end(reign, "from") <= at && at < end(reign, "to"));
        then.count() as u64
    };
    // Where most led at once, somebody had just begun.
    reigns.iter().map(|reign| led_at(end(reign, "from"))).max().unwrap_or(0)
}
