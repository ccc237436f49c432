//! Shifting states in time, for checkers.

use crate::id::NodeId;
use crate::time::Instant;

/// Shifts a state in time so that its present becomes a fixed origin. Two states with the same
/// future behaviour then become equal.
///
/// The present is that of one process, whose state (or whose message in transit) is shifted. Times
/// of *another* process's clock are shifted by the other's present, so that neither the date nor
/// the offsets between clocks remain.
#[derive(Clone, Copy)]
pub struct Rebase<'a> {
    now: Instant,
    /// Every process's present; `None` if all clocks agree.
    clocks: Option<&'a dyn Fn(NodeId) -> Instant>,
}

impl<'a> Rebase<'a> {
    /// The origin to which the present is shifted. Far from zero, so that earlier times fit.
    pub const ORIGIN: Instant = Instant::from_nanos(1 << 62);

    /// A rebase where all processes share one clock, which shows `now`.
    pub fn new(now: Instant) -> Self {
        Self { now, clocks: None }
    }

    /// A rebase for the process whose clock shows `now`. `clocks` reads the clocks of all processes
    /// at that moment, including this one's and those of dead ones.
    #[doc(hidden)] // for tests: the explorer's clocks agree
    pub fn with_clocks(now: Instant, clocks: &'a dyn Fn(NodeId) -> Instant) -> Self {
        Self { now, clocks: Some(clocks) }
    }

    /// Shifts a time of the process's own clock, where its age or identity matters.
    pub fn stamp(&self, at: &mut Instant) {
        shift(at, self.now);
    }

    /// Shifts a time of `owner`'s clock by the owner's present, where its age or identity matters.
    pub fn foreign(&self, owner: NodeId, at: &mut Instant) {
        shift(at, self.clocks.map_or(self.now, |clocks| clocks(owner)));
    }

    /// Shifts a time of the process's own clock that matters only while it is in the future; a past
    /// one becomes the present. Returns whether it was past: then clear what depends on it.
    pub fn deadline(&self, at: &mut Instant) -> bool {
        if *at == Instant::NEVER {
            return false;
        }
        let past = *at < self.now;
        *at = Self::ORIGIN + at.since(self.now);
        past
    }
}

fn shift(at: &mut Instant, now: Instant) {
    *at = if *at >= now { Rebase::ORIGIN + at.since(now) } else { Rebase::ORIGIN - now.since(*at) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    #[test]
    fn stamps_keep_their_age_and_deadlines_only_their_future() {
        let now = Instant::from_nanos(1000);
        let rebase = Rebase::new(now);
        let (mut old, mut due) = (Instant::from_nanos(990), Instant::from_nanos(990));
        rebase.stamp(&mut old);
        assert_eq!(old, Rebase::ORIGIN - Duration::from_nanos(10));
        assert!(rebase.deadline(&mut due));
        assert_eq!(due, Rebase::ORIGIN);
        let mut never = Instant::NEVER;
        assert!(!rebase.deadline(&mut never));
        assert_eq!(never, Instant::NEVER);
    }

    #[test]
    fn a_foreign_stamp_keeps_its_age_on_its_owners_clock() {
        let clocks = |id: NodeId| Instant::from_nanos(1000 * id.0);
        let rebase = Rebase::with_clocks(clocks(NodeId(1)), &clocks);
        let common = Rebase::new(clocks(NodeId(1)));
        let aged = |nanos| Rebase::ORIGIN - Duration::from_nanos(nanos);
        let moved = |rebase: &Rebase<'_>, owner, nanos| {
            let mut at = Instant::from_nanos(nanos);
            rebase.foreign(NodeId(owner), &mut at);
            at
        };
        assert_eq!(moved(&rebase, 7, 6990), aged(10));
        assert_eq!(moved(&rebase, 1, 990), aged(10), "one's own is like any other");
        assert_eq!(moved(&common, 7, 990), aged(10), "with one clock all are one's own");
    }
}
