//! Who is in the partition, as operators see it with `bellwether members`, where leaders are local.

use super::member::{Folder, Member, eventually, peers};
use serde_json::json;

/// The last line of what `members` prints.
fn last_line(member: &Member) -> Option<String> {
    let output = member.ask("members");
    String::from_utf8(output.stdout).ok()?.lines().last().map(str::to_owned)
}

/// Waits until the member is in this partition, and holds what `members` prints against what
/// `status` tells programs; then it is the partition's number.
fn number(member: &Member, ids: &[u64], leads: u64) -> u64 {
    let names = ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    eventually("the partition", || {
        let before = member.status()?["partition"].clone();
        let line = last_line(member)?;
        let after = member.status()?["partition"].clone();
        let number = before["version"].as_u64()?;
        let expected = json!({ "version": number, "leader": leads, "members": ids });
        // On a busy machine it may change at any time, also between two questions.
        if before != expected || after != expected {
            return None;
        }
        let printed = format!("partition {names} (number {number}, leader {leads})");
        assert_eq!(line, printed);
        Some(number)
    })
}

#[test]
fn members_of_local_leaders_print_their_partition_with_its_number() {
    let folder = Folder::new("partitions");
    let list = peers(3);
    let start = |id| Member::start(&folder, &list, id, &["--mode", "local"]);
    let mut members: Vec<Member> = (1..=3).map(start).collect();
    // The least of all that hear each other leads.
    let before = members.iter().map(|member| number(member, &[1, 2, 3], 1)).max();
    drop(members.remove(2)); // by SIGKILL
    for member in &members {
        let after = number(member, &[1, 2], 1);
        assert!(Some(after) > before, "it grows with every change: {before:?} and {after}");
    }
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
}

/// A majority has voters, and no partition.
#[test]
fn members_of_a_majority_print_no_partition() {
    let folder = Folder::new("no-partition");
    let list = peers(1);
    let member = Member::start(&folder, &list, 1, &[]);
    member.becomes("leader");
    let status = member.status().expect("it answers");
    assert!(status.get("partition").is_none_or(serde_json::Value::is_null), "{status}");
    assert!(last_line(&member).is_some_and(|line| !line.contains("partition")));
}
