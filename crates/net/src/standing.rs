//! What a member believes, as its application sees it: owned, with a deadline, and never a flag.

use crate::status::Role;
use bellwether_core::{Duration, Instant, NodeId, Stage, Term};

/// What a member believes, at the moment it was asked.
///
/// Whoever keeps one keeps the past: ask again before acting on it, or hold a
/// [`Guard`](crate::Guard).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The member.
    pub me: NodeId,
    /// Whom it follows; itself, if it leads.
    pub leaders: Vec<NodeId>,
    /// The number of the reign, where the protocol counts reigns.
    pub term: Option<Term>,
    /// The first instant of the machine's clock at which this no longer holds unless renewed.
    pub until: Instant,
    /// How far it is.
    pub stage: Stage,
    /// Why it takes no part, if it does not.
    pub withdrawn: Option<String>,
    /// When it was asked.
    pub at: Instant,
}

impl Standing {
    /// Knows nobody.
    pub(crate) fn none(me: NodeId, at: Instant) -> Self {
        Self {
            me,
            leaders: Vec::new(),
            term: None,
            until: Instant::NEVER,
            stage: Stage::Undecided,
            withdrawn: None,
            at,
        }
    }

    /// The same at a later moment: what is over is over.
    pub(crate) fn at(&self, now: Instant) -> Self {
        if now >= self.until {
            let withdrawn = self.withdrawn.clone();
            return Self { withdrawn, ..Self::none(self.me, now) };
        }
        Self { at: now, ..self.clone() }
    }

    /// Whether the member leads.
    pub fn leads(&self) -> bool {
        self.role() == Role::Leader
    }

    /// How the member stands.
    pub fn role(&self) -> Role {
        match (&self.withdrawn, self.stage, self.leaders.as_slice()) {
            (Some(_), ..) => Role::Withdrawn,
            (None, Stage::Decided, leaders) if leaders.contains(&self.me) => Role::Leader,
            (None, Stage::Decided, [_, ..]) => Role::Follower,
            _ => Role::Looking,
        }
    }

    /// For how long this holds unless renewed; nothing if it does not end by itself.
    pub fn remaining(&self) -> Option<Duration> {
        (self.until != Instant::NEVER).then(|| self.until.since(self.at))
    }
}
