//! Calls programs at each change: in order, one at a time, and without holding up the election.
//!
//! **Source.** The arguments are those of keepalived's notify scripts, so that such a script can be
//! used: `INSTANCE name MASTER|BACKUP|FAULT|STOP priority`.
//!
//! **Assumptions.** A hook leaves nothing behind that should live on: when its time is up, its
//! whole process group is killed.
//!
//! **Promise.** Whatever a hook does, the election's thread does not wait for it. A state that is
//! over before its turn comes is skipped: a later change takes its place, and hooks are called with
//! MASTER only while the member leads. They are always called with the last state, and with STOP at
//! the end. A hook that runs at MASTER when the member stops leading is killed.
//!
//! A leader that hands over as planned tells its hooks before ([`Hooks::take_leave`]), and leads on
//! until they have returned or their time is over. If it loses its lease nobody waits, and another
//! member may lead before a hook of the former leader is gone.

use super::fifo::{Fifo, Lines};
use super::hook_call::{Call, Ending, Groups, run};
use super::printer::Printer;
use bellwether::core::{Duration, Instant};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::Change;
use bellwether::net::status::Role;
use bellwether::net::{LastWill, WakeFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How much longer than all time limits the end waits for hooks that cannot be killed.
const SLACK: Duration = Duration::from_secs(1);

/// How long to wait before a hook that failed is called again; twice as long each time.
const PAUSE: Duration = Duration::from_millis(500);
/// No longer than this.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Until when the member leads, as of now; `None` if it does not.
pub(super) type Lease = Box<dyn Fn() -> Option<Instant> + Send + Sync>;

/// The hooks of a member, and the thread that calls them.
#[derive(Debug)]
pub(super) struct Hooks {
    shared: Arc<Shared>,
    fifo: Option<Fifo>,
}

/// Counts of calls by how they ended, for `status`.
#[derive(Clone, Debug)]
pub(super) struct Tally(Arc<Shared>, Option<Arc<Lines>>);

/// Which programs are called, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) hooks: Vec<PathBuf>,
    /// How long each may take.
    pub(super) limit: Duration,
    /// How often one that fails is called again.
    pub(super) retries: u32,
    /// The priority that hooks are given.
    pub(super) rank: u64,
}

impl Programs {
    /// How long all may take: the one that runs, if it may run on, and then each of them.
    fn longest(&self) -> Duration {
        match self.hooks.len() as u64 {
            0 => Duration::ZERO,
            hooks => self.limit * (hooks + 1) + SLACK,
        }
    }
}

/// What hooks are, and how they are called.
pub(super) struct Plan {
    pub(super) programs: Programs,
    /// The name of the member, if it has one.
    pub(super) name: Option<String>,
    /// The named pipe that is told the states, if there is one.
    pub(super) fifo: Option<PathBuf>,
    pub(super) lease: Lease,
    /// The member's last will, which is not sent before what hooks were told is over.
    pub(super) will: Option<LastWill>,
    /// Wakes the loop when hooks have been told of a hand-over.
    pub(super) looper: WakeFd,
    pub(super) errors: Printer,
}

#[derive(Debug)]
struct Shared {
    plan: Plan,
    /// What is called from the next call on: the plan's, until others take their place.
    programs: Mutex<Programs>,
    queue: Mutex<Queue>,
    /// Where the thread says that it has ended, once there is one.
    done: Mutex<Option<Receiver<()>>>,
    /// Wakes the thread when there is something to do.
    waker: WakeFd,
}

#[derive(Debug, Default)]
struct Queue {
    /// The latest state, if no hook was called with it yet.
    waiting: Option<Call>,
    /// STOP was queued: nothing comes after it.
    stopped: bool,
    farewell: Option<Farewell>,
    over: bool,
    succeeded: u64,
    too_long: u64,
    failures: u64,
    last_failure: Option<String>,
    skipped: u64,
    cut_short: u64,
    /// When a call last failed, was skipped or was cut short.
    failed_at: Option<Instant>,
    skipped_at: Option<Instant>,
    cut_at: Option<Instant>,
}

