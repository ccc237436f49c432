//! The comparison of the clocks, for any number of threads at once and without a lock.
//!
//! **Source.** Our own. Let G be what the steered clock has gained on the hardware's counter, and
//! A(t) what it may have gained or lost until t, by that counter: A grows by ρ/2 of it. Between two
//! readings x and y the clock may gain A(t_y) − A(t_x) + ε, that is, `G − A` may rise by ε at most;
//! so only its least value must be stored. Likewise `G + A` may fall by ε. If another ρ is agreed
//! on, A goes on from where it is, with another slope: what was used up of ε stays used up, and
//! what was allowed before stays allowed.
//!
//! The measured G is too large by the time that reading took, between zero and the accepted
//! maximum, so a measured rise must stay below ε by that maximum.
//!
//! **Promise.** A reader takes the two values *before* it reads the clocks, and records its own
//! after that. So it never compares itself with a later reading, which would be allowed to differ
//! from it by more. And whatever was recorded before it took them counts. All three steps take
//! constant time, and a thread that is stopped between them hinders nobody.

use super::{ClockFault, READING, Readings};
use bellwether_core::Duration;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// Compares each reading of the clocks with all readings before it.
#[derive(Debug)]
pub struct CrossCheck {
    /// ε, less the error of one comparison.
    error: Duration,
    /// The present slope of A, and the next or the former one. Each change counts `version` up,
    /// and its last bit says which of the two is the present one.
    slopes: [Slope; 2],
    version: AtomicUsize,
    /// Held by whoever changes the slope. No reader waits for it.
    changing: Mutex<()>,
    /// The least `G − A` and the greatest `G + A`, in picoseconds.
    least: AtomicI64,
    greatest: AtomicI64,
    /// The hardware's counter at these two, to say how long the clock was watched.
    least_at: AtomicU64,
    greatest_at: AtomicU64,
    /// The latest reading: with sleep, and of the hardware's counter.
    boot: AtomicU64,
    raw: AtomicU64,
}

/// From where on A grows how fast.
#[derive(Debug, Default)]
struct Slope {
    /// The hardware's counter at the beginning.
    since: AtomicU64,
    /// A there, in picoseconds.
    allowed: AtomicI64,
    /// How fast it grows, in millionths.
    tolerated: AtomicU32,
}

/// What was known before the clocks were read.
pub(crate) struct Before {
    version: usize,
    since: u64,
    allowed: i64,
    tolerated: u32,
    least: i64,
    greatest: i64,
    boot: u64,
}

impl Before {
    /// A at this value of the hardware's counter, in picoseconds.
    fn allowed_at(&self, raw: u64) -> i64 {
        let gone = i128::from(raw) - i128::from(self.since);
        clamped(i128::from(self.allowed) + gone * i128::from(self.tolerated) / 1_000)
    }

    /// `G − A` and `G + A`.
    fn less_and_more(&self, at: Readings) -> (i64, i64) {
        let (gained, allowed) = (gained(at), self.allowed_at(at.raw));
        (gained.saturating_sub(allowed), gained.saturating_add(allowed))
    }
}

impl CrossCheck {
    /// A comparison for leases that allow clocks to drift by this, in millionths, and to be off by
    /// `error` beyond that.
    pub fn new(drift_ppm: u32, error: Duration) -> Self {
        let slope = Slope { tolerated: AtomicU32::new(drift_ppm / 2), ..Slope::default() };
        Self {
            // A comparison sees the true error, less the time that reading takes.
            error: Duration::from_nanos(error.as_nanos().saturating_sub(READING)),
            slopes: [slope, Slope::default()],
            version: AtomicUsize::new(0),
            changing: Mutex::new(()),
            least: AtomicI64::new(i64::MAX),
            greatest: AtomicI64::new(i64::MIN),
            least_at: AtomicU64::new(0),
            greatest_at: AtomicU64::new(0),
            boot: AtomicU64::new(0),
            raw: AtomicU64::new(0),
        }
    }

