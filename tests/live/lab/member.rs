//! One member: a process of the command itself, which can be killed, paused and started again.
//!
//! **Promise.** It ends with its owner: killed when dropped, and by the kernel if the laboratory is
//! killed itself.

use super::log::Log;
use super::network;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The command under test.
pub(crate) const BELLWETHER: &str = env!("CARGO_BIN_EXE_bellwether");

/// How a member is started, as often as need be.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// Where; on the host's loopback if absent.
    pub(crate) namespace: Option<String>,
    /// What starts it there and becomes it, such as `unshare` with its flags; usually nothing.
    pub(crate) before: Vec<String>,
    /// What follows `bellwether run`.
    pub(crate) arguments: Vec<String>,
    /// What follows `--`.
    pub(crate) command: Vec<String>,
    /// Where its complaints go.
    pub(crate) errors: String,
}

/// A member that was started at least once.
pub(crate) struct Member {
    start: Start,
    child: Child,
}

impl Member {
    /// Starts it. What it says goes to the log, unless it has a command, which then speaks.
    pub(crate) fn start(start: Start, log: &Log) -> Self {
        let child = Self::spawn(&start, log);
        Self { start, child }
    }

    fn spawn(start: &Start, log: &Log) -> Child {
        let errors = File::options().create(true).append(true).open(&start.errors);
        let errors = errors.expect("the folder can be written");
        let there = start.namespace.as_deref().map_or_else(Vec::new, network::enter);
        let mut words: Vec<&str> = there.iter().map(String::as_str).collect();
        words.extend(start.before.iter().map(String::as_str));
        // Each of these becomes the next: the process we start is the member in the end.
        words.extend(["setpriv", "--pdeathsig", "KILL", BELLWETHER, "run"]);
        words.extend(start.arguments.iter().map(String::as_str));
        if !start.command.is_empty() {
            words.push("--");
            words.extend(start.command.iter().map(String::as_str));
        }
        let speaks = start.command.is_empty();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(if speaks { Stdio::piped() } else { Stdio::null() })
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", words.join(" ")));
        if let Some(output) = child.stdout.take() {
            log.listen(output);
        }
        child
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.expect("a process has a number");
        // Until we have waited for it the number is its own.
        kill_process(pid, signal).expect("a child that was not waited for can be signalled");
    }

    /// Ends it without a word, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        // It may have ended already, which is no failure here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends it and all that it started without a word. It is stopped first, so that it starts
    /// nothing anew, and dies last: whoever outlived it would notice. (To stop the others would not
    /// do: the kernel lets stopped processes go on when their group loses its last parent.)
    pub(crate) fn kill_all(&mut self) {
        self.signal(Signal::STOP);
        let others = self.started();
        // All are stopped first: whoever lives for longer than another one acts.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &others {
                let _ = kill_process(*pid, signal); // it may have ended meanwhile
            }
        }
        self.kill();
    }

    /// The processes called so among all that it started: `bw-guardian`, `bw-watchdog`.
    pub(crate) fn called(&self, name: &str) -> Vec<Pid> {
        let is_called = |pid: &Pid| {
            let comm = std::fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
            comm.is_ok_and(|comm| comm.trim_end() == name)
        };
        self.started().into_iter().filter(is_called).collect()
    }

    /// All processes that it and its children started, and that are there.
    pub(crate) fn started(&self) -> Vec<Pid> {
        let others = with_descendants(self.child.id()).into_iter().skip(1);
        others.filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw)).collect()
    }

    /// Waits for it to end by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("a child can be waited for")
    }

    /// Whether it has ended, and how.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    /// What it complained about.
    pub(crate) fn complaints(&self) -> String {
        std::fs::read_to_string(&self.start.errors).unwrap_or_default()
    }
}

/// A process, and all that it and its children started and that are there.
pub(crate) fn with_descendants(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        let children = tasks.filter_map(Result::ok).flat_map(|task| {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
        });
        all.extend(children.collect::<Vec<_>>());
        next += 1;
    }
    all
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}
