//! The examples, three processes of each on the loopback, whose leader is ended.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Long enough for a stalled machine; nothing waits for it if all is well.
const PATIENCE: Duration = Duration::from_secs(20);

/// Three members, which end with the test.
struct Trio {
    members: Vec<Child>,
    lines: Receiver<(usize, String)>,
    said: Vec<(usize, String)>,
}

impl Trio {
    /// Starts an example three times; `net` tells the addresses of two tests apart.
    fn start(example: &str, net: u32, more: &[&Path]) -> Self {
        // An address made of this process's number: a free port may be somebody else's soon.
        let pid = std::process::id();
        let (a, b) = (1 + pid % 250, pid / 250 % 250);
        let places = (1..=3).map(|id| format!("{id}=127.{a}.{b}.{}:7400", net + id));
        let peers = places.collect::<Vec<_>>().join(",");
        let (said, lines) = channel();
        let members = (1..=3).map(|id| start(example, id, &peers, more, said.clone())).collect();
        Self { members, lines, said: Vec::new() }
    }

    /// Waits until one of them, but not `except`, has said this; which one.
    fn wait_for(&mut self, what: &str, except: usize) -> usize {
        let is_it =
            |(id, line): &&(usize, String)| *id != except && *line == format!("member {id} {what}");
        loop {
            if let Some((id, _)) = self.said.iter().find(is_it) {
                return *id;
            }
            let line = self.lines.recv_timeout(PATIENCE);
            self.said.push(line.unwrap_or_else(|_| panic!("no '{what}' in {:?}", self.said)));
        }
    }

    fn send(&self, id: usize, signal: Signal) {
        let pid = Pid::from_child(&self.members[id - 1]);
        kill_process(pid, signal).expect("it runs");
    }
}

impl Drop for Trio {
    fn drop(&mut self) {
        for member in &mut self.members {
            let _ = member.kill(); // it may have ended
            let _ = member.wait();
        }
    }
}

fn start(
    example: &str,
    id: usize,
    peers: &str,
    more: &[&Path],
    said: Sender<(usize, String)>,
) -> Child {
    let path = path_of(example);
    let advice = "`cargo test` makes it, unless it is told which targets to test; \
                  `cargo build --profile test --examples` does";
    let mut child = Command::new(&path)
        .args([&id.to_string(), peers])
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}; {advice}", path.display()));
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = said.send((id, line)); // the test may be over
        }
    });
    child
}

/// Cargo puts examples beside the folder of the tests.
fn path_of(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let folder = test.ancestors().nth(2).expect("it lies in a folder of a folder");
    folder.join("examples").join(example)
}

#[test]
fn of_three_that_block_one_leads_and_another_one_follows_it() {
    let mut trio = Trio::start("blocking", 0, &[]);
    let first = trio.wait_for("leads", 0);
    trio.send(first, Signal::KILL);
    trio.wait_for("leads", first);
}

#[test]
fn of_three_with_tokio_one_leads_and_hands_over_when_it_is_interrupted() {
    let mut trio = Trio::start("tokio", 10, &[]);
    let first = trio.wait_for("leads", 0);
    trio.send(first, Signal::INT);
    trio.wait_for("leads", first);
    let left = trio.members[first - 1].wait().expect("it was started");
    assert!(left.success(), "{left}");
}

#[test]
fn a_protocol_of_ones_own_is_simulated_checked_and_run() {
    let path = path_of("own_protocol");
    let output = Command::new(&path).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    for line in [
        "handler: process 3 follows 7 once that one has spoken",
        "simulated: process 0 of 100 follows Some(NodeId(99))",
        "checked: eventually one in 100 schedules",
        "checked: not never two: never-two",
        "live: member 3 leads: true",
        "live: member 1 follows [NodeId(3)]",
    ] {
        assert!(said.lines().any(|said| said == line), "no '{line}' in:\n{said}");
    }
}

/// What the command says of a member of the example.
fn ask(command: &str, id: usize, dir: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bellwether"))
        .args(command.split(' '))
        .args(["--id", &id.to_string(), "--dir"])
        .arg(dir)
        .output()
        .expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_member_of_an_embedding_program_can_be_asked() {
    let dir = std::env::temp_dir().join(format!("bellwether-asked-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir); // a test that failed may have left one
    let mut trio = Trio::start("blocking", 20, &[&dir]);
    let first = trio.wait_for("leads", 0);
    let leads = format!("member {first} leads blocking");
    assert!(ask("status blocking", first, &dir).starts_with(&leads));
    assert!(ask("why blocking", first, &dir).contains("leader because:"));
    let change = ask("watch blocking --count 1 --format json", first, &dir);
    assert!(change.contains("\"role\":\"leader\""), "{change}");
    ask("resign blocking", first, &dir);
    trio.wait_for("no longer leads", 0);
    drop(trio);
    std::fs::remove_dir_all(&dir).expect("it is the test's own");
}
