//! The machine's clock, compared with the hardware's counter at every reading.
//!
//! **Source.** `CLOCK_BOOTTIME`, which runs while the machine sleeps: after a sleep a leader must
//! find its lease expired. (`CLOCK_MONOTONIC`, the only one in the standard library, stops during
//! sleep.)
//!
//! **Assumptions.** Leases hold if clocks drift by at most ρ, and are off by at most ε beyond that.
//! Half of ρ is left to the hardware: its counter, `CLOCK_MONOTONIC_RAW`, which is not steered, is
//! right within ρ/2. The other half is left to the steering of the clock by a time daemon. That is
//! not guaranteed: a daemon may slew the clock by far more. (The steering that `adjtimex` reports
//! does not help: a daemon corrects the error of the hardware and slews with the same field.)
//!
//! **Promise.** Every reading is compared with all readings before it ([`CrossCheck`]). Readings
//! that cannot be compared, because a thread was stopped while it compared, are accepted for 10 ms
//! at most. Between any two compared and trusted readings, the steered clock gained or lost at most
//! ρ/2 of the time between them on the hardware's, and ε. The first reading that breaks this is a
//! [`ClockFault`], from the start on and however fast the clock is slewed. No reading is trusted
//! from then on until the member has withdrawn. Sleep makes no difference: it is that of
//! `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`, which are steered alike.

mod date;

pub use date::{wall_time, written};

use bellwether_core::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A source of time: the machine, or a test.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Instant;

    /// Readings of all clocks at about the same time; `None` if reading took too long to compare
    /// them.
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

/// The longest time to read all clocks, which bounds the error of a comparison.
const READING: u64 = 50_000;
/// How often to try again if the thread was preempted in between.
const TRIES: u32 = 4;

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
        (0..TRIES).find_map(|_| {
            let raw = nanos(ClockId::MonotonicRaw);
            let boot = nanos(ClockId::Boottime);
            let monotonic = nanos(ClockId::Monotonic);
            let took = nanos(ClockId::MonotonicRaw).saturating_sub(raw);
            (took <= READING).then_some(Readings { boot, monotonic, raw })
        })
    }
}

/// The clock of a member, compared at every reading. It never goes back, whichever thread reads it:
/// the time of one processor may be behind that of another, and a lease that has ended for one
/// thread must have ended for the next.
pub(crate) struct CheckedClock {
    clock: Arc<dyn Clock>,
    latest: AtomicU64,
    /// The comparison; `None` if no lease depends on the clock's rate.
    check: Option<Mutex<Suspicion>>,
    /// The last reading that was compared.
    compared: AtomicU64,
    /// Whether there is a fault.
    suspect: AtomicBool,
    /// The fault; it has a lock of its own, so that no thread waits for a comparison.
    fault: Mutex<Option<ClockFault>>,
    /// How often there was one.
    faults: AtomicU64,
}

struct Suspicion {
    check: CrossCheck,
    /// How many readings in a row took too long to compare.
    missed: u32,
}

/// So many readings in a row that could not be compared are a fault.
const MISSED_MAX: u32 = 3;
/// How often to try while another thread compares, which takes less than a microsecond.
const SPINS: u32 = 256;

impl CheckedClock {
    pub(crate) fn new(clock: Arc<dyn Clock>, check: Option<CrossCheck>) -> Self {
        Self {
            clock,
            latest: AtomicU64::new(0),
            check: check.map(|check| Mutex::new(Suspicion { check, missed: 0 })),
            compared: AtomicU64::new(0),
            suspect: AtomicBool::new(false),
            fault: Mutex::new(None),
            faults: AtomicU64::new(0),
        }
    }

    /// Allows clocks to drift by this from now on, in millionths.
    pub(crate) fn allow(&self, drift_ppm: u32) {
        if let Some(check) = &self.check {
            check.lock().unwrap_or_else(PoisonError::into_inner).check.allow(drift_ppm);
        }
    }

