//! State shared by the member's thread and the application: what the member believes, and a
//! mailbox.

use crate::clock::{CheckedClock, Clock as _};
use crate::delays::Delays;
use crate::keys::{Heard, Inbox};
use crate::partition::Partition;
use crate::past::{Past, Ring};
use crate::request::Request;
use crate::resignation::Resigning;
use crate::snapshot::Snapshot;
use crate::wake_fd::WakeFd;
use bellwether_core::{Duration, Instant, Leadership, NodeId};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The state between the member's thread and all other threads.
pub(crate) struct Shared {
    pub(crate) clock: Arc<CheckedClock>,
    present: Mutex<Present>,
    news: Condvar,
    mailbox: Mutex<Mailbox>,
    wake: WakeFd,
    /// The number of the list of voters that is in force, or [`NO_LIST`].
    list: AtomicU64,
    /// The id of the process that should lead instead of this one; [`NOBODY`] if none should.
    successor: AtomicU64,
    /// Where frames about keys go.
    keys: Inbox,
    /// The member's recent past.
    pub(crate) ring: Arc<Ring>,
    /// How long messages take.
    pub(crate) delays: Delays,
}

/// No list of voters is known yet.
const NO_LIST: u64 = u64::MAX;
/// An id that no process has.
const NOBODY: u64 = u64::MAX;

/// Requests for the member's thread, until it has ended.
#[derive(Default)]
struct Mailbox {
    requests: VecDeque<Request>,
    closed: bool,
}

/// What the member believes now.
struct Present {
    standing: Snapshot,
    /// The partition that it belongs to, where leaders are local.
    partition: Option<Arc<Partition>>,
    /// Increases with every change and every prolongation.
    version: Version,
    /// How many guards of that reign exist.
    guards: usize,
    /// Whether the application resigns: this process no longer leads, but the member keeps the
    /// lease until no guard needs it.
    giving_up: bool,
    ended: bool,
    /// Why the member has ended, if it did not leave.
    failure: Option<String>,
    /// Wakers of waiting tasks, by the number of their slot.
    wakers: BTreeMap<u64, Waker>,
    slots: u64,
    /// Descriptors to wake when something changes.
    wake_fds: Vec<std::sync::Weak<WakeFd>>,
}

/// Counts the updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    /// Changes of what the member believes.
    pub(crate) changes: u64,
    /// Those, and changes of the deadline.
    pub(crate) tellings: u64,
}

/// What the member believes, with its version.
pub(crate) struct Seen {
    pub(crate) standing: Snapshot,
    /// The partition that it belongs to, if it names a leader.
    pub(crate) partition: Option<Arc<Partition>>,
    pub(crate) version: Version,
    pub(crate) ended: bool,
}

impl Seen {
    /// A belief that is over takes its partition with it.
    fn new(
        standing: Snapshot,
        partition: Option<Arc<Partition>>,
        version: Version,
        ended: bool,
    ) -> Self {
        let named = |partition: &Arc<Partition>| standing.leaders.contains(&partition.leader);
        let partition = partition.filter(named);
        Self { standing, partition, version, ended }
    }
}

/// A reign that is being given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// Which one.
    pub(crate) reign: u64,
    /// Whether the member led when it was asked to.
    pub(crate) led: bool,
    /// The latest deadline that a guard was told.
    pub(crate) due: Instant,
}

/// The most unread requests; more are refused.
const MAILBOX_MAX: usize = 1024;

impl Shared {
    pub(crate) fn new(clock: Arc<CheckedClock>, standing: Snapshot) -> io::Result<Self> {
        let present = Present {
            standing,
            partition: None,
            version: Version::default(),
            guards: 0,
            giving_up: false,
            ended: false,
            failure: None,
            wakers: BTreeMap::new(),
            slots: 0,
            wake_fds: Vec::new(),
        };
        Ok(Self {
            clock,
            present: Mutex::new(present),
            news: Condvar::new(),
            mailbox: Mutex::default(),
            wake: WakeFd::new()?,
            list: AtomicU64::new(NO_LIST),
            successor: AtomicU64::new(NOBODY),
            keys: Inbox::default(),
            ring: Arc::new(Ring::new()),
            delays: Delays::default(),
        })
    }

    /// Notes the number of the list of voters that is in force.
    pub(crate) fn note_list(&self, number: u64) {
        self.list.store(number, Ordering::Release);
    }

    /// The number of the list of voters that is in force, if it is known.
    pub(crate) fn list(&self) -> Option<u64> {
        Some(self.list.load(Ordering::Acquire)).filter(|number| *number != NO_LIST)
    }

