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
//! **Promise.** [`CrossCheck`] notices when the rate of the one against the other changes by more
//! than ρ, or is beyond what any clock is off by, and when the clock is set back. A steady
//! difference within that is the hardware's own, which the daemon has learnt to make up for. Sleep
//! is no difference: it is that of `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`, which are slewed alike.

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
    /// It does not go as it did, or as any clock does.
    Rate {
        /// How long it was watched, by the hardware's.
        watched: Duration,
        /// By how much it went wrong.
        off: Duration,
        /// What is tolerated, in millionths.
        tolerated: u32,
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
            Self::Rate { watched, off, tolerated } => write!(
                f,
                "the clock went wrong by {off} in {watched}, more than {tolerated} millionths: is \
                 it being slewed? Wait, slew more gently, or choose a larger --drift-ppm"
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
    /// By how much the clock gains on the hardware's in a second, in nanoseconds, once known.
    steady: Option<i64>,
}

/// A comparison that began longer ago would forgive a short burst of wrong time.
const WINDOW: u64 = 10_000_000_000;
/// No clock of a computer is off by more, in millionths, and no daemon steadily corrects more.
const ANY_CLOCK: u32 = 1_000;

impl CrossCheck {
    /// Tolerates changes of the rate up to this, in millionths.
    pub fn new(drift_ppm: u32) -> Self {
        Self { drift_ppm, since: None, last: None, steady: None }
    }

    /// Looks at the clocks.
    ///
    /// # Errors
    /// [`ClockFault`] if they cannot all be right; the next look starts afresh.
    pub fn look(&mut self, now: Readings) -> Result<(), ClockFault> {
        let found = self.compare(now);
        let since = *self.since.get_or_insert(now);
        let watched = now.raw.saturating_sub(since.raw);
        if found.is_err() {
            self.since = Some(now);
        } else if watched >= WINDOW {
            self.steady = Some(gained(since, now).saturating_mul(1_000_000) / millionths(watched));
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
        // Over the window, for what goes on slowly; since the last look, for a burst.
        [self.since, self.last].into_iter().flatten().try_for_each(|since| self.went(since, now))
    }

    /// How the clock went since then.
    fn went(&self, since: Readings, now: Readings) -> Result<(), ClockFault> {
        let watched = now.raw.saturating_sub(since.raw);
        let gained = gained(since, now);
        let usual = self.steady.unwrap_or(0).saturating_mul(millionths(watched)) / 1_000_000;
        let any = self.drift_ppm.max(ANY_CLOCK);
        let change = if self.steady.is_some() { self.drift_ppm } else { any };
        for (off, tolerated) in [(gained.abs_diff(usual), change), (gained.unsigned_abs(), any)] {
            // Both ends of the comparison may each be off by the time a reading takes.
            if off > watched / 1_000_000 * u64::from(tolerated) + 2 * READING {
                let (watched, off) = (Duration::from_nanos(watched), Duration::from_nanos(off));
                return Err(ClockFault::Rate { watched, off, tolerated });
            }
        }
        Ok(())
    }
}

/// By how much the slewed clock gained on the hardware's.
fn gained(since: Readings, now: Readings) -> i64 {
    let slewed = now.monotonic.wrapping_sub(since.monotonic).cast_signed();
    slewed.wrapping_sub(now.raw.wrapping_sub(since.raw).cast_signed())
}

/// A length in nanoseconds in units of a millionth of a second, so that products stay small.
fn millionths(nanos: u64) -> i64 {
    i64::try_from(nanos / 1_000).unwrap_or(i64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn readings(boot: u64, monotonic: u64, raw: u64) -> Readings {
        Readings { boot, monotonic, raw }
    }

    /// Clocks of which the slewed ones gain this much, in millionths, for this many seconds each,
    /// looked at every 10 ms. How many seconds it took to find a fault.
    fn slewed_by(rates: &[(i64, u64)]) -> Option<u64> {
        let mut check = CrossCheck::new(200);
        let (mut raw, mut slewed) = (SECOND, SECOND);
        for (ppm, seconds) in rates {
            for _ in 0..seconds * 100 {
                raw += 10_000_000;
                slewed = (slewed + 10_000_000).saturating_add_signed(10 * ppm);
                if check.look(readings(slewed, slewed, raw)).is_err() {
                    return Some(raw / SECOND - 1);
                }
            }
        }
        None
    }

    #[test]
    fn a_steady_difference_is_trusted_and_a_change_beyond_the_drift_is_not_for_long() {
        for steady in [-450, 0, 450] {
            assert_eq!(slewed_by(&[(steady, 100)]), None, "the hardware's own");
            assert_eq!(slewed_by(&[(steady, 100), (steady + 190, 100)]), None, "within the drift");
            assert_eq!(slewed_by(&[(steady, 100), (steady + 260, 100)]), Some(101));
            assert_eq!(slewed_by(&[(steady, 100), (steady - 260, 100)]), Some(101));
            assert_eq!(slewed_by(&[(steady, 100), (80_000, 1)]), Some(100), "a daemon in a hurry");
        }
        assert_eq!(slewed_by(&[(0, 9), (20_000, 1)]), Some(9), "a burst, after a quiet time");
        assert_eq!(slewed_by(&[(1_300, 10)]), Some(0), "no clock is that wrong");
        assert_eq!(slewed_by(&[(950, 10)]), None);
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
