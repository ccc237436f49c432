//! The guardian's event loop: it waits for the member, the clock and the command.
//!
//! **Source.** The table in [the module above](super).
//!
//! **Assumptions.** Started by the [watchdog](super::watchdog), with its socket as standard input.
//!
//! **Promise.** It never waits for the member, the command or the neighbours. Only where addresses
//! are set again or removed may it wait for the kernel; meanwhile the watchdog acts in time. It
//! exits only when no process of the command and no address is left.

use super::alarm::{Alarm, now};
use super::cgroup::Cgroup;
use super::child::Terms;
use super::descendants::{Descendants, Left};
use super::handover::HandOver;
use super::run_addresses::RunAddresses;
use super::run_recorder::RunRecorder;
use super::starter::{Starter, Step};
use super::will::WillKeeper;
use super::wire::{self, Answer, Deadline, Received, Request, Sent};
use super::{Plan, Report, end};
use crate::lateness::Lateness;
use crate::priority::{self, Children, Class};
use bellwether_core::{Duration, Instant, Term};
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

/// How soon to kill again what did not end.
const AGAIN: Duration = Duration::from_millis(1);

/// The most requests handled in one turn, before the clock is read again.
const REQUESTS_PER_TURN: usize = 32;

/// How long killed processes may take to disappear.
const DYING: Duration = Duration::from_secs(10);

/// A run of which something is left for so long after SIGKILL is reported.
const UNENDED: Duration = Duration::from_secs(3);

/// The least time between measurements of the scheduling delay while a command runs.
const PROBE: Duration = Duration::from_millis(5);

/// How many measurements are made before the guardian reports that it is ready.
const TRIALS: u32 = 8;
/// The delay of the timer for each.
const TRIAL: Duration = Duration::from_micros(500);

/// The state of the guardian.
pub(super) struct Watch {
    plan: Plan,
    starter: Starter,
    /// The member.
    socket: OwnedFd,
    watchdog: OwnedFd,
    cgroup: Option<Cgroup>,
    /// The lock of the cgroup.
    _lock: Option<OwnedFd>,
    alarm: Alarm,
    lateness: Lateness,
    /// The scheduling delay last reported to the member.
    told: Duration,
    deaths: UnixStream,
    descendants: Descendants,
    /// The addresses of the current run.
    run_addresses: RunAddresses,
    stage: Stage,
    /// The last run that is over.
    over: u64,
    /// The end of the permission of the current run.
    until: Instant,
    /// Whether all processes of the current run were killed and some still exist.
    dying: bool,
    /// Whether it was reported that something of the current run cannot be ended.
    unended: bool,
    /// Messages to the member that its socket has no room for yet.
    outbox: VecDeque<Answer>,
    /// Whether the member or the watchdog has ended: then the command ends, and so does the
    /// guardian.
    leaving: bool,
    /// The member's last will, for as long as it may have to be sent.
    will: Option<WillKeeper>,
    run_recorder: RunRecorder,
}

enum Stage {
    Idle,
    /// The addresses are being taken, then the command is being started. If it must end, no address
    /// is taken any more, and the start may take until the time told here: its program may have
    /// begun, which only the starter knows.
    Starting {
        run: u64,
        ending: Option<Instant>,
    },
    /// The command is there, if there is one.
    Running {
        run: u64,
        leader: Option<Pid>,
    },
    /// The command was asked to end.
    Ending {
        run: u64,
        leader: Option<Pid>,
        /// When it is killed, unless its permission ends earlier.
        by: Instant,
        report: Report,
    },
}