    /// Whether a reading was faulty and the member has not withdrawn yet.
    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Acquire)
    }

    /// The fault, if there is one.
    pub(crate) fn fault(&self) -> Option<ClockFault> {
        let fault = || *self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_suspect().then(|| fault().unwrap_or(ClockFault::Unreadable))
    }

    /// Trusts readings again from the next one on, after the member has withdrawn.
    pub(crate) fn trust_again(&self) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.suspect.store(false, Ordering::Release);
    }

    /// How often readings were not trusted any more.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.load(Ordering::Acquire)
    }

    fn distrust(&self, fault: ClockFault) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        let again = self.suspect.swap(true, Ordering::AcqRel);
        self.faults.fetch_add(u64::from(!again), Ordering::AcqRel);
    }

    /// Reads the clocks and compares them.
    fn read(&self) -> Instant {
        let Some(check) = &self.check else { return self.clock.now() };
        let Some(mut suspicion) = patiently(check) else {
            // Another thread was stopped while it compared. Do not wait for it; but a clock that
            // was not compared for too long is not trusted either.
            let now = self.clock.now();
            if now.as_nanos().saturating_sub(self.compared.load(Ordering::Acquire)) > UNCOMPARED {
                self.distrust(ClockFault::Unreadable);
            }
            return now;
        };
        let Some(readings) = self.clock.readings() else {
            suspicion.missed += 1;
            if suspicion.missed >= MISSED_MAX {
                self.distrust(ClockFault::Unreadable);
            }
            return self.clock.now();
        };
        suspicion.missed = 0;
        self.compared.store(readings.boot, Ordering::Release);
        if let Err(fault) = suspicion.check.look(readings) {
            self.distrust(fault);
        }
        Instant::from_nanos(readings.boot)
    }
}

/// A clock not compared for longer than this is not trusted: a slew of 10 % gains as much in this
/// time as a `fast` lease can tolerate.
const UNCOMPARED: u64 = 10_000_000;

/// Takes the lock, unless the thread that holds it seems to be stopped.
fn patiently(check: &Mutex<Suspicion>) -> Option<MutexGuard<'_, Suspicion>> {
    (0..SPINS).find_map(|_| match check.try_lock() {
        Ok(suspicion) => Some(suspicion),
        // The value is consistent at any time, also if a thread panicked.
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::hint::spin_loop();
            None
        }
    })
}

impl Clock for CheckedClock {
    fn now(&self) -> Instant {
        let read = self.read().as_nanos();
        Instant::from_nanos(self.latest.fetch_max(read, Ordering::AcqRel).max(read))
    }

    fn readings(&self) -> Option<Readings> {
        self.clock.readings()
    }
}

/// The wall clock, in nanoseconds since 1970: only to number incarnations without stored state, and
/// for timestamps that people read.
pub(crate) fn wall() -> u64 {
    nanos(ClockId::Realtime)
}

/// A fault of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockFault {
    /// It gained or lost too much on the hardware's counter.
    Rate {
        /// How long it was compared, by the hardware's counter.
        watched: Duration,
        /// How much it gained or lost.
        off: Duration,
        /// The tolerated rate, in millionths.
        tolerated: u32,
    },
    /// Reading the clocks takes too long to compare them.
    Unreadable,
    /// It was set back.
    Back {
        /// By this duration.
        by: Duration,
    },
}

impl fmt::Display for ClockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { watched, off, tolerated } => write!(
                f,
                "the clock gained or lost {off} on the hardware's in {watched}, more than \
                 {tolerated} millionths, half of drift-ppm: is it being slewed? Wait, slew more \
                 gently, or choose a larger drift-ppm"
            ),
            Self::Unreadable => f.write_str(
                "reading the clocks takes too long to compare them: is the machine \
                 overloaded, or its clock source slow?",
            ),
            Self::Back { by } => write!(f, "the clock went back by {by}"),
        }
    }
}

