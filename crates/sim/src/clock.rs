//! A process's own clock: maps the world's time to what the clock reads.

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

const BILLION: u64 = 1_000_000_000;

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
        // Whole seconds and the remainder are scaled separately, so that 64 bits are enough.
        let (whole, rest) = (elapsed.as_nanos() / BILLION, elapsed.as_nanos() % BILLION);
        let local = whole.saturating_mul(self.rate()).saturating_add(rest * self.rate() / BILLION);
        self.read + Duration::from_nanos(local)
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
        let (whole, rest) = (ahead.as_nanos() / self.rate(), ahead.as_nanos() % self.rate());
        let world = whole.saturating_mul(BILLION);
        self.since
            + Duration::from_nanos(world.saturating_add((rest * BILLION).div_ceil(self.rate())))
    }

    /// How many nanoseconds it counts per second of world time; at least 1, below 2³².
    fn rate(&self) -> u64 {
        BILLION.saturating_add_signed(i64::from(self.drift))
    }

    /// A copy that runs at another rate from `at` on.
    pub fn drifting(&self, at: SimTime, parts_per_billion: i32) -> Self {
        Self { since: at, read: self.read(at), drift: parts_per_billion.max(-999_999_999) }
    }

    /// A copy that is set forward by `by` at `at`.
    pub fn jumped(&self, at: SimTime, by: Duration) -> Self {
        Self { since: at, read: self.read(at) + by, drift: self.drift }
    }

    /// A copy whose machine reboots at `at`: it starts again from zero, at the same rate.
    pub fn rebooted(&self, at: SimTime) -> Self {
        Self { since: at, read: Instant::ZERO, drift: self.drift }
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
