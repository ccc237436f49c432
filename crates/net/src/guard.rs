//! Leadership in one's hands: with a deadline, and given back when dropped.

use crate::handle::{Gone, Member};
use crate::shared::{Seat, Seen};
use bellwether_core::Instant;
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
/// resigns, if it is not lost: at once for whoever asks here, and a moment later for the group.
/// Several guards of one reign end together.
pub struct Guard {
    member: Arc<Member>,
    reign: u64,
}

impl Guard {
    pub(crate) fn new(member: Arc<Member>, reign: u64) -> Self {
        Self { member, reign }
    }

    fn holds(&self, seen: &Seen) -> bool {
        seen.reign == self.reign && seen.standing.leads()
    }

    /// Whether this reign goes on at this moment, by the clock.
    pub fn still_leading(&self) -> bool {
        self.holds(&self.member.shared.see())
    }

    /// When it ends, unless it is renewed meanwhile; nothing if it is over.
    pub fn deadline(&self) -> Option<Instant> {
        let seen = self.member.shared.see();
        self.holds(&seen).then_some(seen.standing.until)
    }

    /// How long that is from now; [`Duration::MAX`] where leadership does not end by itself.
    pub fn remaining(&self) -> Duration {
        let seen = self.member.shared.see();
        if !self.holds(&seen) {
            return Duration::ZERO;
        }
        let left = seen.standing.remaining();
        left.map_or(Duration::MAX, |left| Duration::from_nanos(left.as_nanos()))
    }

    /// Waits until it is over. The member's thread tells; where it may be stopped for long, ask
    /// [`still_leading`](Self::still_leading), which needs nobody but the clock.
    pub fn lost(&self) -> Lost<'_> {
        Lost { guard: self, seat: self.member.shared.seat() }
    }

    /// The same for a thread. False if the time was up first.
    pub fn wait_lost(&self, timeout: Option<Duration>) -> bool {
        let seen = self.member.shared.wait(timeout, |seen| !self.holds(seen));
        !self.holds(&seen)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.member.shared.abdicate(self.reign);
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
    member: Arc<Member>,
    seat: Seat,
}

impl Campaign {
    pub(crate) fn new(member: Arc<Member>) -> Self {
        let seat = member.shared.seat();
        Self { member, seat }
    }
}

impl Future for Campaign {
    type Output = Result<Guard, Gone>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.seat.poll(cx.waker(), |seen| seen.standing.leads()) {
            None => Poll::Pending,
            Some(seen) if seen.ended => Poll::Ready(Err(Gone)),
            Some(seen) => Poll::Ready(Ok(Guard::new(Arc::clone(&self.member), seen.reign))),
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
    seat: Seat,
}

impl Future for Lost<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let over = |seen: &Seen| !self.guard.holds(seen);
        match self.seat.poll(cx.waker(), over) {
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
