//! The machine's clock, and the suspicion with which it is read.
//!
//! **Source.** `CLOCK_BOOTTIME`, which goes on while the machine sleeps: a leader that wakes up
//! must find its lease over. (`CLOCK_MONOTONIC`, which is all that the standard library offers,
//! stands still meanwhile.)
//!
//! **Assumptions.** Leases hold if clocks drift by at most ρ. Nobody guarantees that: a time
//! daemon may slew this clock by far more. So it is compared with `CLOCK_MONOTONIC_RAW`, which no
//! daemon touches.
//!
//! **Promise.** [`CrossCheck`] notices when the two disagree by more than ρ and the time that it
//! takes to read them, and when the clock is set back. Sleep is no disagreement: it is the
//! difference of `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`, which are slewed alike.

use bellwether_core::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;

/// Where the time comes from: the machine, or a test.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Instant;

    /// All clocks at about the same time; nothing if reading them took too long to compare them.
    fn readings(&self) -> Option<Readings>;
}

/// Three clocks read together, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readings {
    /// `CLOCK_BOOTTIME`: with sleep, slewed.
    pub boot: u64,
    /// `CLOCK_MONOTONIC`: without sleep, slewed.
    pub monotonic: u64,
    /// `CLOCK_MONOTONIC_RAW`: without sleep, as the hardware counts.
    pub raw: u64,
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct BootTime;

/// What reading all clocks may take: a comparison is as good as this.
const READING: u64 = 50_000;

fn nanos(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

impl Clock for BootTime {
    fn now(&self) -> Instant {
        Instant::from_nanos(nanos(ClockId::Boottime))
    }

    fn readings(&self) -> Option<Readings> {
        let raw = nanos(ClockId::MonotonicRaw);
        let boot = nanos(ClockId::Boottime);
        let monotonic = nanos(ClockId::Monotonic);
        let took = nanos(ClockId::MonotonicRaw).saturating_sub(raw);
        (took <= READING).then_some(Readings { boot, monotonic, raw })
    }
}

/// The wall clock, in nanoseconds since 1970: only to number lives, where nothing is remembered.
pub(crate) fn wall() -> u64 {
    nanos(ClockId::Realtime)
}

/// What is wrong with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockFault {
    /// It does not go as fast as the hardware's.
    Rate {
        /// How long it was watched, by the hardware's.
        watched: Duration,
        /// By how much it went wrong.
        off: Duration,
        /// What is tolerated, in millionths.
        drift_ppm: u32,
    },
    /// It was set back.
    Back {
        /// By so much.
        by: Duration,
    },
}

impl fmt::Display for ClockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { watched, off, drift_ppm } => write!(
                f,
                "the clock went wrong by {off} in {watched}, more than the {drift_ppm} millionths \
                 that leases allow for: is it being slewed? Wait, slew more gently, or choose a \
                 larger drift"
            ),
            Self::Back { by } => write!(f, "the clock went back by {by}"),
        }
    }
}

/// Compares the clocks, again and again.
#[derive(Clone, Debug)]
pub struct CrossCheck {
    drift_ppm: u32,
    since: Option<Readings>,
    last: Option<Readings>,
}

/// A comparison that began longer ago would forgive a short burst of wrong time.
const WINDOW: u64 = 10_000_000_000;

impl CrossCheck {
    /// Tolerates this drift, in millionths.
    pub fn new(drift_ppm: u32) -> Self {
        Self { drift_ppm, since: None, last: None }
    }

    /// Looks at the clocks.
    ///
    /// # Errors
    /// [`ClockFault`] if they cannot all be right; the next look starts afresh.
    pub fn look(&mut self, now: Readings) -> Result<(), ClockFault> {
        let found = self.compare(now);
        let old = self.since.is_none_or(|since| now.raw.saturating_sub(since.raw) >= WINDOW);
        if found.is_err() || old {
            self.since = Some(now);
        }
        self.last = Some(now);
        found
    }

    fn compare(&self, now: Readings) -> Result<(), ClockFault> {
        if let Some(last) = self.last
            && last.boot > now.boot
        {
            return Err(ClockFault::Back { by: Duration::from_nanos(last.boot - now.boot) });
        }
        let Some(since) = self.since else { return Ok(()) };
        let watched = now.raw.saturating_sub(since.raw);
        let off = now.monotonic.saturating_sub(since.monotonic).abs_diff(watched);
        // Both ends of the comparison may each be off by the time a reading takes.
        let allowed = watched / 1_000_000 * u64::from(self.drift_ppm) + 2 * READING;
        if off > allowed {
            let (watched, off) = (Duration::from_nanos(watched), Duration::from_nanos(off));
            return Err(ClockFault::Rate { watched, off, drift_ppm: self.drift_ppm });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn readings(boot: u64, monotonic: u64, raw: u64) -> Readings {
        Readings { boot, monotonic, raw }
    }

    /// Clocks of which the slewed ones run at this rate, in millionths, looked at every 10 ms.
    fn slewed_by(ppm: i64, seconds: u64) -> Result<(), ClockFault> {
        let mut check = CrossCheck::new(200);
        (0..seconds * 100).try_for_each(|tick| {
            let raw = SECOND + tick * 10_000_000;
            let slewed = raw.saturating_add_signed(raw as i64 / 1_000_000 * ppm);
            check.look(readings(slewed, slewed, raw))
        })
    }

    #[test]
    fn a_clock_within_the_drift_is_trusted_and_one_beyond_it_is_not_for_long() {
        assert_eq!(slewed_by(199, 100), Ok(()));
        assert_eq!(slewed_by(-199, 100), Ok(()));
        assert!(matches!(slewed_by(260, 5), Err(ClockFault::Rate { .. })));
        assert!(matches!(slewed_by(-80_000, 1), Err(ClockFault::Rate { .. })), "a daemon's slew");
    }

    #[test]
    fn sleep_is_no_fault_and_a_clock_that_goes_back_is() {
        let mut check = CrossCheck::new(200);
        assert_eq!(check.look(readings(SECOND, SECOND, SECOND)), Ok(()));
        let slept = readings(3600 * SECOND, SECOND + 1_000, SECOND + 1_000);
        assert_eq!(check.look(slept), Ok(()));
        let back = readings(3600 * SECOND - 7, SECOND + 2_000, SECOND + 2_000);
        assert_eq!(check.look(back), Err(ClockFault::Back { by: Duration::from_nanos(7) }));
    }

    #[test]
    fn the_clock_of_this_machine_goes_on() {
        let before = BootTime.now();
        assert!(BootTime.now() >= before && before > Instant::ZERO);
        assert!((0..1000).any(|_| BootTime.readings().is_some()));
    }
}
