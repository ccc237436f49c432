//! Keys that change while a group runs.

use super::member::{Folder, Member, bellwether, command, eventually, leader, peers, refusal};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Starts member `id` with a key file of its own.
fn start(folder: &Folder, list: &str, id: u64) -> Member {
    let key = key_file(folder, id);
    let dir = folder.dir();
    let words = format!("run web --peers {list} --id {id} --dir {dir} --preset wan --key {key}");
    let mut command = command(&words);
    command.args(["--record", &folder.file(&format!("trace.{id}.jsonl")).display().to_string()]);
    Member::spawn(command, &dir, id)
}

/// Each member has its file in a folder of its own.
fn key_file(folder: &Folder, id: u64) -> String {
    folder.file(&format!("keys{id}/web.key")).display().to_string()
}

/// Gives all members the same key.
fn make_keys(folder: &Folder, count: u64) {
    for id in 1..=count {
        fs::create_dir_all(folder.file(&format!("keys{id}"))).expect("there is room");
    }
    assert!(bellwether(&format!("keygen {}", key_file(folder, 1))).status.success());
    for id in 2..=count {
        fs::copy(key_file(folder, 1), key_file(folder, id)).expect("there is room");
    }
}

/// Takes a step, and tells what came of it.
fn keys(member: &Member, folder: &Folder, step: &str) -> Value {
    let words =
        format!("keys web {step} --format json --id {} --dir {}", member.id(), folder.dir());
    let output = bellwether(&words);
    assert!(output.status.success(), "{step}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn refused(member: &Member, folder: &Folder, step: &str) -> String {
    let words = format!("keys web {step} --id {} --dir {}", member.id(), folder.dir());
    refusal(&bellwether(&words), 1)
}

/// The keys of all members, if they are the same.
fn common(report: &Value) -> Vec<String> {
    let members = report["members"].as_array().expect("a list");
    let all: Vec<&Value> = members.iter().map(|member| &member["keys"]).collect();
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{report}");
    serde_json::from_value(all[0].clone()).expect("names")
}

/// What nobody may lose by a rotation: who leads, in which term, and how often each changed its
/// mind.
fn reign(members: &[Member]) -> Vec<[Value; 4]> {
    let seen = |member: &Member| {
        let status = eventually("its status", || member.status());
        ["leaders", "term", "changes", "incarnation"].map(|key| status[key].clone())
    };
    members.iter().map(seen).collect()
}

fn secrets(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("bwk1-")).collect()
}

#[test]
fn a_rotation_is_three_commands_on_one_machine_and_nobody_stops_leading() {
    let folder = Folder::new("rotation");
    make_keys(&folder, 3);
    let list = peers(3);
    let mut members: Vec<Member> = (1..=3).map(|id| start(&folder, &list, id)).collect();
    leader(&members);
    let before = reign(&members);
    let old = common(&keys(&members[1], &folder, "list"));
    assert_eq!(old.len(), 1);
    let installed = keys(&members[1], &folder, "install");
    let new = installed["key"].as_str().expect("its name").to_owned();
    assert_eq!(common(&installed), [old[0].clone(), new.clone()]);
    let line = refused(&members[0], &folder, &format!("remove {}", old[0]));
    let told = format!("members 1, 2, 3 still send with key {}", old[0]);
    assert!(line.contains(&told), "{line}");
    let line = refused(&members[0], &folder, "use 00000000");
    assert!(line.contains("members 1, 2, 3 do not have key 00000000; install"), "{line}");
    let used = keys(&members[1], &folder, &format!("use {new}"));
    assert_eq!(common(&used), [new.clone(), old[0].clone()]);
    let told = format!("new keys: sends with {new}, accepts {}", old[0]);
    members.iter().for_each(|member| drop(member.error(&told)));
    let removed = keys(&members[1], &folder, &format!("remove {}", old[0]));
    assert_eq!(common(&removed), std::slice::from_ref(&new));
    assert_eq!(reign(&members), before, "leader, terms and lives stay");
    for id in 1..=3 {
        let file = key_file(&folder, id);
        let text = fs::read_to_string(&file).expect("it is there");
        assert_eq!(secrets(&text).len(), 1);
        assert_eq!(text, fs::read_to_string(key_file(&folder, 1)).expect("it is there"));
        let mode = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        // A member that is restarted has the new key and joins with it.
        let member = &mut members[usize::try_from(id - 1).expect("small")];
        assert_eq!(member.end().0, Some(0));
        for error in member.last_errors() {
            assert!(
                !secrets(&text).iter().any(|secret| error.contains(secret)),
                "a secret is told"
            );
        }
        *member = start(&folder, &list, id);
        leader(&members);
    }
    assert_eq!(common(&keys(&members[2], &folder, "list")), [new]);
    assert_eq!(keys(&members[0], &folder, "list")["members"].as_array().map(Vec::len), Some(3));
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    let text = fs::read_to_string(key_file(&folder, 1)).expect("it is there");
    for id in 1..=3 {
        let trace = folder.text(&format!("trace.{id}.jsonl"));
        assert!(trace.len() > 1000 && !trace.contains(&secrets(&text)[0][..16]), "no secret");
    }
    let traces = [1, 2, 3].map(|id| folder.file(&format!("trace.{id}.jsonl")));
    let traces = traces.map(|trace| trace.display().to_string()).join(" ");
    let judged = bellwether(&format!("check --format json --trace {traces}"));
    let verdict: Value = serde_json::from_slice(&judged.stdout).expect("it is JSON");
    assert_eq!(verdict["invariants"]["never-two"]["verdict"], "holds", "{verdict}");
}