/// What hooks are told of a hand-over before it, while the member leads.
#[derive(Clone, Copy, Debug)]
struct Farewell {
    state: &'static str,
    reign: u64,
    /// Until when the member waits for it.
    by: Instant,
    /// Whether all hooks have returned, and whether none of them failed.
    over: bool,
    well: bool,
}

impl Queue {
    /// Whether hooks need not be told of a change, because of what they were told before a
    /// hand-over: the state that it brings, or that the member still leads in that reign. Nor of
    /// a change from before that reign.
    fn was_told(&mut self, role: Role, state: &str, reign: u64) -> bool {
        let told = self.farewell.is_some_and(|farewell| match role {
            _ if farewell.reign != reign => farewell.reign > reign, // a change that comes late
            Role::Leader => true,
            Role::Looking => farewell.over && farewell.well && farewell.state == state,
            Role::Follower | Role::Withdrawn => false,
        });
        self.farewell = self.farewell.filter(|farewell| told || farewell.state == "STOP");
        told
    }

    /// Replaces the state that waits, if there is one. After STOP comes nothing. Whether it is
    /// queued for so many hooks.
    fn put(&mut self, call: Call, hooks: u64) -> bool {
        if hooks == 0 || self.stopped {
            return false;
        }
        self.stopped = call.state == "STOP";
        if self.waiting.replace(call).is_some() {
            self.skipped += hooks;
            self.skipped_at = Some(BootTime.now());
        }
        true
    }
}

/// What happened longer ago than this is counted, and is no warning any more.
const RECENT: Duration = Duration::from_secs(600);

/// Whether it happened lately.
fn is_recent(at: Option<Instant>, now: Instant) -> bool {
    at.is_some_and(|at| now.since(at) < RECENT)
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("programs", &self.programs).finish_non_exhaustive()
    }
}

impl Hooks {
    /// Starts the thread that calls these programs, if there are any.
    pub(super) fn start(plan: Plan) -> io::Result<Self> {
        let (programs, waker) = (Mutex::new(plan.programs.clone()), WakeFd::new()?);
        let (queue, done) = (Mutex::default(), Mutex::default());
        let fifo = plan.fifo.clone().map(Fifo::start).transpose()?;
        let shared = Arc::new(Shared { plan, programs, queue, done, waker });
        let hooks = Self { shared, fifo };
        if !hooks.shared.programs().hooks.is_empty() {
            hooks.tally().ready()?;
        }
        Ok(hooks)
    }

    /// Calls these programs from the next change on.
    pub(super) fn set(&self, programs: Programs) {
        *self.shared.programs.lock().unwrap_or_else(PoisonError::into_inner) = programs;
    }

    /// Queues a change; `reign` is how often the member has begun to lead, and `fault` whether a
    /// check keeps it from leading.
    pub(super) fn tell(&self, change: &Change, reign: u64, fault: bool) {
        let state = match change.role {
            Role::Leader => "MASTER",
            Role::Follower | Role::Looking if fault => "FAULT",
            Role::Follower | Role::Looking => "BACKUP",
            Role::Withdrawn => "FAULT",
        };
        self.notify(change, state);
        if !self.shared.lock().was_told(change.role, state, reign) {
            self.shared.push(Call { state, change: change.clone(), reign, farewell: false });
        }
    }

