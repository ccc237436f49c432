//! Kills all processes of the command, those of the cgroup and all descendants, and removes the
//! addresses.

use super::cgroup::Cgroup;
use super::descendants::{Descendants, Left};
use crate::address::Addresses;
use rustix::process::Pid;

/// How soon to look again for processes that did not end.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(1);

/// One round of SIGKILL to all processes of the command. The cgroup reaches processes of other
/// users and those that fork quickly; the descendants include those that left the cgroup, or have
/// none.
///
/// Processes first: whoever removes an address may have to wait for the kernel's lock on the
/// network configuration.
pub(super) fn round(
    descendants: &Descendants,
    leader: Option<Pid>,
    cgroup: Option<&Cgroup>,
    addresses: &Addresses,
) -> Left {
    let _ = cgroup.map(Cgroup::kill); // the descendants follow below
    let left = descendants.kill(leader).unwrap_or(Left::Somebody);
    let empty = cgroup.is_none_or(Cgroup::is_empty);
    if addresses.remove().is_ok() && empty { left } else { Left::Somebody }
}

/// Kills all, and returns when no process and no address is left.
pub(super) fn all(
    descendants: &Descendants,
    leader: Option<Pid>,
    cgroup: Option<&Cgroup>,
    addresses: &Addresses,
) {
    while round(descendants, leader, cgroup, addresses) == Left::Somebody {
        std::thread::sleep(AGAIN);
    }
}
