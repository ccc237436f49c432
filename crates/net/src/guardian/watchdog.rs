//! The watchdog: the parent of the guardian, which kills all if the guardian does not.
//!
//! **Source.** The table in [the module above](super).
//!
//! **Assumptions.** Started by [`Guardian::spawn`](super::Guardian::spawn). The guardian tells it
//! every deadline before it acts on the permission, and says so when there is none.
//!
//! **Promise.** When the guardian has ended, or its deadline has come, the addresses are removed
//! and every process that the guardian started is killed: those in the cgroup, and all our
//! descendants, because we are a child subreaper. It exits when none is left, and depends on no
//! other process.

use super::alarm::{Alarm, now};
use super::cgroup::Cgroup;
use super::descendants::Descendants;
use super::end;
use super::handover::{HandOver, Role};
use super::wire::{self, Deadline, Received};
use crate::address::Addresses;
use crate::priority::{self, Children, Class};
use bellwether_core::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{getpid, set_child_subreaper};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// How soon to try again if waiting failed.
const AGAIN: Duration = Duration::from_millis(1);

/// Runs the watchdog until no process is left.
///
/// # Errors
/// If the system refuses what a watchdog needs. Then nothing was started.
pub(super) fn keep(mut given: HandOver, files: Vec<OwnedFd>) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let descendants = Descendants::from_now_on()?;
    let alarm = Alarm::new()?;
    let (addresses, nothing) = (given.plan.open_addresses()?, Addresses::open(&[])?);
    // The guardian is refused the same, and reports it.
    let _ = priority::raise(Class::RealTime, Children::Normal);
    let _ = priority::lock_memory();
    let (cgroup, lock) = match Cgroup::make() {
        Ok((cgroup, lock)) => (Some(cgroup), Some(lock)),
        Err(why) => {
            given.notes.push(format!(
                "the command has no cgroup of its own ({why}): what it starts is ended process by \
                 process, and what becomes another user's cannot be ended"
            ));
            (None, None)
        }
    };
    given.role = Role::Guardian;
    given.cgroup = cgroup.as_ref().map(|cgroup| cgroup.path().to_owned());
    let begun = begin(&given, &files, lock.as_ref());
    drop(files);
    let ran = begun.as_ref().is_ok_and(|guardian| watch(guardian, &alarm));
    // If no run was under way, a later life of the member may have set the addresses again.
    let held = if ran { &addresses } else { &nothing };
    end::all(&descendants, None, cgroup.as_ref(), held);
    cgroup.as_ref().map(Cgroup::remove);
    drop(lock); // only now: the cgroup is no longer in use
    begun.map(|_| ())
}

/// Starts the guardian: this program with the same arguments.
fn begin(given: &HandOver, files: &[OwnedFd], lock: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    let (socket, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    Command::new("/proc/self/exe")
        .arg0("bellwether-guardian")
        .args(std::env::args_os().skip(1))
        .stdin(theirs)
        .process_group(0)
        .spawn()?;
    let files: Vec<_> = files.iter().chain(lock).map(AsFd::as_fd).collect();
    given.send(&socket, &files)?;
    Ok(socket)
}

/// Returns when the guardian has ended, or its deadline has come; whether a run was under way.
fn watch(guardian: &OwnedFd, alarm: &Alarm) -> bool {
    let mut deadline = Instant::NEVER;
    loop {
        // Read all messages before the clock: we may have been stopped for long.
        loop {
            match wire::fetch(guardian.as_fd()) {
                Received::Nothing => break,
                Received::Closed => return deadline != Instant::NEVER,
                Received::Packet(bytes) => match Deadline::decode(&bytes) {
                    Ok(Deadline(at)) => deadline = at,
                    Err(_) => return true, // not a valid message, so not our guardian
                },
            }
        }
        if now() >= deadline {
            return true;
        }
        let mut events = [PollFd::new(guardian, PollFlags::IN), PollFd::new(alarm, PollFlags::IN)];
        if alarm.set(deadline).is_err() || poll(&mut events, None).is_err() {
            // Interrupted, or short of memory: try again soon rather than sleep too long.
            std::thread::sleep(std::time::Duration::from_nanos(AGAIN.as_nanos()));
        }
    }
}
