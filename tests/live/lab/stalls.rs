//! How late this machine wakes a thread: what a bound on reaction has to be forgiven.
//!
//! **Assumptions.** A thread on every core that sleeps a millisecond is woken as late as a member
//! on that core would be.

use super::clock::now;
use bellwether::core::{Duration, Instant};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

const NAP: Duration = Duration::from_millis(1);
/// What every machine takes for a wake-up, and no stall.
const USUAL: Duration = Duration::from_millis(1);

/// One wake-up that came late.
#[derive(Clone, Copy)]
struct Stall {
    ended: Instant,
    length: Duration,
}

/// A watch on every core.
pub(crate) struct Stalls {
    seen: Arc<Mutex<Vec<Stall>>>,
    stop: Arc<AtomicBool>,
    watches: Vec<JoinHandle<()>>,
}

impl Stalls {
    pub(crate) fn watch() -> Self {
        let (seen, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let watches = (0..cores)
            .map(|core| {
                let (seen, stop) = (Arc::clone(&seen), Arc::clone(&stop));
                std::thread::spawn(move || nap(core, &seen, &stop))
            })
            .collect();
        Self { seen, stop, watches }
    }

    fn since(&self, from: Instant) -> Vec<Duration> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().filter(|stall| stall.ended > from).map(|stall| stall.length).collect()
    }

    /// The longest wake-up since then, of any core.
    pub(crate) fn longest(&self, from: Instant) -> Duration {
        self.since(from).into_iter().max().unwrap_or(Duration::ZERO)
    }

    /// All that was lost since then, on all cores: a failover is a chain of reactions, and each may
    /// have met a stall.
    pub(crate) fn total(&self, from: Instant) -> Duration {
        self.since(from).into_iter().fold(Duration::ZERO, |sum, length| sum + length)
    }
}

fn nap(core: usize, seen: &Mutex<Vec<Stall>>, stop: &AtomicBool) {
    let mut here = CpuSet::new();
    here.set(core);
    // Where the machine forbids it, the watch runs wherever it is put.
    let _ = sched_setaffinity(None, &here);
    while !stop.load(Ordering::Relaxed) {
        let begun = now();
        super::clock::sleep(NAP);
        let ended = now();
        let length = ended.since(begun).saturating_sub(NAP);
        if length > USUAL {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(Stall { ended, length });
        }
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for watch in self.watches.drain(..) {
            let _ = watch.join();
        }
    }
}
