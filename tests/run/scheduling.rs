//! What a member is refused by the machine, and how it says so.

use super::member::{Folder, Member, command, eventually, peers};
use bellwether::net::clock::{BootTime, Clock};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Starts a member alone, without the right to a higher priority and to locked memory.
fn without_rights(folder: &Folder, rest: &[&str]) -> Member {
    let (list, dir) = (peers(1), folder.dir());
    let line = format!("run web --peers {list} --id 1 --dir {dir} --insecure --preset wan");
    let own = command(&line);
    let mut refused = Command::new("setpriv");
    refused.args(["--bounding-set", "-sys_nice,-ipc_lock", "--inh-caps", "-sys_nice,-ipc_lock"]);
    refused.args(["prlimit", "--memlock=65536:65536", "--nice=0:0", "--rtprio=0:0"]);
    refused.arg(own.get_program()).args(own.get_args()).args(rest);
    Member::spawn(refused, &dir, 1)
}

#[test]
fn a_refused_priority_is_said_once_and_is_in_the_status() {
    let folder = Folder::new("refused");
    let mut member = without_rights(&folder, &[]);
    let status = member.becomes("leader");
    let warnings: Vec<&str> =
        status["warnings"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    for refused in ["a higher scheduling priority is not permitted", "locked memory is not"] {
        let said = warnings.iter().filter(|warning| warning.contains(refused));
        assert_eq!(said.count(), 1, "{refused}: {warnings:?}");
    }
    let (code, _) = member.end();
    assert_eq!(code, Some(0));
    let errors = member.last_errors();
    for refused in ["the member's threads: a higher scheduling", "the member's threads: locked"] {
        let said = errors.iter().filter(|line| line.contains(refused)).count();
        assert_eq!(said, 1, "{refused}: {errors:?}");
    }
}

#[test]
fn a_member_that_may_has_a_raised_thread_locked_memory_and_no_note() {
    let folder = Folder::new("raised");
    let mut member = Member::start(&folder, &peers(1), 1, &[]);
    let status = member.becomes("leader");
    let text = status["warnings"].to_string();
    assert!(!text.contains("not permitted"), "{text}");
    assert_eq!(status["scheduling_allowed_ms"], 50.0, "σ of the preset wan");
    assert!(status["scheduling_delay_ms"].is_f64(), "{status}");
    let lines = String::from_utf8(member.ask("status").stdout).unwrap();
    assert!(lines.contains("woken late") && lines.contains("50 ms allowed"), "{lines}");
    let tasks = format!("/proc/{}/task", member.pid());
    let nice = |stat: &str| stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok();
    let threads = std::fs::read_dir(tasks).unwrap().filter_map(Result::ok);
    let stats = threads.map(|it| std::fs::read_to_string(it.path().join("stat")).unwrap());
    let raised: Vec<String> = stats.filter(|stat| nice(stat) == Some(-20)).collect();
    assert!(raised.iter().any(|stat| stat.contains("(bellwether-1)")), "{raised:?}");
    let own = std::fs::read_to_string(format!("/proc/{}/status", member.pid())).unwrap();
    let locked = own.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
    assert_ne!(locked.trim(), "0 kB");
    assert_eq!(member.end().0, Some(0));
}

/// A size in `/proc/PID/status`, in KiB.
fn size(pid: u32, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("it has this size");
    let number = line.split_whitespace().next().expect("a size has a number");
    number.parse().expect("it is a number")
}

/// Until a member has given back what its start needed, with some time to spare.
const SETTLED: Duration = Duration::from_secs(5);

/// Starts a member of so many that are listed, and asks it for its status. Returns what it
/// said first, and its size then.
///
/// On a machine so busy that it may have given pages back before, another one is started.
fn asked(folder: &Folder, listed: usize, role: &str) -> (Member, Value, u64) {
    let attempt = |_| {
        let begun = BootTime.now();
        let member = Member::start(folder, &peers(listed), 1, &[]);
        let status = member.becomes(role);
        let locked = || (size(member.pid(), "VmLck:") > 0).then_some(());
        eventually("locked memory, the end of its start", locked);
        for _ in 0..3 {
            assert!(member.ask("status").status.success());
        }
        let size = size(member.pid(), "VmRSS:");
        let took = BootTime.now().since(begun);
        (took < bellwether::core::Duration::from_secs(3)).then_some((member, status, size))
    };
    (0..5).find_map(attempt).expect("a member that is asked in time")
}

#[test]
fn what_the_start_and_answers_needed_is_given_back_though_memory_is_locked() {
    let folder = Folder::new("upkeep");
    let (mut member, _, before) = asked(&folder, 3, "looking");
    eventually("a MiB that is given back", || {
        (size(member.pid(), "VmRSS:") + 1024 < before).then_some(())
    });
    member.becomes("looking"); // it answers as before
    assert_eq!(member.end().0, Some(0));
}

#[test]
fn a_member_that_leads_loses_no_pages() {
    let folder = Folder::new("keeps");
    for _ in 0..3 {
        let (mut member, status, before) = asked(&folder, 1, "leader");
        std::thread::sleep(SETTLED);
        let after = size(member.pid(), "VmRSS:");
        if member.becomes("leader")["term"] == status["term"] {
            assert!(after + 512 > before, "{before} KiB, and {after} KiB later");
            assert_eq!(member.end().0, Some(0));
            return;
        }
    }
    panic!("no member led for {SETTLED:?} on this machine");
}

#[test]
fn a_guardian_without_a_command_gives_back_what_its_start_needed() {
    let folder = Folder::new("keeper");
    let mut member = Member::start(&folder, &peers(1), 1, &[]);
    member.becomes("leader");
    let pid = member.pid();
    let children = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flat_map(|task| {
        let text = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap();
        text.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
    });
    let children: Vec<u32> = children.collect();
    let [keeper] = children[..] else { panic!("it has one child: {children:?}") };
    eventually("a guardian that is smaller than it was", || {
        (size(keeper, "VmRSS:") + 1024 < size(keeper, "VmHWM:")).then_some(())
    });
    assert_eq!(member.end().0, Some(0));
}
