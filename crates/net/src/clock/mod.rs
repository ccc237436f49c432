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
//! **Promise.** Every reading is compared with all readings that were returned before it was begun
//! ([`CrossCheck`]), whichever threads took them. So between any two of them the steered clock
//! gained or lost at most ρ/2 of the time between them on the hardware's, and ε. A jump of up to ε
//! passes unseen, and uses up ε: until ρ/2 has made up for it, what passes unseen is as much less.
//! The first reading that breaks this is a [`ClockFault`], from the start on and however fast the
//! clock is slewed. No reading is trusted from then on until the member has withdrawn. Sleep makes
//! no difference: it is that of `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`, which are steered alike.
//!
//! Two readings that were taken at the same time by two threads are not compared with each other.
//! No decision relies on both: a lease begins with a reading that the member's thread has returned,
//! and whoever asks whether it has ended begins to read the clock after that.
//!
//! Readings that took too long to compare, because their thread lost its processor each time, are
//! accepted twice in a row. The third in a row is a fault. What is accepted so may be off by any
//! jump until the next reading, which is compared with all that were compared before; the member's
//! thread reads the clock ten times a second at least.
//!
//! **No reader waits for another one**, and no fault depends on how long a thread is stopped while
//! it reads: readings are compared without a lock. A thread that is stopped between its reading and
//! the comparison compares with what was known before its reading, which stays right for any time.

mod cross_check;
mod date;

pub use cross_check::CrossCheck;
pub use date::{wall_time, written};

use bellwether_core::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    check: Option<CrossCheck>,
    /// How many readings in a row took too long to compare.
    missed: AtomicU32,
    /// Whether there is a fault.
    suspect: AtomicBool,
    /// The fault, which is locked only while there is one.
    fault: Mutex<Option<ClockFault>>,
    /// How often there was one.
    faults: AtomicU64,
}

/// So many readings in a row that could not be compared are a fault.
const MISSED_MAX: u32 = 3;

impl CheckedClock {
    pub(crate) fn new(clock: Arc<dyn Clock>, check: Option<CrossCheck>) -> Self {
        Self {
            clock,
            latest: AtomicU64::new(0),
            check,
            missed: AtomicU32::new(0),
            suspect: AtomicBool::new(false),
            fault: Mutex::new(None),
            faults: AtomicU64::new(0),
        }
    }

    /// Allows clocks to drift by this from now on, in millionths.
    pub(crate) fn allow(&self, drift_ppm: u32) {
        self.check.iter().for_each(|check| check.allow(drift_ppm));
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

    /// Trusts readings again from the next one on, after the member has withdrawn. Only then the
    /// comparison starts afresh, so nothing is trusted before.
    pub(crate) fn trust_again(&self) {
        self.check.iter().for_each(CrossCheck::forget);
        self.missed.store(0, Ordering::Release);
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
        // Again only if the member's thread changed what is compared meanwhile.
        for _ in 0..TRIES {
            let before = check.before();
            let Some(readings) = self.clock.readings() else { break };
            let Some(compared) = check.compare(&before, readings) else { continue };
            self.missed.store(0, Ordering::Release);
            if let Err(fault) = compared {
                self.distrust(fault);
            }
            check.record(&before, readings);
            return Instant::from_nanos(readings.boot);
        }
        if self.missed.fetch_add(1, Ordering::AcqRel) + 1 >= MISSED_MAX {
            self.distrust(ClockFault::Unreadable);
        }
        self.clock.now()
    }
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

#[cfg(test)]
mod tests;
