//! The guardian's own life: one thread that waits for the member, the clock and the command.
//!
//! **Source.** The table in [the module above](super).
//!
//! **Assumptions.** Started by [`Guardian::spawn`](super::Guardian::spawn), with its socket as
//! standard input.
//!
//! **Promise.** Nothing that it does waits for the member or the command. It exits only when
//! nothing of the command is left.

use super::alarm::{Alarm, now};
use super::kin::{Kin, Left};
use super::signals::Mask;
use super::wire::{self, Answer, Received, Request, Sent};
use super::{Plan, Report, child, signals};
use bellwether_core::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_child_subreaper,
    wait, waitid,
};
use signal_hook::consts::SIGCHLD;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;

/// How soon to try again to end what did not end.
const AGAIN: Duration = Duration::from_millis(1);

/// Requests taken in one turn, before the clock is read again.
const REQUESTS_PER_TURN: usize = 32;

/// Is the guardian, until its member goes and nothing of the command is left.
///
/// # Errors
/// If the standard input is no member, or the system refuses what a guardian needs. Nothing was
/// started then.
pub fn guard() -> io::Result<()> {
    // Whoever asks all processes of a service to end asks the member too, and the member decides.
    let mask = signals::block()?;
    Watch::begin(mask)?.keep();
    Ok(())
}

/// What the guardian knows.
struct Watch {
    plan: Plan,
    /// The signals that the command finds blocked: those that we did.
    mask: Mask,
    socket: OwnedFd,
    stdin: OwnedFd,
    alarm: Alarm,
    deaths: UnixStream,
    kin: Kin,
    stage: Stage,
    /// The latest run that is over.
    over: u64,
    /// How long the present run may last.
    until: Instant,
    /// What the member has no room for yet.
    outbox: VecDeque<Answer>,
    /// The member is gone.
    orphan: bool,
}

enum Stage {
    Idle,
    Running { run: u64, leader: Pid },
    Ending { run: u64, leader: Pid, kill_at: Instant, report: Report },
}

