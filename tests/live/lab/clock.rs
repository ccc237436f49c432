//! The clock that all members of one machine share, in namespaces too.

use bellwether::core::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

/// What CLOCK_BOOTTIME reads.
pub(crate) fn now() -> Instant {
    let read = clock_gettime(ClockId::Boottime);
    let part = |part: i64| u64::try_from(part).expect("time since the start is positive");
    Instant::from_nanos(part(read.tv_sec) * 1_000_000_000 + part(read.tv_nsec))
}

/// Waits.
pub(crate) fn sleep(length: Duration) {
    std::thread::sleep(std::time::Duration::from_nanos(length.as_nanos()));
}

/// Waits until the clock reads this.
pub(crate) fn sleep_until(at: Instant) {
    sleep(at.since(now()));
}

/// Milliseconds, for tables and messages.
pub(crate) fn millis(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}
