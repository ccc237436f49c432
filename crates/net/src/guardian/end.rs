//! Kills all processes of the command: those of the cgroup, and all descendants.

use super::cgroup::Cgroup;
use super::descendants::{Descendants, Left};
use rustix::process::Pid;

/// How soon to look again for processes that did not end.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(1);

/// One round of SIGKILL to all processes of the command. The cgroup reaches processes of other
/// users and those that fork quickly; the descendants include those that left the cgroup, or have
/// none.
pub(super) fn round(
    descendants: &Descendants,
    leader: Option<Pid>,
    cgroup: Option<&Cgroup>,
) -> Left {
    let _ = cgroup.map(Cgroup::kill); // the descendants follow below
    let left = descendants.kill(leader).unwrap_or(Left::Somebody);
    if cgroup.is_some_and(|cgroup| !cgroup.is_empty()) { Left::Somebody } else { left }
}

/// Kills all, and returns when no process is left.
pub(super) fn all(descendants: &Descendants, leader: Option<Pid>, cgroup: Option<&Cgroup>) {
    while round(descendants, leader, cgroup) == Left::Somebody {
        std::thread::sleep(AGAIN);
    }
}
