//! Who votes, as operators see and change it with `bellwether members`.

use super::member::{
    Folder, Member, bellwether, eventually, hold, judge_and_replay, leader, now, peers, refusal,
};
use std::time::Duration;

/// After a change somebody leads within this: the leader goes on, or the next one follows soon.
const BOUND: Duration = Duration::from_secs(5);

/// A worker that says so if another one runs. The system releases its lock when it has ended.
fn worker(folder: &Folder) -> String {
    let (lock, log) = (folder.file("lock"), folder.file("log"));
    let script = format!(
        "exec 9>{}\nflock -n 9 || echo two >> {1}\necho begin $BELLWETHER_ID >> {1}\n\
         exec sleep 1000\n",
        lock.display(),
        log.display()
    );
    folder.script("worker", &script).display().to_string()
}

fn start(folder: &Folder, list: &str, id: u64, worker: &str) -> Member {
    let record = trace(folder, id);
    let rest = ["--voters", "1,2,3", "--tokens", "durable", "--record", &record, "--", worker];
    Member::start(folder, list, id, &rest)
}

/// Where it records.
fn trace(folder: &Folder, id: u64) -> String {
    folder.file(&format!("{id}.jsonl")).display().to_string()
}

#[test]
fn a_group_of_three_becomes_five_and_three_other_ones_without_two_leaders() {
    let folder = Folder::new("voters");
    let (list, worker, dir) = (peers(5), worker(&folder), folder.dir());
    let start = |id| start(&folder, &list, id, &worker);
    let mut members: Vec<Member> = (1..=5).map(start).collect();
    let members_of =
        |id: u64, words: &str| bellwether(&format!("members web {words} --id {id} --dir {dir}"));
    let change = |members: &[Member], words: &str| {
        let asked = members_of(leader(members), words);
        let errors = String::from_utf8_lossy(&asked.stderr).into_owned();
        assert!(asked.status.success(), "{words}: {errors}");
        let (begin, said) = (now(), String::from_utf8_lossy(&asked.stdout).into_owned());
        leader(members);
        assert!(now() - begin < BOUND, "{words}: nobody led for {:?}", now() - begin);
        said
    };
    let first = leader(&members);
    assert!(first <= 3, "{first} does not vote");
    hold(&members, 0, &[1, 2, 3]);
    let said = String::from_utf8(members_of(first, "").stdout).expect("it is text");
    let lengths = "lockTime 900 ms, drift 200 ppm";
    let voters = format!("\n\nvoters 1, 2, 3 (list 0, {lengths}); observers: 4, 5\n");
    assert!(said.ends_with(&voters), "{said}");
    assert_eq!(change(&members, "add 4"), "member 4 votes; list 1: 1, 2, 3, 4\n");
    assert_eq!(change(&members, "add 5"), "member 5 votes; list 2: 1, 2, 3, 4, 5\n");
    let first = leader(&members);
    if first != 3 {
        let line = refusal(&members_of(first, &format!("remove {first}")), 1);
        assert!(line.contains("a leader does not remove itself"), "{line}");
        let over = bellwether(&format!("transfer web 3 --id {first} --dir {dir}"));
        assert!(over.status.success(), "{}", String::from_utf8_lossy(&over.stderr));
        eventually("3 leads", || (leader(&members) == 3).then_some(()));
    }
    assert_eq!(change(&members, "remove 1"), "member 1 votes no longer; list 3: 2, 3, 4, 5\n");
    let said = change(&members, "remove 2 --format json");
    let lengths = "\"lock_ms\":900.0,\"drift_ppm\":200";
    assert_eq!(said, format!("{{\"version\":4,\"committed\":true,\"ids\":[3,4,5],{lengths}}}\n"));
    hold(&members, 4, &[3, 4, 5]);
    drop(members); // by SIGKILL
    members = (1..=5).map(start).collect();
    hold(&members, 4, &[3, 4, 5]);
    assert!(leader(&members) >= 3, "1 and 2 vote no longer");
    // A voter that lost its record reads the list and the term from the others.
    members[3].end();
    std::fs::remove_file(folder.file("members").join("web.4.state")).expect("it had a record");
    members[3] = start(4);
    hold(&members, 4, &[3, 4, 5]);
    let leads = leader(&members);
    let term = |id: u64| members[id as usize - 1].status().map(|status| status["term"].clone());
    eventually("the token", || (term(4)? == term(leads)? && term(4)?.is_u64()).then_some(()));
    let log = folder.text("log");
    assert!(log.contains("begin") && !log.contains("two"), "{log}");
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    let traces = (1..=5).map(|id| trace(&folder, id)).collect::<Vec<_>>().join(" ");
    judge_and_replay(&traces);
}

