//! Scheduling priority and locked memory, where permitted.
//!
//! **Source.** `sched(7)` and `mlockall(2)`; corosync and watchdog daemons do the same. A process
//! that must act at a certain time needs a processor at that time, however many processes want one.
//!
//! | who | class | why |
//! |---|---|---|
//! | guardian, watchdog | `SCHED_RR`, lowest priority | they must end a command in time; only their member speaks to them, and they sleep almost always |
//! | the member's threads | nice -20 | a leader should not lose its lease to load; a flood of packets must not take the machine, as it would in real time |
//!
//! **Assumptions.** Real time needs `CAP_SYS_NICE` or `RLIMIT_RTPRIO`, a negative nice the same or
//! `RLIMIT_NICE`, locked memory `CAP_IPC_LOCK`. Root has all of them.
//!
//! **Promise.** Nothing fails for lack of permission: a note says what was refused. A process that
//! was started in another class than the normal one stays in it. Processes and threads that a
//! raised thread starts are not raised, unless [`Children::Raised`] says so.

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Pid, Resource, getpriority_process, getrlimit, setpriority_process};
use rustix::thread::{CapabilitySet, capabilities};

/// The lowest of the real-time priorities: above all normal processes, below all other real-time
/// ones.
const REAL_TIME: i32 = 1;
/// The highest priority of a normal process.
const NICE: i32 = -20;

/// What to raise a thread to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Real time: before all normal processes. Nice -20 if that is refused.
    RealTime,
    /// The largest share of the processors among normal processes.
    Nice,
}

/// The scheduling of threads and processes that a raised thread starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// Normal scheduling, and nice 0 if the thread had been given less.
    Normal,
    /// The same as the thread, until their starter resets it.
    Raised,
}

/// What a thread was raised to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// Whether anything was changed.
    pub changed: bool,
    /// What was refused.
    pub note: Option<String>,
}

/// Raises the calling thread.
pub fn raise(class: Class, children: Children) -> Raised {
    if policy().is_ok_and(|policy| policy != libc::SCHED_OTHER) {
        return Raised { changed: false, note: None };
    }
    let flag = if children == Children::Normal { libc::SCHED_RESET_ON_FORK } else { 0 };
    let mut refused = None;
    if class == Class::RealTime {
        match schedule(None, libc::SCHED_RR | flag, REAL_TIME) {
            Ok(()) => return Raised { changed: true, note: None },
            Err(error) => refused = Some(error),
        }
    }
    let nice =
        schedule(None, libc::SCHED_OTHER | flag, 0).and_then(|()| setpriority_process(None, NICE));
    let note = match (refused, nice) {
        (None, Ok(())) => None,
        (Some(error), Ok(())) => Some(format!(
            "real-time scheduling is not permitted ({error}), nice {NICE} is: on a loaded machine \
             they may act late; give them CAP_SYS_NICE"
        )),
        (_, Err(error)) => Some(format!(
            "a higher scheduling priority is not permitted ({error}): on a loaded machine they may \
             act late; give them CAP_SYS_NICE"
        )),
    };
    Raised { changed: nice.is_ok(), note }
}

/// A note about the member's own threads, as the status and `run` say it.
pub fn of_member(note: &str) -> String {
    format!("the member's threads: {note}")
}

/// Gives a child normal scheduling and this nice value: it inherited what its parent was raised to.
///
/// # Errors
/// If the child keeps the raised priority. A child that has ended is no error.
#[cfg(feature = "guardian")]
pub(crate) fn reset_child(pid: Pid, nice: i32) -> Result<(), Errno> {
    // A process that has real time by `RLIMIT_RTPRIO` alone may not clear the flag.
    let normal = schedule(Some(pid), libc::SCHED_OTHER, 0)
        .or_else(|_| schedule(Some(pid), libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0));
    let _ = setpriority_process(Some(pid), nice);
    if normal == Err(Errno::SRCH) { Ok(()) } else { normal }
}

/// Gives all that the calling thread starts from now on normal scheduling. It makes two system
/// calls and nothing else, so it may be called between `fork` and `exec`.
#[cfg(feature = "guardian")]
pub(crate) fn reset_on_fork() {
    // If it fails, the parent resets the child itself, a moment later.
    let _ = policy().and_then(|policy| {
        let priority = if policy == libc::SCHED_RR { REAL_TIME } else { 0 };
        schedule(None, policy | libc::SCHED_RESET_ON_FORK, priority)
    });
}

/// The nice value of the calling thread.
pub fn nice() -> i32 {
    getpriority_process(None).unwrap_or(0)
}

/// Locks the memory of this process, so that it is not swapped out; returns a note if that is not
/// permitted.
///
/// Pages are locked as they are used: those that are never touched cost nothing.
pub fn lock_memory() -> Option<String> {
    // Under a limit later allocations would fail, so memory is locked only without one.
    let unlimited = getrlimit(Resource::Memlock).current.is_none();
    let capable =
        || capabilities(None).is_ok_and(|it| it.effective.contains(CapabilitySet::IPC_LOCK));
    if !unlimited && !capable() {
        return Some(
            "locked memory is not permitted: on a machine that swaps they may act late; give them \
             CAP_IPC_LOCK"
                .to_owned(),
        );
    }
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    mlockall(flags).err().map(|error| format!("memory cannot be locked: {error}"))
}

/// The policy of the calling thread.
#[allow(unsafe_code)]
fn policy() -> Result<i32, Errno> {
    // SAFETY: the call takes a number and returns one; it touches no memory of ours.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    let policy = i32::try_from(policy).ok().filter(|policy| *policy >= 0);
    policy.map(|policy| policy & !libc::SCHED_RESET_ON_FORK).ok_or_else(last_error)
}

/// Sets policy and priority of a thread, or of the calling one. Uses the system call, because
/// musl's function does not work.
#[allow(unsafe_code)]
fn schedule(pid: Option<Pid>, policy: i32, priority: i32) -> Result<(), Errno> {
    let pid = pid.map_or(0, Pid::as_raw_pid);
    // SAFETY: the kernel reads a `struct sched_param` at the pointer, which is one int; it points
    // to an i32 that lives until the call returns. It writes nothing.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, pid, policy, &raw const priority) };
    if done == 0 { Ok(()) } else { Err(last_error()) }
}

/// The error of the last system call.
fn last_error() -> Errno {
    let error = std::io::Error::last_os_error();
    error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_started_by_a_raised_thread_is_not_raised() {
        let before = policy();
        let raising = std::thread::spawn(|| {
            let raised = raise(Class::RealTime, Children::Normal);
            let child = std::thread::spawn(|| (policy(), nice())).join().unwrap();
            (raised, policy(), child)
        });
        let (raised, policy, (childs, nice)) = raising.join().unwrap();
        if before != Ok(libc::SCHED_OTHER) {
            assert!(!raised.changed, "tests that were started in another class stay in it");
            assert_eq!((policy, childs), (before, before));
            return;
        }
        assert_eq!(childs, Ok(libc::SCHED_OTHER));
        assert!(nice >= 0, "{nice}");
        match raised.note {
            None => assert_eq!(policy, Ok(libc::SCHED_RR)),
            Some(note) => assert!(note.contains("CAP_SYS_NICE"), "{note}"),
        }
    }
}
