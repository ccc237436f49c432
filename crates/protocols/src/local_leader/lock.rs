//! A supporter's lock: the promise to support nobody else for a while.

use super::message::{Farewell, Request};
use super::params::Params;
use super::rules::Rule;
use bellwether_core::{Duration, Instant, NodeId};

/// The lock of a supporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lock {
    /// The process it supports; `None` after a restart, while a lock of the former incarnation may
    /// still run.
    pub(super) to: Option<NodeId>,
    /// The latest request of that process that it granted.
    pub(super) request: Request,
    /// The lock holds up to and including this instant.
    pub(super) until: Instant,
    /// Whether that process said that it leads.
    pub(super) leads: bool,
}

const INSTANT: Duration = Duration::from_nanos(1);

impl Lock {
    /// A lock that starts now and is this long.
    pub(super) fn new(
        to: Option<NodeId>,
        request: Request,
        (now, length): (Instant, Duration),
        leads: bool,
        params: &Params,
    ) -> Self {
        let whole = to.is_some() || params.keep(Rule::WholeQuarantine);
        let length = if whole { length } else { Duration::from_nanos(length.as_nanos() / 2) };
        let until = now + length;
        let until = if params.keep(Rule::StrictExpiry) { until } else { until - INSTANT };
        Self { to, request, until, leads }
    }

    /// Whether it keeps its owner from supporting `candidate` in this incarnation. Another
    /// incarnation is another process: the previous one may be considered dead, and lead.
    pub(super) fn hinders(
        &self,
        candidate: NodeId,
        life: u64,
        now: Instant,
        params: &Params,
    ) -> bool {
        let other_life = self.request.life != life && params.keep(Rule::LockNamesLife);
        self.until >= now && (self.to != Some(candidate) || other_life)
    }

    /// The first instant at which its owner is free.
    pub(super) fn free(&self) -> Instant {
        self.until + INSTANT
    }

    /// Whether this farewell ends it: the request it was for, or a later one, has been given up.
    ///
    /// The paper requires the very same request. But a process that gives up a request has given up
    /// those before it, and a supporter that missed the last one need not wait.
    pub(super) fn is_ended_by(&self, farewell: &Farewell, params: &Params) -> bool {
        if !params.keep(Rule::ReleaseNamesSender) {
            return true;
        }
        let Farewell { node, request } = farewell;
        let same_life = self.request.life == request.life || !params.keep(Rule::Lives);
        let named = if params.is_as_published() {
            self.request.sent == request.sent
        } else {
            self.request.sent <= request.sent || !params.keep(Rule::ReleaseNamesRequest)
        };
        self.to == Some(*node) && same_life && named
    }
}