    /// Ignores poisoning: the value is consistent at any time, also if another thread panicked.
    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the member believes, at the time now. The clock is read after the lock is released:
    /// this is what programs ask most often, and the member's thread waits for the lock.
    ///
    /// All others read the clock while they have the lock. What they decide by it must come before
    /// or after a renewal as a whole: a thread that has waited for the end of a lease, and has seen
    /// it, must not be told later that the same reign goes on. Nobody waits for long because of
    /// that, as no reader of the clock waits for another one.
    pub(crate) fn see(&self) -> Seen {
        let present = self.present();
        let (standing, giving_up) = (present.standing.clone(), present.giving_up);
        let (version, ended, partition) =
            (present.version, present.ended, present.partition.clone());
        drop(present);
        Seen::new(self.judged(&standing, giving_up), partition, version, ended)
    }

    fn seen(&self, present: &Present) -> Seen {
        let standing = self.judged(&present.standing, present.giving_up);
        Seen::new(standing, present.partition.clone(), present.version, present.ended)
    }

    fn judged(&self, standing: &Snapshot, giving_up: bool) -> Snapshot {
        let now = self.clock.now();
        // With a clock that is not trusted, no lease counts as running.
        let over = giving_up || self.clock.is_suspect();
        match over && standing.leads() {
            true => Snapshot { reign: standing.reign, ..Snapshot::none(standing.me, now) },
            false => standing.at(now),
        }
    }

