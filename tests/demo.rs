//! The demonstration as people run it: a process, its output, and what it leaves behind.
//!
//! **Assumptions.** Linux with a loopback interface. The machine may be busy: what is asserted of
//! time is what the command promises itself.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command.arg("demo").args(arguments);
    command
}

/// A directory of this test, which is not there yet.
fn fresh(name: &str) -> PathBuf {
    // In memory: a disk that is busy would make members wait, and tests fail.
    let memory = PathBuf::from("/dev/shm");
    let temporary = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let path = temporary.join(format!("bellwether-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path); // of a process that had this number before
    path
}

/// Whether a process with this number is there and is one of ours.
fn runs(pid: u64) -> bool {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).contains("bellwether-demo-")
}

/// The members that run for this demonstration, by the directory that it has made.
fn members_of(pid: u32) -> Vec<u64> {
    let mine = format!("bellwether-demo-{pid}-");
    let numbers = fs::read_dir("/proc").expect("there is a /proc").filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse::<u64>().ok()?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&command).contains(&mine).then_some(pid)
    });
    numbers.collect()
}

/// Looks again and again until it is so.
fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..500 {
        if so() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

#[test]
fn four_leaders_are_lost_and_replaced_and_no_two_ever_lead_at_once() {
    let out = fresh("kept");
    let output = demo(&["--format", "json", "--out", out.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}{text}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failovers = report["failovers"].as_array().unwrap();
    let blows: Vec<&str> = failovers.iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(blows, ["kill -9", "pause", "resign", "SIGTERM"]);
    for failover in failovers {
        assert_ne!(failover["old"], failover["new"], "{report}");
        assert!(failover["ms"].as_f64().unwrap() > 0.0, "{report}");
    }
    assert_eq!(report["verdict"], "holds", "{report}");
    assert_eq!(report["invariants"]["never-two"]["verdict"], "holds", "{report}");
    assert!(
        report["reigns"].as_array().unwrap().len() >= 5,
        "one, and one for each blow: {report}"
    );
    assert!(report["smallest_gap_ms"].as_f64().unwrap() >= 0.0, "{report}");
    assert!(report["seconds"].as_f64().unwrap() < 20.0, "{report}");
    let pids: Vec<u64> =
        report["pids"].as_array().unwrap().iter().map(|pid| pid.as_u64().unwrap()).collect();
    assert!(pids.len() >= 7, "five, and two that were started again: {report}");
    assert!(!pids.iter().any(|pid| runs(*pid)), "somebody was left behind: {report}");
    let picture = fs::read_to_string(out.join("bellwether-demo.svg")).unwrap();
    assert!(picture.starts_with("<svg"));
    let faults = fs::read_to_string(out.join("faults.jsonl")).unwrap();
    for kind in ["crash", "pause", "resume"] {
        assert!(faults.contains(&format!("\"kind\":\"{kind}\"")), "{faults}");
    }
    let again = demo(&["--out", out.to_str().unwrap()]).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "old records and new ones do not mix");
    assert!(String::from_utf8_lossy(&again.stderr).contains("1.jsonl is there already"));
    fs::remove_dir_all(&out).unwrap();
}

#[test]
fn people_read_the_proof_under_a_picture_and_nothing_is_left() {
    let own = fresh("own");
    fs::create_dir(&own).unwrap();
    let output = demo(&[]).env("TMPDIR", &own).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}{text}", String::from_utf8_lossy(&output.stderr));
    let proof = text.lines().find(|line| line.starts_with("No two ever led at once: "));
    let proof = proof.unwrap_or_else(|| panic!("{text}"));
    assert!(proof.contains(" reigns, at least ") && proof.contains(" records of "), "{proof}");
    for words in ["is killed", "is paused", "asked to resign", "told to end", "█", "▒", "×"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().any(|line| line.starts_with(" 5  ")), "a row for each: {text}");
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "its files are removed");
    fs::remove_dir(&own).unwrap();
}

/// Starts a demonstration, waits until its five members run, and sends it a signal.
fn interrupted_by(signal: &str, own: &Path) -> (Option<i32>, Vec<u64>) {
    fs::create_dir(own).expect("it is not there");
    let mut child =
        demo(&[]).env("TMPDIR", own).stdout(Stdio::null()).spawn().expect("it can be started");
    let pid = child.id();
    let mut members = Vec::new();
    eventually("the members start", || {
        members = members_of(pid); // once: the story kills one of them soon
        members.len() == 5
    });
    let sent =
        Command::new("kill").args([signal, &pid.to_string()]).status().expect("there is a kill");
    assert!(sent.success());
    let status = child.wait().expect("a child can be waited for");
    eventually("a member is left behind", || !members.iter().any(|pid| runs(*pid)));
    (status.code(), members)
}

#[test]
fn whoever_interrupts_it_leaves_neither_processes_nor_files() {
    let own = fresh("interrupted");
    let (code, members) = interrupted_by("-INT", &own);
    assert_eq!((code, members.len()), (Some(130), 5));
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "its files are removed");
    fs::remove_dir(&own).unwrap();
}

#[test]
fn even_if_it_is_killed_itself_its_members_end() {
    let own = fresh("killed");
    let (code, _) = interrupted_by("-KILL", &own);
    assert_eq!(code, None, "a signal ended it");
    fs::remove_dir_all(&own).unwrap();
}

#[test]
fn what_cannot_be_written_to_is_refused_in_one_line() {
    let output = demo(&["--out", "/proc/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("bellwether: cannot make /proc/nowhere: "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
