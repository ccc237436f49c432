//! Live members over loopback, what they recorded, and what the command says of it:
//! `check --trace`, `replay` and `trace --from` as scripts and people meet them.

use bellwether_net::{Election, Next, Peers, Role};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Long enough for a stalled machine; nothing waits for it if all is well.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

/// What it writes, what it complains of, and its exit code.
fn bellwether(arguments: &[&str], files: &[PathBuf]) -> (String, String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_bellwether"))
        .args(arguments)
        .args(files)
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is text");
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bellwether-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder); // a test that failed may have left one
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

fn member(id: u64, places: &str, file: &Path) -> Election {
    let peers: Peers = places.parse().expect("a list");
    let builder = Election::builder("recorded").peers(peers).id(id).insecure().record(file);
    builder.join().expect("it joins")
}

fn decided(election: &Election) -> bool {
    let mut watch = election.watch();
    while election.leadership().role() == Role::Looking {
        if !matches!(watch.next_within(PATIENCE), Next::Changed(_)) {
            return false;
        }
    }
    true
}

/// Three members elect a leader, it resigns, another leads, and all leave: what they recorded.
fn recorded(folder: &Path) -> Vec<PathBuf> {
    // An address made of this process's number: a free port may be somebody else's a moment later.
    let pid = std::process::id();
    let (a, b) = (1 + pid % 250, pid / 250 % 250);
    let places: Vec<String> = (1..=3).map(|id| format!("{id}=127.{a}.{b}.{id}:7400")).collect();
    let places = places.join(",");
    let files: Vec<PathBuf> = (1..=3).map(|id| folder.join(format!("{id}.jsonl"))).collect();
    let members: Vec<Election> =
        (1..).zip(&files).map(|(id, file)| member(id, &places, file)).collect();
    assert!(members.iter().all(decided));
    let leader = members.iter().find(|member| member.leadership().leads()).expect("one leads");
    leader.resign().expect("a leader can");
    let others = members.iter().filter(|member| member.leadership().me != leader.leadership().me);
    let mut others: Vec<&Election> = others.collect();
    others.retain(|other| other.wait(Some(Duration::from_secs(2))).is_ok_and(|led| led.is_some()));
    assert!(!others.is_empty(), "somebody else led");
    members.iter().for_each(Election::leave);
    drop(members);
    files
}

#[test]
fn what_live_members_recorded_is_judged_drawn_and_lived_again() {
    let folder = folder("live");
    let files = recorded(&folder);
    let (text, errors, code) = bellwether(&["check", "--trace"], &files);
    assert_eq!((errors.as_str(), code), ("", Some(0)), "{text}");
    for words in ["local-leader in group recorded, 3 members", "no two ever led at once", "holds"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    assert!(!text.contains("as far as"), "nothing is missing:\n{text}");
    // A trace that is missing may have had another leader.
    for some in [&files[..1], &files[..2]] {
        let (text, _, code) = bellwether(&["check", "--trace"], some);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("undecidable"), "{text}");
        let (_, claims) = text.split_once("\nas far as the traces tell:\n").expect(&text);
        assert!(claims.contains(" ever led"), "{text}");
    }
    let svg = folder.join("run.svg");
    let draw = ["check", "--format", "json", "--svg", svg.to_str().expect("a name"), "--trace"];
    let (text, _, code) = bellwether(&draw, &files);
    let verdict: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!((code, &verdict["verdict"]), (Some(0), &"holds".into()), "{verdict}");
    assert!(verdict["invariants"]["never-two"]["looks"].as_u64() > Some(20), "{verdict}");
    assert_eq!(verdict["invariants"]["timeliness"]["verdict"], "undecidable");
    assert!(verdict["smallest_gap_seconds"].as_f64() > Some(0.0), "{verdict}");
    assert!(std::fs::read_to_string(&svg).expect("a picture").starts_with("<svg"));
    let (text, errors, code) = bellwether(&["replay"], &files);
    assert_eq!((errors.as_str(), code), ("", Some(0)), "{text}");
    assert!(text.ends_with(" steps in 3 lives: the same\n"), "{text}");
    let (text, _, code) = bellwether(&["trace", "--from"], &files);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("   0.000") && text.contains("command Resign taken"), "{text}");
    let asks = |line: &&str| line.contains(" recv election ") && line.contains("Election {");
    let asked = text.lines().find(asks).expect("what a request carries is shown");
    assert!(asked.contains("term") && asked.contains("← "), "{asked}");
    // A file with faults is a trace, too: cuts and heals are shown where they were.
    let faults = folder.join("faults.jsonl");
    let first = std::fs::read_to_string(&files[0]).expect("it was written");
    let t = first.split_once(',').expect("a record has several fields").0;
    let cut = format!("{t},\"node\":1,\"kind\":\"cut\",\"from\":[1],\"to\":[2,3]}}\n");
    let heal = format!("{t},\"node\":1,\"kind\":\"heal\"}}\n");
    std::fs::write(&faults, cut + &heal).expect("it is ours");
    let all = [&files[..], &[faults]].concat();
    let (text, errors, code) = bellwether(&["trace", "--from"], &all);
    assert_eq!((errors.as_str(), code), ("", Some(0)));
    assert!(text.contains("cut from 1 to 2, 3") && text.contains("all cuts are mended"), "{text}");

    // One that lies, and one that is not what it was.
    let lie = r#""node":2,"kind":"leadership","leaders":[2],"stage":"decided"}"#;
    let whole = std::fs::read_to_string(&files[1]).expect("it was written");
    let (rest, leave) = whole.trim_end().rsplit_once('\n').expect("it has several lines");
    let t = leave.split_once(',').expect("a record has several fields").0;
    let line = rest.lines().count() + 1;
    std::fs::write(&files[1], format!("{rest}\n{t},{lie}\n{leave}\n")).expect("it is ours");
    let (text, _, code) = bellwether(&["check", "--trace"], &files);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("VIOLATED: leader-supports-itself"), "{text}");
    let (text, _, code) = bellwether(&["replay"], &files);
    assert_eq!(code, Some(1), "{text}");
    let place = format!("2.jsonl:{line}\n");
    assert!(text.contains("it DIVERGES at") && text.contains(&place), "{text}");
    let _ = std::fs::remove_dir_all(&folder);
}

