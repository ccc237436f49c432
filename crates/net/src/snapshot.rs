//! What a member believes about leadership, for its application: a value with a deadline, not a
//! flag.

use crate::status::Role;
use bellwether_core::{Duration, Instant, NodeId, Stage, Term};

/// What a member believes about leadership, at the moment of the question.
///
/// It does not follow later changes: ask again before acting on it, or hold a
/// [`Guard`](crate::Guard).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The id of the member.
    pub me: NodeId,
    /// The leaders that it follows; itself, if it leads.
    pub leaders: Vec<NodeId>,
    /// The term, where the protocol counts terms. With leases from a majority it is the fencing
    /// token: higher than that of every leader before. A leader may raise it while it leads.
    pub term: Option<Term>,
    /// Whether terms grow across restarts of the members, too.
    pub term_kept: bool,
    /// How often this member has begun to lead.
    pub reign: u64,
    /// The first instant of the machine's clock at which this no longer holds unless renewed.
    pub until: Instant,
    /// How far the election is.
    pub stage: Stage,
    /// Why it takes no part in the election, if it has withdrawn.
    pub withdrawn: Option<String>,
    /// The time of the question.
    pub at: Instant,
}

impl Snapshot {
    /// A member that knows of no leader.
    pub(crate) fn none(me: NodeId, at: Instant) -> Self {
        Self {
            me,
            leaders: Vec::new(),
            term: None,
            term_kept: false,
            reign: 0,
            until: Instant::NEVER,
            stage: Stage::Undecided,
            withdrawn: None,
            at,
        }
    }

    /// The same at a later time, when the deadline may have passed.
    pub(crate) fn at(&self, now: Instant) -> Self {
        if now >= self.until {
            let (withdrawn, reign) = (self.withdrawn.clone(), self.reign);
            return Self { withdrawn, reign, ..Self::none(self.me, now) };
        }
        Self { at: now, ..self.clone() }
    }

    /// Whether the member leads.
    pub fn leads(&self) -> bool {
        self.role() == Role::Leader
    }

    /// The role of the member.
    pub fn role(&self) -> Role {
        match (&self.withdrawn, self.stage, self.leaders.as_slice()) {
            (Some(_), ..) => Role::Withdrawn,
            (None, Stage::Decided, leaders) if leaders.contains(&self.me) => Role::Leader,
            (None, Stage::Decided, [_, ..]) => Role::Follower,
            _ => Role::Looking,
        }
    }

    /// How long this holds unless renewed; `None` if it has no deadline.
    pub fn remaining(&self) -> Option<Duration> {
        (self.until != Instant::NEVER).then(|| self.until.since(self.at))
    }
}
