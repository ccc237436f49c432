//! What a member's thread and its application have in common: what is believed, and a mailbox.

use crate::clock::{CheckedClock, Clock as _};
use crate::frame::Keyring;
use crate::parting::Answer;
use crate::standing::Standing;
use crate::status::Status;
use bellwether_core::{Command, Instant};
use rustix::event::{EventfdFlags, eventfd};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Something the application wants of the member's thread.
pub(crate) enum Request {
    /// Pass this on to the protocol, and tell what it said.
    Command(Command, Option<Answer>),
    /// Stop leading, once no guard of the reign may still be relied on; only if it is this reign,
    /// where one is named.
    Resign(Option<u64>, Option<Answer>),
    /// Tell everything.
    Status(SyncSender<Box<Status>>),
    /// Use these keys from now on.
    Keyring(Keyring),
    /// Names were looked up.
    Resolved,
    /// Hand over and end.
    Stop,
}

/// Between the member's thread and everybody else.
pub(crate) struct Shared {
    pub(crate) clock: Arc<CheckedClock>,
    present: Mutex<Present>,
    news: Condvar,
    mailbox: Mutex<Mailbox>,
    wake: OwnedFd,
}

/// Requests, until nobody will read them any more.
#[derive(Default)]
struct Mailbox {
    requests: VecDeque<Request>,
    closed: bool,
}

/// What is believed now.
struct Present {
    standing: Standing,
    /// Grows with every change, and with every prolongation.
    version: Version,
    /// Grows each time the member begins to lead.
    reign: u64,
    /// How many guards of that reign are alive.
    guards: usize,
    /// The application gives this reign up: nobody here leads by it any more, though the member
    /// still does until no guard can be relied on.
    giving_up: bool,
    ended: bool,
    /// Why it ended, if it did not leave.
    failure: Option<String>,
    /// Tasks that wait, by the number of their seat.
    wakers: BTreeMap<u64, Waker>,
    seats: u64,
    /// Written to when there is news.
    bells: Vec<std::sync::Weak<OwnedFd>>,
}

/// How often something was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    /// Changes of what is believed.
    pub(crate) changes: u64,
    /// Those, and changes of how long it holds.
    pub(crate) tellings: u64,
}

/// What is believed, as of some version.
pub(crate) struct Seen {
    pub(crate) standing: Standing,
    pub(crate) version: Version,
    pub(crate) reign: u64,
    pub(crate) ended: bool,
}

/// A reign that is being given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GivenUp {
    /// Which one.
    pub(crate) reign: u64,
    /// Whether the member led when it was asked to.
    pub(crate) led: bool,
    /// No guard of it was told a later deadline.
    pub(crate) due: Instant,
}

/// Requests that nobody takes are refused, rather than piling up.
const MAILBOX_MAX: usize = 1024;

impl Shared {
    pub(crate) fn new(clock: Arc<CheckedClock>, standing: Standing) -> io::Result<Self> {
        let present = Present {
            standing,
            version: Version::default(),
            reign: 0,
            guards: 0,
            giving_up: false,
            ended: false,
            failure: None,
            wakers: BTreeMap::new(),
            seats: 0,
            bells: Vec::new(),
        };
        Ok(Self {
            clock,
            present: Mutex::new(present),
            news: Condvar::new(),
            mailbox: Mutex::default(),
            wake: bell()?,
        })
    }

    /// A panic elsewhere must not hide the truth: what is in there is whole at any time.
    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is believed now, by the clock now. The clock is read after the lock was given back: the
    /// member's thread waits for nobody who was stopped while reading it.
    pub(crate) fn see(&self) -> Seen {
        let present = self.present();
        let (standing, giving_up) = (present.standing.clone(), present.giving_up);
        let (version, reign, ended) = (present.version, present.reign, present.ended);
        drop(present);
        Seen { standing: self.judged(&standing, giving_up), version, reign, ended }
    }

    fn seen(&self, present: &Present) -> Seen {
        let standing = self.judged(&present.standing, present.giving_up);
        Seen { standing, version: present.version, reign: present.reign, ended: present.ended }
    }

