//! Keeping the memory of a process to itself.
//!
//! **Assumptions.** Linux. Root may read everything.
//!
//! **Promise.** After [`hide_memory`] the kernel writes no core dump of this process, and processes
//! of the same user can neither read its memory in `/proc` nor attach to it. Programs that it
//! starts are ordinary ones again.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::io;

/// Forbids core dumps of this process, and reading its memory: the keys of the group are in it.
///
/// # Errors
/// If the kernel refuses.
pub fn hide_memory() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
