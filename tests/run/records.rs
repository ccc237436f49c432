//! What members recorded, and what is said of it afterwards.

use super::member::{Folder, Member, bellwether, eventually, peers};
use serde_json::Value;

/// Where nobody says when a leader was killed it counts as leading until its lease ends, so that no
/// second leader is overlooked. It does not count as there for so long.
#[test]
fn the_time_without_a_leader_is_counted_from_the_last_record_of_one_that_was_killed() {
    let folder = Folder::new("killed");
    let list = peers(3);
    let start = |id: u64| {
        let record = folder.file(&format!("{id}.jsonl")).display().to_string();
        Member::start(&folder, &list, id, &["--record", &record])
    };
    let mut members: Vec<Member> = (1..=3).map(start).collect();
    let leader = |members: &[Member]| {
        eventually("a leader", || {
            members
                .iter()
                .position(|member| member.status().is_some_and(|status| status["role"] == "leader"))
        })
    };
    let first = leader(&members);
    drop(members.remove(first)); // by SIGKILL
    leader(&members);
    for member in &mut members {
        assert_eq!(member.end().0, Some(0));
    }
    let files = (1..=3).map(|id| folder.file(&format!("{id}.jsonl")).display().to_string());
    let files = files.collect::<Vec<_>>().join(" ");
    let output = bellwether(&format!("check --format json --trace {files}"));
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(verdict["invariants"]["never-two"]["verdict"], "holds", "{verdict}");
    let without = verdict["longest_without_seconds"].as_f64().expect("it is measured");
    assert!(without > 0.4, "a lease of 0.9 s had to end, renewed every 0.3 s: {verdict}");
    let text = String::from_utf8(bellwether(&format!("check --trace {files}")).stdout);
    let text = text.expect("it is text");
    assert!(text.contains("in between, from the last record of one that fell silent"), "{text}");
}

/// Without a lease nothing says how long a killed leader leads: no longer than it was seen.
#[test]
fn a_leader_without_a_lease_that_was_killed_does_not_lead_until_it_is_heard_again() {
    let folder = Folder::new("killed-plain");
    let list = peers(3);
    let start = |id: u64| {
        let record = folder.file(&format!("{id}.jsonl")).display().to_string();
        let dir = folder.dir();
        let times = "--announce 200ms --listen 600ms --suppress 200ms";
        let mut command =
            super::member::command(&format!("run web --protocol le-s {times} --peers {list}"));
        command.args(["--id", &id.to_string(), "--dir", &dir, "--insecure", "--record", &record]);
        Member::spawn(command, &dir, id)
    };
    let mut members: Vec<Member> = (1..=3).map(start).collect();
    let killed = super::member::leader(&members);
    let place = members.iter().position(|member| member.id() == killed).expect("it runs");
    drop(members.remove(place)); // by SIGKILL
    super::member::leader(&members);
    members.push(start(killed));
    super::member::leader(&members);
    for member in &mut members {
        assert_eq!(member.end().0, Some(0));
    }
    let file = |id: u64| folder.file(&format!("{id}.jsonl")).display().to_string();
    let files = (1..=3).map(file).collect::<Vec<_>>().join(" ");
    let output = bellwether(&format!("check --format json --trace {files}"));
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    // The times of the records of the life that was killed: from one begin to the next.
    let text = folder.text(&format!("{killed}.jsonl"));
    let times = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut lives: Vec<Vec<u64>> = Vec::new();
    for record in times {
        if record["kind"] == "begin" {
            lives.push(Vec::new());
        }
        lives.last_mut().expect("it began").push(record["t"].as_u64().expect("a time"));
    }
    assert_eq!(lives.len(), 2, "{text}");
    let last = lives[0].last().copied().expect("it recorded something");
    let begun = lives[1][0];
    let reigns = verdict["reigns"].as_array().expect("a list").clone();
    let own = reigns.iter().filter(|reign| reign["leader"] == killed);
    let ends: Vec<u64> = own.filter_map(|reign| reign["to"].as_u64()).collect();
    assert!(ends.contains(&last), "{last} in {verdict:#}");
    assert!(!ends.iter().any(|end| last < *end && *end <= begun), "{verdict:#}");
    let told = bellwether(&format!("report --format json --trace {files}"));
    let told: Value = serde_json::from_slice(&told.stdout).expect("it is JSON");
    let is = |reign: &&Value| reign["leader"] == killed && reign["end"] == "killed";
    let reign = told["reigns"].as_array().expect("a list").iter().find(is).cloned();
    assert_eq!(reign.expect("it is told")["to"], last, "{told:#}");
}
