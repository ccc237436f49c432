//! Measures how late this process is scheduled: a guardian ends its command that much earlier, and
//! a member says when that is more than its leases allow for.
//!
//! **Source.** The timer: it is set to a time and fires at that time; the delay is the time until
//! this process runs.
//!
//! **Promise.** [`Lateness::worst`] is the greatest delay of the last ten seconds at least, and of
//! the last twenty at most. A delay of more than five seconds does not count: the process was
//! stopped, or the machine slept.

use bellwether_core::{Duration, Instant};

/// How long a delay counts at least.
const WINDOW: Duration = Duration::from_secs(10);

/// A longer delay is not caused by the scheduler.
const LONGEST: Duration = Duration::from_secs(5);

/// The recent delays.
#[derive(Debug)]
pub(crate) struct Lateness {
    /// The start of the window, its worst delay, and the worst of the window before.
    since: Instant,
    now: Duration,
    before: Duration,
}

impl Lateness {
    pub(crate) fn new() -> Self {
        Self { since: Instant::ZERO, now: Duration::ZERO, before: Duration::ZERO }
    }

    /// Takes a measurement: the timer was set to `due`, and the time is `now`.
    pub(crate) fn note(&mut self, due: Instant, now: Instant) {
        let age = now.since(self.since);
        if age >= WINDOW {
            self.before = if age < WINDOW * 2 { self.now } else { Duration::ZERO };
            self.now = Duration::ZERO;
            self.since = now;
        }
        let delay = now.since(due);
        if delay <= LONGEST {
            self.now = self.now.max(delay);
        }
    }

    pub(crate) fn worst(&self, now: Instant) -> Duration {
        match now.since(self.since) {
            age if age < WINDOW => self.now.max(self.before),
            age if age < WINDOW * 2 => self.now,
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_counts_for_ten_to_twenty_seconds() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let ms = Duration::from_millis;
        let mut lateness = Lateness::new();
        lateness.note(at(100_000), at(100_003));
        lateness.note(at(100_010), at(100_011));
        assert_eq!(lateness.worst(at(100_011)), ms(3));
        lateness.note(at(112_000), at(112_001));
        assert_eq!(lateness.worst(at(112_001)), ms(3), "of the window before");
        lateness.note(at(123_000), at(123_002));
        assert_eq!(lateness.worst(at(123_002)), ms(2));
        assert_eq!(lateness.worst(at(134_000)), ms(2), "also if no alarm rings");
        assert_eq!(lateness.worst(at(144_000)), Duration::ZERO);
        lateness.note(at(190_000), at(199_000));
        assert_eq!(lateness.worst(at(199_000)), Duration::ZERO, "it was stopped");
    }
}