    fn judged(&self, standing: &Standing, giving_up: bool) -> Standing {
        let now = self.clock.now();
        // A clock that cannot be trusted cannot tell that a lease still runs.
        let over = giving_up || self.clock.is_suspect();
        match over && standing.leads() {
            true => Standing::none(standing.me, now),
            false => standing.at(now),
        }
    }

    /// What is believed, once `wanted` says so or the time is up.
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
            // A lease ends by the clock, even if the member's thread is not there to say so.
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

    /// A place to wait for one task.
    pub(crate) fn seat(self: &Arc<Self>) -> Seat {
        let mut present = self.present();
        present.seats += 1;
        Seat { shared: Arc::clone(self), number: present.seats }
    }

    /// The same for a task: `waker` is called at the next news if there is nothing yet.
    fn poll(&self, seat: u64, waker: &Waker, wanted: impl FnOnce(&Seen) -> bool) -> Option<Seen> {
        let waker = waker.clone();
        let mut present = self.present();
        let seen = self.seen(&present);
        if seen.ended || wanted(&seen) {
            return Some(seen);
        }
        let former = present.wakers.insert(seat, waker);
        drop(present);
        drop(former); // what a waker owns may want the same lock when it goes
        None
    }

    /// A file descriptor that becomes readable at news.
    pub(crate) fn listen(&self) -> io::Result<Arc<OwnedFd>> {
        let fd = Arc::new(bell()?);
        let mut present = self.present();
        present.bells.retain(|bell| bell.strong_count() > 0);
        present.bells.push(Arc::downgrade(&fd));
        Ok(fd)
    }

    /// Tells what is believed from now on.
    pub(crate) fn tell(&self, standing: Standing) {
        let mut present = self.present();
        let before = &present.standing;
        let same = |one: &Standing, other: &Standing| {
            (&one.leaders, one.term, one.stage, &one.withdrawn)
                == (&other.leaders, other.term, other.stage, &other.withdrawn)
        };
        let changed = !same(before, &standing);
        let prolonged = before.until != standing.until;
        // A lease that ran out, be it for a moment, is another reign.
        let now = self.clock.now().max(standing.at);
        let begins = standing.leads() && !before.at(now).leads();
        if begins {
            present.reign += 1;
            present.guards = 0;
            present.giving_up = false;
        }
        present.version.changes += u64::from(changed || begins);
        present.version.tellings += u64::from(changed || begins || prolonged);
        present.standing = standing;
        if changed || begins || prolonged {
            self.ring(present, changed || begins);
        }
    }

    /// Nothing more will come; `failure` says why, if the member did not leave.
    ///
    /// Leadership ends first, before anybody is woken or answered.
    pub(crate) fn end(&self, failure: Option<String>) {
        let mut present = self.present();
        let (me, now) = (present.standing.me, self.clock.now());
        present.standing = Standing::none(me, now);
        present.version.changes += 1;
        present.version.tellings += 1;
        present.ended = true;
        present.failure = failure;
        self.ring(present, true);
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.closed = true;
        // Whoever waits for an answer sees that none will come.
        let unread = std::mem::take(&mut mailbox.requests);
        drop(mailbox);
        drop(unread);
    }

    /// Why the member ended, if it did not leave.
    pub(crate) fn failure(&self) -> Option<String> {
        self.present().failure.clone()
    }

