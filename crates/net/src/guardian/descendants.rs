//! Finds and kills the descendants of this process.
//!
//! **Source.** `/proc/PID/task/TID/children`, whose cost depends only on the number of children;
//! where the kernel lacks it, `/proc/PID/stat` of all processes.
//!
//! **Assumptions.** This process is a child subreaper: a descendant that loses its parent becomes
//! our child.
//!
//! **Promise.** Only descendants are signalled. A child of ours keeps its process id until we reap
//! it; for any other the id is pinned first and its parent checked again. A round of
//! [`Descendants::kill`] may miss processes that fork in the meantime; rounds are repeated until
//! none is left.

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, waitpid,
};
use std::{fs, io};

/// The descendants of this process, except the children that it had before.
#[derive(Debug)]
pub(super) struct Descendants {
    spared: Vec<(Pid, Stat)>,
    last: Option<Pid>,
}

impl Descendants {
    /// Tracks all descendants from now on.
    ///
    /// # Errors
    /// If `/proc` cannot be read: then no descendant could be found.
    pub(super) fn from_now_on() -> io::Result<Self> {
        if stat(getpid()).is_none() {
            let error = "/proc does not show this process; mount it: without it nothing of the \
                         command can be found to be ended";
            return Err(io::Error::other(error));
        }
        let now = children(getpid())?.into_iter();
        Ok(Self { spared: now.filter_map(|pid| Some((pid, stat(pid)?))).collect(), last: None })
    }

    /// Kills this child only when nothing else is left. The member's watchdog is one: if the member
    /// is stopped while it kills, the watchdog goes on.
    pub(super) fn kill_last(&mut self, child: Pid) {
        self.last = Some(child);
    }

    /// Our children, including dead ones that were not reaped.
    pub(super) fn children(&self) -> io::Result<Vec<Pid>> {
        let spared = |pid: Pid| {
            self.spared.iter().any(|(spared, before)| {
                *spared == pid && stat(pid).is_some_and(|now| now.start == before.start)
            })
        };
        let mut all = children(getpid())?;
        all.retain(|pid| !spared(*pid));
        Ok(all)
    }

    /// Signals all descendants, but the last one only if it is alone. All are found before the
    /// first is signalled: otherwise the children of one that dies would be missed.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        self.signal_found(self.find()?, signal)
    }

    /// The same once, and this child in any case, which was not reaped: a list of children that is
    /// read while one of them ends may lack others, and nobody looks again.
    pub(super) fn signal_once(&self, child: Option<Pid>, signal: Signal) -> io::Result<()> {
        let found = self.find();
        let has = |found: &Found, child: &Pid| {
            found.own.contains(child) || found.others.iter().any(|(_, other)| other == child)
        };
        let missed = child.filter(|child| !found.as_ref().is_ok_and(|found| has(found, child)));
        missed.into_iter().for_each(|child| {
            let _ = kill_process(child, signal); // if it has ended, nothing needs to be done
        });
        self.signal_found(found?, signal)
    }

    fn signal_found(&self, mut found: Found, signal: Signal) -> io::Result<()> {
        // Twice: the children of a process that dies while we look may be ours when it is dead.
        let again = || self.find().is_ok_and(|found| self.last_is_alone(&found));
        if !self.last_is_alone(&found) || !again() {
            found.own.retain(|pid| Some(*pid) != self.last);
        }
        for pid in found.own {
            let _ = kill_process(pid, signal); // not reaped, so the id is still its own
        }
        for (parent, child) in found.others {
            signal_child_of(parent, child, signal);
        }
        Ok(())
    }

    /// Whether all others that were found are dead.
    fn last_is_alone(&self, found: &Found) -> bool {
        let all = found.own.iter().chain(found.others.iter().map(|(_, child)| child));
        all.filter(|pid| Some(**pid) != self.last).all(|pid| stat(*pid).is_none_or(|it| it.dead))
    }

    fn find(&self) -> io::Result<Found> {
        let own = self.children()?;
        let mut others: Vec<(Pid, Pid)> = Vec::new();
        let mut generation = own.clone();
        while !generation.is_empty() {
            let first = others.len();
            for parent in generation {
                // The children of a process that has ended are ours now, and found in the next
                // round.
                let children = children(parent).unwrap_or_default();
                others.extend(children.into_iter().map(|child| (parent, child)));
            }
            generation = others[first..].iter().map(|(_, child)| *child).collect();
        }
        Ok(Found { own, others })
    }

    /// Reaps our dead children, except `leader`: until it is reaped, no other process can get its
    /// process group.
    pub(super) fn reap(&self, leader: Option<Pid>) -> io::Result<()> {
        for pid in self.children()? {
            if Some(pid) != leader {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG); // alive or reaped already
            }
        }
        Ok(())
    }

    /// One round of killing and reaping all descendants. `leader` is killed together with its
    /// process group, in one step of the kernel that no fork escapes, and reaped last.
    pub(super) fn kill(&self, leader: Option<Pid>) -> io::Result<Left> {
        let leader = leader.filter(|pid| self.children().is_ok_and(|own| own.contains(pid)));
        if let Some(leader) = leader {
            let _ = kill_process_group(leader, Signal::KILL); // it may have left its group
        }
        self.signal(Signal::KILL)?;
        self.reap(leader)?;
        if self.children()?.iter().all(|pid| Some(*pid) == leader) {
            self.reap(None)?;
        }
        Ok(if self.children()?.is_empty() { Left::Nobody } else { Left::Somebody })
    }
}

