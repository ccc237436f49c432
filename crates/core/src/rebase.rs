//! Forgetting the date, for checkers.

use crate::time::Instant;

/// Moves a state in time so that its present becomes one fixed origin; two states that behave alike
/// from here on then look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebase {
    now: Instant,
}

impl Rebase {
    /// Where the present is put. Far from zero, so that the past has room.
    pub const ORIGIN: Instant = Instant::from_nanos(1 << 62);

    /// A rebase of a state whose present is `now`.
    pub fn new(now: Instant) -> Self {
        Self { now }
    }

    /// An instant whose age or identity matters: shifted.
    pub fn stamp(&self, at: &mut Instant) {
        *at = if *at >= self.now {
            Self::ORIGIN + at.since(self.now)
        } else {
            Self::ORIGIN - self.now.since(*at)
        };
    }

    /// An instant that matters until it is past: shifted, or put at the present. True if it was
    /// past: then forget what hangs on it.
    pub fn deadline(&self, at: &mut Instant) -> bool {
        if *at == Instant::NEVER {
            return false;
        }
        let past = *at < self.now;
        *at = Self::ORIGIN + at.since(self.now);
        past
    }
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
}
