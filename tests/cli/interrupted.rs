//! Whoever interrupts a long command (Ctrl-C) gets what was computed by then, and exit code 130.

use crate::command::{folder, program};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Starts the command, waits until it catches Ctrl-C and works for a while, and interrupts it.
fn interrupted(arguments: &str) -> Output {
    let mut command = program();
    command.args(arguments.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    let catches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let caught = status
            .unwrap_or_default()
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        caught.is_some_and(|caught| caught & 1 << (Signal::INT.as_raw() - 1) != 0)
    };
    let patience = 6_000;
    let caught = (0..patience).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        catches()
    });
    assert!(caught, "{arguments}: it never catches Ctrl-C");
    std::thread::sleep(Duration::from_millis(800));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{arguments}: {errors}");
    output
}

fn json(arguments: &str) -> Value {
    let output = interrupted(&format!("{arguments} --format json"));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn text(arguments: &str) -> String {
    String::from_utf8(interrupted(arguments).stdout).expect("it is text")
}

#[test]
fn a_check_tells_what_was_found_by_then() {
    let verdict = json("check local-leader --schedules 100000000");
    assert_eq!((&verdict["interrupted"], &verdict["verdict"]), (&true.into(), &"holds".into()));
    assert!(verdict["schedules"].as_u64() > Some(0), "{verdict}");
}

#[test]
fn a_simulation_sums_up_the_runs_made_by_then_and_keeps_their_samples() {
    let folder = folder("interrupted");
    let path = folder.join("samples.csv");
    let flags = "sim le-s --nodes 100 --runs 500000 --engine event --threads 2";
    let result = json(&format!("{flags} --samples {}", path.display()));
    let runs = result["runs"].as_u64().expect("a number");
    assert!(result["interrupted"] == true && (1..500_000).contains(&runs), "{result}");
    assert_eq!(result["metrics"]["messages"]["count"], runs, "{result}");
    let samples = std::fs::read_to_string(&path).expect("it was written");
    let numbers: Vec<u64> =
        samples.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    assert_eq!(numbers.len() as u64, runs);
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each run has its own number");
    assert!(numbers.last() > Some(&(runs - 1)), "threads begin at different runs");
    let table = text(flags);
    assert!(table.contains("messages") && table.contains("\nINTERRUPTED: "), "{table}");
    std::fs::remove_dir_all(&folder).expect("it was made by this test");
}

#[test]
fn a_quantity_is_compared_with_the_runs_made_by_then() {
    let flags = "analyze le-s.reestablishment-delay.departure --listen 8s --loss .1";
    let found = json(&format!("{flags} --simulate 500000"));
    let simulated = &found["simulated"];
    assert_eq!(simulated["interrupted"], true, "{found}");
    assert!((2..500_000).contains(&simulated["count"].as_u64().expect("a number")), "{found}");
    assert!(text(&format!("{flags} --simulate 500000")).contains("\nINTERRUPTED: "));
}

#[test]
fn a_repeated_scenario_file_does_so_too() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/failover.toml");
    let result = json(&format!("sim {file} --runs 500000"));
    let runs = result["runs"].as_u64().expect("a number");
    assert!(result["interrupted"] == true && (1..500_000).contains(&runs), "{result}");
}

#[test]
fn an_exploration_tells_how_far_it_came() {
    let flags = "check local-leader --explore --nodes 3 --crashes 2 --threads 1";
    let answer = json(flags);
    assert_eq!((&answer["interrupted"], &answer["complete"]), (&true.into(), &false.into()));
    assert_eq!(answer["verdict"], "holds", "{answer}");
    assert!(answer["states"].as_u64() > Some(0), "{answer}");
    assert!(text(flags).contains("not all: INTERRUPTED"));
}

#[test]
fn a_plan_is_printed_without_its_simulation() {
    for (flags, param) in [
        ("plan announce-listen --nodes 1000 --loss .1 --simulate 1000000", "listen"),
        ("plan local-leader --loss .01 --simulate 1000000", "lock"),
    ] {
        let plan = json(flags);
        assert_eq!((&plan["interrupted"], &plan["confirmed"]), (&true.into(), &Value::Null));
        assert!(!plan["params"][param].is_null(), "{plan}");
        let table = text(flags);
        assert!(table.contains(&format!("--{param}")), "{table}");
        assert!(table.contains("INTERRUPTED: no simulation"), "{table}");
    }
}

/// Without a look at Ctrl-C, the pilot runs alone would take hours.
#[test]
fn the_pilot_runs_of_a_rare_event_end_at_once() {
    let flags = "sim le-s --nodes 20 --loss .1 --listen 9.5s --window 600s --effort 1000000";
    for method in ["split", "tilt"] {
        let output = interrupted(&format!("{flags} --rare false-departure --method {method}"));
        assert_eq!(output.stdout, b"");
        let errors = String::from_utf8(output.stderr).expect("errors are text");
        assert!(errors.contains("before two replications"), "{errors}");
    }
}

#[test]
fn a_search_that_has_found_nothing_says_so() {
    let output = interrupted("plan probabilistic --nodes 2000 --mcast-loss .05 --effort 1000");
    assert_eq!(output.stdout, b"");
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("before a strategy was found"), "{errors}");
}
