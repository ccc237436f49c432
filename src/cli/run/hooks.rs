//! Programs that are told of changes: in order, one at a time, and never in anybody's way.
//!
//! **Source.** The arguments are those of keepalived's notify scripts, so that such a script can be
//! used: `INSTANCE name MASTER|BACKUP|FAULT|STOP priority`.
//!
//! **Assumptions.** A hook leaves nothing behind that should live on: when its time is up, its
//! whole process group is killed.
//!
//! **Promise.** Whatever a hook does, the election does not wait for it. Changes that come faster
//! than hooks can be called are left out, the oldest first, and that is told.

use bellwether::core::Duration;
use bellwether::net::control::Change;
use bellwether::net::status::Role;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The most changes that wait for their hooks.
const WAITING_MAX: usize = 16;

/// The hooks of a member, and the thread that calls them.
#[derive(Debug)]
pub(super) struct Hooks {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// How often hooks failed, for `status`.
#[derive(Clone, Debug)]
pub(super) struct Tally(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    programs: Vec<PathBuf>,
    limit: Duration,
    /// The priority that hooks are told.
    rank: u64,
    queue: Mutex<Queue>,
    /// Rung when there is something to do.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Call>,
    over: bool,
    failures: u64,
    last_failure: Option<String>,
}

/// What hooks are told.
#[derive(Clone, Debug)]
struct Call {
    state: &'static str,
    change: Change,
}

impl Hooks {
    /// Starts the thread that calls these programs, if there are any.
    pub(super) fn start(programs: Vec<PathBuf>, limit: Duration, rank: u64) -> io::Result<Self> {
        let (queue, bell) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { programs, limit, rank, queue, bell });
        let threads = Arc::clone(&shared);
        let thread = if shared.programs.is_empty() {
            None
        } else {
            let builder = thread::Builder::new().name("hooks".to_owned());
            Some(builder.spawn(move || threads.work())?)
        };
        Ok(Self { shared, thread })
    }

    /// Tells of a change.
    pub(super) fn tell(&self, change: &Change) {
        let state = match change.role {
            Role::Leader => "MASTER",
            Role::Follower | Role::Looking => "BACKUP",
            Role::Withdrawn => "FAULT",
        };
        self.shared.push(Call { state, change: change.clone() });
    }

    /// Tells that it is over, and waits until all that is to be told has been.
    pub(super) fn end(mut self, change: Change) {
        self.shared.push(Call { state: "STOP", change });
        self.finish();
    }

    /// How often hooks failed.
    pub(super) fn tally(&self) -> Tally {
        Tally(Arc::clone(&self.shared))
    }

    fn finish(&mut self) {
        self.shared.lock().over = true;
        self.shared.bell.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // whatever it died of, it is over
        }
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Tally {
    /// A warning, if there is something to warn of.
    pub(super) fn warning(&self) -> Option<String> {
        let queue = self.0.lock();
        let last = queue.last_failure.as_deref()?;
        let calls = if queue.failures == 1 { "call" } else { "calls" };
        Some(format!("{} {calls} of hooks failed, the last: {last}", queue.failures))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, call: Call) {
        if self.programs.is_empty() {
            return;
        }
        let mut queue = self.lock();
        if queue.waiting.len() >= WAITING_MAX {
            queue.waiting.pop_front();
            drop(queue);
            self.failed("hooks are too slow: a change was left out".to_owned());
            queue = self.lock();
        }
        queue.waiting.push_back(call);
        drop(queue);
        self.bell.notify_all();
    }

    fn failed(&self, why: String) {
        eprintln!("bellwether: {why}");
        let mut queue = self.lock();
        queue.failures += 1;
        queue.last_failure = Some(why);
    }

    /// Calls hooks until it is over and nothing is left to tell.
    fn work(&self) {
        loop {
            let mut queue = self.lock();
            let call = loop {
                match queue.waiting.pop_front() {
                    Some(call) => break call,
                    None if queue.over => return,
                    None => queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(queue);
            for program in &self.programs {
                if let Err(why) = self.call(program, &call) {
                    self.failed(format!("hook {}: {why}", program.display()));
                }
            }
        }
    }

    fn call(&self, program: &Path, call: &Call) -> Result<(), String> {
        let Call { state, change } = call;
        let leader = change.leaders.first().map_or_else(String::new, u64::to_string);
        let until = change.until.map_or_else(String::new, |until| (until / 1_000_000).to_string());
        // What a hook prints is for people; our standard output is for programs.
        let errors =
            io::stderr().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .args(["INSTANCE", &change.group, state, &self.rank.to_string()])
            .env("BELLWETHER_GROUP", &change.group)
            .env("BELLWETHER_ID", change.id.to_string())
            .env("BELLWETHER_ROLE", change.role.name())
            .env("BELLWETHER_LEADER", leader)
            .env("BELLWETHER_UNTIL_MS", until)
            .stdin(Stdio::piped())
            .stdout(errors)
            .process_group(0)
            .spawn()
            .map_err(|error| format!("it cannot be started: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            let line = super::super::change::json(change) + "\n";
            let _ = stdin.write_all(line.as_bytes()); // whoever does not read need not
        }
        match wait(&mut child, self.limit)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("it failed at {state}: {status}")),
            None => Err(format!("it took longer than {} at {state}, and was killed", self.limit)),
        }
    }
}

/// How the hook ended; nothing if it had to be killed.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>, String> {
    let told = |error: io::Error| error.to_string();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| "it has no process number".to_owned())?;
    let in_time = pidfd_open(pid, PidfdFlags::empty()).map(|process| {
        let limit = std::time::Duration::from_nanos(limit.as_nanos());
        let timeout = Timespec::try_from(limit).ok();
        loop {
            // Nothing interrupts this thread but what may end the whole process.
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], timeout.as_ref()) {
                Err(rustix::io::Errno::INTR) => {}
                ready => return ready.is_ok_and(|count| count > 0),
            }
        }
    });
    let in_time = in_time.unwrap_or(false);
    if !in_time {
        let _ = kill_process_group(pid, Signal::KILL); // it may be gone by now
    }
    let status = child.wait().map_err(told)?;
    Ok(in_time.then_some(status))
}
