//! No secret is shown: not by status, logs, traces and files, nor to other processes of the same
//! user, nor in a core dump.

use crate::lab::clock::{now, sleep};
use crate::lab::group::{Group, NAME, PATIENCE};
use crate::lab::member::BELLWETHER;
use crate::lab::shell;
use crate::scene::shape;
use crate::stage;
use bellwether::core::{Duration, from_hex};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The user whom these tests know besides root.
const NOBODY: &str = "65534";

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it can be read");
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("it can be read").path();
        if path.is_dir() { files(&path) } else { vec![path] }
    };
    entries.flat_map(entry).collect()
}

#[test]
fn the_key_is_in_no_file_and_in_no_answer() {
    let _stage = stage();
    let mut group = Group::new(shape());
    let sleeps = ["sh", "-c", "env; cat /proc/$PPID/environ; sleep 300"].map(str::to_owned);
    group.give_command(1, sleeps.to_vec());
    group.start_all();
    let knows = |group: &Group, id: u64| {
        group.ask("status", id, &[]).is_ok_and(|text| text.contains("leader"))
    };
    let leads = |group: &Group| [1, 2].iter().all(|id| knows(group, *id));
    let end = now() + PATIENCE;
    while !leads(&group) {
        assert!(now() < end, "the group has a leader");
        sleep(Duration::from_millis(50));
    }
    let key = std::fs::read_to_string(group.folder().file("key")).expect("the group has a key");
    let digits = key.trim().strip_prefix("bwk1-").expect("it is a key").to_owned();
    let bytes = from_hex(&digits).expect("they are digits");
    let shows = |text: &[u8]| {
        let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
        // A quarter of it would be too much.
        has(&digits.as_bytes()[..16]) || has(&digits.as_bytes()[48..]) || has(&bytes[..8])
    };
    assert!(shows(key.as_bytes()), "the test would notice it");
    for (command, words) in
        [("status", &["--format", "json"][..]), ("status", &[]), ("why", &[]), ("members", &[])]
    {
        let answer = group.ask(command, 2, words).expect("it answers");
        assert!(!shows(answer.as_bytes()), "{command}: {answer}");
    }
    let folder = group.folder().file("");
    let written = files(folder.as_ref());
    assert!(written.len() > 9, "traces, states and logs: {written:?}");
    for file in written.iter().filter(|file| !file.ends_with("key")) {
        let bytes = std::fs::read(file).unwrap_or_default(); // a socket cannot be read
        assert!(!shows(&bytes), "{}", file.display());
    }
}

/// A process whose memory may not be dumped belongs to root in `/proc`, whoever runs it.
#[test]
fn the_memory_of_member_guardian_and_watchdog_cannot_be_dumped_or_read() {
    let _stage = stage();
    let group = Group::new(shape()); // for its folder and key
    let dir = group.folder().file("own");
    std::fs::create_dir(&dir).expect("the folder can be written");
    let key = format!("{dir}/key");
    std::fs::copy(group.folder().file("key"), &key).expect("the folder can be written");
    shell::must(&["chown", "-R", &format!("{NOBODY}:{NOBODY}"), &dir], "");
    let place = crate::lab::group::free_places(1);
    let peers = crate::lab::group::listed(&place);
    let mut member = std::process::Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--pdeathsig", "KILL"])
        .args([BELLWETHER, "run", NAME, "--id", "1", "--peers", &peers, "--key", &key])
        .args(["--dir", &dir, "--", "sleep", "300"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("setpriv is there");
    // Member, watchdog, guardian, command: each is the child of the one before.
    let (mut line, end) = (vec![member.id()], now() + PATIENCE);
    while line.len() < 4 {
        assert!(now() < end, "the command runs: {line:?}");
        sleep(Duration::from_millis(20));
        line.truncate(1);
        while let Some(child) = line.last().and_then(|parent| child_of(*parent)) {
            line.push(child);
        }
    }
    let names: Vec<String> = line.iter().map(|pid| name(*pid)).collect();
    println!("{names:?}");
    let read = |pid: &u32, file: &str| {
        let path = format!("/proc/{pid}/{file}");
        let words = [
            "setpriv",
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
            "head",
            "-c",
            "1",
            &path,
        ];
        shell::attempt(&words, "")
    };
    for pid in &line[..3] {
        let owner = std::fs::metadata(format!("/proc/{pid}/mem")).expect("it runs").uid();
        assert_eq!(owner, 0, "{}: its memory is root's", name(*pid));
        assert!(read(pid, "environ").is_err(), "{}: nor may its user read it", name(*pid));
    }
    let command = &line[3];
    assert!(read(command, "environ").is_ok(), "the command is an ordinary process");
    member.kill().expect("it runs");
    member.wait().expect("it ran");
}

fn name(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// The last child of a process.
fn child_of(pid: u32) -> Option<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let children = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.ok()?.path().join("children")).ok()
    };
    let all: Vec<String> = tasks.filter_map(children).collect();
    all.join(" ").split_whitespace().last()?.parse().ok()
}