    fn ring(&self, mut present: MutexGuard<'_, Present>, changed: bool) {
        let wakers = if changed { std::mem::take(&mut present.wakers) } else { BTreeMap::new() };
        present.bells.retain(|fd| match fd.upgrade() {
            Some(fd) => {
                toll(&fd);
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

    /// Counts one more guard of this reign; false if nobody leads by it any more.
    pub(crate) fn acquire(&self, reign: u64) -> bool {
        let mut present = self.present();
        let seen = self.seen(&present);
        let leads = seen.reign == reign && seen.standing.leads() && !seen.ended;
        present.guards += usize::from(leads);
        leads
    }

    /// Counts one guard of this reign less. The last one ends the reign: at once for whoever asks
    /// here, and for the group as soon as the member's thread gets to it.
    pub(crate) fn release(&self, reign: u64) {
        let mut present = self.present();
        if present.reign != reign {
            return;
        }
        present.guards = present.guards.saturating_sub(1);
        if present.guards > 0 || !present.standing.at(self.clock.now()).leads() {
            return;
        }
        if present.giving_up {
            drop(present);
            return self.wake(); // the member's thread waits for this one
        }
        self.mark_given_up(present);
        self.ask(Request::Resign(Some(reign), None));
    }

    /// Begins to give up the present reign: nobody here leads by it from now on, and no guard is
    /// told a deadline any more.
    pub(crate) fn give_up(&self) -> GivenUp {
        let present = self.present();
        let standing = present.standing.at(self.clock.now());
        let (reign, led) = (present.reign, standing.leads());
        // Without leases there is no deadline that a guard could rely on.
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
        self.ring(present, true);
    }

    /// Whether no guard of that reign can be relied on any more.
    pub(crate) fn is_free(&self, given_up: &GivenUp, now: Instant) -> bool {
        let present = self.present();
        present.reign != given_up.reign || present.guards == 0 || now >= given_up.due
    }

    /// The member's thread has given this reign up, or could not. Whether it still leads: then by
    /// another reign, since guards that were lost stay lost.
    pub(crate) fn given_up(&self, reign: u64) -> bool {
        let mut present = self.present();
        if present.reign != reign || !present.giving_up {
            return self.seen(&present).standing.leads();
        }
        (present.giving_up, present.guards) = (false, 0);
        let leads = self.seen(&present).standing.leads();
        if leads {
            present.reign += 1;
            present.version.changes += 1;
            present.version.tellings += 1;
            self.ring(present, true);
        }
        leads
    }

    /// The number of the present reign, or of the last.
    pub(crate) fn reign(&self) -> u64 {
        self.present().reign
    }

    /// Puts a request into the mailbox. False if nobody will read it.
    pub(crate) fn ask(&self, request: Request) -> bool {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        let must = matches!(request, Request::Resign(..) | Request::Stop | Request::Keyring(_));
        if mailbox.closed || mailbox.requests.len() >= MAILBOX_MAX && !must {
            return false;
        }
        mailbox.requests.push_back(request);
        drop(mailbox);
        toll(&self.wake);
        true
    }

    /// The next request.
    pub(crate) fn take(&self) -> Option<Request> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).requests.pop_front()
    }

    /// What the member's thread waits for.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Wakes it.
    pub(crate) fn wake(&self) {
        toll(&self.wake);
    }

    /// Makes it quiet again.
    pub(crate) fn hush(&self) {
        quiet(&self.wake);
    }

    /// The time now.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The time so much later.
    pub(crate) fn later(&self, length: std::time::Duration) -> Instant {
        let nanos = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.now() + bellwether_core::Duration::from_nanos(nanos)
    }

    /// How long it is until then.
    pub(crate) fn until(&self, then: Instant) -> std::time::Duration {
        std::time::Duration::from_nanos(then.since(self.now()).as_nanos())
    }
}

/// The place of one task that waits; nothing of it is left when it goes.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    number: u64,
}

impl Seat {
    /// What is believed, if `wanted` says so; otherwise `waker` is called at the next news.
    pub(crate) fn poll(&self, waker: &Waker, wanted: impl FnOnce(&Seen) -> bool) -> Option<Seen> {
        self.shared.poll(self.number, waker, wanted)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let waker = self.shared.present().wakers.remove(&self.number);
        drop(waker); // after the lock: what it owns may want the same one
    }
}

fn bell() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// A full counter is as good as a bell that rings.
fn toll(fd: &OwnedFd) {
    let _ = rustix::io::write(fd, &1_u64.to_ne_bytes());
}

/// An empty counter is quiet already.
pub(crate) fn quiet(fd: &OwnedFd) {
    let _ = rustix::io::read(fd, &mut [0_u8; 8]);
}
