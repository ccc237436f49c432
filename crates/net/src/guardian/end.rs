//! How all is ended at once: by the cgroup, and by whoever descends from us.

use super::cgroup::Cgroup;
use super::kin::{Kin, Left};
use rustix::process::Pid;

/// How soon to look again for what did not end.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(1);

/// One round of SIGKILL to all of the command. The cgroup reaches what became another user's or
/// forks as it goes; the descendants are those who left the cgroup, or have none.
pub(super) fn round(kin: &Kin, leader: Option<Pid>, cgroup: Option<&Cgroup>) -> Left {
    let _ = cgroup.map(Cgroup::kill); // what it does not reach is found below
    let left = kin.kill(leader).unwrap_or(Left::Somebody);
    if cgroup.is_some_and(|cgroup| !cgroup.is_empty()) { Left::Somebody } else { left }
}

/// Ends all, and returns when nobody is left.
pub(super) fn all(kin: &Kin, leader: Option<Pid>, cgroup: Option<&Cgroup>) {
    while round(kin, leader, cgroup) == Left::Somebody {
        std::thread::sleep(AGAIN);
    }
}