/// Compares each reading of the clocks with all readings before it.
///
/// Let G be what the steered clock has gained on the hardware's counter, and t that counter.
/// Between two readings x and y it may gain a(t_y − t_x) + ε, that is, `G − at` may rise by ε at
/// most; so only its least value must be stored. Likewise `G + at` may fall by ε. The measured G is
/// too large by the time that reading took, between zero and the accepted maximum, so a measured
/// rise must stay below ε by that maximum.
#[derive(Clone, Debug)]
pub struct CrossCheck {
    /// a, in millionths.
    tolerated: u32,
    /// ε, less the error of one comparison.
    error: u64,
    /// The readings where `G − at` was least and `G + at` was greatest.
    least: Option<Readings>,
    greatest: Option<Readings>,
    last: Option<Readings>,
}

impl CrossCheck {
    /// A comparison for leases that allow clocks to drift by this, in millionths, and to be off by
    /// `error` beyond that.
    pub fn new(drift_ppm: u32, error: Duration) -> Self {
        Self {
            tolerated: drift_ppm / 2,
            // A comparison sees the true error, less the time that reading takes.
            error: error.as_nanos().saturating_sub(READING),
            least: None,
            greatest: None,
            last: None,
        }
    }

    /// Allows clocks to drift by this from now on, in millionths. If that is less than before,
    /// earlier readings count no longer: clocks were allowed to drift more then.
    pub fn allow(&mut self, drift_ppm: u32) {
        let tolerated = drift_ppm / 2;
        if tolerated < self.tolerated {
            (self.least, self.greatest) = (None, None);
        }
        self.tolerated = tolerated;
    }

    /// Compares a reading of the clocks with all before it.
    ///
    /// # Errors
    /// [`ClockFault`] if they cannot all be right; the next call starts afresh.
    pub fn look(&mut self, now: Readings) -> Result<(), ClockFault> {
        let found = self.compare(now);
        if found.is_err() {
            (self.least, self.greatest) = (None, None);
        }
        let (low, high) = (self.less(now), self.more(now));
        if self.least.is_none_or(|least| low <= self.less(least)) {
            self.least = Some(now);
        }
        if self.greatest.is_none_or(|greatest| high >= self.more(greatest)) {
            self.greatest = Some(now);
        }
        self.last = Some(now);
        found
    }

    fn compare(&self, now: Readings) -> Result<(), ClockFault> {
        if let Some(last) = self.last
            && last.boot > now.boot + self.error
        {
            return Err(ClockFault::Back { by: Duration::from_nanos(last.boot - now.boot) });
        }
        let error = i128::from(self.error) * MILLION;
        if let Some(since) = self.least
            && self.less(now) - self.less(since) > error
        {
            return Err(self.rate(since, now));
        }
        if let Some(since) = self.greatest
            && self.more(since) - self.more(now) > error
        {
            return Err(self.rate(since, now));
        }
        Ok(())
    }

    /// `G − at`, in millionths of a nanosecond.
    fn less(&self, at: Readings) -> i128 {
        gained(at) * MILLION - i128::from(self.tolerated) * i128::from(at.raw)
    }

    /// `G + at`, likewise.
    fn more(&self, at: Readings) -> i128 {
        gained(at) * MILLION + i128::from(self.tolerated) * i128::from(at.raw)
    }

    fn rate(&self, since: Readings, now: Readings) -> ClockFault {
        let off = (gained(now) - gained(since)).unsigned_abs();
        ClockFault::Rate {
            watched: Duration::from_nanos(now.raw.saturating_sub(since.raw)),
            off: Duration::from_nanos(u64::try_from(off).unwrap_or(u64::MAX)),
            tolerated: self.tolerated,
        }
    }
}

const MILLION: i128 = 1_000_000;

/// The time that the steered clock has gained on the hardware's counter.
fn gained(at: Readings) -> i128 {
    i128::from(at.monotonic) - i128::from(at.raw)
}

#[cfg(test)]
mod tests;
