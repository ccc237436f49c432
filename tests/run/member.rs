//! Members as processes, which end with the test that started them.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// What is waited for comes within this, or never.
const PATIENCE: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(20);

/// Looks again and again until there is something to see.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..PATIENCE.as_millis() / TICK.as_millis() {
        if let Some(seen) = look() {
            return seen;
        }
        thread::sleep(TICK);
    }
    panic!("it never came: {what}");
}

/// Runs the command to its end.
pub(crate) fn bellwether(arguments: &str) -> Output {
    command(arguments).output().expect("the command starts")
}

pub(crate) fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command.args(arguments.split_whitespace()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BELLWETHER_") {
            command.env_remove(name);
        }
    }
    command
}

/// The one line with which it is refused.
pub(crate) fn refusal(output: &Output, code: i32) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert_eq!(errors.lines().count(), 1, "one line, not\n{errors}");
    assert!(errors.starts_with("bellwether: "), "{errors}");
    errors
}

/// A folder of one test's own, removed at its end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        // In memory: a disk that is busy would make members wait, and tests fail.
        let memory = PathBuf::from("/dev/shm");
        let temporary = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let path = temporary.join(format!("bw-run-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path); // of a process that had this number before
        std::fs::create_dir_all(&path).expect("there is room for a folder");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A program of these lines.
    pub(crate) fn script(&self, name: &str, lines: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name);
        std::fs::write(&path, format!("#!/bin/sh\n{lines}\n")).expect("there is room");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("it is ours");
        path
    }

    /// What a file holds by now.
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Where members are asked.
    pub(crate) fn dir(&self) -> String {
        self.file("members").display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A list of so many members on the loopback, at addresses that nobody else has: they are made of
/// this process's number. A port that was free a moment ago may be somebody else's by now.
pub(crate) fn peers(count: usize) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    let place = |id: usize| {
        let (a, b) = (1 + pid % 250, pid / 250 % 250);
        let c = 1 + COUNT.fetch_add(1, Ordering::Relaxed) % 250;
        format!("{id}=127.{a}.{b}.{c}:7400")
    };
    (1..=count).map(place).collect::<Vec<_>>().join(",")
}

/// A member that runs.
pub(crate) struct Member {
    child: Child,
    lines: Receiver<String>,
    errors: Receiver<String>,
    dir: String,
    id: u64,
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Member {
    /// Starts `bellwether run` with leases that a busy machine does not break.
    pub(crate) fn start(folder: &Folder, peers: &str, id: u64, rest: &[&str]) -> Self {
        let dir = folder.dir();
        let mut command = command(&format!(
            "run web --peers {peers} --id {id} --dir {dir} --insecure --preset wan"
        ));
        command.args(rest);
        Self::spawn(command, &dir, id)
    }

    pub(crate) fn spawn(command: Command, dir: &str, id: u64) -> Self {
        Self::spawn_with(command, dir, id, Stdio::piped())
    }

    /// The same, with a standard error of the test's own.
    pub(crate) fn spawn_with(mut command: Command, dir: &str, id: u64, errors: Stdio) -> Self {
        command.stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().expect("the command starts");
        let out = child.stdout.take().expect("it is piped");
        let errors = child.stderr.take();
        let errors = errors.map_or_else(|| lines(std::io::empty()), lines);
        Self { child, lines: lines(out), errors, dir: dir.to_owned(), id }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of its output that is like this.
    pub(crate) fn line(&self, like: impl Fn(&str) -> bool) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if like(&line) => return line,
                Ok(_) => {}
                Err(why) => panic!("{why}; errors: {:?}", self.all_errors()),
            }
        }
    }

    /// The next line, if there is one.
    pub(crate) fn next_line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing was written"),
        }
    }

    /// Waits for an error that contains this.
    pub(crate) fn error(&self, text: &str) -> String {
        loop {
            match self.errors.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(_) => {}
                Err(why) => panic!("{text}: {why}"),
            }
        }
    }

    /// What it still writes to the standard error, until that is closed.
    pub(crate) fn last_errors(&self) -> Vec<String> {
        std::iter::from_fn(|| match self.errors.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the standard error is not closed"),
        })
        .collect()
    }

    pub(crate) fn all_errors(&self) -> Vec<String> {
        self.errors.try_iter().collect()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is there");
    }

    /// Ends it by SIGTERM: its exit code, and how long that took.
    pub(crate) fn end(&mut self) -> (Option<i32>, Duration) {
        let begin = now();
        self.signal(rustix::process::Signal::TERM);
        (self.code(), now() - begin)
    }

    /// Its exit code, once it has ended.
    pub(crate) fn code(&mut self) -> Option<i32> {
        eventually("its end", || self.child.try_wait().expect("it is our child")).code()
    }

    /// Asks it something.
    pub(crate) fn ask(&self, what: &str) -> Output {
        bellwether(&format!("{what} web --id {} --dir {}", self.id, self.dir))
    }

    pub(crate) fn status(&self) -> Option<Value> {
        let output = self.ask("status --format json");
        serde_json::from_slice(&output.stdout).ok()
    }

    /// Waits until it has this role.
    pub(crate) fn becomes(&self, role: &str) -> Value {
        eventually(role, || self.status().filter(|status| status["role"] == role))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// Whom all members follow, also those that do not vote.
pub(crate) fn leader(members: &[Member]) -> u64 {
    eventually("a leader that all follow", || {
        let seen: Option<Vec<Value>> = members.iter().map(Member::status).collect();
        let seen = seen?;
        let leads = seen.iter().find(|status| status["role"] == "leader")?["id"].as_u64()?;
        seen.iter().all(|status| status["leaders"] == json!([leads])).then_some(leads)
    })
}

/// Waits until all members hold this list of voters.
pub(crate) fn hold(members: &[Member], version: u64, ids: &[u64]) {
    let list = [json!(version), json!(true), json!(ids)];
    eventually("the list", || {
        let holds = |member: &Member| {
            let held = member.status().map(|it| it["voters"].clone());
            held.is_some_and(|it| {
                ["version", "committed", "ids"].map(|key| it[key].clone()) == list
            })
        };
        members.iter().all(holds).then_some(())
    });
}

/// The traces of a group with durable tokens keep all promises, and are what the code does.
pub(crate) fn judge_and_replay(traces: &str) {
    let judged = bellwether(&format!("check --format json --trace {traces}"));
    let verdict: Value = serde_json::from_slice(&judged.stdout).expect("it is JSON");
    for rule in ["never-two", "tokens-grow", "follows-the-proof"] {
        assert_eq!(verdict["invariants"][rule]["verdict"], "holds", "{rule}: {verdict}");
    }
    let replayed = bellwether(&format!("replay {traces}"));
    let said = String::from_utf8_lossy(&replayed.stdout);
    assert!(replayed.status.success(), "{said}{}", String::from_utf8_lossy(&replayed.stderr));
}

/// The time since the machine started.
pub(crate) fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(now).expect("the machine has started")
}

/// Whether this process is there, and not just its corpse.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}
