//! `tests/steady`: what fails while the machine stands still is run again, and nothing else is.
//!
//! **Assumptions.** Linux. For whoever runs on it, a machine that stands still is what a process
//! sees that is stopped for a while.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// What came of it.
struct Outcome {
    code: Option<i32>,
    text: String,
    /// The arguments of each run.
    runs: Vec<String>,
}

/// Runs a program of these lines steadily, by this name; what watches it is stopped meanwhile, or
/// not.
fn steadily(name: &str, lines: &str, stop: bool) -> Outcome {
    let folder = std::env::temp_dir().join(format!("bw-steady-{}", std::process::id()));
    let folder = folder.join(format!("{name}-{stop}-{}", lines.len()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let (program, runs) = (folder.join(name), folder.join("runs"));
    let lines = format!("#!/bin/sh\necho \"$@\" >>{}\nsleep 0.5\n{lines}\n", runs.display());
    std::fs::write(&program, lines).expect("there is room");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").expect("there are programs");
    let child = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/steady"))
        .args([name, "test", "--all"])
        .env("PATH", format!("{}:{path}", folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    if stop {
        let signal = |signal: &str| {
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.is_ok_and(|it| it.success()), "{signal}");
        };
        while !runs.exists() {
            sleep(Duration::from_millis(1));
        }
        signal("-STOP");
        sleep(Duration::from_millis(300));
        signal("-CONT");
    }
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let runs = std::fs::read_to_string(&runs).expect("it ran");
    let runs = runs.lines().map(str::to_owned).collect();
    std::fs::remove_dir_all(&folder).expect("it is ours");
    Outcome { code: output.status.code(), text, runs }
}

/// Fails the first time.
const FAILS_ONCE: &str = "[ $(wc -l <\"${0%/*}/runs\") -gt 1 ]";
/// The same, as a program does that has tests.
const TEST_FAILS_ONCE: &str = "[ $(wc -l <\"${0%/*}/runs\") -gt 1 ] && exit
    printf 'failures:\\n\\n---- a::b stdout ----\\n    no name\\n\\n'
    printf 'failures:\\n    a::b\\n    c\\n\\ntest result: FAILED\\n'; exit 101";

#[test]
fn what_fails_while_the_machine_stands_still_is_run_again_and_may_pass() {
    let Outcome { code, text, runs } = steadily("script", FAILS_ONCE, true);
    assert_eq!((code, runs), (Some(0), vec!["test --all".to_owned(); 2]), "{text}");
    assert!(text.contains("the machine stood still for 0."), "{text}");
}

#[test]
fn of_cargo_only_the_tests_that_failed_are_run_again() {
    let Outcome { code, text, runs } = steadily("cargo", TEST_FAILS_ONCE, true);
    assert_eq!((code, runs.len()), (Some(0), 2), "{text}");
    assert_eq!(runs[1], "test --all -- --exact a::b c");
    assert!(text.contains("a::b stdout"), "what it prints is passed on: {text}");
}

#[test]
fn what_fails_without_naming_a_test_or_on_a_machine_that_runs_stays_a_failure() {
    let built = steadily("cargo", "echo 'error: no such thing'; exit 101", true);
    assert_eq!((built.code, built.runs.len()), (Some(101), 1), "{}", built.text);
    let failed = steadily("script", "exit 7", false);
    assert_eq!(failed.code, Some(7));
    // The machine may really have stood still; then that is said.
    let again = failed.text.matches("the machine stood still").count();
    assert_eq!(failed.runs.len(), 1 + again, "{}", failed.text);
    assert_eq!(steadily("script", "kill -KILL $$", false).code, Some(137));
}