/// All descendants at one time.
struct Found {
    /// Our children.
    own: Vec<Pid>,
    /// The others, each after its parent.
    others: Vec<(Pid, Pid)>,
}

/// Whether a process is left after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nobody,
    Somebody,
}

/// Signals a process if it is still the child of `parent`, or has become ours.
fn signal_child_of(parent: Pid, child: Pid, signal: Signal) {
    let still = || stat(child).is_some_and(|now| now.parent == parent || now.parent == getpid());
    match pidfd_open(child, PidfdFlags::empty()) {
        Ok(pinned) if still() => {
            let _ = pidfd_send_signal(pinned, signal); // it may have ended, which is the goal
        }
        Ok(_) | Err(Errno::SRCH) => (),
        // No file descriptor is left to pin it; letting it run would be worse.
        Err(_) if still() => {
            let _ = kill_process(child, signal);
        }
        Err(_) => (),
    }
}

/// The children of all threads of a process.
fn children(pid: Pid) -> io::Result<Vec<Pid>> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?.path();
        match fs::read_to_string(task.join("children")) {
            Ok(text) => all.extend(text.split_whitespace().filter_map(read_pid)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if task.exists() {
                    return children_by_parent(pid); // the kernel does not list them
                }
            }
            Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// The children of a process, found by reading the parent of every process.
fn children_by_parent(parent: Pid) -> io::Result<Vec<Pid>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(read_pid)
            && stat(pid).is_some_and(|it| it.parent == parent)
        {
            all.push(pid);
        }
    }
    Ok(all)
}

fn read_pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    /// It has ended, and its children are another process's.
    dead: bool,
    parent: Pid,
    start: u64,
}

/// `None` if there is no such process, or its parent is not visible.
fn stat(pid: Pid) -> Option<Stat> {
    read_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// `PID (NAME) STATE PARENT …`; the name may contain anything, so count from its last bracket.
fn read_stat(text: &[u8]) -> Option<Stat> {
    const PARENT: usize = 1;
    const START: usize = 19;
    let bracket = text.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(&text[bracket + 1..]).ok()?;
    let mut fields = rest.split_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.nth(PARENT - 1)?.parse().ok()?;
    let start = fields.nth(START - PARENT - 1)?.parse().ok()?;
    // Our own parent may be outside of our namespace, and is then zero.
    Some(Stat { dead, parent: Pid::from_raw(parent).unwrap_or(Pid::INIT), start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn a_stat_is_read_whatever_the_process_calls_itself() {
        let rest = "S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2";
        for name in ["sh", "a) S 9 (b", "x y", ")"] {
            let stat = read_stat(format!("12 ({name}) {rest}\n").as_bytes()).expect("it is whole");
            assert_eq!((stat.parent.as_raw_pid(), stat.start), (7, 4711), "{name}");
            assert!(!stat.dead, "{name}");
        }
        for torn in ["", "12 (sh", "12 (sh) S", "12 (sh) S x", "12 (sh) S 7 1 1 0"] {
            assert_eq!(read_stat(torn.as_bytes()), None, "{torn}");
        }
    }

    #[test]
    fn both_ways_to_find_children_find_them_and_those_from_before_are_spared() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("there is a cat");
        let pid = Pid::from_child(&child);
        assert!(children(getpid()).expect("/proc is there").contains(&pid));
        assert!(children_by_parent(getpid()).expect("/proc is there").contains(&pid));
        let descendants = Descendants::from_now_on().expect("/proc is there");
        assert!(!descendants.children().expect("/proc is there").contains(&pid));
        drop(child.stdin.take());
        assert!(child.wait().expect("it is ours").success());
    }
    #[test]
    fn a_child_that_was_not_found_is_signalled_all_the_same() {
        let script = "trap 'exit 7' WINCH; echo up; while :; do :; done";
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", script]).stdout(Stdio::piped());
        let mut child = shell.spawn().expect("there is a shell");
        let mut line = [0; 3];
        child.stdout.as_mut().expect("it is piped").read_exact(&mut line).expect("it says so");
        let descendants = Descendants::from_now_on().expect("/proc is there"); // this one is spared
        // Nobody else cares for this signal.
        let done = descendants.signal_once(Some(Pid::from_child(&child)), Signal::WINCH);
        done.expect("/proc is there");
        assert_eq!(child.wait().expect("it is ours").code(), Some(7));
    }
}
