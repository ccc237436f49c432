//! Counts of what happened to the command and its guardian, for metrics.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts by name; clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Counts {
    /// One more of this.
    pub(super) fn add(&self, what: &'static str) {
        *self.lock().entry(what).or_default() += 1;
    }

    /// All of them.
    pub(super) fn all(&self) -> BTreeMap<&'static str, u64> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
