//! The Relay phase: the relays agree by unicasts, and each tells everyone the outcome.

use super::hash::Filter;
use super::params::{Choice, WokenBy};
use super::{Candidate, Message, Named, Phase, Probabilistic, RoundId};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use bellwether_core::{Cx, NodeId};

/// The additional state of a relay.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Relay {
    choice: Candidate,
    /// Which processes should be relays.
    filter: Filter,
    /// The processes in its view that pass the filter, in order, and those that contacted it.
    contacts: Vec<NodeId>,
    /// Those of them that do not pass, by this process's estimate of the group size.
    odd: BTreeSet<NodeId>,
}

impl Relay {
    /// Step 2 of figure 3: the only time that a process looks at its whole view.
    pub(super) fn new(node: &Probabilistic, filter: Filter, cx: &Cx<'_, Probabilistic>) -> Self {
        let mut contacts = Vec::new();
        let mut choice = node.candidate();
        let mut see = |peer| {
            if filter.passes(peer) {
                contacts.push(peer);
            }
            node.compare(&mut choice, peer, cx);
        };
        cx.peers().show(&mut see);
        node.known.iter().flat_map(|known| known.met()).for_each(see);
        contacts.sort_unstable();
        contacts.dedup();
        Self { choice, filter, contacts, odd: BTreeSet::new() }
    }

    pub(super) fn choice(&self) -> Candidate {
        self.choice
    }

    pub(super) fn contacts(&self) -> &[NodeId] {
        &self.contacts
    }

    /// Notes that a process contacted it, which was in its view before or not. This is not looked
    /// up among the contacts, which may be thousands.
    fn note_contact(&mut self, id: NodeId, seen: bool) {
        let known = if self.filter.passes(id) { seen } else { !self.odd.insert(id) };
        if !known {
            self.contacts.push(id);
        }
    }
}

impl Probabilistic {
    /// The process itself as a candidate. No process knows another's rank, so ranks are sent only
    /// where they matter.
    fn candidate(&self) -> Candidate {
        Candidate { id: self.me, rank: self.rank }
    }

    /// Prefers this peer if it is the better choice, as far as its id tells.
    #[inline]
    fn compare(&self, choice: &mut Candidate, peer: NodeId, cx: &Cx<'_, Self>) {
        if cx.params().config().choice == Choice::Rank {
            return;
        }
        let other = Candidate { id: peer, rank: 0 };
        if self.is_better(other, *choice, cx) && !self.is_absent(peer) {
            *choice = other;
        }
    }

    #[inline]
    fn is_better(&self, one: Candidate, other: Candidate, cx: &Cx<'_, Self>) -> bool {
        let (group, election) = (cx.peers().group(), self.round.election);
        let merit = |candidate| cx.params().merit(candidate, group, election);
        merit(one) > merit(other)
    }

    /// Tells all contacts whom it prefers now.
    pub(super) fn tell_preference(&self, cx: &mut Cx<'_, Self>) {
        let Some(relay) = &self.relay else { return };
        for peer in &relay.contacts {
            cx.send(*peer, Message::Prefer(self.round, relay.choice));
        }
    }

    /// Another relay says whom it prefers.
    pub(super) fn hear_preference(
        &mut self,
        from: NodeId,
        round: RoundId,
        choice: Candidate,
        cx: &mut Cx<'_, Self>,
    ) {
        if round > self.round && cx.params().config().woken_by == WokenBy::Preference {
            self.begin(round, cx);
        }
        if round != self.round {
            return;
        }
        if choice.id == from {
            self.hear_that_it_stands(from);
        }
        if self.relay.is_none() {
            return;
        }
        let seen = !self.meet(from, cx);
        let Some(relay) = &mut self.relay else { return };
        relay.note_contact(from, seen);
        let mine = relay.choice;
        let election = self.round.election;
        let absence = self.known.as_ref().and_then(|known| known.absence(choice.id, election));
        if let Some(until) = absence {
            cx.send(from, Message::Withdraw(choice.id, until));
        } else if self.is_better(mine, choice, cx) {
            cx.send(from, Message::Prefer(round, mine));
        } else if self.is_better(choice, mine, cx) && self.phase == Phase::Relaying {
            self.prefer(choice, cx);
        }
    }

    /// Changes its preference and tells its contacts.
    fn prefer(&mut self, choice: Candidate, cx: &mut Cx<'_, Self>) {
        if let Some(relay) = &mut self.relay {
            relay.choice = choice;
        }
        self.tell_preference(cx);
    }

    /// Looks for another choice, because the current one does not stand.
    pub(super) fn choose_again(&mut self, cx: &mut Cx<'_, Self>) {
        let mut choice = self.candidate();
        let mut see = |peer| self.compare(&mut choice, peer, cx);
        cx.peers().show(&mut see);
        self.known.iter().flat_map(|known| known.met()).for_each(see);
        self.prefer(choice, cx);
    }

    /// Ends the Relay phase: tells everyone. It goes on answering relays that began later.
    pub(super) fn settle(&mut self, cx: &mut Cx<'_, Self>) {
        let (params, nodes) = (cx.params(), self.group_size(cx));
        assert!(self.relay.is_some(), "only a relay tells the outcome of its round");
        let chosen = self.relay.as_ref().map(|relay| relay.choice.id);
        let relays = params.relays(self.round.number, nodes);
        let (Some(leader), Some(relays)) = (chosen, relays) else { return };
        cx.broadcast(Message::Final(self.round, leader));
        self.name(leader);
        let time_outs = params.time_outs(relays);
        let left = time_outs.decide.saturating_sub(time_outs.settle);
        self.turn(Phase::Waiting, Some(left), cx);
    }

    /// Notes that a final message names this leader. True if that changes something.
    pub(super) fn name(&mut self, leader: NodeId) -> bool {
        let before = self.named;
        self.named = match before {
            Named::Nobody => Named::One(leader),
            Named::One(first) if first != leader => Named::Several(first),
            same => same,
        };
        self.named != before
    }
}
