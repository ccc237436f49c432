//! A member with an address has no capabilities in effect but those that it needs.

use crate::lab::member::with_descendants;
use crate::scene::{Scene, V4};
use crate::stage;

/// CAP_KILL, CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK, CAP_SYS_NICE.
const NEEDED: u64 = 1 << 5 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 23;

/// The name of a thread, and a set of its capabilities; nothing if it has ended.
fn of_thread(status: &str, set: &str) -> Option<(String, u64)> {
    let text = std::fs::read_to_string(status).ok()?;
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t").map(str::trim))
    };
    Some((field("Name")?.to_owned(), u64::from_str_radix(field(set)?, 16).ok()?))
}

/// The same of all threads of a process.
fn of_process(pid: u32, set: &str) -> Vec<(String, u64)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let status = tasks.filter_map(Result::ok).map(|task| task.path().join("status"));
    status.filter_map(|status| of_thread(&status.display().to_string(), set)).collect()
}

#[test]
fn other_capabilities_are_given_up_and_the_command_has_all() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    for id in scene.group.ids() {
        scene.group.give_command(id, ["sleep", "1000"].map(str::to_owned).to_vec());
    }
    scene.group.start_all();
    scene.wait("somebody has it", |scene| !scene.owners.now().is_empty());
    let leader = scene.owners.now()[0];
    let pid = scene.group.member(leader).pid();
    scene.wait("its command runs", |_| {
        let all = with_descendants(pid);
        all.iter().any(|pid| of_process(*pid, "CapEff").iter().any(|(name, _)| name == "sleep"))
    });
    let (_, own) = of_thread("/proc/self/status", "CapEff").expect("it is this process");
    let mut seen = Vec::new();
    for pid in with_descendants(pid) {
        let first = of_process(pid, "CapEff").first().map(|(name, _)| name.clone());
        let is_command = first.as_deref() == Some("sleep");
        for (name, set) in of_process(pid, "CapEff") {
            let expected = if is_command { own } else { own & NEEDED };
            assert_eq!(set, expected, "{first:?}: {name}: {set:x}");
        }
        for (name, set) in of_process(pid, "CapPrm") {
            let passes_on = is_command || first.as_deref() == Some("bw-guardian");
            let expected = if passes_on { own } else { own & NEEDED };
            assert_eq!(set, expected, "{first:?}: {name}: {set:x}");
        }
        seen.extend(first);
    }
    for name in ["bw-guardian", "bw-watchdog", "sleep"] {
        assert!(seen.iter().any(|one| one == name), "{name}: {seen:?}");
    }
    // The kernel ends the command with its guardian, as without all this.
    let text = scene.group.member(leader).complaints();
    assert!(!text.contains("privileges"), "{text}");
}
