//! Forgetting the date, for checkers.

use crate::id::NodeId;
use crate::time::Instant;

/// Moves a state in time so that its present becomes one fixed origin; two states that behave alike
/// from here on then look alike.
///
/// The present is that of one process, whose state (or whose message under way) is passed through.
/// What that holds of *another* process's clock is moved by the other's present, so that neither
/// the date nor the offsets between clocks are left.
#[derive(Clone, Copy)]
pub struct Rebase<'a> {
    now: Instant,
    /// Every process's present; `None` if all clocks agree.
    clocks: Option<&'a dyn Fn(NodeId) -> Instant>,
}

impl<'a> Rebase<'a> {
    /// Where the present is put. Far from zero, so that the past has room.
    pub const ORIGIN: Instant = Instant::from_nanos(1 << 62);

    /// A rebase where all processes have one clock in common, on which it is `now`.
    pub fn new(now: Instant) -> Self {
        Self { now, clocks: None }
    }

    /// A rebase for the process on whose clock it is `now`, where `clocks` reads everyone's clock
    /// at the same moment: that of this process, which is `now`, and those of the dead too.
    pub fn with_clocks(now: Instant, clocks: &'a dyn Fn(NodeId) -> Instant) -> Self {
        Self { now, clocks: Some(clocks) }
    }

    /// An instant of the process's own clock whose age or identity matters: shifted.
    pub fn stamp(&self, at: &mut Instant) {
        shift(at, self.now);
    }

    /// An instant of `owner`'s clock whose age or identity matters: shifted by the owner's present.
    pub fn foreign(&self, owner: NodeId, at: &mut Instant) {
        shift(at, self.clocks.map_or(self.now, |clocks| clocks(owner)));
    }

    /// An instant of the process's own clock that matters until it is past: shifted, or put at the
    /// present. True if it was past: then forget what hangs on it.
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
