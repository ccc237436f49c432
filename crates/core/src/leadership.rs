//! What a process believes about leadership, and noticing that it changed.

use crate::id::{NodeId, Term};
use crate::time::Instant;
use serde::{Deserialize, Serialize};

/// What a process believes at one reading of its clock. Borrowed, so that nobody can keep it.
///
/// There is no `is_leader` flag to cache: ask again, with the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leadership<'a> {
    /// Whom it follows; itself, if it leads. Best first where several lead together.
    pub leaders: &'a [NodeId],
    /// The number of the reign, where the protocol counts reigns. It never falls within a life.
    pub term: Option<Term>,
    /// The first instant at which this no longer holds unless renewed.
    pub until: Instant,
    /// How far the process is.
    pub stage: Stage,
}

impl<'a> Leadership<'a> {
    /// Nobody leads and nothing is decided.
    pub const NONE: Self =
        Leadership { leaders: &[], term: None, until: Instant::NEVER, stage: Stage::Undecided };

    /// These lead for as long as nothing else is heard.
    pub fn of(leaders: &'a [NodeId], stage: Stage) -> Self {
        Leadership { leaders, term: None, until: Instant::NEVER, stage }
    }

    /// Whether `node` is among the leaders.
    pub fn names(&self, node: NodeId) -> bool {
        self.leaders.contains(&node)
    }
}

/// How far a process is with deciding.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It looks for a leader, and what `leaders` says is provisional.
    #[default]
    Undecided,
    /// It follows the leaders it names, or leads. Where suppression is all there is, and so nobody
    /// is elected: it has spoken, and names nobody.
    Decided,
    /// It keeps quiet because another spoke, and names nobody.
    Suppressed,
    /// It gave up.
    Aborted,
}

/// Whether a step changed what the process believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a change of leadership is what drivers wait for"]
pub enum Change {
    /// As before, though `until` may have moved.
    Same,
    /// Other leaders, another term or another stage.
    Changed,
}

/// The small owned image of a [`Leadership`] by which a change is noticed.
///
/// `until` is left out: it moves at every renewal. Several leaders are kept as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Glimpse {
    leaders: u64,
    pub(crate) term: Option<Term>,
    count: u32,
    stage: Stage,
}

impl Glimpse {
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
}

fn hash(ids: &[NodeId]) -> u64 {
    ids.iter().fold(0xcbf2_9ce4_8422_2325, |hash, id| {
        let mixed = (hash ^ id.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    })
}
