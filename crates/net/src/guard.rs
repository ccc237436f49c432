//! Leadership in one's hands: with a deadline, and given back when dropped.

use crate::handle::Gone;
use crate::shared::{Request, Seen, Shared};
use bellwether_core::{Command, Instant};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// One reign of this member. Ask it before each thing that only a leader may do, and be done by its
/// [`deadline`](Self::deadline).
///
/// Once lost it stays lost, even if the member leads again: that is another reign. Dropping it
/// resigns, if it is not lost.
pub struct Guard {
    shared: Arc<Shared>,
    reign: u64,
}

impl Guard {
    pub(crate) fn new(shared: Arc<Shared>, reign: u64) -> Self {
        Self { shared, reign }
    }

    fn holds(&self, seen: &Seen) -> bool {
        seen.reign == self.reign && seen.standing.leads()
    }

    /// Whether this reign goes on at this moment, by the clock.
    pub fn still_leading(&self) -> bool {
        self.holds(&self.shared.see())
    }

    /// When it ends, unless it is renewed meanwhile; nothing if it is over.
    pub fn deadline(&self) -> Option<Instant> {
        let seen = self.shared.see();
        self.holds(&seen).then_some(seen.standing.until)
    }

    /// How long that is from now; [`Duration::MAX`] where leadership does not end by itself.
    pub fn remaining(&self) -> Duration {
        let seen = self.shared.see();
        if !self.holds(&seen) {
            return Duration::ZERO;
        }
        let left = seen.standing.remaining();
        left.map_or(Duration::MAX, |left| Duration::from_nanos(left.as_nanos()))
    }

    /// Waits until it is over.
    pub fn lost(&self) -> Lost<'_> {
        Lost { guard: self }
    }

    /// The same for a thread. False if the time was up first.
    pub fn wait_lost(&self, timeout: Option<Duration>) -> bool {
        let seen = self.shared.wait(timeout, |seen| !self.holds(seen));
        !self.holds(&seen)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.still_leading() {
            self.shared.ask(Request::Command(Command::Resign, None));
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}

/// Waiting to lead; see [`Election::campaign`](crate::Election::campaign).
#[must_use = "it waits only while it is awaited"]
pub struct Campaign {
    shared: Arc<Shared>,
}

impl Campaign {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl Future for Campaign {
    type Output = Result<Guard, Gone>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.shared.poll(cx.waker(), |seen| seen.standing.leads()) {
            None => Poll::Pending,
            Some(seen) if seen.ended => Poll::Ready(Err(Gone)),
            Some(seen) => Poll::Ready(Ok(Guard::new(Arc::clone(&self.shared), seen.reign))),
        }
    }
}

impl fmt::Debug for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign").finish_non_exhaustive()
    }
}

/// Waiting for the end of a reign; see [`Guard::lost`].
#[must_use = "it waits only while it is awaited"]
pub struct Lost<'a> {
    guard: &'a Guard,
}

impl Future for Lost<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let over = |seen: &Seen| !self.guard.holds(seen);
        match self.guard.shared.poll(cx.waker(), over) {
            None => Poll::Pending,
            Some(_) => Poll::Ready(()),
        }
    }
}

impl fmt::Debug for Lost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lost").finish_non_exhaustive()
    }
}
