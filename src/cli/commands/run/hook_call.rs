//! One call of one hook: its start, its arguments and its end.
//!
//! **Assumptions.** Linux 5.3 or later, for a process that can be waited for beside other things.
//!
//! **Promise.** [`run`] returns when the hook has ended, when its time is up, or when it may no
//! longer act on the state that it was given; in the last two cases its process group is killed. It
//! does not wait until the hook reads its input. Ended processes that earlier hooks left behind are
//! reaped.

use super::notify::hide;
use crate::cli::output::change;
use bellwether::core::{Duration, Instant};
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::Change;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process_group, pidfd_open, waitpgid,
};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// What a hook is given.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) state: &'static str,
    pub(super) change: Change,
    /// How often the member has begun to lead.
    pub(super) reign: u64,
    /// Whether the member still leads, and waits for this call before it hands over.
    pub(super) farewell: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Exited(ExitStatus),
    /// Its time was up, and it was killed.
    TooLong,
    /// It may no longer act on the state that it was given, and was killed.
    CutShort,
}

/// What must be known while a hook runs.
pub(super) trait Circumstances {
    /// How long it may take.
    fn limit(&self) -> Duration;
    /// The priority that it is given.
    fn rank(&self) -> u64;
    /// The name of the member, if it has one.
    fn name(&self) -> Option<&str>;
    /// Wakes the caller when [`Self::permitted`] may have changed.
    fn waker(&self) -> &WakeFd;
    /// Until when it may go on, as of now; `None` if it may not.
    fn permitted(&self, call: &Call) -> Option<Instant>;
}

/// The process groups of hooks that have ended. What a hook leaves behind becomes a child of this
/// process where that is a child subreaper, and must be reaped when it ends.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<Pid>);

impl Groups {
    /// A child that has ended, the first of its group.
    pub(super) fn note(&mut self, child: &Child) {
        self.0.extend(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    }

    /// Reaps the dead, and forgets groups in which nobody of ours is left.
    pub(super) fn reap(&mut self) {
        self.0.retain(|group| {
            loop {
                match waitpgid(*group, WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break true,
                    Err(_) => break false,
                }
            }
        });
    }
}

/// Calls a hook; `until` is when the member's lease ends, if it leads.
///
/// # Errors
/// Why it cannot be called, in a sentence.
pub(super) fn run(
    program: &Path,
    call: &Call,
    until: Option<Instant>,
    circumstances: &dyn Circumstances,
    groups: &mut Groups,
) -> Result<Ending, String> {
    groups.reap(); // before the number of one that is gone can be another's
    let mut child = start(program, call, until, circumstances)
        .map_err(|error| format!("it cannot be started: {error}"))?;
    if let Some(stdin) = child.stdin.take() {
        send(stdin, &call.change);
    }
    let ending = wait(&mut child, call, circumstances);
    groups.note(&child);
    groups.reap();
    ending.map_err(|error| error.to_string())
}

fn start(
    program: &Path,
    call: &Call,
    until: Option<Instant>,
    circumstances: &dyn Circumstances,
) -> io::Result<Child> {
    let (rank, name) = (circumstances.rank(), circumstances.name());
    let Call { state, change, reign, .. } = call;
    let leader = change.leaders.first().map_or_else(String::new, u64::to_string);
    // The lease may have been renewed since the change.
    let until = until.map(Instant::as_nanos).filter(|nanos| *nanos != Instant::NEVER.as_nanos());
    let until = if *state == "MASTER" { until } else { change.until };
    // What a hook prints is for people; our standard output is for programs.
    let errors = io::stderr().as_fd().try_clone_to_owned()?;
    hide(&mut Command::new(program))
        .args(["INSTANCE", &change.group, state, &rank.to_string()])
        .env("BELLWETHER_GROUP", &change.group)
        .env("BELLWETHER_ID", change.id.to_string())
        .envs(name.map(|name| ("BELLWETHER_NAME", name)))
        .env("BELLWETHER_ROLE", change.role.name())
        .env("BELLWETHER_LEADER", leader)
        .env("BELLWETHER_TERM", change.term.map_or_else(String::new, |term| term.to_string()))
        .env("BELLWETHER_TERM_KEPT", if change.term_kept { "yes" } else { "no" })
        .env("BELLWETHER_REIGN", reign.to_string())
        .env(
            "BELLWETHER_UNTIL_MS",
            until.map_or_else(String::new, |until| (until / 1_000_000).to_string()),
        )
        .stdin(Stdio::piped())
        .stdout(errors)
        .process_group(0)
        .spawn()
}

/// Writes the change as a line. It is cut off if it does not fit into a pipe that nobody reads.
fn send(mut stdin: std::process::ChildStdin, change: &Change) {
    let line = change::json(change) + "\n";
    if fcntl_setfl(&stdin, OFlags::NONBLOCK).is_ok() {
        let _ = stdin.write_all(line.as_bytes()); // the hook need not read it
    }
}

fn wait(child: &mut Child, call: &Call, circumstances: &dyn Circumstances) -> io::Result<Ending> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("it has no process number"))?;
    let limit = BootTime.now() + circumstances.limit();
    let early = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(_) => Some(Ending::TooLong), // a process that cannot be waited for is killed
        Ok(process) => loop {
            circumstances.waker().clear();
            let permitted = circumstances.permitted(call);
            let now = BootTime.now();
            let Some(permitted) = permitted.filter(|until| now < *until) else {
                break Some(Ending::CutShort);
            };
            if now >= limit {
                break Some(Ending::TooLong);
            }
            let left = permitted.min(limit).since(now).as_nanos();
            let timeout = Timespec::try_from(std::time::Duration::from_nanos(left)).ok();
            let mut fds = [
                PollFd::new(&process, PollFlags::IN),
                PollFd::new(circumstances.waker(), PollFlags::IN),
            ];
            // Interrupted or not, look again.
            if poll(&mut fds, timeout.as_ref()).is_ok() && !fds[0].revents().is_empty() {
                break None;
            }
        },
    };
    let Some(early) = early else { return child.wait().map(Ending::Exited) };
    let _ = kill_process_group(pid, Signal::KILL); // it may be gone by now
    let _ = child.kill(); // it may have left its group
    child.wait()?;
    Ok(early)
}
