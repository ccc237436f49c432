//! What a member's thread and its application have in common: what is believed, and a mailbox.

use crate::clock::Clock;
use crate::frame::Keyring;
use crate::standing::Standing;
use crate::status::Status;
use bellwether_core::{Command, Instant, Refused};
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Something the application wants of the member's thread.
pub(crate) enum Request {
    /// Pass this on to the protocol, and tell what it said.
    Command(Command, Option<SyncSender<Result<(), Refused>>>),
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
    pub(crate) clock: Arc<dyn Clock>,
    present: Mutex<Present>,
    news: Condvar,
    mailbox: Mutex<VecDeque<Request>>,
    wake: OwnedFd,
}

/// What is believed now.
struct Present {
    standing: Standing,
    /// Grows with every change, and with every prolongation.
    version: Version,
    /// Grows each time the member begins to lead.
    reign: u64,
    ended: bool,
    wakers: Vec<Waker>,
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

/// Requests that nobody takes are refused, rather than piling up.
const MAILBOX_MAX: usize = 1024;

impl Shared {
    pub(crate) fn new(clock: Arc<dyn Clock>, standing: Standing) -> io::Result<Self> {
        let present = Present {
            standing,
            version: Version::default(),
            reign: 0,
            ended: false,
            wakers: Vec::new(),
            bells: Vec::new(),
        };
        Ok(Self {
            clock,
            present: Mutex::new(present),
            news: Condvar::new(),
            mailbox: Mutex::new(VecDeque::new()),
            wake: bell()?,
        })
    }

    /// A panic elsewhere must not hide the truth: what is in there is whole at any time.
    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is believed now, by the clock now.
    pub(crate) fn see(&self) -> Seen {
        let present = self.present();
        self.seen(&present)
    }

    fn seen(&self, present: &Present) -> Seen {
        Seen {
            standing: present.standing.at(self.clock.now()),
            version: present.version,
            reign: present.reign,
            ended: present.ended,
        }
    }

    /// What is believed, once `wanted` says so or the time is up.
    pub(crate) fn wait(
        &self,
        timeout: Option<std::time::Duration>,
        mut wanted: impl FnMut(&Seen) -> bool,
    ) -> Seen {
        let deadline = timeout.map(|timeout| {
            let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
            self.clock.now() + bellwether_core::Duration::from_nanos(nanos)
        });
        let mut present = self.present();
        loop {
            let seen = self.seen(&present);
            let now = seen.standing.at;
            if seen.ended || wanted(&seen) || deadline.is_some_and(|deadline| now >= deadline) {
                return seen;
            }
            present = match deadline {
                None => self.news.wait(present).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = std::time::Duration::from_nanos(deadline.since(now).as_nanos());
                    let woken = self.news.wait_timeout(present, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// The same for a task: `waker` is called at the next news if there is nothing yet.
    pub(crate) fn poll(&self, waker: &Waker, wanted: impl FnOnce(&Seen) -> bool) -> Option<Seen> {
        let mut present = self.present();
        let seen = self.seen(&present);
        if seen.ended || wanted(&seen) {
            return Some(seen);
        }
        if !present.wakers.iter().any(|known| known.will_wake(waker)) {
            present.wakers.push(waker.clone());
        }
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
        let begins = standing.leads() && !before.at(standing.at).leads();
        present.reign += u64::from(begins);
        present.version.changes += u64::from(changed || begins);
        present.version.tellings += u64::from(changed || begins || prolonged);
        present.standing = standing;
        if changed || begins || prolonged {
            self.ring(present, changed || begins);
        }
    }

    /// Nothing more will come.
    pub(crate) fn end(&self) {
        let mut present = self.present();
        let (me, now) = (present.standing.me, self.clock.now());
        present.standing = Standing::none(me, now);
        present.version.changes += 1;
        present.version.tellings += 1;
        present.ended = true;
        self.ring(present, true);
    }

    fn ring(&self, mut present: MutexGuard<'_, Present>, changed: bool) {
        let wakers = if changed { std::mem::take(&mut present.wakers) } else { Vec::new() };
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
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Puts a request into the mailbox. False if nobody will read it.
    pub(crate) fn ask(&self, request: Request) -> bool {
        if self.present().ended {
            return false;
        }
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        if mailbox.len() >= MAILBOX_MAX {
            return false;
        }
        mailbox.push_back(request);
        drop(mailbox);
        toll(&self.wake);
        true
    }

    /// The next request.
    pub(crate) fn take(&self) -> Option<Request> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// What the member's thread waits for.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Makes it quiet again.
    pub(crate) fn hush(&self) {
        quiet(&self.wake);
    }

    /// The time now.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
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
