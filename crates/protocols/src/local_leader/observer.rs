//! The observer: a process that does not vote. It follows the leader and says nothing.
//!
//! **Source.** Beyond the paper.
//!
//! **Assumptions.** None about time: an observer exchanges no stamps, so it cannot tell a slow
//! message from a fast one.
//!
//! **Promise.** It names no leader with a lower token than one that it named before. It believes in
//! a leader for a lockTime after the last request it received; in a large group for
//! [`hold`](super::Params::hold) after the last announcement (`announcement.rs`). Since that may
//! have been slow, the lease may be over by then. An observer never answers.
//!
//! It also tells the *end of the lease*: a lockTime after it first heard of the leader's last
//! request, by its own clock. That request was sent no later, and a lease that rests on it or on
//! earlier ones is over within lockTime(1−2ρ) of the leader's clock, so it is over by then, as with
//! the lock of a voter. It is an upper bound, not a promise: a leader may resign, or have been
//! replaced while the message was slow; and it may have renewed its lease since, which the next
//! message tells. In a large group most of the time of belief lies after it.

use super::hall::Hall;
use super::list::ListTold;
use super::lock::Lock;
use super::message::{Farewell, Request};
use super::params::LONGEST;
use super::supporter::Asked;
use bellwether_core::{Cx, Duration, Instant, Leadership, NodeId, Stage, Term};
use core::cmp::Ordering;

/// The leader that an observer follows, or followed last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Followed {
    pub(super) leader: NodeId,
    /// Its last request.
    pub(super) request: Request,
    /// Its token.
    token: u64,
    /// The term to tell: the token, and no lower term than was told before.
    pub(super) term: u64,
    /// It is followed before this instant.
    pub(super) until: Instant,
    /// By then the leases that rest on that request and earlier ones are over.
    pub(super) lease_end: Instant,
}

impl Hall {
    /// Follows the leader whose request this is. A request of a former leader, or one that a later
    /// one overtook, says nothing new.
    pub(super) fn follow(&mut self, from: NodeId, asked: Asked<'_>, cx: &Cx<'_, Self>) {
        let Asked { request, term, token, supporters, lock, list, .. } = asked;
        let token = token.unwrap_or(term);
        if supporters.is_empty() || self.age_of(from, request, token) != Ordering::Greater {
            return;
        }
        // Until an open list is committed, the lease may be by the list before it.
        let lock = match list {
            Some(ListTold::Whole(list)) => lock.max(list.binds_for(cx.params())),
            _ => lock,
        };
        self.set_followed((from, request, token), (lock.min(LONGEST), lock.min(LONGEST)), cx);
        self.partition = supporters.clone();
    }

    /// Whether a request of a leader with this token is later than the last one it heard of, the
    /// same, or earlier.
    pub(super) fn age_of(&self, leader: NodeId, request: Request, token: u64) -> Ordering {
        if self.voted_for_later(leader, token) {
            return Ordering::Less;
        }
        let Some(known) = &self.followed else { return Ordering::Greater };
        let same = known.leader == leader && known.request.life == request.life;
        match token.cmp(&known.token) {
            Ordering::Less => Ordering::Less,
            _ if same => request.sent.cmp(&known.request.sent),
            _ => Ordering::Greater,
        }
    }

    /// Whether as a voter it supported another one, which led with a higher token.
    fn voted_for_later(&self, leader: NodeId, token: u64) -> bool {
        match &self.lock {
            Some(Lock { to: Some(to), leads: true, request, .. }) if *to != leader => {
                self.term_of(*to, request.life) > Term::new(token)
            }
            _ => false,
        }
    }

    /// Follows a leader with this request and this token for so long; its lease lasts no longer
    /// than a lock.
    pub(super) fn set_followed(
        &mut self,
        (leader, request, token): (NodeId, Request, u64),
        (hold, lock): (Duration, Duration),
        cx: &Cx<'_, Self>,
    ) {
        // As a voter it may have told a higher term, which was granted and never led with.
        let granted = self.stored.map_or(0, |stored| stored.highest);
        let told = self.followed.as_ref().map_or(0, |known| known.term);
        let (term, until) = (token.max(granted).max(told), cx.now() + hold);
        let lease_end = cx.now() + lock;
        self.followed = Some(Followed { leader, request, token, term, until, lease_end });
    }

    /// The leader that it follows as an observer.
    pub(super) fn followed(&self, now: Instant) -> Option<Leadership<'_>> {
        let followed = self.followed.as_ref().filter(|followed| now < followed.until)?;
        let leaders = core::slice::from_ref(&followed.leader);
        let (until, term) = (followed.until, Term::new(followed.term));
        Some(Leadership { until, term, ..Leadership::of(leaders, Stage::Decided) })
    }

    /// Whether it follows the leader that says farewell.
    pub(super) fn follows(&self, farewell: &Farewell) -> bool {
        let Farewell { node, request } = farewell;
        let is = |followed: &Followed| {
            let Request { life, sent } = followed.request;
            followed.leader == *node && life == request.life && sent <= request.sent
        };
        self.followed.as_ref().is_some_and(is)
    }

    /// Stops following.
    pub(super) fn unfollow(&mut self, now: Instant) {
        if let Some(followed) = &mut self.followed {
            followed.until = followed.until.min(now);
        }
    }
}
