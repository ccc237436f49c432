//! Leadership in one's hands: with a deadline, and given back when dropped.

use crate::handle::{Gone, Member, NotNow};
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
/// # Who may end a reign, and who is waited for
///
/// - A deadline that a guard has told stands. No other member leads before it has passed, unless
///   the guard was dropped: whatever is done with other guards, with handles, by
///   [`Election::resign`] or [`Election::leave`].
/// - A reign has any number of guards. Dropping one ends only that one; dropping the last one
///   resigns, at once for whoever asks here, and a moment later for the group. If this member then
///   calls [`Election::wait`] or [`Election::campaign`], it may well lead again before any other.
/// - [`Guard::resign`], [`Election::resign`] and [`Election::leave`] end a reign for all its
///   guards: each is lost at once ([`still_leading`](Self::still_leading) is false,
///   [`lost`](Self::lost) is ready), and the group is freed when the last one was dropped, or when
///   the latest deadline that any of them told has passed. They wait for that, which takes a lease
///   at most.
/// - Once lost, a guard stays lost, even if the member leads again: that is another reign.
/// - Only guards are waited for. A [`Standing`](crate::Standing) tells of the moment at which it
///   was asked for, and nobody waits for who keeps one.
/// - Where leadership has no deadline (protocols without leases, which may have two leaders
///   anyway), there is nothing to wait for: guards are lost, and the group is freed at once.
///
/// # What it cannot do
///
/// A process may be stopped between asking and acting: by the scheduler, by a debugger, with its
/// virtual machine. What it does when it goes on may be too late, and no check beforehand helps:
/// leave room before the deadline, and let whoever is acted upon refuse what comes from a former
/// leader, where that is possible.
///
/// [`Election::wait`]: crate::Election::wait
/// [`Election::campaign`]: crate::Election::campaign
/// [`Election::resign`]: crate::Election::resign
/// [`Election::leave`]: crate::Election::leave
pub struct Guard {
    member: Arc<Member>,
    reign: u64,
}

impl Guard {
    /// A guard of this reign; nothing if it is over, or being given up.
    pub(crate) fn new(member: &Arc<Member>, reign: u64) -> Option<Self> {
        let held = member.shared.acquire(reign);
        held.then(|| Self { member: Arc::clone(member), reign })
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

    /// Ends this reign for all its guards, and waits until the group is free: until the others are
    /// dropped, or their deadline has passed.
    ///
    /// # Errors
    /// [`NotNow`] if this reign is over already.
    pub fn resign(self) -> Result<(), NotNow> {
        let asked = self.member.ask_to_resign(Some(self.reign));
        drop(self); // nobody waits for this one
        asked?.wait()
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
        self.member.shared.release(self.reign);
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
        loop {
            match self.seat.poll(cx.waker(), |seen| seen.standing.leads()) {
                None => return Poll::Pending,
                Some(seen) if seen.ended => return Poll::Ready(Err(Gone)),
                // It may have ended since: then there is nothing to guard, and it waits on.
                Some(seen) => {
                    if let Some(guard) = Guard::new(&self.member, seen.reign) {
                        return Poll::Ready(Ok(guard));
                    }
                }
            }
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
