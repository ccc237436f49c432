//! Who was seen to lead when, by all members of a cluster.

use crate::lab::clock::now;
use ::bellwether::core::{Duration, Instant};
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One change.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    id: u64,
    leads: bool,
}

#[derive(Default)]
struct Seen {
    changes: Vec<Change>,
    leading: BTreeSet<u64>,
}

/// The changes so far, in the order of time.
#[derive(Clone, Default)]
pub(crate) struct Claims(Arc<(Mutex<Seen>, Condvar)>);

impl Claims {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether a member is seen to lead now.
    pub(crate) fn note(&self, id: u64, leads: bool) {
        let mut seen = self.seen();
        let news = if leads { seen.leading.insert(id) } else { seen.leading.remove(&id) };
        if news {
            // Read under the lock, so that the order of changes is that of time.
            seen.changes.push(Change { at: now(), id, leads });
            drop(seen);
            self.0.1.notify_all();
        }
    }

    /// Waits until `find` finds something in the leaders of now and the changes so far.
    fn wait<T>(&self, patience: Duration, find: impl Fn(&Seen) -> Option<T>) -> Option<T> {
        let end = now() + patience;
        let mut seen = self.seen();
        loop {
            if let Some(found) = find(&seen) {
                return Some(found);
            }
            let left = end.since(now());
            if left == Duration::ZERO {
                return None;
            }
            let left = std::time::Duration::from_nanos(left.as_nanos());
            let woken = self.0.1.wait_timeout(seen, left);
            seen = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until exactly one leads; says who.
    pub(crate) fn only_leader(&self, patience: Duration) -> Option<u64> {
        let only = |seen: &Seen| match seen.leading.len() {
            1 => seen.leading.first().copied(),
            _ => None,
        };
        self.wait(patience, only)
    }

    /// Waits until somebody else than this one begins to lead after then; says when.
    pub(crate) fn other(&self, former: u64, since: Instant, patience: Duration) -> Option<Instant> {
        let begins = |change: &&Change| change.at > since && change.leads && change.id != former;
        self.wait(patience, |seen| Some(seen.changes.iter().find(begins)?.at))
    }

    /// For how long two or more have led at once.
    pub(crate) fn two_led(&self) -> Duration {
        let seen = self.seen();
        let (mut leading, mut total) = (BTreeSet::new(), Duration::ZERO);
        let ends = seen.changes.iter().skip(1).map(|change| change.at).chain([now()]);
        for (change, end) in seen.changes.iter().zip(ends) {
            if change.leads {
                leading.insert(change.id);
            } else {
                leading.remove(&change.id);
            }
            if leading.len() > 1 {
                total = total + end.since(change.at);
            }
        }
        total
    }
}
