//! How late this machine wakes a thread: what a bound on reaction has to be forgiven.
//!
//! **Assumptions.** A thread on every core that sleeps a millisecond is woken as late as a member
//! on that core would be.

use super::clock::{now, sleep};
use bellwether::core::{Duration, Instant};
use bellwether::net::priority::{Children, Class, raise};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

const NAP: Duration = Duration::from_millis(1);
/// What every machine takes for a wake-up, and no stall.
const USUAL: Duration = Duration::from_millis(1);

/// One wake-up that came late.
#[derive(Clone, Copy)]
struct Stall {
    ended: Instant,
    length: Duration,
}

/// A watch on every core, for as long as the laboratory runs.
#[derive(Default)]
pub(crate) struct Stalls(Mutex<Vec<Stall>>);

/// The one watch there is, from the first time it is asked for.
pub(crate) fn stalls() -> &'static Stalls {
    static STALLS: OnceLock<Stalls> = OnceLock::new();
    static WATCHED: Once = Once::new();
    let stalls = STALLS.get_or_init(Stalls::default);
    WATCHED.call_once(|| watch(stalls, || ()));
    stalls
}

/// The same in real time, with the priority of a guardian: whatever else runs, this is woken,
/// unless the machine as a whole stands still.
pub(crate) fn standstills() -> &'static Stalls {
    static STALLS: OnceLock<Stalls> = OnceLock::new();
    static WATCHED: Once = Once::new();
    let stalls = STALLS.get_or_init(Stalls::default);
    WATCHED.call_once(|| {
        watch(stalls, || {
            let _ = raise(Class::RealTime, Children::Normal); // or it sees stalls of any kind
        });
    });
    stalls
}

fn watch(stalls: &'static Stalls, prepare: fn()) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for core in 0..cores {
        std::thread::spawn(move || {
            prepare();
            nap(core, stalls);
        });
    }
}

impl Stalls {
    /// One that ended now.
    pub(crate) fn note(&self, ended: Instant, length: Duration) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(Stall { ended, length });
    }

    /// The late wake-ups since then: when each ended, and its length.
    pub(crate) fn since(&self, from: Instant) -> impl Iterator<Item = (Instant, Duration)> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let later: Vec<Stall> = seen.iter().filter(|stall| stall.ended > from).copied().collect();
        later.into_iter().map(|stall| (stall.ended, stall.length))
    }

    /// The longest since then, on any core.
    pub(crate) fn longest(&self, from: Instant) -> Duration {
        self.longest_between(from, Instant::NEVER)
    }

    /// The longest that ended in between.
    pub(crate) fn longest_between(&self, from: Instant, to: Instant) -> Duration {
        let within = self.since(from).filter(|(ended, _)| *ended <= to);
        within.map(|(_, length)| length).max().unwrap_or(Duration::ZERO)
    }

    /// All that was lost since then, on all cores: a failover is a chain of reactions, and each may
    /// have met a stall.
    pub(crate) fn total(&self, from: Instant) -> Duration {
        self.total_between(from, Instant::NEVER)
    }

    /// What was lost in between, on all cores: of a stall that began before or ended after, a part.
    pub(crate) fn total_between(&self, from: Instant, to: Instant) -> Duration {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = |stall: &Stall| {
            let begun = stall.ended - stall.length;
            stall.ended.min(to).since(begun.max(from))
        };
        seen.iter().map(lost).fold(Duration::ZERO, |sum, length| sum + length)
    }
}

fn nap(core: usize, stalls: &Stalls) {
    let mut here = CpuSet::new();
    here.set(core);
    // Where the machine forbids it, the watch runs wherever it is put.
    let _ = sched_setaffinity(None, &here);
    loop {
        let begun = now();
        sleep(NAP);
        let ended = now();
        let length = ended.since(begun).saturating_sub(NAP);
        if length > USUAL {
            stalls.note(ended, length);
        }
    }
}