/// A member alone in its group, with a command; it ends with its owner.
struct Alone {
    child: Child,
    works: PathBuf,
}

impl Alone {
    /// Starts it, and waits until its guardian has recorded so many starts of the command.
    fn start(folder: &Path, starts: usize) -> Self {
        let pid = std::process::id();
        let place = format!("1=127.{}.{}.9:7400", 1 + pid % 250, pid / 250 % 250);
        let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("BELLWETHER_") {
                command.env_remove(name);
            }
        }
        command.args(["run", "alone", "--insecure", "--peers", &place, "--preset", "wan", "--dir"]);
        command.arg(folder).arg("--record").arg(folder.join("1.jsonl"));
        command.args(["--", "sleep", "300"]).stdin(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("the command starts");
        let alone = Self { child, works: folder.join("1.work.jsonl") };
        alone.wait_for("\"phase\":\"starts\"", starts);
        alone
    }

    /// Waits until the guardians have recorded something so often.
    fn wait_for(&self, what: &str, times: usize) {
        for _ in 0..1_000 {
            let text = std::fs::read_to_string(&self.works).unwrap_or_default();
            if text.matches(what).count() >= times {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{what} was never recorded {times} times");
    }

    /// The process of the guardian: the child of the member's child, the watchdog.
    fn guardian(&self) -> String {
        let child = |pid: String| {
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            let children = children.expect("the kernel lists children");
            children.split_whitespace().next().expect("it has a child").to_owned()
        };
        child(child(self.child.id().to_string()))
    }

    /// Sends a signal to these, all of which this test started.
    fn signal(signal: &str, pids: &[&str]) {
        let killed = Command::new("kill").arg(signal).args(pids).status();
        assert!(killed.expect("there is a kill").success());
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[test]
fn when_the_command_of_a_live_member_ran_is_recorded_by_its_guardian_and_judged() {
    let folder = folder("works");
    let (trace, works) = (folder.join("1.jsonl"), folder.join("1.work.jsonl"));
    let judged = |files: &[&PathBuf]| {
        let files: Vec<PathBuf> = files.iter().map(|file| (*file).clone()).collect();
        let (text, errors, code) = bellwether(&["check", "--format", "json", "--trace"], &files);
        let verdict: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{errors}"));
        (verdict, code)
    };
    let both = ["one-command", "command-within-lease"];

    // It is told to end; its member is killed.
    let mut alone = Alone::start(&folder, 1);
    std::thread::sleep(Duration::from_millis(200));
    Alone::signal("-TERM", &[&alone.child.id().to_string()]);
    assert!(alone.child.wait().expect("it ends").success());
    let mut alone = Alone::start(&folder, 2);
    alone.child.kill().expect("it is ours");
    alone.wait_for("\"phase\":\"done\"", 2);
    drop(alone);
    let (verdict, code) = judged(&[&trace, &works]);
    assert_eq!((code, verdict["runs"].as_u64()), (Some(0), Some(2)), "{verdict}");
    for invariant in both {
        assert_eq!(verdict["invariants"][invariant]["verdict"], "holds", "{verdict}");
    }
    let (verdict, _) = judged(&[&trace]);
    for invariant in both {
        let note = verdict["invariants"][invariant]["note"].as_str().unwrap_or_default();
        assert!(note.contains("has a command, but what its guardian recorded"), "{verdict}");
    }

    // Both are killed: nobody knows when the command ended, and another one followed.
    let alone = Alone::start(&folder, 3);
    Alone::signal("-KILL", &[&alone.guardian(), &alone.child.id().to_string()]);
    drop(alone);
    let mut alone = Alone::start(&folder, 4);
    Alone::signal("-TERM", &[&alone.child.id().to_string()]);
    assert!(alone.child.wait().expect("it ends").success());
    let (verdict, code) = judged(&[&trace, &works]);
    assert_eq!(code, Some(0), "{verdict}");
    assert_eq!(verdict["invariants"]["one-command"]["verdict"], "undecidable", "{verdict}");
    let note = verdict["invariants"]["one-command"]["note"].as_str().unwrap_or_default();
    assert!(note.starts_with("the end of run 1 of process 1's command was not"), "{note}");

    // Another guardian tells of a run at the same time.
    let other = folder.join("2.work.jsonl");
    let text = std::fs::read_to_string(&works).expect("it was written");
    let first: String = text.lines().take(4).map(|line| line.to_owned() + "\n").collect();
    std::fs::write(&other, first.replace("\"node\":1", "\"node\":2")).expect("it is ours");
    let (verdict, code) = judged(&[&trace, &works, &other]);
    assert_eq!(code, Some(1), "{verdict}");
    assert_eq!(verdict["invariants"]["one-command"]["verdict"], "violated", "{verdict}");
    assert_eq!(verdict["invariants"]["never-two"]["verdict"], "holds", "{verdict}");
    let (text, _, code) = bellwether(&["replay"], &[trace, works]);
    assert_eq!(code, Some(0), "{text}");
    let _ = std::fs::remove_dir_all(&folder);
}
