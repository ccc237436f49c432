//! Priorities and witnesses: what a process tells of itself, and what a leader makes of it.
//!
//! **Source.** Beyond the paper; for majority mode, where the order of processes decides who asks
//! first and nothing else.
//!
//! **Assumptions.** A process that is no ordinary one says so when it starts and every
//! [`refresh`](super::Params::refresh). It may change its mind while it runs; then it says so at
//! once, and goes on saying it. What was heard last counts, so a message that comes late is
//! believed until the next one. Until it was heard it counts as ordinary.
//!
//! **Promise.** A witness votes and never asks. A leader that becomes a witness renews its lease
//! until it resigns, because its application may need time to end. Others ask in the order of their
//! priorities. Whoever was a witness and is none any more has its place in line at once, also if it
//! stepped back before. None of this changes whether a vote is given. A
//! leader is not displaced by a better process, unless `preempt` is on. Then a leader that has
//! heard a better one steadily for `preempt-delay` asks for no longer lease, so that its
//! application is done when the lease ends, and hands over at that moment. With `preempt-asks` it
//! leads on instead, and tells its application of the better process, which hands over when it is
//! done.

use super::hall::{Hall, Timer};
use super::message::Message;
use super::rules::Rule;
use bellwether_core::{Candidacy, Cx, Instant, NodeId, Rebase, Refused};

/// The best process that a leader hears, if that is better than itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Better {
    node: NodeId,
    /// Since when it was heard without a break.
    since: Instant,
    /// Whether the leader lets its lease end for it, or asks its application to hand over.
    is_next: bool,
}

impl Better {
    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        rebase.stamp(&mut self.since);
    }
}

impl Hall {
    /// Says that it is no ordinary process, if it is not or was not.
    pub(super) fn announce(&self, cx: &mut Cx<'_, Self>) {
        let candidacy = self.line.candidacy(self.me);
        if self.restated || !candidacy.is_ordinary() {
            cx.broadcast(Message::Standing(candidacy));
            cx.arm(Timer::Announce, cx.now() + cx.params().refresh);
        }
    }

    /// Notes what a process says of itself. If it waits for its turn, that may come sooner or later
    /// now.
    pub(super) fn on_standing(
        &mut self,
        from: NodeId,
        candidacy: Candidacy,
        cx: &mut Cx<'_, Self>,
    ) {
        if !cx.params().by_majority() || self.line.candidacy(from) == candidacy {
            return;
        }
        let before = self.turns_to_wait(cx);
        self.take_note(from, candidacy, cx);
        self.wait_anew(before, cx);
    }

    /// Changes how willing it is to lead itself.
    pub(super) fn stand(
        &mut self,
        candidacy: Candidacy,
        cx: &mut Cx<'_, Self>,
    ) -> Result<(), Refused> {
        if !cx.params().by_majority() {
            return Err(Refused::Unsupported);
        }
        if self.line.candidacy(self.me) == candidacy {
            return Ok(());
        }
        let (was_witness, before) = (self.is_witness(cx), self.turns_to_wait(cx));
        self.take_note(self.me, candidacy, cx);
        self.restated = true;
        self.announce(cx);
        let now = cx.now();
        if self.leads(now) || self.stored.is_none() {
            return Ok(()); // it renews its lease, or has to learn first what it granted
        }
        if self.is_witness(cx) {
            self.fail(cx); // nobody needs to support it any longer
            (self.turn, self.better) = (Instant::NEVER, None);
            cx.disarm(Timer::Ask);
        } else if was_witness {
            let free = self.bond(now, cx.params()).map_or(now, |lock| lock.free());
            self.ask_in_turn(free, cx);
        } else {
            self.wait_anew(before, cx);
        }
        Ok(())
    }

    /// Notes how willing a process is. One that could not lead for a while did not step back in
    /// favour of others.
    fn take_note(&mut self, node: NodeId, candidacy: Candidacy, cx: &Cx<'_, Self>) {
        if self.line.is_witness(node) && !candidacy.witness {
            self.line.return_of(node);
        }
        self.line.know(node, candidacy, cx.params());
    }

    /// If it waits for its turn, it waits for as many turns as come before that now; so many did
    /// before.
    fn wait_anew(&mut self, before: u64, cx: &mut Cx<'_, Self>) {
        let stagger = cx.params().stagger();
        let waits = self.round.is_none() && !self.leads(cx.now()) && self.turn != Instant::NEVER;
        if waits {
            let from = self.turn - stagger * before;
            self.turn = (from + stagger * self.turns_to_wait(cx)).max(cx.now());
            cx.arm(Timer::Ask, self.turn);
        }
    }

    /// Whether it does not ask, unless it leads.
    pub(super) fn is_witness(&self, cx: &Cx<'_, Self>) -> bool {
        self.line.is_witness(self.me) && cx.params().keep(Rule::WitnessNeverAsks)
    }

    /// As a leader: whether it asks for no longer lease, in favour of a better process.
    pub(super) fn yields(&mut self, cx: &mut Cx<'_, Self>) -> bool {
        let (now, params) = (cx.now(), cx.params());
        let Some(lease) = self.lease.as_ref().filter(|lease| params.preempt && now < lease.until)
        else {
            return false;
        };
        let (until, asks) = (lease.until, params.preempt_asks);
        if asks || self.better.is_none_or(|better| !better.is_next) {
            let best = self.best_other(now);
            let known = self.better.filter(|known| Some(known.node) == best);
            self.better = best.map(|node| {
                let since = known.map_or(now, |known| known.since);
                let steady = now.since(since) >= params.preempt_delay;
                Better { node, since, is_next: steady || !params.keep(Rule::PreemptWaits) }
            });
        }
        let yields = self.better.is_some_and(|better| better.is_next && !asks);
        if yields {
            cx.arm(Timer::Ask, until);
        }
        yields
    }

    /// The best process with a greater priority that is there, votes for this one and could lead.
    fn best_other(&self, now: Instant) -> Option<NodeId> {
        let mine = self.line.priority(self.me);
        let better = |id: &NodeId| {
            let candidacy = self.line.candidacy(*id);
            let rests = self.line.is_cooling(*id, now);
            candidacy.priority > mine && !candidacy.witness && !rests && self.is_supported_by(*id)
        };
        self.alive.at(now).filter(better).min_by_key(|id| self.line.place(*id))
    }

    /// The better process that should lead instead of this leader.
    pub(super) fn next(&self, now: Instant) -> Option<NodeId> {
        let better = self.better.filter(|better| better.is_next && self.leads(now));
        better.map(|better| better.node)
    }

    /// The process for which it let its lease end, if that is over now.
    pub(super) fn take_next(&mut self, now: Instant) -> Option<NodeId> {
        let over = !self.leads(now);
        self.better.take_if(|better| better.is_next && over).map(|better| better.node)
    }
}