    /// The member leads, and is about to hand over as planned: tells hooks what it will be then,
    /// once. Until when to wait for them, if they have not returned. Nothing is told after STOP:
    /// that is waited for in a later reign, too.
    pub(super) fn take_leave(
        &self,
        change: impl FnOnce() -> Change,
        reign: u64,
        (ends, fault): (bool, bool),
    ) -> Option<Instant> {
        let programs = self.shared.programs();
        let (now, mut queue) = (BootTime.now(), self.shared.lock());
        let same = queue.farewell.filter(|it| it.reign == reign);
        let stop = queue.farewell.filter(|it| it.state == "STOP");
        if let Some(Farewell { by, over, .. }) = stop.or(same.filter(|_| !ends)) {
            return Some(by).filter(|by| !over && now < *by);
        }
        let state = match (ends, fault) {
            (true, _) => "STOP",
            (false, true) => "FAULT",
            (false, false) => "BACKUP",
        };
        let call = Call { state, change: change(), reign, farewell: true };
        if !queue.put(call, programs.hooks.len() as u64) {
            return None;
        }
        // A member that is asked to end while it waits does not wait for longer.
        let by = same.map_or(now + programs.longest(), |it| it.by);
        queue.farewell = Some(Farewell { state, reign, by, over: false, well: false });
        drop(queue);
        self.shared.waker.wake();
        Some(by).filter(|by| now < *by)
    }

    /// How long hooks may take before a hand-over or at the end; no time, if there are none.
    pub(super) fn longest(&self) -> Duration {
        self.shared.programs().longest()
    }

    /// Until when hooks are waited for before a hand-over at most; never, if they are not.
    pub(super) fn waited_for_until(&self) -> Instant {
        let waits = |it: &Farewell| !it.over && BootTime.now() < it.by;
        self.shared.lock().farewell.filter(waits).map_or(Instant::NEVER, |it| it.by)
    }

    /// The member leads on in this reign: tells hooks so, if they were told that it hands over.
    pub(super) fn stay(&self, change: impl FnOnce() -> Change, reign: u64) {
        let left = self.shared.lock().farewell.take_if(|farewell| farewell.reign == reign);
        if left.is_some() {
            self.shared.push(Call { state: "MASTER", change: change(), reign, farewell: false });
        }
    }

    /// Tells a state through the pipe, if there is one.
    fn notify(&self, change: &Change, state: &str) {
        if let Some(fifo) = &self.fifo {
            fifo.tell(&change.group, state, self.shared.programs().rank);
        }
    }

    /// Calls all hooks with STOP, unless they were before the hand-over, and waits for the hook
    /// that runs and for each of these calls, up to its time limit.
    pub(super) fn end(self, change: Change, reign: u64) {
        self.notify(&change, "STOP");
        self.shared.push(Call { state: "STOP", change, reign, farewell: false });
        self.shared.lock().over = true;
        self.shared.waker.wake();
        self.fifo.into_iter().for_each(Fifo::end);
        let Some(done) = self.shared.done().take() else { return };
        let limit = std::time::Duration::from_nanos(self.shared.programs().longest().as_nanos());
        let _ = done.recv_timeout(limit); // one that cannot be killed is left behind
    }

    /// Counts of calls by how they ended.
    pub(super) fn tally(&self) -> Tally {
        Tally(Arc::clone(&self.shared), self.fifo.as_ref().map(Fifo::counts))
    }
}

impl Tally {
    /// Starts the thread that calls hooks, unless it runs: by a thread that is no more important
    /// than hooks should be.
    pub(super) fn ready(&self) -> io::Result<()> {
        let mut done = self.0.done();
        if done.is_none() {
            let own = Arc::clone(&self.0);
            let (finished, ends) = sync_channel(1);
            thread::Builder::new().name("hooks".to_owned()).spawn(move || {
                own.work();
                let _ = finished.send(()); // or nobody waits any more
            })?;
            *done = Some(ends);
        }
        Ok(())
    }

