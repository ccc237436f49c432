//! Commands of the application.

use super::hall::{Hall, Timer};
use super::message::{Farewell, Message, Request};
use super::rules::Rule;
use super::times::Times;
use bellwether_core::{Cx, NodeId, Refused, Unfit};

impl Hall {
    /// Asks at once, if it is free to support itself and, in local mode, first in line. A process
    /// that stepped back lets all others have their turns first, if there is another.
    pub(super) fn campaign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let now = cx.now();
        let params = cx.params();
        if self.is_witness(cx) {
            return Err(Refused::Witness);
        }
        let others = cx.peers().iter().any(|peer| !self.line.is_witness(peer));
        let cools = others && self.line.is_cooling(self.me, now);
        if cools && params.keep(Rule::CoolDown) {
            return Err(Refused::CoolingDown);
        }
        let bound = self.bond(now, params).is_some() || self.stored.is_none();
        if self.list.as_ref().is_some_and(|list| !list.has(self.me)) {
            return Err(Refused::NotVoter(self.me));
        }
        if self.leads(now) || bound || self.gave_up_at(now, params) {
            return Err(Refused::NotNow);
        }
        if self.round.is_some() {
            return Ok(()); // It is asking.
        }
        // By asking it regains its place in line.
        let mine = self.line.place(self.me).returned();
        let waits = || {
            let before = self.alive.at(now).any(|id| self.line.place(id) < mine);
            before || self.waits_for_nominee(now).is_some()
        };
        if !params.by_majority() && waits() {
            return Err(Refused::NotNow);
        }
        cx.disarm(Timer::Ask);
        self.ask(cx);
        Ok(())
    }

    /// Stops leading and stays a member: others come first until it asks again, which it does in
    /// its turn, or until it has cooled down.
    pub(super) fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if !self.leads(cx.now()) {
            return Err(Refused::NotLeading);
        }
        self.step_back(None, cx);
        Ok(())
    }

    /// Stops leading in favour of a process that can lead: all rank it first for a while, and it
    /// asks as soon as it hears of it.
    pub(super) fn transfer(
        &mut self,
        nominee: NodeId,
        cx: &mut Cx<'_, Self>,
    ) -> Result<(), Refused> {
        if let Some(refused) = self.refused_transfer(nominee, cx) {
            return Err(refused);
        }
        self.step_back(Some(nominee), cx);
        Ok(())
    }

    /// Why it does not hand over to this process, if it does not. In local mode the order of
    /// processes decides who leads, and a nominee would soon be displaced, unless leadership goes
    /// round and it is the next.
    pub(super) fn refused_transfer(&self, nominee: NodeId, cx: &Cx<'_, Self>) -> Option<Refused> {
        let (now, params) = (cx.now(), cx.params());
        if !params.by_majority() && params.rotate_after.is_none() {
            return Some(Refused::Unsupported);
        }
        let Some(lease) = self.lease.as_ref().filter(|lease| now < lease.until) else {
            return Some(Refused::NotLeading);
        };
        // Votes for the request that the lease counts from come within a round.
        let counted = lease.until.since(now) + self.times.round <= self.times.lease;
        let unfit = if nominee == self.me {
            Unfit::Itself
        } else if !cx.peers().contains(nominee) {
            Unfit::Unknown
        } else if self.list.as_ref().is_some_and(|list| !list.has(nominee)) {
            Unfit::Observer
        } else if self.line.is_witness(nominee) {
            Unfit::Witness
        } else if !self.alive.at(now).any(|id| id == nominee) {
            Unfit::Silent
        } else if counted && !self.is_supported_by(nominee) {
            Unfit::Behind
        } else if !params.by_majority() && self.next_in_turn(now) != Some(nominee) {
            Unfit::NotNext
        } else {
            return None;
        };
        Some(Refused::Nominee(nominee, unfit))
    }

    /// Gives up its leadership and comes last from now on; the nominee comes first, if there is
    /// one.
    pub(super) fn step_back(&mut self, nominee: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let farewell = self.give_up(nominee, cx);
        let Times { lock, period, .. } = self.times;
        self.line.step_back(farewell, now, lock, params);
        let until = now + self.nomination(params);
        nominee.into_iter().for_each(|nominee| self.line.nominate(nominee, until, params));
        if params.by_majority() {
            self.ask_in_turn(now + lock, cx);
        } else {
            cx.arm(Timer::Ask, now + period);
        }
    }

    /// Leaves for good.
    pub(super) fn leave(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        self.give_up(None, cx);
        cx.disarm(Timer::Ask);
        Ok(())
    }

    /// Gives up its requests and tells the others.
    fn give_up(&mut self, nominee: Option<NodeId>, cx: &mut Cx<'_, Self>) -> Farewell {
        let sent = self.votes.last_request().unwrap_or(cx.now());
        let request = Request { life: self.life, sent };
        let params = cx.params();
        (self.round, self.better, self.planned) = (None, None, None);
        if params.keep(Rule::ResignEndsLease) {
            self.lease = None;
            self.announce_end(cx);
        }
        if params.keep(Rule::VotesEndWithCampaign) {
            self.votes.clear();
        }
        assert!(
            !params.rules.are_all() || !self.leads(cx.now()),
            "no supporter is released while a lease runs on its lock"
        );
        self.given_up = Some(sent);
        self.unlock_itself();
        cx.disarm(Timer::Count);
        cx.broadcast(Message::Release { request, leaving: true, nominee });
        Farewell { node: self.me, request }
    }
}