/// The best three of five vote; each voter that is killed is replaced, and two are too many for
/// three voters of whom none is replaced.
#[test]
fn voters_that_are_killed_are_replaced_by_observers() {
    let folder = Folder::new("replaced");
    let list = peers(5);
    let start = |id| {
        let best = ["--voters", "3", "--priorities", "5=9,4=1"];
        let rest = ["--tokens", "durable", "--replace-after", "2s"];
        Member::start(&folder, &list, id, &[best, rest].concat())
    };
    let mut members: Vec<Member> = (1..=5).map(start).collect();
    leader(&members);
    hold(&members, 0, &[1, 4, 5]);
    let observer = members[2].status().expect("it answers");
    let (lease, belief) = (&observer["lease_ends_ms"], &observer["remaining_ms"]);
    assert!(lease.as_f64().zip(belief.as_f64()).is_some_and(|(l, b)| l <= b), "{observer}");
    let first = leader(&members);
    let other = if first == 4 { 5 } else { 4 };
    drop(members.remove(other as usize - 1)); // by SIGKILL
    let now_vote = if other == 4 { [1, 2, 5] } else { [1, 2, 4] };
    hold(&members, 1, &now_vote);
    let second = leader(&members);
    let place = members.iter().position(|member| member.id() == second).expect("it is one of us");
    drop(members.remove(place));
    let third = leader(&members);
    assert!(third != second && now_vote.contains(&third), "{third} leads by the list {now_vote:?}");
    let left: Vec<u64> = members.iter().map(Member::id).collect();
    hold(&members, 2, &left);
    leader(&members);
}

#[test]
fn a_change_that_is_not_possible_is_refused_in_one_line() {
    let folder = Folder::new("no-change");
    let (list, dir) = (peers(2), folder.dir());
    let start = |id, tokens| {
        let rest = ["--voters", "1", "--tokens", tokens];
        let rest = if tokens == "durable" && id == 1 {
            &[&rest[..], &["--bootstrap"]].concat()
        } else {
            &rest[..]
        };
        Member::start(&folder, &list, id, rest)
    };
    let refused = |id: u64, words: &str, code| {
        refusal(&bellwether(&format!("members web {words} --id {id} --dir {dir}")), code)
    };
    let mut members = [1, 2].map(|id| start(id, "volatile"));
    assert_eq!(leader(&members), 1);
    let line = refused(1, "add 2", 1);
    assert!(line.contains("use durable tokens; nothing changed"), "{line}");
    let line = refused(1, "forget 2", 1);
    assert!(line.contains("nobody joins this one: that takes leases from a majority"), "{line}");
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    let members = [1, 2].map(|id| start(id, "durable"));
    assert_eq!(leader(&members), 1);
    for (id, words, why) in [
        (1, "add 9", "the group has no member 9; nothing changed"),
        (1, "add 1", "member 1 votes already; nothing changed"),
        (1, "remove 2", "member 2 does not vote; nothing changed"),
        (1, "remove 1", "member 1 is the last one that votes"),
        (1, "replace 1 2", "a leader does not remove itself"),
        (2, "add 2", "it follows 1: ask that one"),
        (1, "add 2 --if-list 3", "than the present one, which is list 0; look at that first"),
    ] {
        let line = refused(id, words, 1);
        assert!(line.contains(why), "{words}: {line}");
    }
    let line = refused(1, "--if-list 0", 2);
    assert!(line.contains("--if-list has no effect without add, remove, replace or set"), "{line}");
    for words in ["add", "add x", "replace 1", "promote 2", "add 2 --if-list x"] {
        let output = bellwether(&format!("members web {words} --id 1 --dir {dir}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
    }
    let run = format!("run web --peers {list} --id 1 --dir {dir} --insecure --voters");
    let line = refusal(&bellwether(&format!("{run} 1,7")), 78);
    assert!(line.contains("voter 7 is not in the list of members"), "{line}");
    let line = refusal(&bellwether(&format!("{run} 1 --mode local")), 2);
    assert!(line.contains("--voters has no effect with local-leader"), "{line}");
    hold(&members, 0, &[1]);
}

#[test]
fn a_lock_that_is_too_short_for_the_command_is_refused_with_the_shortest_one() {
    let folder = Folder::new("short-lock");
    let rest = ["--tokens", "durable", "--bootstrap", "--", "sleep", "1000"];
    let members = [Member::start(&folder, &peers(1), 1, &rest)];
    assert_eq!(leader(&members), 1);
    let set = |lock: &str| {
        bellwether(&format!("members web set --lock {lock} --id 1 --dir {}", folder.dir()))
    };
    // It keeps the rules of the protocol, but leaves the command no lease in which it can run.
    let line = refusal(&set("720ms"), 1);
    assert!(line.contains("scheduling + grace + margin <= lease"), "{line}");
    let shortest = line.split_once("lock = ").and_then(|(_, rest)| rest.split_once(" and "));
    let shortest = shortest.unwrap_or_else(|| panic!("it names one: {line}")).0;
    let made = set(shortest);
    assert!(made.status.success(), "{shortest}: {}", String::from_utf8_lossy(&made.stderr));
    // The operator is told of the change, with the time.
    let told = members[0].error("the voters of web are now 1 (list 1, lockTime ");
    assert!(told.contains("Z [") && told.contains(" ms, drift 200 ppm)"), "{told}");
}
