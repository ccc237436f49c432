//! What a process believes about leadership, and how a change is detected.

use crate::hash::{STRIDE, mix};
use crate::id::{NodeId, Term};
use crate::time::Instant;
use serde::{Deserialize, Serialize};

/// What a process believes about leadership at one time. It is borrowed, so that it cannot be
/// stored.
///
/// There is no `is_leader` flag to cache: ask again, with the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leadership<'a> {
    /// The leaders that it follows; itself, if it leads. The best first, where several lead
    /// together.
    pub leaders: &'a [NodeId],
    /// The term, where the protocol counts terms. It never decreases within an incarnation.
    pub term: Option<Term>,
    /// The first time at which this no longer holds unless renewed.
    pub until: Instant,
    /// How far the election is, for this process.
    pub stage: Stage,
}

impl<'a> Leadership<'a> {
    /// No leader is known.
    pub const NONE: Self =
        Leadership { leaders: &[], term: None, until: Instant::NEVER, stage: Stage::Undecided };

    /// These processes lead, without a deadline.
    #[inline]
    pub fn of(leaders: &'a [NodeId], stage: Stage) -> Self {
        Leadership { leaders, term: None, until: Instant::NEVER, stage }
    }

    /// Whether `node` is among the leaders.
    #[inline]
    pub fn names(&self, node: NodeId) -> bool {
        self.leaders.contains(&node)
    }
}

/// How far the election is, for one process.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It has no leader yet; `leaders` is provisional.
    #[default]
    Undecided,
    /// It follows the leaders in `leaders`, or leads. In a protocol that only suppresses messages
    /// and elects no leader: it has sent its message, and names no leader.
    Decided,
    /// It is suppressed by another process's message, and names no leader.
    Suppressed,
    /// It gave up.
    Aborted,
}

/// Whether a step changed what the process believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a change of leadership is what drivers wait for"]
pub enum Change {
    /// It did not, except perhaps `until`.
    Same,
    /// The leaders, the term or the stage changed.
    Changed,
}

/// A small copy of a [`Leadership`] by which a change is detected.
///
/// Without `until`, which moves at every renewal. Several leaders are stored as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LeadershipKey {
    leaders: u64,
    pub(crate) term: Option<Term>,
    count: u32,
    stage: Stage,
}

impl LeadershipKey {
    #[inline]
    pub(crate) fn of(leadership: &Leadership<'_>) -> Self {
        let leaders = match leadership.leaders {
            [] => 0,
            [only] => only.0,
            several => hash(several),
        };
        let count = leadership.leaders.len() as u32;
        Self { leaders, term: leadership.term, count, stage: leadership.stage }
    }

    /// Whether it differs from an earlier one. No term is not a change of term.
    #[inline]
    pub(crate) fn differs_from(&self, earlier: &Self) -> bool {
        // One after the other: a step decides at the first that differs, or needs no branch at all
        // where a protocol has no terms.
        self.leaders != earlier.leaders
            || self.count != earlier.count
            || self.stage != earlier.stage
            || (self.term.is_some() && self.term != earlier.term)
    }
}

fn hash(ids: &[NodeId]) -> u64 {
    ids.iter().fold(0, |hash, id| mix(hash ^ mix(id.0.wrapping_add(STRIDE))))
}
