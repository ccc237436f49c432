//! Starts the command.
//!
//! **Promise.** It leads a process group of its own, is in its cgroup before it runs, and dies with
//! the guardian. It has the standard streams, the signal mask and the priority of the member, and
//! no other open file of ours.

use super::Plan;
use super::signals::Mask;
use crate::priority;
use bellwether_core::Term;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Attributes of the command that differ from the guardian's.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) stdin: OwnedFd,
    pub(super) mask: Mask,
    /// The file by which it enters its cgroup, if it has one.
    pub(super) entrance: Option<File>,
    /// Whether it inherits a raised priority that must be reset.
    pub(super) raised: bool,
}

/// Starts the command, and tells it the term in which it runs; returns when its program runs.
///
/// Until then it keeps the priority of the guardian, so that load does not delay it.
pub(super) fn start(plan: &Plan, term: Option<Term>, terms: &Terms) -> io::Result<Pid> {
    let mut command = Command::new(&plan.program);
    command
        .args(&plan.args)
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .env("BELLWETHER_TERM", term.map_or_else(String::new, |term| term.to_string()))
        .stdin(terms.stdin.try_clone()?)
        .process_group(0);
    prepare(terms, &mut command)?;
    let mut child = command.spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed());
    let pid = pid.ok_or_else(|| io::Error::other("a process without id"))?;
    if terms.raised
        && let Err(error) = priority::reset_child(pid, plan.nice)
    {
        // A command with the guardian's priority could keep the guardian from ending it.
        let _ = child.kill();
        let _ = child.wait();
        return Err(error.into());
    }
    Ok(pid)
}

/// Makes the kernel kill the command when the guardian ends, and puts it into its cgroup. (The
/// kernel does so when the *thread* that started the command ends; that thread lives as long as the
/// guardian.)
#[allow(unsafe_code)]
fn prepare(terms: &Terms, command: &mut Command) -> io::Result<()> {
    let entrance = terms.entrance.as_ref().map(File::try_clone).transpose()?;
    let (guardian, mask, raised) = (getpid(), terms.mask, terms.raised);
    let before_exec = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The guardian may have died before; then the kernel would send nothing.
        if getppid() != Some(guardian) {
            return Err(Errno::SRCH.into());
        }
        if let Some(entrance) = &entrance {
            rustix::io::write(entrance, b"0")?;
        }
        if raised {
            priority::reset_on_fork();
        }
        Ok(mask.restore()?)
    };
    // SAFETY: between fork and exec only what is async-signal-safe may be called. The closure
    // makes system calls (prctl, getppid, write, sched_*scheduler, sigprocmask) and compares
    // numbers that it owns; errors are made of numbers. It does not allocate, lock, or touch what
    // other threads share.
    unsafe { command.pre_exec(before_exec) };
    Ok(())
}
