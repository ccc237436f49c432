//! The Failure-detection phase: does the round have a clear outcome, and if not, who begins the
//! next?

use super::hash::{Filter, Name};
use super::params::Reinitiate;
use super::{Doubt, Message, Named, Phase, Probabilistic, RoundId};
use bellwether_core::{Cx, Duration, NodeId};

impl Probabilistic {
    /// Handles a final message of a relay.
    pub(super) fn hear_final(
        &mut self,
        from: NodeId,
        round: RoundId,
        leader: NodeId,
        cx: &mut Cx<'_, Self>,
    ) {
        let params = cx.params();
        if from == leader && round >= self.round {
            self.hear_that_it_stands(from);
        }
        if round > self.round && params.relays(round.number, 1).is_some() {
            // It missed the beginning; the other final messages must be on their way.
            self.enter(round);
            self.turn(Phase::Waiting, Some(params.last_finals()), cx);
        }
        if round == self.round {
            self.hear_leader(leader, cx);
            if from == leader {
                self.hear_beat(from, cx);
            }
        }
    }

    /// Notes who was elected in the current round.
    pub(super) fn hear_leader(&mut self, leader: NodeId, cx: &mut Cx<'_, Self>) {
        if self.is_absent(leader) || !self.name(leader) {
            return;
        }
        match (self.phase, self.named) {
            // A late message that gives a clear outcome.
            (Phase::Doubting(_), Named::One(_)) => self.decide(cx),
            (Phase::Aborted, Named::One(_)) if cx.params().is_in_touch() => self.decide(cx),
            (Phase::Idle, Named::One(_)) => self.rest(Phase::Idle, cx),
            // A late message that shows a second leader.
            (Phase::Idle, Named::Several(_)) => self.decide(cx),
            _ => {}
        }
    }

    /// Step 3 of figure 3.
    pub(super) fn decide(&mut self, cx: &mut Cx<'_, Self>) {
        self.relay = None;
        match self.named {
            Named::One(_) => {
                self.calls = false;
                self.rest(Phase::Idle, cx);
            }
            Named::Nobody => {
                // A process that resigned stands again if nobody else does.
                if !self.has_left() {
                    self.forget_absence(self.me);
                }
                self.doubt(Doubt::Outcome, cx);
            }
            Named::Several(_) => self.doubt(Doubt::Outcome, cx),
        }
    }

    /// Begins again, now or after a delay, or leaves it to others.
    pub(super) fn doubt(&mut self, doubt: Doubt, cx: &mut Cx<'_, Self>) {
        let (params, nodes) = (cx.params(), self.group_size(cx));
        if self.after(doubt, cx).is_none() {
            self.rest(Phase::Aborted, cx);
            return;
        }
        match params.config().reinitiate {
            Reinitiate::Hash => {
                let name = match (doubt, self.named) {
                    (Doubt::Leader, _) => Name::Loss(self.round),
                    (Doubt::Outcome, Named::Nobody) => Name::Silence(self.round),
                    (Doubt::Outcome, Named::One(leader) | Named::Several(leader)) => {
                        Name::Final(self.round, leader)
                    }
                };
                let relays = params.relays(self.round.number, nodes).unwrap_or(1);
                if Filter::new(cx.peers().group(), name, relays, nodes).passes(self.me) {
                    self.begin_again(doubt, cx);
                } else {
                    self.rest(Phase::Doubting(doubt), cx);
                }
            }
            Reinitiate::Delay => {
                let delay = self.drawn_delay(cx);
                self.turn(Phase::Doubting(doubt), Some(delay), cx);
            }
        }
    }

    /// Draws a delay: half of all processes draw the last step, half of the others the last but
    /// one, and so on. Among any number of doubting processes about one is first, and a step later
    /// all have heard it.
    pub(super) fn drawn_delay(&self, cx: &mut Cx<'_, Self>) -> Duration {
        let steps = u64::BITS - self.group_size(cx).leading_zeros();
        let drawn = cx.entropy().below(1 << steps.min(u64::BITS - 1));
        cx.params().step() * u64::from(u64::BITS - drawn.leading_zeros())
    }

    /// The round that corrects this doubt; there is none after the last.
    fn after(&self, doubt: Doubt, cx: &Cx<'_, Self>) -> Option<RoundId> {
        match doubt {
            Doubt::Leader => self.round.next_election(),
            Doubt::Outcome => {
                let next = self.round.next();
                cx.params().relays(next.number, 1).map(|_| next)
            }
        }
    }

    /// Begins again on behalf of all.
    pub(super) fn begin_again(&mut self, doubt: Doubt, cx: &mut Cx<'_, Self>) {
        match self.after(doubt, cx) {
            Some(next) => self.initiate(next, cx),
            None => self.turn(Phase::Aborted, None, cx), // the numbers are used up
        }
    }

    /// A peer is gone: the driver reports it, or its silence shows it.
    pub(super) fn peer_lost(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        let led = self.leader() == Some(peer);
        self.known().mark_absent(peer);
        if led {
            self.named = Named::Nobody;
            self.doubt(Doubt::Leader, cx);
        }
        self.avoid(peer, cx);
    }

    /// A relay whose choice does not stand any more chooses again.
    fn avoid(&mut self, who: NodeId, cx: &mut Cx<'_, Self>) {
        let chosen = self.relay.as_ref().is_some_and(|relay| relay.choice().id == who);
        if chosen && self.phase == Phase::Relaying && self.is_absent(who) {
            self.choose_again(cx);
        }
    }

    /// A message of this weight came from a process that may have been missed. A message below the
    /// minimum weight counts as not heard.
    #[inline]
    pub(super) fn hear_of(&mut self, peer: NodeId, weight: u64) {
        let min_weight = self.round.weight();
        if let Some(known) = &mut self.known
            && weight >= min_weight
        {
            known.find(peer);
        }
    }

    /// A process puts itself forward in the current round, or a later one. Those who said that it
    /// does not stand were wrong, or spoke of an earlier incarnation.
    #[inline]
    pub(super) fn hear_that_it_stands(&mut self, who: NodeId) {
        if let Some(known) = &mut self.known {
            known.note_that_it_stands(who);
        }
    }

    pub(super) fn forget_absence(&mut self, peer: NodeId) {
        if let Some(known) = &mut self.known {
            known.forget_absence(peer);
        }
    }

    /// A process does not stand for election, as it says itself or another says of it.
    pub(super) fn hear_withdrawal(
        &mut self,
        from: NodeId,
        who: NodeId,
        until: u32,
        cx: &mut Cx<'_, Self>,
    ) {
        if who == self.me || until < self.round.election {
            return; // it knows its own state better
        }
        if from != who && self.known.as_ref().is_some_and(|known| known.has_heard_stand(who)) {
            return; // `who` said itself that it stands
        }
        self.known().note_absence(who, until);
        let led = self.leader() == Some(who);
        if self.named == Named::One(who) {
            self.named = Named::Nobody;
        }
        if led && until == self.round.election {
            self.doubt(Doubt::Outcome, cx); // processes that did not know elected it
        } else if led {
            self.rest(Phase::Idle, cx); // it has called another election
        }
        self.avoid(who, cx);
    }

    /// Tells everyone that it does not stand in elections up to this one.
    pub(super) fn withdraw(&mut self, until: u32, cx: &mut Cx<'_, Self>) {
        let me = self.me;
        self.known().note_absence(me, until);
        cx.broadcast(Message::Withdraw(me, until));
    }
}
