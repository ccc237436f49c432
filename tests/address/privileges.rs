//! A member with an address has no capabilities in effect but those that it needs.

use crate::lab::Folder;
use crate::lab::clock::{now, sleep};
use crate::lab::group::PATIENCE;
use crate::lab::member::{BELLWETHER, with_descendants};
use crate::lab::network::Network;
use crate::lab::shell::must;
use crate::scene::{Scene, V4};
use crate::stage;
use bellwether::core::Duration;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Stdio};

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

/// CAP_NET_ADMIN and CAP_NET_RAW.
const TWO: u64 = 1 << 12 | 1 << 13;
/// Who is not root.
const NOBODY: u32 = 65_534;

/// A member that is killed when the test is over.
struct Run(Child);

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// Waits until something is so.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = now() + PATIENCE;
    while !is_so() {
        assert!(now() < end, "never: {what}");
        sleep(Duration::from_millis(10));
    }
}

/// The only member of a group, in the first host of a network, as another user than root that has
/// nothing but the two capabilities, nor could have more.
fn start_as_nobody(network: &Network, folder: &Folder) -> Run {
    let (program, dir) = (folder.file("bellwether"), folder.file("dir"));
    std::fs::create_dir(&dir).expect("the folder can be written");
    std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).expect("root gives it away");
    std::fs::write(&program, "").expect("the folder can be written");
    let user = NOBODY.to_string();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &network.namespace(1), "sh", "-c"]);
    // The program under a path that this user can follow, in the mounts of this process alone.
    command.args(["mount --bind \"$0\" \"$1\" && shift && exec \"$@\"", BELLWETHER, &program]);
    command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"]);
    for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
        command.args([set, "-all,+net_admin,+net_raw"]);
    }
    command.args([&program, "run", "lab", "--id", "1", "--peers", "1=10.77.0.1:7400"]);
    command.args(["--dir", &dir, "--insecure", "--preset", "wan"]);
    command.args(["--address", &format!("{V4}/24@eth0")]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Run(command.spawn().expect("there is iproute2"))
}

#[test]
fn another_user_with_the_two_capabilities_alone_sets_the_address_and_removes_it() {
    let _stage = stage();
    let (network, folder) = (Network::new(1), Folder::new());
    let listed = || must(&["ip", "-n", &network.namespace(1), "-4", "address"], "");
    let has_address = || listed().contains(V4);
    let mut member = start_as_nobody(&network, &folder);
    eventually("the address", || {
        let ended = member.0.try_wait().expect("it is our child");
        assert_eq!(ended, None, "it must not end");
        has_address()
    });
    let mut seen = Vec::new();
    for pid in with_descendants(member.0.id()) {
        for (name, set) in of_process(pid, "CapPrm").into_iter().chain(of_process(pid, "CapBnd")) {
            assert_eq!(set, TWO, "{name}: {set:x}");
            seen.push(name);
        }
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let user = format!("Uid:\t{NOBODY}\t{NOBODY}\t{NOBODY}\t{NOBODY}\n");
        assert!(status.contains(&user), "{status}");
    }
    for name in ["bw-guardian", "bw-watchdog"] {
        assert!(seen.iter().any(|one| one == name), "{name}: {seen:?}");
    }
    kill_process(Pid::from_child(&member.0), Signal::TERM).expect("it runs");
    assert!(member.0.wait().expect("it is our child").success());
    assert!(!has_address(), "{}", listed());
}
