//! Ids of processes and numbers of terms, as they appear in messages.

use core::fmt;
use core::num::NonZeroU64;
use serde::{Deserialize, Serialize};

/// The id of a process, unique in its group. A larger id is better where an election goes by id.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NodeId(pub u64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The number of a term of leadership, from which fencing tokens are made. Never zero, so that
/// `Option<Term>` is one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Term(pub NonZeroU64);

impl Term {
    /// The first term.
    pub const FIRST: Self = Self(NonZeroU64::MIN);

    /// The term with this number, unless the number is zero.
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0.get()
    }

    /// The term after this one; the last one stays the last.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
