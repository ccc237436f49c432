//! The Filter phase: a round begins, and the hash decides who takes part.

use super::hash::Name;
use super::relay::Relay;
use super::{Message, Named, Phase, Probabilistic, RoundId};
use bellwether_core::{Cx, NodeId};

impl Probabilistic {
    /// Tells everyone that a round begins, and begins it.
    pub(super) fn initiate(&mut self, round: RoundId, cx: &mut Cx<'_, Self>) {
        cx.broadcast(Message::Initiate(round));
        self.begin(round, cx);
    }

    /// A process, member or not, says that a round begins.
    pub(super) fn hear_initiate(&mut self, from: NodeId, round: RoundId, cx: &mut Cx<'_, Self>) {
        if round > self.round {
            self.begin(round, cx);
        } else if round.election < self.round.election {
            self.answer(Name::Question(from, round.election), 1, from, cx);
        }
    }

    /// Step 1 of figure 3. A round beyond the last one is ignored.
    pub(super) fn begin(&mut self, round: RoundId, cx: &mut Cx<'_, Self>) {
        let (params, nodes) = (cx.params(), self.group_size(cx));
        let Some(relays) = params.relays(round.number, nodes) else { return };
        let former = self.leader();
        self.enter(round);
        let filter = params.filter(cx.peers().group(), round, relays, nodes);
        let time_outs = params.time_outs(relays);
        if filter.passes(self.me) && !self.is_absent(self.me) {
            // The declared leader is part of the view, which is used only here.
            if let Some(leader) = former {
                self.meet(leader, cx);
            }
            let relay = Relay::new(self, filter, cx);
            self.relay = Some(relay.into());
            self.turn(Phase::Relaying, Some(time_outs.settle), cx);
            self.tell_preference(cx);
        } else {
            self.turn(Phase::Waiting, Some(time_outs.decide), cx);
        }
    }

    /// Leaves the former round.
    pub(super) fn enter(&mut self, round: RoundId) {
        assert!(round > self.round, "a term never falls");
        if round.election != self.round.election {
            self.calls = false;
            if let Some(known) = &mut self.known {
                known.prune(round.election);
            }
        }
        if let Some(known) = &mut self.known {
            known.begin_round();
        }
        self.round = round;
        self.named = Named::Nobody;
        self.relay = None;
    }

    /// Adds a member to the view for good. True if it was not in it.
    pub(super) fn meet(&mut self, id: NodeId, cx: &Cx<'_, Self>) -> bool {
        id != self.me && !cx.peers().contains(id) && self.known().meet(id)
    }
}