    /// How often hooks were called, by how that ended; nothing if there are none.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, u64> {
        let queue = self.0.lock();
        let counts = [
            ("succeeded", queue.succeeded),
            ("failed", queue.failures - queue.too_long),
            ("too-long", queue.too_long),
            ("cut-short", queue.cut_short),
            ("skipped", queue.skipped),
        ];
        drop(queue);
        let any = !self.0.programs().hooks.is_empty();
        counts.into_iter().filter(|_| any).collect()
    }

    /// How many lines the pipe was told, by what became of them; nothing if there is none.
    pub(super) fn lines(&self) -> BTreeMap<&'static str, u64> {
        let counts = |lines: &Arc<Lines>| {
            let [written, lost] = [&lines.written, &lines.lost];
            [("written", written), ("lost", lost)]
                .map(|(name, it)| (name, it.load(Ordering::Relaxed)))
        };
        self.1.iter().flat_map(counts).collect()
    }

    /// Warnings about hooks: of what happened lately.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings_at(BootTime.now())
    }

    fn warnings_at(&self, now: Instant) -> Vec<String> {
        let queue = self.0.lock();
        let calls = |count: u64, was: [&str; 2]| match count {
            1 => format!("1 call of hooks {}", was[0]),
            count => format!("{count} calls of hooks {}", was[1]),
        };
        let mut warnings = Vec::new();
        if let Some(last) = queue.last_failure.as_ref().filter(|_| is_recent(queue.failed_at, now))
        {
            let failed = calls(queue.failures, ["failed", "failed"]);
            warnings.push(format!("{failed}, the last: {last}"));
        }
        if is_recent(queue.skipped_at, now) {
            let skipped = calls(queue.skipped, ["was skipped", "were skipped"]);
            let turn = if queue.skipped == 1 { "its turn" } else { "their turn" };
            warnings.push(format!("{skipped}: the state was over before {turn} came"));
        }
        let lost_at = self.1.as_ref().and_then(|lines| lines.lost_at());
        if let Some(lost) = self.lines().get("lost").filter(|_| is_recent(lost_at, now)) {
            let lines = if *lost == 1 { "line was" } else { "lines were" };
            warnings.push(format!(
                "{lost} {lines} lost that --notify-fifo tells: nobody reads the pipe in time"
            ));
        }
        if is_recent(queue.cut_at, now) {
            let cut = calls(queue.cut_short, ["was cut short", "were cut short"]);
            warnings.push(format!("{cut}: the member led no longer, or handed over"));
        }
        warnings
    }
}

