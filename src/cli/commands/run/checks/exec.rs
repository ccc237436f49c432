//! One run of a check's command.
//!
//! **Assumptions.** Linux 5.3 or later, for a process that can be waited for beside other things.
//!
//! **Promise.** [`run`] returns when the command has ended, when its time is up, or when the member
//! ends. Nothing of the command's process group is left then, whichever it was: unless the kernel
//! does not let go of it, as on a disk that hangs. Then its time is up, and the next runs fail
//! until it has gone.

use super::super::hook_call::Groups;
use super::super::notify::hide;
use bellwether::core::{Duration, Instant};
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    /// Why, in words.
    Failed(String),
    /// It took longer than it may.
    TooLong,
    /// The member ends.
    CutShort,
}

/// What earlier runs left.
#[derive(Debug, Default)]
pub(super) struct Remains {
    groups: Groups,
    /// A command that was killed, and has not ended.
    stuck: Option<Child>,
}

/// How long a killed command is waited for, in steps.
const STEP: std::time::Duration = std::time::Duration::from_millis(5);
const STEPS: u32 = 40;

/// Runs a command with this environment; `over` wakes it when the member ends.
pub(super) fn run(
    words: &[String],
    environment: &[(&'static str, String)],
    limit: Duration,
    over: &WakeFd,
    remains: &mut Remains,
) -> Outcome {
    let Remains { groups, stuck } = remains;
    if let Some(mut child) = stuck.take() {
        if matches!(child.try_wait(), Ok(None)) {
            *stuck = Some(child);
            return Outcome::TooLong;
        }
        groups.note(&child);
    }
    groups.reap(); // before the number of one that is gone can be another's
    let Some((program, arguments)) = words.split_first() else {
        return Outcome::Failed("there is no command".to_owned());
    };
    let started = hide(&mut Command::new(program))
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Outcome::Failed(format!("it cannot be started: {error}")),
    };
    let ending = wait(&mut child, limit, over);
    if let Ok((outcome, false)) = ending {
        *stuck = Some(child);
        return outcome;
    }
    groups.note(&child);
    groups.reap();
    ending.map_or_else(|error| Outcome::Failed(error.to_string()), |(outcome, _)| outcome)
}

/// How the run ended, and whether nothing of the command is left.
fn wait(child: &mut Child, limit: Duration, over: &WakeFd) -> io::Result<(Outcome, bool)> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("it has no process number"))?;
    let limit = BootTime.now() + limit;
    let early = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(_) => Some(Outcome::TooLong), // a process that cannot be waited for is killed
        Ok(process) => loop {
            let mut fds = [PollFd::new(&process, PollFlags::IN), PollFd::new(over, PollFlags::IN)];
            let heard = poll(&mut fds, left(limit).as_ref()).is_ok();
            let [ended, over] = [0, 1].map(|at| heard && !fds[at].revents().is_empty());
            if ended {
                break None;
            }
            if over {
                break Some(Outcome::CutShort);
            }
            if BootTime.now() >= limit {
                break Some(Outcome::TooLong);
            }
        },
    };
    // It is not reaped yet, so its number is its own, also if it has ended: nothing stays.
    let _ = kill_process_group(pid, Signal::KILL);
    if early.is_some() {
        let _ = child.kill(); // it may have left its group
    }
    for _ in 0..STEPS {
        if let Some(status) = child.try_wait()? {
            let ended = match early {
                Some(early) => early,
                None if status.success() => Outcome::Succeeded,
                None => Outcome::Failed(status.to_string()),
            };
            return Ok((ended, true));
        }
        std::thread::sleep(STEP);
    }
    Ok((early.unwrap_or(Outcome::TooLong), false))
}

/// The time until then.
pub(super) fn left(until: Instant) -> Option<Timespec> {
    let left = until.since(BootTime.now()).as_nanos();
    Timespec::try_from(std::time::Duration::from_nanos(left)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration, over: &WakeFd) -> Outcome {
        let words = ["sh", "-c", script].map(str::to_owned);
        run(&words, &[("X", "7".to_owned())], limit, over, &mut Remains::default())
    }

    #[test]
    fn a_command_succeeds_fails_takes_too_long_or_is_cut_short() {
        let (over, soon) = (WakeFd::new().unwrap(), Duration::from_secs(20));
        assert_eq!(sh("test $X = 7", soon, &over), Outcome::Succeeded);
        assert_eq!(sh("exit 3", soon, &over), Outcome::Failed("exit status: 3".to_owned()));
        let brief = Duration::from_millis(50);
        assert_eq!(sh("sleep 1000 & wait", brief, &over), Outcome::TooLong);
        over.wake();
        assert_eq!(sh("sleep 1000", soon, &over), Outcome::CutShort);
        let missing = ["/nothing/there".to_owned()];
        let failed = run(&missing, &[], soon, &over, &mut Remains::default());
        assert!(matches!(failed, Outcome::Failed(why) if why.contains("cannot be started")));
    }
}