    /// Blocks until `wanted` holds or the timeout has passed; what the member believes then.
    pub(crate) fn wait(
        &self,
        timeout: Option<std::time::Duration>,
        mut wanted: impl FnMut(&Seen) -> bool,
    ) -> Seen {
        let limit = timeout.map(|timeout| self.later(timeout));
        let mut present = self.present();
        loop {
            let seen = self.seen(&present);
            let now = seen.standing.at;
            if seen.ended || wanted(&seen) || limit.is_some_and(|limit| now >= limit) {
                return seen;
            }
            // A lease ends by the clock, also if the member's thread does not run.
            let lapse = seen.standing.until;
            let wake = limit.map_or(lapse, |limit| limit.min(lapse));
            present = if wake == Instant::NEVER {
                self.news.wait(present).unwrap_or_else(PoisonError::into_inner)
            } else {
                let left = std::time::Duration::from_nanos(wake.since(now).as_nanos());
                let woken = self.news.wait_timeout(present, left);
                woken.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    /// A slot for one waiting task.
    pub(crate) fn slot(self: &Arc<Self>) -> WaitSlot {
        let mut present = self.present();
        present.slots += 1;
        WaitSlot { shared: Arc::clone(self), number: present.slots }
    }

    /// What the member believes if `wanted` holds; otherwise `waker` is called at the next change.
    fn poll(&self, slot: u64, waker: &Waker, wanted: impl FnOnce(&Seen) -> bool) -> Option<Seen> {
        let waker = waker.clone();
        let mut present = self.present();
        let seen = self.seen(&present);
        if seen.ended || wanted(&seen) {
            return Some(seen);
        }
        let former = present.wakers.insert(slot, waker);
        drop(present);
        drop(former); // after the lock: dropping a waker may take the same lock
        None
    }

    /// A file descriptor that becomes readable at the next change.
    pub(crate) fn listen(&self) -> io::Result<Arc<WakeFd>> {
        let fd = Arc::new(WakeFd::new()?);
        let mut present = self.present();
        present.wake_fds.retain(|fd| fd.strong_count() > 0);
        present.wake_fds.push(Arc::downgrade(&fd));
        Ok(fd)
    }

    /// Publishes what the member believes.
    pub(crate) fn tell(&self, mut standing: Snapshot) {
        let mut present = self.present();
        let before = &present.standing;
        let same = |one: &Snapshot, other: &Snapshot| {
            (&one.leaders, one.term, one.stage, &one.withdrawn)
                == (&other.leaders, other.term, other.stage, &other.withdrawn)
        };
        let changed = !same(before, &standing);
        let prolonged = before.until != standing.until;
        // After a lease has run out, even for a moment, a new reign begins.
        let now = self.clock.now().max(standing.at);
        let begins = standing.leads() && !before.at(now).leads();
        standing.reign = before.reign + u64::from(begins);
        if begins {
            present.guards = 0;
            present.giving_up = false;
        }
        present.version.changes += u64::from(changed || begins);
        present.version.tellings += u64::from(changed || begins || prolonged);
        present.standing = standing;
        if changed || begins || prolonged {
            self.notify(present, changed || begins);
        }
    }

    /// Publishes that what the member believes goes on until then, unless it is something else or
    /// had run out; returns whether that was so. This is what a renewal does, and it allocates
    /// nothing.
    pub(crate) fn prolong(&self, leadership: &Leadership<'_>, at: Instant) -> bool {
        let mut present = self.present();
        let before = &present.standing;
        let same = before.leaders == leadership.leaders
            && (before.term, before.stage) == (leadership.term, leadership.stage)
            && before.withdrawn.is_none();
        if !same || self.clock.now().max(at) >= before.until {
            return false;
        }
        let prolonged = before.until != leadership.until;
        (present.standing.until, present.standing.at) = (leadership.until, at);
        if prolonged {
            present.version.tellings += 1;
            self.notify(present, false);
        }
        true
    }

    /// Publishes the number and the leader of the partition that the member belongs to, if that is
    /// another one than before; only then it asks for the members. Whoever watches is woken as by a
    /// renewal.
    pub(crate) fn note_partition(
        &self,
        partition: Option<(u64, NodeId)>,
        members: impl FnOnce() -> Vec<NodeId>,
    ) {
        let mut present = self.present();
        let known = present.partition.as_ref();
        let same = match partition {
            Some((version, leader)) => known.is_some_and(|known| known.is(version, leader)),
            None => known.is_none(),
        };
        if !same {
            let told = |(version, leader)| Partition { version, leader, members: members() };
            present.partition = partition.map(told).map(Arc::new);
            present.version.tellings += 1;
            self.notify(present, false);
        }
    }

    /// Publishes that the member has ended; `failure` says why, if it did not leave.
    ///
    /// Leadership ends first, before any thread is woken or answered.
    pub(crate) fn end(&self, failure: Option<String>) {
        let mut present = self.present();
        let Snapshot { me, reign, .. } = present.standing;
        present.standing = Snapshot { reign, ..Snapshot::none(me, self.clock.now()) };
        present.version.changes += 1;
        present.version.tellings += 1;
        present.ended = true;
        present.failure = failure;
        self.notify(present, true);
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.closed = true;
        // Dropping the requests tells waiting threads that no answer will come.
        let unread = std::mem::take(&mut mailbox.requests);
        drop(mailbox);
        drop(unread);
        self.keys().take(); // whoever looks after keys ends with the member
    }

    /// Why the member has ended, if it did not leave.
    pub(crate) fn failure(&self) -> Option<String> {
        self.present().failure.clone()
    }

    fn notify(&self, mut present: MutexGuard<'_, Present>, changed: bool) {
        let wakers = if changed { std::mem::take(&mut present.wakers) } else { BTreeMap::new() };
        present.wake_fds.retain(|fd| match fd.upgrade() {
            Some(fd) => {
                fd.wake();
                true
            }
            None => false,
        });
        drop(present);
        if changed {
            self.news.notify_all();
        }
        wakers.into_values().for_each(Waker::wake);
    }

    /// Counts one more guard of this reign; false if the reign is over.
    pub(crate) fn acquire(&self, reign: u64) -> bool {
        let mut present = self.present();
        let seen = self.seen(&present);
        let leads = seen.standing.reign == reign && seen.standing.leads() && !seen.ended;
        present.guards += usize::from(leads);
        leads
    }

    /// Counts one guard of this reign less. The last one resigns: at once for this process, and
    /// for the group as soon as the member's thread handles the request.
    pub(crate) fn release(&self, reign: u64) {
        let mut present = self.present();
        if present.standing.reign != reign {
            return;
        }
        present.guards = present.guards.saturating_sub(1);
        if present.guards > 0 || !present.standing.at(self.clock.now()).leads() {
            return;
        }
        if present.giving_up {
            drop(present);
            return self.wake(); // the member's thread waits for the last guard
        }
        self.mark_given_up(present);
        self.ask(Request::Resign(Resigning { reign: Some(reign), ..Resigning::default() }));
    }

    /// Begins to resign: from now on this process does not lead, and guards tell no deadline.
    pub(crate) fn give_up(&self) -> GivenUp {
        let present = self.present();
        let standing = present.standing.at(self.clock.now());
        let (reign, led) = (present.standing.reign, standing.leads());
        // Without leases a guard has no deadline.
        let relied_on = led && present.guards > 0 && standing.until != Instant::NEVER;
        let due = if relied_on { standing.until } else { Instant::ZERO };
        if led && !present.giving_up {
            self.mark_given_up(present);
        }
        GivenUp { reign, led, due }
    }

    fn mark_given_up(&self, mut present: MutexGuard<'_, Present>) {
        present.giving_up = true;
        present.version.changes += 1;
        present.version.tellings += 1;
        self.notify(present, true);
    }

    /// Whether the lease may be released: no guard exists, or all deadlines have passed.
    pub(crate) fn is_free(&self, given_up: &GivenUp, now: Instant) -> bool {
        let present = self.present();
        present.standing.reign != given_up.reign || present.guards == 0 || now >= given_up.due
    }

    /// Records that the member's thread has resigned, or failed to. Returns whether the member
    /// still leads: then in another reign, because lost guards stay lost.
    pub(crate) fn given_up(&self, reign: u64) -> bool {
        let mut present = self.present();
        if present.standing.reign != reign || !present.giving_up {
            return self.seen(&present).standing.leads();
        }
        (present.giving_up, present.guards) = (false, 0);
        let leads = self.seen(&present).standing.leads();
        if leads {
            present.standing.reign += 1;
            present.version.changes += 1;
            present.version.tellings += 1;
            self.notify(present, true);
        }
        leads
    }

    /// From now on frames about keys go there, until the member ends.
    pub(crate) fn hear_of_keys(&self, hears: SyncSender<Heard>) {
        let mut keys = self.keys();
        let closed = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).closed;
        *keys = (!closed).then_some(hears);
    }

    /// Passes a frame about keys on; it is dropped if nobody looks after keys, or too many wait.
    pub(crate) fn pass_on_keys(&self, heard: Heard) {
        if let Some(hears) = &*self.keys() {
            let _ = hears.try_send(heard); // it is sent again
        }
    }

    fn keys(&self) -> MutexGuard<'_, Option<SyncSender<Heard>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes which process should lead instead of this one.
    pub(crate) fn set_successor(&self, successor: Option<NodeId>) {
        self.successor.store(successor.map_or(NOBODY, |id| id.0), Ordering::Release);
    }

    /// The process that should lead instead of this one.
    pub(crate) fn successor(&self) -> Option<NodeId> {
        Some(self.successor.load(Ordering::Acquire)).filter(|id| *id != NOBODY).map(NodeId)
    }

    /// The number of the current reign, or of the last one.
    pub(crate) fn reign(&self) -> u64 {
        self.present().standing.reign
    }

    /// Puts a request into the mailbox; false if it will not be read.
    pub(crate) fn ask(&self, request: Request) -> bool {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        let must = matches!(request, Request::Resign(..) | Request::Stop | Request::Keyring(_));
        if mailbox.closed || mailbox.requests.len() >= MAILBOX_MAX && !must {
            return false;
        }
        mailbox.requests.push_back(request);
        drop(mailbox);
        self.wake.wake();
        true
    }

    /// The next request.
    pub(crate) fn take(&self) -> Option<Request> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).requests.pop_front()
    }