impl Shared {
    /// What is called now.
    fn programs(&self) -> Programs {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn done(&self) -> MutexGuard<'_, Option<Receiver<()>>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a call, if there are hooks.
    fn push(&self, call: Call) {
        let hooks = self.programs().hooks.len() as u64;
        if self.lock().put(call, hooks) {
            self.waker.wake();
        }
    }

    /// Calls hooks until the end, and until no state waits.
    fn work(&self) {
        let mut groups = Groups::default();
        loop {
            self.waker.clear();
            let mut queue = self.lock();
            let (call, over) = (queue.waiting.take(), queue.over);
            drop(queue);
            match call {
                Some(call) => {
                    let all = self.programs().hooks;
                    let failed = all.iter().filter(|hook| !self.tell(hook, &call, &mut groups));
                    let well = failed.count() == 0;
                    self.note_farewell(&call, well);
                }
                None if over => return,
                // Interrupted or not, look again.
                None => drop(poll(&mut [PollFd::new(&self.waker, PollFlags::IN)], None)),
            }
        }
    }

    /// All hooks have returned: the member may hand over, if it waits for that.
    fn note_farewell(&self, call: &Call, well: bool) {
        let mut queue = self.lock();
        let same = |it: &&mut Farewell| (it.state, it.reign) == (call.state, call.reign);
        if let Some(farewell) = queue.farewell.as_mut().filter(same).filter(|_| call.farewell) {
            (farewell.over, farewell.well) = (true, well);
            self.plan.looper.wake();
        }
    }

    /// Calls one hook with a state, unless the state is over; again if it fails, as often as wanted
    /// and while the state lasts. The end is not put off by that, nor is a hand-over: after it the
    /// hook is called again. Returns whether it need not be called again.
    fn tell(&self, hook: &Path, call: &Call, groups: &mut Groups) -> bool {
        let (mut left, mut pause) = (self.programs().retries, PAUSE);
        if call.state == "STOP" || call.farewell {
            left = 0;
        }
        while !self.call(hook, call, groups) {
            if left == 0 || !self.lasts_for(pause, call) {
                return false;
            }
            (left, pause) = (left - 1, (pause * 2).min(PAUSE_MAX));
        }
        true
    }

    /// Waits for this long; whether the state is not over by then.
    fn lasts_for(&self, pause: Duration, call: &Call) -> bool {
        let until = BootTime.now() + pause;
        while !self.is_over(call) {
            let left = until.since(BootTime.now());
            if left == Duration::ZERO {
                return true;
            }
            let left = Timespec::try_from(std::time::Duration::from_nanos(left.as_nanos())).ok();
            // Interrupted or not, look again.
            let _ = poll(&mut [PollFd::new(&self.waker, PollFlags::IN)], left.as_ref());
            self.waker.clear();
        }
        false
    }

    /// Calls one hook with a state once, unless the state is over; whether it need not be called
    /// again.
    fn call(&self, hook: &Path, call: &Call, groups: &mut Groups) -> bool {
        if self.is_over(call) {
            let mut queue = self.lock();
            queue.skipped += 1;
            queue.skipped_at = Some(BootTime.now());
            return true;
        }
        let until = (self.plan.lease)().filter(|_| call.state == "MASTER");
        if let (Some(will), Some(until)) = (&self.plan.will, until) {
            will.told(until);
        }
        let ending = run(hook, call, until, self, groups);
        let too_long = matches!(ending, Ok(Ending::TooLong));
        let why = match ending {
            Ok(Ending::Exited(status)) if status.success() => {
                self.lock().succeeded += 1;
                return true;
            }
            Ok(Ending::Exited(status)) => format!("it failed at {}: {status}", call.state),
            Ok(Ending::TooLong) => {
                let limit = self.programs().limit;
                format!("it took longer than {limit} at {}, and was killed", call.state)
            }
            Ok(Ending::CutShort) => {
                let mut queue = self.lock();
                queue.cut_short += 1;
                queue.cut_at = Some(BootTime.now());
                let leads = queue.waiting.as_ref().is_some_and(|later| later.farewell);
                drop(queue);
                let why = if leads { "is about to hand over" } else { "leads no longer" };
                let line = format!("it was killed at {}: the member {why}", call.state);
                self.plan.errors.say(&format!("hook {}: {line}", hook.display()));
                return true;
            }
            Err(why) => why,
        };
        let why = format!("hook {}: {why}", hook.display());
        self.plan.errors.say(&why);
        let mut queue = self.lock();
        queue.failures += 1;
        queue.too_long += u64::from(too_long);
        queue.last_failure = Some(why);
        queue.failed_at = Some(BootTime.now());
        false
    }

    /// Whether a state is over. Hooks are called with the last one in any case: the next call says
    /// what came after it.
    fn is_over(&self, call: &Call) -> bool {
        match call.state {
            "STOP" => false,
            "MASTER" => self.lock().waiting.is_some() || (self.plan.lease)().is_none(),
            _ => self.lock().waiting.is_some(),
        }
    }
}

/// What [`run`] asks while a hook runs.
impl super::hook_call::Circumstances for Shared {
    fn limit(&self) -> Duration {
        self.programs().limit
    }

    fn rank(&self) -> u64 {
        self.programs().rank
    }

    fn name(&self) -> Option<&str> {
        self.plan.name.as_deref()
    }

    fn waker(&self) -> &WakeFd {
        &self.waker
    }

    /// Until when a hook may go on in this state, as of now; `None` if it may not.
    fn permitted(&self, call: &Call) -> Option<Instant> {
        if call.state != "MASTER" {
            return Some(Instant::NEVER);
        }
        let queue = self.lock();
        let later = queue.waiting.as_ref();
        if later.is_some_and(|later| (later.state, later.reign) != (call.state, call.reign)) {
            return None;
        }
        drop(queue);
        (self.plan.lease)()
    }
}

#[cfg(test)]
mod tests;
