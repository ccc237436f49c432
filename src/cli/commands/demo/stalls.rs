//! Measures whether the machine keeps up: a thread sleeps and measures how late it wakes.
//!
//! **Why.** Timeliness is promised only if processes react within σ. If the machine lets a thread
//! wait for longer, it causes a late leader, not the protocol.

use bellwether::core::Duration;
use bellwether::net::clock::{BootTime, Clock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// How long it sleeps.
const NAP: std::time::Duration = std::time::Duration::from_millis(2);

/// The thread that watches, until this is dropped.
#[derive(Debug)]
pub(super) struct Stalls {
    ended: Arc<AtomicBool>,
    longest: Arc<AtomicU64>,
}

impl Stalls {
    /// Begins to watch.
    pub(super) fn watch() -> io::Result<Self> {
        let stalls = Self { ended: Arc::default(), longest: Arc::default() };
        let (ended, longest) = (Arc::clone(&stalls.ended), Arc::clone(&stalls.longest));
        thread::Builder::new().name("stalls".to_owned()).spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let before = BootTime.now();
                thread::sleep(NAP);
                let slept = BootTime.now().since(before).as_nanos();
                let late = slept.saturating_sub(NAP.as_nanos() as u64);
                longest.fetch_max(late, Ordering::Relaxed);
            }
        })?;
        Ok(stalls)
    }

    /// The longest that it woke late.
    pub(super) fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest.load(Ordering::Relaxed))
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}
