//! How late this machine wakes threads: what a bound on a reaction is forgiven.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{available_parallelism, sleep, spawn};
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(1);
/// A nap that is longer by less is no stall.
const USUAL: Duration = Duration::from_millis(1);

/// The stalls so far: when each ended, and how long it was.
#[derive(Clone, Default)]
pub(crate) struct Stalls(Arc<Mutex<Vec<(Instant, Duration)>>>);

impl Stalls {
    /// Watches with as many threads as there are cores, to the end of the program.
    pub(crate) fn watch() -> Self {
        let stalls = Self::default();
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            let seen = stalls.clone();
            spawn(move || nap(&seen));
        }
        stalls
    }

    /// All stalls that ended in between, in sum: a failover is a chain of reactions, and each may
    /// have met a stall.
    pub(crate) fn between(&self, from: Instant, to: Instant) -> Duration {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(ended, _)| *ended > from && *ended <= to).map(|stall| stall.1).sum()
    }
}

fn nap(stalls: &Stalls) {
    loop {
        let begun = Instant::now();
        sleep(NAP);
        let late = begun.elapsed().saturating_sub(NAP);
        if late > USUAL {
            let mut all = stalls.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((Instant::now(), late));
        }
    }
}
