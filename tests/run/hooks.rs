//! Programs that are told of changes.

use super::member::{Folder, Member, eventually, peers};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn hooks_are_told_in_order_with_arguments_environment_and_the_change_on_stdin() {
    let folder = Folder::new("hooks");
    let log = folder.file("log").display().to_string();
    let first = folder.script(
        "first",
        &format!(
            "echo \"first $* $BELLWETHER_GROUP $BELLWETHER_ID $BELLWETHER_ROLE $BELLWETHER_LEADER \
         ${{BELLWETHER_UNTIL_MS:+timed}}\" >> {log}; cat >> {log}.json; echo chatter"
        ),
    );
    let second = folder.script("second", &format!("echo \"second $*\" >> {log}; exit 3"));
    let hooks = [first, second].map(|hook| hook.display().to_string());
    let flags =
        ["--on-change", &hooks[0], "--on-change", &hooks[1], "--rank", "9", "--format", "json"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    eventually("the leader's hooks", || {
        folder.text("log").contains("second INSTANCE web MASTER 9").then_some(())
    });
    let warnings = member.becomes("leader")["warnings"].to_string();
    assert!(warnings.contains("calls of hooks failed, the last:"), "{warnings}");
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
    let log = folder.text("log");
    let lines: Vec<&str> = log.lines().collect();
    let expected = [
        "first INSTANCE web BACKUP 9 web 1 looking  ",
        "second INSTANCE web BACKUP 9",
        "first INSTANCE web MASTER 9 web 1 leader 1 timed",
        "second INSTANCE web MASTER 9",
    ];
    assert_eq!(lines[..4], expected);
    assert!(lines[lines.len() - 1].starts_with("second INSTANCE web STOP 9"), "{log}");
    let told: Vec<Value> = folder
        .text("log.json")
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    assert_eq!((&told[0]["role"], &told[1]["role"]), (&"looking".into(), &"leader".into()));
    while let Some(line) = member.next_line() {
        assert!(!line.contains("chatter"), "what hooks print is not for programs");
    }
    member.error("second: it failed at BACKUP: exit status: 3");
}

#[test]
fn a_hook_that_hangs_is_killed_with_all_it_started_and_holds_up_nothing() {
    let folder = Folder::new("hang");
    let pid = folder.file("pid").display().to_string();
    let hook = folder.script("hook", &format!("sleep 1000 & echo $! > {pid}; wait"));
    let hook = hook.display().to_string();
    let flags = ["--on-change", &hook, "--hook-timeout", "300ms"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    member.error("it took longer than 0.3s at BACKUP, and was killed");
    member.signal(Signal::TERM);
    member.error("it took longer than 0.3s at STOP, and was killed");
    assert_eq!(member.code(), Some(0));
    let last: u32 = folder.text("pid").trim().parse().expect("it told");
    eventually("the end of what it started", || (!super::member::lives(last)).then_some(()));
}
