//! One member that joined, and which of two entries for it is right.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::net::SocketAddr;

/// A member that joined, or one that was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its id.
    pub(crate) id: u64,
    /// How often the id was forgotten.
    #[serde(default)]
    pub(crate) number: u64,
    /// When it joined, by its own wall clock in nanoseconds.
    #[serde(default)]
    pub(crate) since: u64,
    /// Where it is; absent if it was forgotten.
    #[serde(default)]
    pub(crate) at: Option<SocketAddr>,
}

impl Entry {
    /// Whether this entry is right, and not the other one for the same id: the one with the greater
    /// number, then one with an address, then the one that joined first.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        let order = |entry: &Self| (entry.number, entry.at.map(|at| Reverse((entry.since, at))));
        order(self) > order(other)
    }
}