    /// The descriptor that wakes the member's thread.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// The member's recent past: of the last time of this length, or all that is remembered.
    pub(crate) fn past(&self, last: Option<Duration>) -> Past {
        let me = self.present().standing.me;
        Past::new(&self.ring, &self.clock, me, last)
    }

    /// Wakes the member's thread.
    pub(crate) fn wake(&self) {
        self.wake.wake();
    }

    /// Clears the wake-up.
    pub(crate) fn clear_wake(&self) {
        self.wake.clear();
    }

    /// The time now.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The time after this duration.
    pub(crate) fn later(&self, length: std::time::Duration) -> Instant {
        let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.now() + Duration::from_nanos(nanos)
    }

    /// The time until then.
    pub(crate) fn until(&self, then: Instant) -> std::time::Duration {
        std::time::Duration::from_nanos(then.since(self.now()).as_nanos())
    }
}

/// The place of one waiting task; dropping it removes its waker.
pub(crate) struct WaitSlot {
    shared: Arc<Shared>,
    number: u64,
}

impl WaitSlot {
    /// What the member believes if `wanted` holds; otherwise `waker` is called at the next change.
    pub(crate) fn poll(&self, waker: &Waker, wanted: impl FnOnce(&Seen) -> bool) -> Option<Seen> {
        self.shared.poll(self.number, waker, wanted)
    }
}

impl Drop for WaitSlot {
    fn drop(&mut self) {
        let waker = self.shared.present().wakers.remove(&self.number);
        drop(waker); // after the lock: dropping a waker may take the same lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::BootTime;
    use bellwether_core::{NodeId, Stage, Term};

    /// A leader may raise its term while it leads, which is told as a change.
    #[test]
    fn a_reign_ends_when_the_lease_has_run_out_and_not_when_the_term_rises() {
        let clock = Arc::new(CheckedClock::new(Arc::new(BootTime), None));
        let (me, now) = (NodeId(1), clock.now());
        let none = Snapshot::none(me, now);
        let leads = |term, until| Snapshot {
            leaders: vec![me],
            stage: Stage::Decided,
            term: Term::new(term),
            until,
            ..none.clone()
        };
        let shared = Shared::new(clock, none.clone()).unwrap();
        for (told, reign, changes) in [
            (leads(5, Instant::NEVER), 1, 1),
            (leads(6, Instant::NEVER), 1, 2),
            (leads(6, now), 1, 2), // its lease has run out by now
            (leads(8, Instant::NEVER), 2, 3),
            (none.clone(), 2, 4),
            (leads(9, Instant::NEVER), 3, 5),
        ] {
            shared.tell(told);
            let seen = shared.see();
            assert_eq!((seen.standing.reign, seen.version.changes), (reign, changes));
        }
    }
}
