//! How the command is started.
//!
//! **Promise.** It leads a process group of its own and dies with the guardian. It has the
//! standard streams of the member, its signal mask, and no other file of ours.

use super::Plan;
use super::signals::Mask;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Starts the command; when this returns, it is the program that runs.
pub(super) fn start(plan: &Plan, stdin: &OwnedFd, mask: Mask) -> io::Result<Pid> {
    let mut command = Command::new(&plan.program);
    command
        .args(&plan.args)
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin.try_clone()?)
        .process_group(0);
    die_with(getpid(), mask, &mut command);
    let child = command.spawn()?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| io::Error::other("a process without id"))
}

/// Has the kernel kill the command when the guardian is gone. (It tells so when the *thread* that
/// started the command is gone; the guardian has only one.)
#[allow(unsafe_code)]
fn die_with(guardian: Pid, mask: Mask, command: &mut Command) {
    let before_exec = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The guardian may have died before it was asked; then nobody would tell.
        if getppid() != Some(guardian) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        Ok(mask.restore()?)
    };
    // SAFETY: between fork and exec only what is async-signal-safe may be called. The closure
    // makes three system calls, prctl, getppid and sigprocmask, and compares two numbers that it
    // owns; errors are made of numbers. It does not allocate, lock, or touch what other threads share.
    unsafe { command.pre_exec(before_exec) };
}
