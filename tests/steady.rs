//! `tests/steady`: what fails while the machine stands still is run again, and nothing else is.
//!
//! **Assumptions.** Linux. For whoever runs on it, a machine that stands still is what a process
//! sees that is stopped for a while.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// What came of it.
struct Outcome {
    code: Option<i32>,
    text: String,
    /// The arguments of each run.
    runs: Vec<String>,
    /// What was kept of runs that were made again.
    kept: String,
}

/// A folder of one run's own.
fn fresh() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(format!("bw-steady-{pid}-{count}"));
    let _ = std::fs::remove_dir_all(&folder); // of a process that had this number before
    std::fs::create_dir(&folder).expect("there is room");
    folder
}

/// Stops a process, and lets it go on.
fn stop(child: &Child) {
    for signal in ["-STOP", "-CONT"] {
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.is_ok_and(|it| it.success()), "{signal}");
        sleep(Duration::from_millis(400));
    }
}

/// Runs a program of these lines steadily, by this name; while the runs of these numbers last, what
/// watches it is stopped.
fn steadily(name: &str, lines: &str, stopped: &[usize]) -> Outcome {
    let folder = fresh();
    let (program, runs) = (folder.join(name), folder.join("runs"));
    let lines = format!("#!/bin/sh\necho \"$@\" >>{}\nsleep 1\n{lines}\n", runs.display());
    std::fs::write(&program, lines).expect("there is room");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").expect("there are programs");
    let child = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/steady"))
        .args([name, "test", "--all"])
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("KEPT", &folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let count = || std::fs::read_to_string(&runs).unwrap_or_default().lines().count();
    for number in stopped {
        let begun = (0..2000).any(|_| {
            sleep(Duration::from_millis(5));
            count() >= *number
        });
        if begun {
            stop(&child);
        }
    }
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let (runs, kept) = (read("runs").lines().map(str::to_owned).collect(), read("again"));
    std::fs::remove_dir_all(&folder).expect("it is ours");
    Outcome { code: output.status.code(), text, runs, kept }
}

/// Fails the first time.
const FAILS_ONCE: &str = "[ $(wc -l <\"${0%/*}/runs\") -gt 1 ]";
/// The same, as `cargo test` does.
const TEST_FAILS_ONCE: &str = "
    [ $(wc -l <\"${0%/*}/runs\") -gt 1 ] && printf 'test a::b ... ok\\ntest c ... ok\\n' && exit
    printf 'test a::b ... FAILED\\ntest c ... FAILED\\ntest d ... ok\\n'
    printf 'failures:\\n\\n---- a::b stdout ----\\n    no name\\n\\n'
    printf 'failures:\\n    a::b\\n    c\\n\\ntest result: FAILED\\n'
    echo 'error: test failed, to rerun pass `--test x`'";

/// How often it was run again because the machine really stood still.
fn really(text: &str) -> usize {
    text.matches("== the machine stood still for ").count()
}

#[test]
fn what_fails_while_the_machine_stands_still_is_run_again_and_may_pass() {
    let Outcome { code, text, runs, kept } = steadily("script", FAILS_ONCE, &[1]);
    assert_eq!((code, runs), (Some(0), vec!["test --all".to_owned(); 2]), "{text}");
    assert!(text.contains("the machine stood still for "), "{text}");
    assert!(kept.contains("run again: script test --all"), "{kept}");
}

#[test]
fn a_test_that_saw_the_machine_stand_still_itself_is_run_again() {
    let line = "undecided: the machine stood still for 0.0042 s; 1 run";
    let said = |test: &str| {
        let more = format!("no name\\n{line}\\n\\n---- {test} stdout ----\\n{line}\\n");
        TEST_FAILS_ONCE.replace("no name", &more)
    };
    let Outcome { code, text, runs, .. } =
        steadily("cargo", &format!("{}; exit 101", said("c")), &[]);
    assert_eq!((code, runs.len()), (Some(0), 2), "{text}");
    assert!(text.contains(" s; run again: cargo test --all -- --exact a::b c"), "{text}");
    // It speaks for itself alone.
    let other = steadily("cargo", &format!("{}; exit 101", said("d")), &[]);
    assert_eq!((other.code, other.runs.len()), (Some(101), 1 + really(&other.text)));
}

#[test]
fn of_cargo_only_the_tests_that_failed_are_run_again() {
    let lines = format!("{TEST_FAILS_ONCE}; exit 101");
    let Outcome { code, text, runs, .. } = steadily("cargo", &lines, &[1]);
    assert_eq!((code, runs.len()), (Some(0), 2), "{text}");
    assert_eq!(runs[1], "test --all -- --exact a::b c");
    assert!(text.contains("a::b stdout"), "what it prints is passed on: {text}");
}

#[test]
fn what_fails_again_and_again_stays_a_failure() {
    let Outcome { code, text, runs, .. } = steadily("script", "exit 7", &[1, 2, 3]);
    assert_eq!((code, runs.len()), (Some(7), 3), "{text}");
}

#[test]
fn what_fails_on_a_machine_that_runs_stays_a_failure() {
    let failed = steadily("script", "exit 7", &[]);
    assert_eq!((failed.code, failed.runs.len()), (Some(7), 1 + really(&failed.text)));
    assert_eq!(steadily("script", "kill -KILL $$", &[]).code, Some(137));
}

#[test]
fn a_build_a_crash_and_a_test_that_is_not_found_again_stay_failures() {
    let built = steadily("cargo", "echo 'error: no such thing'; exit 101", &[1]);
    assert_eq!((built.code, built.runs.len()), (Some(101), 1), "{}", built.text);
    // Another program of the same row ends without a list.
    let crash = "echo 'error: test failed, to rerun pass `--test y`'; exit 101";
    let crashed = steadily("cargo", &format!("{TEST_FAILS_ONCE}; {crash}"), &[1]);
    assert_eq!((crashed.code, crashed.runs.len()), (Some(101), 1), "{}", crashed.text);
    let lost = TEST_FAILS_ONCE.replace("test c ... ok", "test e ... ok");
    let lost = steadily("cargo", &format!("{lost}; exit 101"), &[1]);
    assert_eq!((lost.code, lost.runs.len()), (Some(1), 2), "{}", lost.text);
}

#[test]
fn what_a_command_leaves_behind_is_a_failure_and_no_end_of_time() {
    let Outcome { code, text, runs, .. } = steadily("script", "sleep 30 & exit 7", &[1]);
    assert_eq!((code, runs.len()), (Some(1), 1), "{text}");
    assert!(text.contains("still runs"), "{text}");
}
