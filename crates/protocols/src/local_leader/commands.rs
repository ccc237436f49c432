//! Commands of the application.

use super::hall::{Hall, Timer};
use super::message::{Farewell, Message, Request};
use super::rules::Rule;
use bellwether_core::{Cx, Refused};

impl Hall {
    /// Asks at once, if it is free to support itself and, in local mode, first in line.
    pub(super) fn campaign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let now = cx.now();
        let params = cx.params();
        let bound = self.bond(now, params).is_some() || self.stored.is_none();
        if self.leads(now) || bound || self.gave_up_at(now, params) {
            return Err(Refused);
        }
        if self.round.is_some() {
            return Ok(()); // It is asking.
        }
        // By asking it regains its place in line.
        let mine = (false, self.me);
        if !params.by_majority() && self.alive.at(now).any(|id| self.line.place(id) < mine) {
            return Err(Refused);
        }
        cx.disarm(Timer::Ask);
        self.ask(cx);
        Ok(())
    }

    /// Stops leading and stays a member: others come first until it asks again.
    pub(super) fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if !self.leads(cx.now()) {
            return Err(Refused);
        }
        let params = cx.params();
        let farewell = self.give_up(cx);
        self.line.step_back(farewell, cx.now() + params.lock);
        if params.by_majority() {
            self.ask_in_turn(cx.now() + params.lock, cx);
        } else {
            cx.arm(Timer::Ask, cx.now() + params.period);
        }
        Ok(())
    }

    /// Leaves for good.
    pub(super) fn leave(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        self.give_up(cx);
        cx.disarm(Timer::Ask);
        Ok(())
    }

    /// Gives up its requests and tells the others.
    fn give_up(&mut self, cx: &mut Cx<'_, Self>) -> Farewell {
        let sent = self.votes.last_request().unwrap_or(cx.now());
        let request = Request { life: self.life, sent };
        let params = cx.params();
        self.round = None;
        if params.keep(Rule::ResignEndsLease) {
            self.lease = None;
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
        cx.broadcast(Message::Release { request, leaving: true });
        Farewell { node: self.me, request }
    }
}