impl Watch {
    fn begin(mask: Mask) -> io::Result<Self> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        let (plan, stdin) = wire::take_over(&socket)?;
        set_child_subreaper(Some(getpid()))?;
        let (deaths, bell) = UnixStream::pair()?;
        deaths.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, bell)?;
        Ok(Self {
            plan,
            mask,
            socket,
            stdin,
            alarm: Alarm::new()?,
            deaths,
            kin: Kin::from_now_on()?,
            stage: Stage::Idle,
            over: 0,
            until: Instant::ZERO,
            outbox: VecDeque::new(),
            orphan: false,
        })
    }

    fn keep(mut self) {
        loop {
            self.hear();
            self.look_after(now());
            self.tell();
            if self.orphan && matches!(self.stage, Stage::Idle) {
                return;
            }
            self.rest();
        }
    }

    /// Does what the member asks.
    fn hear(&mut self) {
        for _ in 0..REQUESTS_PER_TURN {
            if self.orphan {
                return;
            }
            match wire::fetch(self.socket.as_fd()) {
                Received::Nothing => return,
                Received::Closed => self.lose_member(),
                Received::Packet(bytes) => match Request::decode(&bytes) {
                    Ok(Request::Permit { run, until }) => self.permit(run, until),
                    Ok(Request::Stop { run }) => self.stop(run),
                    Ok(Request::Signal { run, signal }) => self.pass_on(run, signal),
                    Err(_) => self.lose_member(), // it is no member of ours
                },
            }
        }
    }

    fn permit(&mut self, asked: u64, until: Instant) {
        match self.stage {
            Stage::Idle if asked > self.over => self.start(asked, until),
            Stage::Running { run, .. } if run == asked => {
                self.until = until;
                self.answer_held(run);
            }
            // No way back: what is in force stays so.
            Stage::Ending { run, .. } if run == asked => self.answer_held(run),
            _ => (), // of a run that is over, as the member will have read by now
        }
    }

    fn start(&mut self, run: u64, until: Instant) {
        self.until = until;
        if now() >= self.term_at() {
            return self.conclude(run, Report::Ended);
        }
        match child::start(&self.plan, &self.stdin, self.mask) {
            Ok(leader) => {
                self.stage = Stage::Running { run, leader };
                self.answer_held(run);
                let pid = leader.as_raw_pid().cast_unsigned();
                self.outbox.push_back(Answer::News { run, report: Report::Started { pid } });
            }
            Err(error) => {
                let program = self.plan.program.to_string_lossy();
                let error = format!("cannot start '{program}': {error}");
                self.conclude(run, Report::NotStarted { error });
            }
        }
    }

    fn stop(&mut self, asked: u64) {
        match self.stage {
            Stage::Idle if asked > self.over => self.conclude(asked, Report::Ended),
            Stage::Running { run, .. } if run == asked => self.begin_to_end(now(), Report::Ended),
            _ => (), // it ends, or has ended, as was asked
        }
    }

    fn pass_on(&self, asked: u64, signal: i32) {
        if let Stage::Running { run, leader } | Stage::Ending { run, leader, .. } = self.stage
            && run == asked
            && outcome(leader).is_none() // not reaped, so the number is its own
            && let Some(signal) = Signal::from_named_raw(signal)
        {
            let _ = kill_process(leader, signal);
        }
    }

    fn lose_member(&mut self) {
        self.orphan = true;
        if let Stage::Running { .. } = self.stage {
            self.begin_to_end(now(), Report::Ended);
        }
    }

    fn answer_held(&mut self, run: u64) {
        // A member that does not read needs no pile of old answers, but all of the news.
        if self.outbox.is_empty() {
            self.outbox.push_back(Answer::Held { run, until: self.until });
        }
        self.tell();
    }

    fn term_at(&self) -> Instant {
        self.until - self.plan.margin - self.plan.grace
    }

    /// Looks at the command and the clock, and acts.
    fn look_after(&mut self, now: Instant) {
        if let Stage::Running { leader, .. } = self.stage {
            let _ = self.kin.reap(Some(leader)); // orphans that came to us; another turn will do
            if let Some(report) = outcome(leader) {
                self.begin_to_end(now, report);
            } else if now >= self.term_at() {
                self.begin_to_end(now, Report::Ended);
            }
        }
        if let Stage::Ending { run, leader, kill_at, ref report } = self.stage
            && self.all_gone(leader, now >= kill_at)
        {
            let report = report.clone();
            self.conclude(run, report);
        }
    }

    fn begin_to_end(&mut self, now: Instant, report: Report) {
        let Stage::Running { run, leader } = self.stage else { return };
        let kill_at = (now + self.plan.grace).min(self.until - self.plan.margin);
        if now < kill_at {
            let _ = self.kin.signal(Signal::TERM); // politeness; SIGKILL will not be missed
        }
        self.stage = Stage::Ending { run, leader, kill_at, report };
    }

    /// Whether nothing of the command is left, after killing it if it is time to.
    fn all_gone(&self, leader: Pid, kill: bool) -> bool {
        let gone = if kill {
            self.kin.kill(Some(leader)).is_ok_and(|left| left == Left::Nobody)
        } else {
            let _ = self.kin.reap(Some(leader));
            let only_leader = |own: Vec<Pid>| own.iter().all(|pid| *pid == leader);
            outcome(leader).is_some() && self.kin.children().is_ok_and(only_leader)
        };
        // A list that is read while it changes may lack somebody. The kernel knows.
        gone && loop {
            match wait(WaitOptions::NOHANG) {
                Err(Errno::CHILD) => break true,
                Ok(None) => break false,
                Ok(Some(_)) | Err(_) => (),
            }
        }
    }

    fn conclude(&mut self, run: u64, report: Report) {
        self.over = run;
        self.stage = Stage::Idle;
        self.outbox.push_back(Answer::News { run, report });
    }

    /// Sends what there is to say, as far as there is room.
    fn tell(&mut self) {
        while let Some(answer) = self.outbox.front() {
            match wire::post(self.socket.as_fd(), &answer.encode()) {
                Sent::Yes => drop(self.outbox.pop_front()),
                Sent::Full => return,
                Sent::Closed => return self.outbox.clear(), // reading will say so
            }
        }
    }

    /// Waits until there is something to do.
    fn rest(&mut self) {
        let wake = match self.stage {
            Stage::Idle => Instant::NEVER,
            Stage::Running { .. } => self.term_at(),
            Stage::Ending { kill_at, .. } => kill_at.max(now() + AGAIN),
        };
        let set = self.alarm.set(wake);
        let mut events =
            vec![PollFd::new(&self.alarm, PollFlags::IN), PollFd::new(&self.deaths, PollFlags::IN)];
        let full = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        if !self.orphan {
            events.push(PollFd::new(&self.socket, PollFlags::IN | full));
        }
        if set.is_err() || poll(&mut events, None).is_err() {
            // Interrupted, or short of memory: look again soon rather than sleep too long.
            std::thread::sleep(std::time::Duration::from_nanos(AGAIN.as_nanos()));
        }
        let mut rung = [0; 64];
        while self.deaths.read(&mut rung).is_ok_and(|count| count == rung.len()) {}
    }
}

/// How the command ended, if it did; it is not reaped by this.
fn outcome(leader: Pid) -> Option<Report> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(leader), look) {
        Ok(None) => None,
        Ok(Some(status)) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(Report::Exited { code }),
            (None, Some(signal)) => Some(Report::Signalled { signal }),
            (None, None) => None,
        },
        Err(Errno::CHILD) => Some(Report::Ended), // reaped: by us, while it was ended
        Err(_) => None,
    }
}