#[test]
fn a_member_that_was_down_is_named_until_it_has_the_key() {
    let folder = Folder::new("rotation-down");
    make_keys(&folder, 3);
    let list = peers(3);
    let mut members: Vec<Member> = (1..=3).map(|id| start(&folder, &list, id)).collect();
    leader(&members);
    let old = common(&keys(&members[0], &folder, "list"));
    let mut away = members.pop().expect("three");
    assert_eq!(away.end().0, Some(0));
    leader(&members);
    let words = format!("keys web install --format json --id 1 --dir {}", folder.dir());
    let output = bellwether(&words);
    assert_eq!(output.status.code(), Some(1), "not all have it");
    let installed: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let new = installed["key"].as_str().expect("its name").to_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("member 3 did not answer"), "{errors}");
    let line = refused(&members[0], &folder, &format!("use {new}"));
    assert!(
        line.contains("member 3 does not answer (1 of 3)") && line.contains("--force"),
        "{line}"
    );
    // It is back, and has the old key alone.
    members.push(start(&folder, &list, 3));
    leader(&members);
    for force in ["", " --force"] {
        let line = refused(&members[1], &folder, &format!("use {new}{force}"));
        assert!(line.contains(&format!("member 3 does not have key {new}; install")), "{line}");
    }
    let again = keys(&members[1], &folder, &format!("install {new}"));
    assert_eq!(common(&again), [old[0].clone(), new.clone()]);
    // Forced, a step leaves out who does not answer, and says so.
    let mut away = members.pop().expect("three");
    assert_eq!(away.end().0, Some(0));
    let words = format!("keys web use {new} --force --id 2 --dir {}", folder.dir());
    let output = bellwether(&words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("left out: member 3"), "{errors}");
    members.push(start(&folder, &list, 3));
    leader(&members);
    let line = refused(&members[0], &folder, &format!("remove {}", old[0]));
    assert!(line.contains(&format!("member 3 still sends with key {}", old[0])), "{line}");
    keys(&members[0], &folder, &format!("use {new}"));
    assert_eq!(common(&keys(&members[2], &folder, &format!("remove {}", old[0]))), [new]);
}

#[test]
fn a_key_file_that_cannot_be_replaced_fails_the_step_by_the_name_of_its_member() {
    let folder = Folder::new("rotation-file");
    make_keys(&folder, 3);
    let list = peers(3);
    let members: Vec<Member> = (1..=3).map(|id| start(&folder, &list, id)).collect();
    leader(&members);
    let before = common(&keys(&members[0], &folder, "list"));
    // Root may write everywhere, but not replace what is no file any more.
    let file = key_file(&folder, 2);
    let kept = fs::read(&file).expect("it is there");
    fs::write(&file, "no key").expect("there is room");
    let line = refused(&members[0], &folder, "install");
    assert!(
        line.contains("nothing changed: member 2: ") && line.contains("line 1 is no key"),
        "{line}"
    );
    fs::write(&file, kept).expect("there is room");
    assert_eq!(common(&keys(&members[0], &folder, "list")), before, "nobody was told");
    let alone = Folder::new("rotation-none");
    let insecure = Member::start(&alone, &peers(1), 1, &[]);
    insecure.becomes("leader");
    let line = refusal(&insecure.ask("keys"), 1);
    assert!(line.contains("this group has no key: start all members with --key"), "{line}");
}
