//! Gives up the capabilities that a member with an address does not need.
//!
//! **Source.** capabilities(7). An address needs two of them; a member that is root has all.
//!
//! **Assumptions.** Linux. It is called before the process has other threads: capabilities are
//! those of a thread, and threads inherit them.
//!
//! **Promise.** From then on the kernel refuses what needs any other capability. What a command is
//! started with does not change: of a user other than root that is the ambient set, which stays; a
//! program that root starts has all that the bounding set permits, as before.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_ambient_set, no_new_privs,
    set_capabilities,
};
use std::io;

/// What a member, its guardian and its watchdog need: to set and announce an address, to end
/// processes of other users, to be scheduled in time, to stay in memory, and to listen at a port
/// below 1024.
const NEEDED: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SYS_NICE)
    .union(CapabilitySet::IPC_LOCK);

/// Whether the process could take back what it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It could not.
    ForGood,
    /// It could, since it starts the command. If a program gets more capabilities than the process
    /// that starts it has, the kernel forgets that it must end with that process.
    InEffect,
}

/// Gives up all capabilities that a member with an address does not need.
///
/// # Errors
/// If the kernel refuses; then nothing changed.
pub fn restrict(extent: Extent) -> io::Result<()> {
    let own = capabilities(None)?;
    // Where programs cannot get more than this process has, it has to keep what they are given.
    let passes_on = extent == Extent::InEffect || no_new_privs()?;
    let ambient = own.permitted.iter().try_fold(CapabilitySet::empty(), |known, one| {
        Ok::<_, Errno>(if capability_is_in_ambient_set(one)? { known | one } else { known })
    })?;
    Ok(set_capabilities(None, restricted(own, ambient, passes_on))?)
}

/// What is left of these sets.
fn restricted(own: CapabilitySets, ambient: CapabilitySet, passes_on: bool) -> CapabilitySets {
    let kept = if passes_on { CapabilitySet::all() } else { NEEDED | ambient };
    CapabilitySets {
        effective: own.effective & NEEDED,
        permitted: own.permitted & kept,
        inheritable: own.inheritable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_goes_and_what_the_command_gets_stays() {
        let all = CapabilitySet::all();
        let root =
            CapabilitySets { effective: all, permitted: all, inheritable: CapabilitySet::empty() };
        let left = restricted(root, CapabilitySet::empty(), false);
        assert_eq!((left.effective, left.permitted), (NEEDED, NEEDED));
        let left = restricted(root, CapabilitySet::empty(), true);
        assert_eq!((left.effective, left.permitted), (NEEDED, all));
        // A service of another user, whose command may bind any address.
        let given = CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW | CapabilitySet::CHOWN;
        let user = CapabilitySets { effective: given, permitted: given, inheritable: given };
        let left = restricted(user, given, false);
        assert_eq!(left.effective, CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW);
        assert_eq!(
            (left.permitted, left.inheritable),
            (given, given),
            "else the set is not passed"
        );
    }
}