impl Watch {
    /// # Errors
    /// If the system refuses what a guardian needs. Then nothing was started.
    pub(super) fn begin(
        watchdog: OwnedFd,
        mut given: HandOver,
        files: Vec<OwnedFd>,
    ) -> io::Result<Self> {
        let mut files = files.into_iter();
        let few =
            || io::Error::other("the standard input is not a watchdog's socket: it gave no files");
        let (stdin, socket) = (files.next().ok_or_else(few)?, files.next().ok_or_else(few)?);
        let will = given.will.then(|| WillKeeper::new(&mut files)).transpose()?;
        set_child_subreaper(Some(getpid()))?;
        let (deaths, wake) = UnixStream::pair()?;
        deaths.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGCHLD, wake.try_clone()?)?;
        let cgroup = given.cgroup.as_deref().map(Cgroup::open).transpose()?;
        let entrance = cgroup.as_ref().map(Cgroup::entrance).transpose()?;
        let raised = priority::raise(Class::RealTime, Children::Raised);
        let refused = raised.note.clone().into_iter().chain(priority::lock_memory());
        given.notes.extend(refused.map(|note| format!("guardian and watchdog: {note}")));
        let run_recorder = RunRecorder::begin(given.plan.recording.as_ref());
        let told_in = will.as_ref().map(|will| will.will().clone());
        let run_addresses = RunAddresses::new(given.plan.open_addresses()?, told_in)?;
        let times = (given.plan.probe, given.plan.believed);
        let terms = Terms { stdin, mask: given.mask, entrance, raised: raised.changed };
        let ready = Answer::Ready {
            pid: getpid().as_raw_pid().cast_unsigned(),
            cgroup: given.cgroup,
            notes: given.notes,
        };
        Ok(Self {
            plan: given.plan,
            starter: Starter::new(terms, run_addresses.to_take(), times, wake)?,
            socket,
            watchdog,
            cgroup,
            _lock: files.next(),
            alarm: Alarm::new()?,
            lateness: Lateness::new(),
            told: Duration::ZERO,
            deaths,
            descendants: Descendants::from_now_on()?,
            run_addresses,
            stage: Stage::Idle,
            over: 0,
            until: Instant::ZERO,
            dying: false,
            unended: false,
            outbox: VecDeque::from([ready]),
            leaving: false,
            will,
            run_recorder,
        })
    }

    /// Runs the guardian until its member ends and no process of the command is left.
    pub(super) fn keep(mut self) {
        for _ in 0..TRIALS {
            self.wait_until(now() + TRIAL);
        }
        loop {
            self.hear();
            self.check_periodically(now());
            self.tell();
            if self.leaving && matches!(self.stage, Stage::Idle) {
                return self.will.iter().for_each(WillKeeper::execute);
            }
            self.rest();
        }
    }

    /// Handles the member's requests.
    fn hear(&mut self) {
        if !self.leaving && wire::fetch(self.watchdog.as_fd()) == Received::Closed {
            // Without a watchdog nobody enforces the deadline if we cannot. The member may live.
            self.will.iter_mut().for_each(|will| will.patience = Duration::ZERO);
            self.leave();
        }
        for _ in 0..REQUESTS_PER_TURN {
            if self.leaving {
                return;
            }
            match wire::fetch(self.socket.as_fd()) {
                Received::Nothing => return,
                Received::Closed => self.leave(),
                Received::Packet(bytes) => match Request::decode(&bytes) {
                    Ok(Request::Permit { run, until, term }) => self.permit(run, until, term),
                    Ok(Request::Look { within }) => self.look(within),
                    Ok(Request::Stop { run, within }) => self.stop(run, within),
                    Ok(Request::Signal { run, signal }) => self.pass_on(run, signal),
                    Ok(Request::StopSignal { signal }) => self.plan.stop_signal = signal,
                    Ok(Request::Dismiss) => self.dismiss(),
                    Err(_) => self.dismiss(), // not a valid request, so not our member
                },
            }
        }
    }

    fn permit(&mut self, asked: u64, until: Instant, term: Option<Term>) {
        match self.stage {
            Stage::Idle if asked > self.over => self.start(asked, until, term),
            // A command that has time to end needs the permission meanwhile.
            Stage::Running { run, .. }
            | Stage::Starting { run, .. }
            | Stage::Ending { run, .. }
                if run == asked && !self.dying =>
            {
                self.until = until;
                self.arm(until);
                self.keep_addresses(run);
                self.answer_held(run);
            }
            // A permission is never shortened by this.
            Stage::Ending { run, .. } if run == asked => self.answer_held(run),
            _ => (), // for a run that is over, as the member will read
        }
    }

    /// The addresses may be wanted soon.
    fn look(&self, within: Duration) {
        if matches!(self.stage, Stage::Idle) {
            self.starter.look(within);
        }
    }

    fn start(&mut self, run: u64, until: Instant, term: Option<Term>) {
        self.until = until;
        // Recorded first: with a slow disk it may be too late to start afterwards.
        self.run_recorder.starts(run);
        if now() >= self.term_at() {
            return self.conclude(run, Report::Ended);
        }
        self.arm(until);
        if self.leaving {
            return self.conclude(run, Report::Ended);
        }
        self.stage = Stage::Starting { run, ending: None };
        self.run_addresses.begin(self.kill_at(), until, term);
        self.starter.start(self.plan.clone(), term);
        self.answer_held(run);
    }

    /// The run was extended, so its addresses stay. Without them it ends.
    fn keep_addresses(&mut self, run: u64) {
        match self.run_addresses.extend(self.kill_at(), self.until) {
            Ok(again) if again.is_empty() => {}
            Ok(again) => self.report(run, Report::AddressRestored { which: again.join(", ") }),
            Err(error) => {
                let now = now();
                let report = Report::AddressFailed { error: error.to_string() };
                self.begin_to_end(now, report, now + self.plan.grace);
                self.hasten(self.plan.grace);
            }
        }
    }

    /// Handles the steps of a start.
    fn look_at_start(&mut self, now: Instant) {
        while let Stage::Starting { run, ending } = self.stage {
            match self.starter.step() {
                Some(Step::InUse(who)) => self.report(run, Report::AddressInUse { who }),
                Some(Step::Taken(neighbourhood, expires)) => {
                    self.run_addresses.taken(neighbourhood, expires);
                    self.report(run, Report::AddressTaken);
                }
                Some(Step::Contested(who)) => {
                    self.run_addresses.contested();
                    self.report(run, Report::AddressInUse { who });
                }
                Some(Step::NotTaken(error)) => {
                    self.fail(run, now, Report::AddressFailed { error: error.to_string() });
                }
                Some(Step::GivenUp) => self.fail(run, now, Report::Ended),
                Some(Step::Started(Ok(leader))) => {
                    self.stage = Stage::Running { run, leader };
                    if let Some(leader) = leader {
                        let pid = leader.as_raw_pid().cast_unsigned();
                        self.report(run, Report::Started { pid });
                    }
                    if let Some(by) = ending {
                        self.begin_to_end(now, Report::Ended, by);
                    }
                }
                Some(Step::Started(Err(error))) => {
                    let program = self.plan.program.to_string_lossy();
                    let error = format!("cannot start '{program}': {error}");
                    self.fail(run, now, Report::NotStarted { error });
                }
                None => {
                    if ending.is_some() || now >= self.term_at() {
                        self.end_start(now, run, ending.unwrap_or(now + self.plan.grace));
                    }
                    return;
                }
            }
        }
    }

    /// Ends a start that is under way, at the latest by then.
    fn end_start(&mut self, now: Instant, run: u64, by: Instant) {
        self.stage = Stage::Starting { run, ending: Some(by) };
        if now >= by.min(self.kill_at()) {
            // No reaping here: the starter waits for its child if the start fails.
            let _ = self.cgroup.as_ref().map(Cgroup::kill);
            let _ = self.descendants.signal(Signal::KILL);
        }
        let _ = self.run_addresses.remove(); // again when the start is over
    }

    /// A start came to nothing; some addresses may be set.
    fn fail(&mut self, run: u64, now: Instant, report: Report) {
        self.stage = Stage::Ending { run, leader: None, by: now, report };
    }

    fn report(&mut self, run: u64, report: Report) {
        self.outbox.push_back(Answer::News { run, report });
    }

    /// Asks the command of this run to end within this time.
    fn stop(&mut self, asked: u64, within: Duration) {
        match &mut self.stage {
            Stage::Idle if asked > self.over => self.conclude(asked, Report::Ended),
            Stage::Running { run, .. } if *run == asked => {
                let now = now();
                self.begin_to_end(now, Report::Ended, now + within);
            }
            Stage::Starting { run, .. } | Stage::Ending { run, .. } if *run == asked => {
                self.hasten(within);
            }
            _ => (), // it has ended, as requested
        }
    }

    /// Leaves a command that is ending no more than this time.
    fn hasten(&mut self, within: Duration) {
        let latest = now() + within;
        match &mut self.stage {
            Stage::Starting { ending, .. } => {
                *ending = Some(ending.map_or(latest, |by| by.min(latest)));
            }
            Stage::Ending { by, .. } => *by = (*by).min(latest),
            Stage::Idle | Stage::Running { .. } => (),
        }
    }

    fn pass_on(&self, asked: u64, signal: i32) {
        if let Stage::Running { run, leader: Some(leader) }
        | Stage::Ending { run, leader: Some(leader), .. } = self.stage
            && run == asked
            && outcome(leader).is_none() // not reaped, so the id is its own
            && let Some(signal) = Signal::from_named_raw(signal)
        {
            let _ = kill_process(leader, signal);
        }
    }

    /// Ends the command and itself; nothing is sent for the member.
    fn dismiss(&mut self) {
        self.will = None;
        self.leave();
    }

    fn leave(&mut self) {
        self.leaving = true;
        let now = now();
        self.begin_to_end(now, Report::Ended, now + self.plan.grace);
        self.hasten(self.plan.grace);
    }

    /// Tells the watchdog until when the command may run. The watchdog kills all when half the
    /// margin is left.
    fn arm(&mut self, until: Instant) {
        let half = self.plan.margin / 2;
        let at = if until == Instant::NEVER { until } else { until - half };
        match wire::post(self.watchdog.as_fd(), &Deadline(at).encode()) {
            Sent::Yes => (),
            // Full: the watchdog has not read hundreds of extensions. It is stopped, or hangs.
            Sent::Full | Sent::Closed => self.leave(),
        }
    }

    fn answer_held(&mut self, run: u64) {
        // A member that does not read needs all reports, but only the latest answer.
        if self.outbox.is_empty() {
            self.outbox.push_back(Answer::Held { run, until: self.until });
        }
        self.tell();
    }

    /// How much earlier the command is ended: by the scheduling delay.
    fn earlier(&self) -> Duration {
        self.lateness.worst(now()).min(self.plan.margin / 2)
    }

    fn kill_at(&self) -> Instant {
        self.until - self.plan.margin - self.earlier()
    }

    /// The grace is shortened by the scheduling delay, so that a renewal in time still finds the
    /// command.
    fn term_at(&self) -> Instant {
        (self.until - self.plan.margin - self.plan.grace).min(self.kill_at())
    }

    /// Checks the command and the clock, and acts.
    fn check_periodically(&mut self, now: Instant) {
        self.look_at_start(now);
        if let Stage::Running { leader, .. } = self.stage {
            let _ = self.descendants.reap(leader); // again in the next turn
            self.run_addresses.announce(now);
            if let Some(report) = leader.and_then(outcome) {
                self.begin_to_end(now, report, now + self.plan.grace);
            } else {
                self.see(now, leader);
                if now >= self.term_at() {
                    // An extension that comes later saves nobody.
                    let by = (now + self.plan.grace).min(self.kill_at());
                    self.begin_to_end(now, Report::Ended, by);
                }
            }
        }
        let due = self.kill_at();
        if let Stage::Ending { run, leader, ref mut by, ref report } = self.stage {
            if now >= due {
                *by = (*by).min(now); // from now on, whatever is extended
            }
            let (kill, late) = (now >= *by, now >= *by + UNENDED);
            let report = report.clone();
            let mut in_one_step = false;
            if kill && !self.dying {
                in_one_step = self.cgroup.as_ref().is_some_and(|own| own.kill().is_ok());
                let _ = self.descendants.signal(Signal::KILL); // and processes that left the cgroup
            }
            // Processes first: whoever removes an address may have to wait for the kernel.
            if kill && self.run_addresses.remove().is_ok() && in_one_step {
                // Killed processes run no code, but under load it takes time until they disappear.
                // The watchdog need not act for that.
                self.dying = true;
                self.until = now + DYING;
                self.arm(self.until);
                self.answer_held(run);
            }
            if self.all_gone(leader, kill) {
                return self.conclude(run, report);
            }
            if late && !std::mem::replace(&mut self.unended, true) {
                let left = self.run_addresses.remove().err().map(|error| error.to_string());
                let what = left.unwrap_or_else(|| "a process cannot be killed".to_owned());
                self.report(run, Report::Unended { what });
            }
            if !self.dying {
                self.see(now, leader);
            }
        }
    }

    /// Notes that the command is there.
    fn see(&mut self, now: Instant, leader: Option<Pid>) {
        leader.into_iter().for_each(|leader| self.run_recorder.see(now, leader));
    }

    /// Asks a command that runs to end, and kills it then, or when its permission ends.
    fn begin_to_end(&mut self, now: Instant, report: Report, by: Instant) {
        let Stage::Running { run, leader } = self.stage else { return };
        if now < by.min(self.kill_at()) {
            let signal = Signal::from_named_raw(self.plan.stop_signal).unwrap_or(Signal::TERM);
            let _ = self.descendants.signal_once(leader, signal); // on an error SIGKILL follows
        }
        self.stage = Stage::Ending { run, leader, by, report };
    }

    /// Whether no process of the command and no address is left, after killing it if it is time to.
    fn all_gone(&mut self, leader: Option<Pid>, kill: bool) -> bool {
        let cgroup = self.cgroup.as_ref();
        let gone = if kill {
            let addresses = self.run_addresses.addresses();
            end::round(&self.descendants, leader, cgroup, addresses) == Left::Nobody
        } else {
            let _ = self.descendants.reap(leader);
            let only_leader = |own: Vec<Pid>| own.iter().all(|pid| Some(*pid) == leader);
            let ended = leader.is_none_or(|leader| outcome(leader).is_some());
            let empty = cgroup.is_none_or(Cgroup::is_empty);
            empty && ended && self.descendants.children().is_ok_and(only_leader)
        };
        // A process list that is read while it changes may be incomplete; the kernel's answer is
        // not.
        let reaped = gone
            && loop {
                match wait(WaitOptions::NOHANG) {
                    Err(Errno::CHILD) => break true,
                    Ok(None) => break false,
                    Ok(Some(_)) | Err(_) => (),
                }
            };
        reaped && self.run_addresses.remove().is_ok()
    }

    fn conclude(&mut self, run: u64, report: Report) {
        self.run_recorder.ended();
        self.over = run;
        self.stage = Stage::Idle;
        (self.dying, self.unended) = (false, false);
        self.arm(Instant::NEVER);
        self.report(run, report);
    }

    /// Sends messages to the member, as far as there is room.
    fn tell(&mut self) {
        while let Some(answer) = self.outbox.front() {
            match wire::post(self.socket.as_fd(), &answer.encode()) {
                Sent::Yes => drop(self.outbox.pop_front()),
                Sent::Full => return,
                Sent::Closed => return self.outbox.clear(), // the next read reports that
            }
        }
    }

    /// Waits until there is something to do.
    fn rest(&mut self) {
        // Also from time to time to measure the scheduling delay.
        let probe = now() + (self.plan.margin * 2).max(PROBE);
        let wake = match self.stage {
            Stage::Idle => Instant::NEVER,
            Stage::Starting { ending: Some(_), .. } => now() + AGAIN,
            Stage::Starting { .. } => self.term_at(),
            Stage::Running { .. } => self.term_at().min(probe).min(self.run_addresses.next()),
            Stage::Ending { by, .. } => by.min(self.kill_at()).min(probe).max(now() + AGAIN),
        };
        self.wait_until(wake);
        let worst = self.lateness.worst(now());
        if worst > self.told && worst > self.plan.margin / 2 {
            self.outbox.push_back(Answer::Late { delay: worst });
        }
        self.told = worst;
    }

    /// Waits for the timer, the member, the watchdog or the death of a child.
    fn wait_until(&mut self, wake: Instant) {
        let set = self.alarm.set(wake);
        let mut events =
            vec![PollFd::new(&self.alarm, PollFlags::IN), PollFd::new(&self.deaths, PollFlags::IN)];
        let full = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        if !self.leaving {
            events.push(PollFd::new(&self.socket, PollFlags::IN | full));
            events.push(PollFd::new(&self.watchdog, PollFlags::IN));
        }
        // The last process may leave the cgroup after its death was told.
        if let (Stage::Ending { .. }, Some(cgroup)) = (&self.stage, &self.cgroup) {
            events.push(PollFd::new(cgroup.events(), PollFlags::PRI));
        }
        if set.is_err() || poll(&mut events, None).is_err() {
            // Interrupted, or short of memory: try again soon rather than sleep too long.
            std::thread::sleep(std::time::Duration::from_nanos(AGAIN.as_nanos()));
        } else if !events[0].revents().is_empty() {
            self.lateness.note(wake, now());
        }
        let mut rung = [0; 64];
        while self.deaths.read(&mut rung).is_ok_and(|count| count == rung.len()) {}
    }
}

/// How the command ended, if it did. This does not reap it.
fn outcome(leader: Pid) -> Option<Report> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(leader), look) {
        Ok(None) => None,
        Ok(Some(status)) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(Report::Exited { code }),
            (None, Some(signal)) => Some(Report::Signalled { signal }),
            (None, None) => None,
        },
        Err(Errno::CHILD) => Some(Report::Ended), // we reaped it while killing
        Err(_) => None,
    }
}
