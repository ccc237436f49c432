//! A guardian of a member that has no command: it only keeps the member's last will.
//!
//! **Source.** `will.rs`.
//!
//! **Assumptions.** Nobody depends on it: if it is stopped or killed, a leader that is killed is
//! replaced when its lease ends.
//!
//! **Promise.** It ends when the member has ended, or has dismissed it.

use super::Plan;
use super::handover::{HandOver, Role};
use super::signals::Mask;
use super::will::WillKeeper;
use super::wire::{self, Received, Request};
use crate::last_will::LastWill;
use crate::memory;
use crate::priority::{self, Children, Class};
use bellwether_core::Duration;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The guardian of a member without a command, as the member sees it. It is dismissed when this is
/// dropped.
#[derive(Debug)]
pub struct WithoutCommand {
    process: Child,
    socket: OwnedFd,
}

impl WithoutCommand {
    /// Starts it. `guardian_command` is a program that calls [`guard`](super::guard).
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(mut guardian_command: Command, will: &LastWill) -> io::Result<Self> {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // A process group of its own: a signal to the member's must not end it first. It says
        // nothing, and whoever reads what the member says should not wait for its end.
        guardian_command.stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        let process = guardian_command.process_group(0).spawn()?;
        drop(guardian_command); // closes our copy of their end of the socket
        let nothing = Plan {
            program: OsString::new(),
            args: Vec::new(),
            margin: Duration::ZERO,
            grace: Duration::ZERO,
            stop_signal: 15,
            nice: 0,
            env: Vec::new(),
            addresses: Vec::new(),
            probe: Duration::ZERO,
            believed: Duration::ZERO,
            leader_file: None,
            pass_stdin: false,
            recording: None,
        };
        let (role, mask) = (Role::WithoutCommand, Mask(0));
        let given =
            HandOver { role, plan: nothing, mask, cgroup: None, notes: Vec::new(), will: true };
        let started = Self { process, socket };
        given.send(&started.socket, &will.files())?;
        Ok(started)
    }

    /// A descriptor that is readable when the guardian has ended.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether the guardian has ended.
    pub fn has_ended(&self) -> bool {
        wire::fetch(self.socket.as_fd()) == Received::Closed
    }

    /// The guardian's process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for WithoutCommand {
    fn drop(&mut self) {
        let _ = wire::post(self.socket.as_fd(), &Request::Dismiss.encode());
        // It has nothing to end. One that is stopped must not hold up the member.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs such a guardian.
pub(super) fn keep(member: &OwnedFd, files: Vec<OwnedFd>) -> io::Result<()> {
    let will = WillKeeper::new(&mut files.into_iter())?;
    // What is refused makes it slower, and nothing else. What its start needed is given back.
    let _ = priority::raise(Class::RealTime, Children::Normal);
    memory::give_back();
    let _ = priority::lock_memory();
    loop {
        match wire::fetch(member.as_fd()) {
            Received::Closed => break,
            Received::Packet(_) => return Ok(()), // dismissed
            // Interrupted or not, look again.
            Received::Nothing => drop(poll(&mut [PollFd::new(member, PollFlags::IN)], None)),
        }
    }
    will.execute();
    Ok(())
}
