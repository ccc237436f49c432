//! How late this process gets a processor: measured, so that the command is ended that much
//! earlier.
//!
//! **Source.** The alarm: it is set to a time and rings at that time; what passes until this
//! process runs is the delay.
//!
//! **Promise.** [`Lateness::worst`] is the greatest delay of the last ten seconds at least, and of
//! the last twenty at most. A process that was stopped, or whose machine slept, was not late: what
//! takes longer than five seconds says nothing of the load.

use bellwether_core::{Duration, Instant};

/// How long a delay counts at least.
const WINDOW: Duration = Duration::from_secs(10);

/// A longer delay is none of the scheduler's.
const LONGEST: Duration = Duration::from_secs(5);

/// The delays of late.
#[derive(Debug)]
pub(super) struct Lateness {
    /// The worst since then, and the worst of the window before.
    since: Instant,
    now: Duration,
    before: Duration,
}

impl Lateness {
    pub(super) fn new() -> Self {
        Self { since: Instant::ZERO, now: Duration::ZERO, before: Duration::ZERO }
    }

    /// The alarm was set to `due`, and it is `now`.
    pub(super) fn note(&mut self, due: Instant, now: Instant) {
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

    pub(super) fn worst(&self, now: Instant) -> Duration {
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