    /// Allows clocks to drift by this from the last reading on, in millionths. Before, what was
    /// allowed then counts.
    pub fn allow(&self, drift_ppm: u32) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.before();
        if before.tolerated != drift_ppm / 2 {
            self.set_slope(&before, drift_ppm / 2);
        }
    }

    /// Starts afresh: readings so far count no longer.
    pub(crate) fn forget(&self) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.least.store(i64::MAX, SeqCst);
        self.greatest.store(i64::MIN, SeqCst);
        self.boot.store(0, SeqCst);
        // Whoever knew more than this before its reading reads again.
        let before = self.before();
        self.set_slope(&before, before.tolerated);
    }

    fn set_slope(&self, before: &Before, tolerated: u32) {
        let (version, since) = (before.version.wrapping_add(1), self.raw.load(SeqCst));
        let slope = &self.slopes[version & 1];
        slope.since.store(since, SeqCst);
        slope.allowed.store(before.allowed_at(since), SeqCst);
        slope.tolerated.store(tolerated, SeqCst);
        self.version.store(version, SeqCst);
    }

    /// Compares a reading of the clocks with all before it.
    ///
    /// # Errors
    /// [`ClockFault`] if they cannot all be right; the next call starts afresh.
    pub fn look(&self, now: Readings) -> Result<(), ClockFault> {
        let before = self.before();
        let compared = self.compare(&before, now).unwrap_or(Ok(()));
        if compared.is_err() {
            self.forget();
        }
        self.record(&before, now);
        compared
    }

    /// What to compare the next reading with: take it before the clocks are read.
    pub(crate) fn before(&self) -> Before {
        // If the slope changes meanwhile, these may not fit together; `compare` sees that.
        let version = self.version.load(SeqCst);
        let slope = &self.slopes[version & 1];
        Before {
            version,
            since: slope.since.load(SeqCst),
            allowed: slope.allowed.load(SeqCst),
            tolerated: slope.tolerated.load(SeqCst),
            least: self.least.load(SeqCst),
            greatest: self.greatest.load(SeqCst),
            boot: self.boot.load(SeqCst),
        }
    }

    /// Compares a reading with what was known before it; `None` if the slope changed meanwhile:
    /// then the clocks must be read again.
    pub(crate) fn compare(&self, before: &Before, now: Readings) -> Option<Result<(), ClockFault>> {
        if self.version.load(SeqCst) != before.version {
            return None;
        }
        let nanos = self.error.as_nanos();
        if before.boot > now.boot.saturating_add(nanos) {
            return Some(Err(ClockFault::Back {
                by: Duration::from_nanos(before.boot - now.boot),
            }));
        }
        let (less, more) = before.less_and_more(now);
        let (risen, fallen) =
            (less.saturating_sub(before.least), before.greatest.saturating_sub(more));
        let error = clamped(i128::from(nanos) * 1_000);
        let fault = |beyond: i64, since: &AtomicU64| {
            let watched = now.raw.saturating_sub(since.load(SeqCst));
            let usual = i128::from(watched) * i128::from(before.tolerated) / 1_000;
            let off = (i128::from(beyond) + usual) / 1_000;
            ClockFault::Rate {
                watched: Duration::from_nanos(watched),
                off: Duration::from_nanos(u64::try_from(off).unwrap_or(u64::MAX)),
                tolerated: before.tolerated,
            }
        };
        Some(if risen > error {
            Err(fault(risen, &self.least_at))
        } else if fallen > error {
            Err(fault(fallen, &self.greatest_at))
        } else {
            Ok(())
        })
    }

    /// Makes a reading count for later ones.
    pub(crate) fn record(&self, before: &Before, now: Readings) {
        let (less, more) = before.less_and_more(now);
        if self.least.fetch_min(less, SeqCst) >= less {
            self.least_at.store(now.raw, SeqCst);
        }
        if self.greatest.fetch_max(more, SeqCst) <= more {
            self.greatest_at.store(now.raw, SeqCst);
        }
        self.boot.fetch_max(now.boot, SeqCst);
        self.raw.fetch_max(now.raw, SeqCst);
    }
}

/// The time that the steered clock has gained on the hardware's counter, in picoseconds: 106 days
/// fit.
fn gained(at: Readings) -> i64 {
    clamped((i128::from(at.monotonic) - i128::from(at.raw)) * 1_000)
}

fn clamped(wide: i128) -> i64 {
    i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
}
