//! The mathematics as scripts and people meet it: `bellwether analyze` and `bellwether plan`.

mod analyze;
mod plan;
mod plan_probabilistic;
mod points;

use serde_json::Value;
use std::process::{Command, Output};

fn bellwether(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bellwether"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the command starts")
}

fn stdout(arguments: &str) -> String {
    let output = bellwether(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    assert_eq!(errors, "", "{arguments}");
    String::from_utf8(output.stdout).expect("the output is text")
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&stdout(&format!("{arguments} --format json"))).expect("it is JSON")
}

/// The one line with which a bad call is refused.
fn refusal(arguments: &str) -> String {
    let output = bellwether(arguments);
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}: nothing is written");
    assert_eq!(errors.lines().count(), 1, "{arguments}: one line, not\n{errors}");
    assert!(errors.starts_with("bellwether: "), "{errors}");
    errors
}

/// The mean that the command of a simulation prints.
fn mean_of(command: &str, measure: &str) -> f64 {
    let arguments = command.strip_prefix("bellwether ").expect("it is our command");
    let result = json(arguments);
    let mean = result["metrics"][measure]["mean"].as_f64();
    mean.unwrap_or_else(|| panic!("no {measure}: {result}"))
}
