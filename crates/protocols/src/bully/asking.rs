//! Asking who leads, instead of calling an election.

use super::message::Says;
use super::{Bully, Phase, Timer};
use bellwether_core::{Cx, NodeId};

impl Bully {
    /// Asks who leads: the greatest process that may be up, or the next after one that did not
    /// answer. Calls an election if there is nobody left to ask.
    pub(super) fn ask(&mut self, after: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        let key = |peer: &NodeId| self.known.key(*peer);
        let below = |peer: &NodeId| after.is_none_or(|after| key(peer) < key(&after));
        let up = |peer: &NodeId| !self.known.is_down(*peer);
        let Some(next) = cx.peers().iter().filter(below).filter(up).max_by_key(key) else {
            return self.hold(cx);
        };
        self.query(next, Phase::Asking(next), cx);
    }

    fn query(&mut self, whom: NodeId, phase: Phase, cx: &mut Cx<'_, Self>) {
        self.say(whom, Says::Query, cx);
        let reply = cx.params().config().reply;
        self.turn(phase, Timer::Reply, reply, cx);
    }

    /// Handles an answer. The named process is followed if it says itself that it leads, and is
    /// asked otherwise: two processes that name each other lead nobody.
    pub(super) fn hear_answer(
        &mut self,
        from: NodeId,
        leader: Option<NodeId>,
        cx: &mut Cx<'_, Self>,
    ) {
        let first = self.phase == Phase::Asking(from);
        if !first && self.phase != Phase::Confirming(from) {
            return;
        }
        match leader {
            Some(leader) if leader == self.me && self.leads() => self.rest(cx),
            // A leader yields only to an election: its followers would not hear an answer sent to
            // it.
            _ if self.leads() => self.hold(cx),
            Some(leader) if !self.may_lead(leader, cx) => self.hold(cx),
            Some(leader) if leader == from => self.follow_as_told(leader, cx),
            Some(leader) if first => self.query(leader, Phase::Confirming(leader), cx),
            _ => self.hold(cx),
        }
    }

    /// Whether nothing is known against following that process.
    fn may_lead(&self, leader: NodeId, cx: &Cx<'_, Self>) -> bool {
        let fit = !self.known.is_down(leader) && !self.known.is_retired(leader);
        fit && cx.peers().contains(leader)
    }

    /// Follows a leader, even a lesser one; in that case it asks again from time to time. The
    /// greatest may not have answered, or may follow another one since.
    pub(super) fn follow_as_told(&mut self, leader: NodeId, cx: &mut Cx<'_, Self>) {
        assert!(leader != self.me, "no message of another makes a process follow itself");
        self.leader = Some(leader);
        self.rest(cx);
    }
}
