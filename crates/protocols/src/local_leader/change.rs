//! Changes of the voters, and of lockTime and ρ: one at a time, while the group runs.
//!
//! **Source.** Beyond the paper. The rules are those of the model in `proofs/`.
//!
//! **Assumptions.** The group stores what it grants. Somebody decides who is to vote, or tells the
//! leader to replace voters that are gone (`replace.rs`).
//!
//! **Promise.** A change that is refused changes nothing. One that is accepted is either made, or
//! given up because the new voter did not answer in time or the leader lost its lease. A list that
//! was made is committed by the leader that made it, or by a later one. Nobody is added who has no
//! record or does not answer.
//!
//! | message | sender | meaning |
//! |---|---|---|
//! | `invite` | the leader, at once and again with each request | "can you vote?" |
//! | `record` | the process that is to be added, once it has one | "yes" |
//! | `election` | the leader, once it has stored the next list | a request by that list, in full |
//! | `reply` | majorities of both lists | votes by that list, which commit it |
//! | `election` | the leader, for a lockTime | the list is committed; who was removed knows it |
//!
//! Without a new voter there is no invitation.
//!
//! A list with a shorter lockTime is committed once a lease by it lasts as long as the one that the
//! leader has: the leader told that end, and does not take it back.

use super::hall::{Hall, Timer};
use super::list::List;
use super::message::Message;
use super::rules::Rule;
use super::times::Lengths;
use bellwether_core::{Cx, Duration, Instant, NodeId, Refused};

/// A change that waits for the new voter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Planned {
    /// The new voter.
    pub(super) add: NodeId,
    /// The list that is to be made.
    next: List,
    /// If it has not answered by then, the change is given up.
    pub(super) until: Instant,
}

/// For how many periods a new voter may answer. In one of them it reads a record.
const PERIODS: u64 = 4;

impl Hall {
    /// Adds and removes a voter.
    pub(super) fn change(
        &mut self,
        add: Option<NodeId>,
        remove: Option<NodeId>,
        cx: &mut Cx<'_, Self>,
    ) -> Result<(), Refused> {
        let next = self.check_change(add, remove, None, cx)?;
        let Some(add) = add else {
            self.make(next, cx);
            return Ok(());
        };
        let until = cx.now() + self.times.period * PERIODS;
        self.planned = Some(Planned { add, next, until });
        cx.send(add, Message::Invite { life: self.life });
        Ok(())
    }

    /// Changes lockTime and ρ.
    pub(super) fn change_lengths(
        &mut self,
        lock: Option<Duration>,
        drift_ppm: Option<u32>,
        cx: &mut Cx<'_, Self>,
    ) -> Result<(), Refused> {
        let founding = cx.params().founding_lengths();
        let present = self.list.as_ref().map_or(founding, |list| list.lengths(founding));
        let lock = lock.unwrap_or(present.lock);
        let drift_ppm = drift_ppm.unwrap_or(present.drift_ppm);
        let next = self.check_change(None, None, Some(Lengths { lock, drift_ppm }), cx)?;
        self.make(next, cx);
        Ok(())
    }

    /// The next list, if this change is possible now.
    fn check_change(
        &self,
        add: Option<NodeId>,
        remove: Option<NodeId>,
        lengths: Option<Lengths>,
        cx: &Cx<'_, Self>,
    ) -> Result<List, Refused> {
        let (now, params) = (cx.now(), cx.params());
        if !params.by_majority() {
            return Err(Refused::Unsupported);
        }
        if !params.keeps_tokens() {
            return Err(Refused::Volatile);
        }
        let lease = self.lease.as_ref().filter(|lease| now < lease.until);
        let (Some(lease), Some(list)) = (lease, &self.list) else {
            return Err(Refused::NotLeading);
        };
        let is_known = |id: NodeId| id == self.me || list.has(id) || cx.peers().contains(id);
        if let Some(unknown) = [add, remove].into_iter().flatten().find(|id| !is_known(*id)) {
            return Err(Refused::UnknownMember(unknown));
        }
        if let Some(id) = add.filter(|id| list.has(*id)) {
            return Err(Refused::AlreadyMember(id));
        }
        if let Some(id) = remove {
            if !list.has(id) {
                return Err(Refused::NotVoter(id));
            }
            if add.is_none() && list.voters().len() == 1 {
                return Err(Refused::LastVoter(id));
            }
            if id == self.me {
                return Err(Refused::Leads(id));
            }
        }
        let founding = params.founding_lengths();
        if let Some(refused) = lengths.and_then(|new| params.refuses(new, list.lengths(founding))) {
            return Err(refused);
        }
        let pending = !list.committed || lease.list != Some(list.id()) || self.planned.is_some();
        if pending && params.keep(Rule::OneChangeAtATime) {
            return Err(Refused::ChangePending);
        }
        let next = match lengths {
            Some(new) => list.lasting(Some(new).filter(|new| *new != founding)),
            None => list.next(add, remove),
        };
        let next = next.ok_or(Refused::NotNow)?;
        let answers = |id: &NodeId| self.is_supported_by(*id) || add == Some(*id);
        if next.is_decided_by(next.needed().filter(answers), params) {
            Ok(next)
        } else {
            Err(Refused::WouldStop)
        }
    }

    /// Makes the next list, and asks by it.
    fn make(&mut self, next: List, cx: &mut Cx<'_, Self>) {
        self.hold(next, cx);
        cx.disarm(Timer::Ask);
        self.ask(cx);
    }

    /// Invites the new voter once more, or gives the change up.
    pub(super) fn invite(&mut self, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        let leads = self.leads(now);
        self.planned = self.planned.take().filter(|planned| leads && now < planned.until);
        if let Some(planned) = &self.planned {
            cx.send(planned.add, Message::Invite { life: self.life });
        }
    }

    /// Handles an invitation: with a record it can vote, and says so.
    pub(super) fn on_invite(&self, from: NodeId, asker: u64, cx: &mut Cx<'_, Self>) {
        if self.stored.is_some() && cx.params().by_majority() {
            cx.send(from, self.record_for(asker, 0, None));
        }
    }

    /// Handles the answer of an invited process that has a record with this highest term.
    pub(super) fn on_ready(&mut self, from: NodeId, highest: u64, cx: &mut Cx<'_, Self>) {
        let leads = self.leads(cx.now());
        if let Some(planned) = self.planned.take_if(|planned| planned.add == from && leads) {
            // A term that it only read it grants to nobody: it would refuse the present one.
            if self.stored.is_some_and(|stored| highest >= stored.highest) {
                self.least = self.least.max(highest.saturating_add(1));
            }
            self.make(planned.next, cx);
        }
    }
}
