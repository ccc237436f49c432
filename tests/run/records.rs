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
