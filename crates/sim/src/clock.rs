//! A node's own clock: what it reads when the world's time is such and such.

use bellwether_core::{Duration, Instant, SimTime};

/// A clock that runs a little fast or slow, and may have been set forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The world's time at which the present rate began, and what the clock read then.
    since: SimTime,
    read: Instant,
    /// How much faster than the world, in parts per 10⁹.
    drift: i32,
}

const BILLION: i128 = 1_000_000_000;

impl Clock {
    /// A clock that shows the world's time.
    pub const TRUE: Self = Self { since: SimTime::ZERO, read: Instant::ZERO, drift: 0 };

    /// What it reads at this world time. Never less than at an earlier one.
    #[inline]
    pub fn read(&self, at: SimTime) -> Instant {
        let elapsed = at.since(self.since);
        if self.drift == 0 {
            return self.read + elapsed;
        }
        let rate = BILLION + i128::from(self.drift);
        let local = i128::from(elapsed.as_nanos()) * rate / BILLION;
        self.read + Duration::from_nanos(u64::try_from(local).unwrap_or(u64::MAX))
    }

    /// The first world time at which it reads `instant` or more.
    #[inline]
    pub fn when(&self, instant: Instant) -> SimTime {
        if instant == Instant::NEVER {
            return SimTime::NEVER;
        }
        let ahead = instant.since(self.read);
        if self.drift == 0 {
            return self.since + ahead;
        }
        let rate = BILLION + i128::from(self.drift);
        let nanos = (i128::from(ahead.as_nanos()) * BILLION + rate - 1).div_euclid(rate);
        self.since + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// From `at` on it runs at another rate.
    pub fn drifting(&self, at: SimTime, parts_per_billion: i32) -> Self {
        Self { since: at, read: self.read(at), drift: parts_per_billion.max(-999_999_999) }
    }

    /// At `at` it is set forward.
    pub fn jumped(&self, at: SimTime, by: Duration) -> Self {
        Self { since: at, read: self.read(at) + by, drift: self.drift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_deadline_is_reached_when_the_clock_says_so_and_not_before(
            drift in -500_000_000i32..500_000_000, start in 0u64..10_000_000_000,
            jump in 0u64..1_000_000_000, ahead in 0u64..100_000_000_000,
        ) {
            let start = SimTime::from_nanos(start);
            let jumped = start + Duration::from_nanos(7);
            let clock = Clock::TRUE
                .drifting(start, drift)
                .jumped(jumped, Duration::from_nanos(jump));
            let deadline = clock.read(jumped) + Duration::from_nanos(ahead);
            let when = clock.when(deadline);
            prop_assert!(clock.read(when) >= deadline);
            if ahead > 0 {
                prop_assert!(clock.read(when - Duration::from_nanos(1)) < deadline);
            }
        }

        #[test]
        fn a_clock_never_goes_back(
            drifts in prop::collection::vec((-999_999_999i32..999_999_999, 0u64..1000), 1..20),
        ) {
            let (mut clock, mut at, mut seen) = (Clock::TRUE, SimTime::ZERO, Instant::ZERO);
            for (drift, step) in drifts {
                at += Duration::from_nanos(step);
                prop_assert!(clock.read(at) >= seen);
                seen = clock.read(at);
                clock = clock.drifting(at, drift);
                prop_assert!(clock.read(at) >= seen);
            }
        }
    }
}
