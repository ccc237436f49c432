//! How many connections there are, and which of them give way.
//!
//! **Promise.** At most [`STREAMS_MAX`] connections are event streams and [`PLAIN_MAX`] are others;
//! of the others the oldest gives way to a new one. So a question is answered however many
//! connections are slow or idle. Fewer streams are permitted if the system has fewer descriptors:
//! [`RESERVED`] are left for the member.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// The most connections that are event streams.
pub const STREAMS_MAX: usize = 1_000;
/// The most other connections.
pub const PLAIN_MAX: usize = 128;
/// Descriptors that are left for the election, the control socket, hooks and files.
const RESERVED: usize = 256;

/// The connections.
#[derive(Debug)]
pub(crate) struct Doors {
    streams_max: usize,
    /// Those that are no streams, by their number: the oldest is the first.
    plain: Mutex<BTreeMap<u64, AbortHandle>>,
    next: AtomicU64,
    streams: AtomicUsize,
    /// How many connections gave way, and how many streams were refused.
    gave_way: AtomicU64,
    refused: AtomicU64,
}

impl Doors {
    /// With as many streams as the system has descriptors for.
    pub(crate) fn new() -> Self {
        let wanted = STREAMS_MAX + PLAIN_MAX + RESERVED;
        let room = descriptors(wanted).saturating_sub(PLAIN_MAX + RESERVED);
        Self {
            streams_max: room.min(STREAMS_MAX),
            plain: Mutex::default(),
            next: AtomicU64::new(0),
            streams: AtomicUsize::new(0),
            gave_way: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    fn plain(&self) -> MutexGuard<'_, BTreeMap<u64, AbortHandle>> {
        self.plain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new connection.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A connection has begun; the oldest gives way if there are too many.
    pub(crate) fn enter(&self, number: u64, connection: AbortHandle) {
        let mut plain = self.plain();
        plain.insert(number, connection);
        if plain.len() > PLAIN_MAX
            && let Some((_, oldest)) = plain.pop_first()
        {
            drop(plain);
            oldest.abort();
            self.gave_way.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A connection has ended.
    pub(crate) fn leave(&self, number: u64) {
        self.plain().remove(&number);
    }

    /// A connection becomes a stream, unless there are too many.
    pub(crate) fn stream(self: &Arc<Self>, number: u64) -> Option<Streaming> {
        let more = |count| (count < self.streams_max).then_some(count + 1);
        if self.streams.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.leave(number);
        Some(Streaming(Arc::clone(self)))
    }

    /// The connections now: plain ones, and streams.
    pub(crate) fn open(&self) -> [usize; 2] {
        [self.plain().len(), self.streams.load(Ordering::Acquire)]
    }

    /// How many connections gave way, and how many streams were refused.
    pub(crate) fn turned_away(&self) -> [u64; 2] {
        [&self.gave_way, &self.refused].map(|count| count.load(Ordering::Relaxed))
    }
}

/// The place of a stream, given back when dropped.
#[derive(Debug)]
pub(crate) struct Streaming(Arc<Doors>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How many descriptors this process may have; tries to have as many as are wanted.
fn descriptors(wanted: usize) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let count = |limit: Option<u64>| limit.map_or(usize::MAX, |most| most as usize);
    if count(current) >= wanted {
        return count(current);
    }
    let more = wanted.min(count(maximum));
    let raised = Rlimit { current: Some(more as u64), maximum };
    let raised = setrlimit(Resource::Nofile, raised).is_ok();
    if raised { more } else { count(current) }
}
