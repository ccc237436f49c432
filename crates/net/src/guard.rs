//! A guard: proof of leadership with a deadline, released when dropped.

use crate::handle::{Gone, Member, NotNow};
use crate::shared::{Seen, WaitSlot};
use bellwether_core::{Instant, Term};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Proof that this member leads, for one reign: one unbroken time of leading. Ask it before each
/// action that only a leader may take, and be done by its [`deadline`](Self::deadline).
///
/// # When a reign ends, and who waits for it
///
/// - A deadline that a guard has told is kept. No other member leads before it has passed, unless
///   the guard was dropped. Other guards, handles, [`Election::resign`] and [`Election::leave`] do
///   not change that.
/// - A reign has any number of guards. Dropping one ends only that one. Dropping the last one
///   resigns: at once for this process, and a moment later for the group. With leases the others
///   come first then, also if this member calls [`Election::wait`] or [`Election::campaign`].
/// - [`Guard::resign`], [`Election::resign`], [`Election::transfer`] and [`Election::leave`] end a
///   reign for all its guards: each is lost at once ([`still_leading`](Self::still_leading) is
///   false, [`lost`](Self::lost) is ready), and the lease is released when the last one was
///   dropped, or when the latest deadline that any of them told has passed. These calls wait for
///   that, at most for one lease.
/// - Once lost, a guard stays lost, even if the member leads again: that is another reign.
/// - Only guards are waited for. A [`Snapshot`](crate::Snapshot) describes the moment of the
///   question; keeping one delays nothing.
/// - Without leases leadership has no deadline (and there may be two leaders anyway), so there is
///   nothing to wait for: guards are lost at once, and another member may lead at once.
///
/// # What it cannot do
///
/// A process may be stopped between asking and acting: by the scheduler, by a debugger, with its
/// virtual machine. When it goes on, its action may come too late, and no earlier check prevents
/// that. Leave time before the deadline, and where possible let the target of the action reject
/// requests of a former leader, by their [`term`](Self::term).
///
/// [`Election::wait`]: crate::Election::wait
/// [`Election::campaign`]: crate::Election::campaign
/// [`Election::resign`]: crate::Election::resign
/// [`Election::leave`]: crate::Election::leave
/// [`Election::transfer`]: crate::Election::transfer
pub struct Guard {
    member: Arc<Member>,
    reign: u64,
}

impl Guard {
    /// A guard of this reign; `None` if it is over or being given up.
    pub(crate) fn new(member: &Arc<Member>, reign: u64) -> Option<Self> {
        let held = member.shared.acquire(reign);
        held.then(|| Self { member: Arc::clone(member), reign })
    }

    fn holds(&self, seen: &Seen) -> bool {
        seen.standing.reign == self.reign && seen.standing.leads()
    }

    /// Whether the member still leads at this moment, by the clock.
    pub fn still_leading(&self) -> bool {
        self.holds(&self.member.shared.see())
    }

    /// When this reign ends unless it is renewed; `None` if it is over.
    pub fn deadline(&self) -> Option<Instant> {
        let seen = self.member.shared.see();
        self.holds(&seen).then_some(seen.standing.until)
    }

    /// The fencing token of this reign, as of now: the term, which is higher than that of every
    /// leader before (see [`Snapshot::term`](crate::Snapshot::term)). `None` if the reign is over,
    /// or if the protocol counts no terms.
    ///
    /// Send it with each request, and let the target reject a request whose token is lower than the
    /// highest that it has seen. A leader may raise its token while it leads; one that was read
    /// earlier stays good until the target has seen a higher one.
    pub fn term(&self) -> Option<Term> {
        let seen = self.member.shared.see();
        seen.standing.term.filter(|_| self.holds(&seen))
    }

    /// The time until the deadline; [`Duration::MAX`] where leadership has no deadline.
    pub fn remaining(&self) -> Duration {
        let seen = self.member.shared.see();
        if !self.holds(&seen) {
            return Duration::ZERO;
        }
        let left = seen.standing.remaining();
        left.map_or(Duration::MAX, |left| Duration::from_nanos(left.as_nanos()))
    }

    /// Resigns for all guards of this reign, and waits until the lease is released: until the
    /// other guards are dropped, or their deadline has passed.
    ///
    /// # Errors
    /// [`NotNow`] if this reign is over already.
    pub fn resign(self) -> Result<(), NotNow> {
        let asked = self.member.ask_to_resign(Some(self.reign));
        drop(self); // this one no longer holds the lease
        asked?.wait()
    }

    /// Waits until this reign is over. The member's thread reports that; where it may be stopped
    /// for long, ask [`still_leading`](Self::still_leading), which needs only the clock.
    pub fn lost(&self) -> Lost<'_> {
        Lost { guard: self, slot: self.member.shared.slot() }
    }

    /// Blocks until this reign is over; false if the timeout passed first.
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

/// A future that waits to lead; see [`Election::campaign`](crate::Election::campaign).
#[must_use = "it waits only while it is awaited"]
pub struct Campaign {
    member: Arc<Member>,
    slot: WaitSlot,
}

impl Campaign {
    pub(crate) fn new(member: Arc<Member>) -> Self {
        let slot = member.shared.slot();
        Self { member, slot }
    }
}

impl Future for Campaign {
    type Output = Result<Guard, Gone>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match self.slot.poll(cx.waker(), |seen| seen.standing.leads()) {
                None => return Poll::Pending,
                Some(seen) if seen.ended => return Poll::Ready(Err(Gone)),
                // The reign may have ended since; then wait on.
                Some(seen) => {
                    if let Some(guard) = Guard::new(&self.member, seen.standing.reign) {
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

/// A future that waits for the end of a reign; see [`Guard::lost`].
#[must_use = "it waits only while it is awaited"]
pub struct Lost<'a> {
    guard: &'a Guard,
    slot: WaitSlot,
}

impl Future for Lost<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let over = |seen: &Seen| !self.guard.holds(seen);
        match self.slot.poll(cx.waker(), over) {
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
