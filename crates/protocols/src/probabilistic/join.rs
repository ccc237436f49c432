//! Joining, as in section 2.1: a newcomer asks everyone, and a few answer with what they know.
//!
//! The hash selects about K members that answer, as many as the first round has relays. If no
//! answer arrives the newcomer asks again, and as many answer as the next round would have relays.
//! A process that calls an election that is over, because it has forgotten or missed all later
//! ones, is answered in the same way.

use super::hash::{Filter, Name};
use super::{Message, Named, Phase, Probabilistic, RoundId};
use bellwether_core::{Cx, NodeId};

impl Probabilistic {
    /// Asks what has happened; `attempt` counts how often.
    pub(super) fn ask(&mut self, attempt: u32, cx: &mut Cx<'_, Self>) {
        cx.broadcast(Message::Join(attempt));
        self.turn(Phase::Asking(attempt), Some(cx.params().answer()), cx);
    }

    /// No answer came. It stops asking after as many attempts as there are rounds.
    pub(super) fn ask_again(&mut self, attempt: u32, cx: &mut Cx<'_, Self>) {
        let next = attempt.saturating_add(1);
        match cx.params().relays(next, 1) {
            Some(_) => self.ask(next, cx),
            None => self.rest_unanswered(cx),
        }
    }

    /// A process is new, or back.
    pub(super) fn hear_join(&mut self, from: NodeId, attempt: u32, cx: &mut Cx<'_, Self>) {
        self.forget_absence(from);
        if !matches!(self.phase, Phase::Asking(_)) {
            self.answer(Name::Question(from, attempt), attempt, from, cx);
        }
    }

    /// Answers if the hash selects it, and adds the process that asked to its view.
    pub(super) fn answer(&mut self, name: Name, attempt: u32, from: NodeId, cx: &mut Cx<'_, Self>) {
        let (params, nodes) = (cx.params(), self.group_size(cx));
        let Some(relays) = params.relays(attempt, nodes) else { return };
        if Filter::new(cx.peers().group(), name, relays, nodes).passes(self.me) {
            self.meet(from, cx);
            cx.send(from, Message::Welcome(self.round, self.leader()));
        }
    }

    /// Handles an answer.
    pub(super) fn hear_welcome(
        &mut self,
        from: NodeId,
        round: RoundId,
        leader: Option<NodeId>,
        cx: &mut Cx<'_, Self>,
    ) {
        self.meet(from, cx);
        if matches!(self.phase, Phase::Asking(_)) {
            self.rest(Phase::Idle, cx);
        }
        if round > self.round {
            self.catch_up(round, leader, cx);
        } else if let Some(leader) = leader
            && round == self.round
        {
            self.hear_leader(leader, cx);
        }
    }

    /// Learns of later rounds than it knew.
    fn catch_up(&mut self, round: RoundId, leader: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        let Some(relays) = params.relays(round.number, self.group_size(cx)) else { return };
        let calls = self.calls && round.election > self.round.election;
        self.enter(round);
        if let Some(leader) = leader.filter(|leader| !self.is_absent(*leader)) {
            self.named = Named::One(leader);
            self.rest(Phase::Idle, cx);
        } else {
            self.turn(Phase::Waiting, Some(params.time_outs(relays).decide), cx);
        }
        if calls {
            // Its own election had a number that was already used.
            self.call(cx);
        }
    }
}
