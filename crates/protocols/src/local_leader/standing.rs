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
//! done. If its lease lapses before that, it does not step back: it asks again in its usual turn.
//!
//! With `rotate-after` leadership goes round instead, which (T) allows: who leads in a stable
//! partition does not matter, if somebody does. A leader that has led for so long hands over in the
//! same way, to the next of its supporters in the order of ids and around, whatever its priority
//! and whether it has stepped back before. The others try in this order, too, when a leader is
//! gone: their locks end with its lease, and nobody is to be faster than the one it names. In local
//! mode whoever handed over comes last until it asks again, and the next one asks as soon as it is
//! named. Whoever asks a moment too early, because others are still locked by their clocks, asks
//! again when they are free by any clock. All this holds with a `tree`, too: whoever relays an
//! answer in local mode does not hear its sender, which may come last. So each member of a stable
//! partition of n leads within n + 1 times [`rotation`](super::Params::rotation).

use super::hall::{Hall, Timer};
use super::message::{Message, Request};
use super::params::Params;
use super::rules::Rule;
use bellwether_core::{Candidacy, Cx, Duration, Instant, NodeId, Rebase, Refused};

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
            self.tell_list(cx);
            cx.arm(Timer::Announce, cx.now() + cx.params().refresh);
        }
    }

    /// As a witness without a leader: tells its list, if the group was not founded with it. A
    /// process that asks tells its list, but a witness does not ask. If all those that have the
    /// list are witnesses, the only one that could lead may not know that it votes, or asks by an
    /// older list. Its requests then carry no stamps for a voter that this list lacks, so they are
    /// slow for that voter.
    fn tell_list(&self, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        let waits = self.bond(now, cx.params()).is_none() && self.stored.is_some();
        let Some(list) = self.list.as_ref().filter(|list| list.id().version > 0) else { return };
        if waits && self.is_witness(cx) && !self.leads(now) {
            let request = Request { life: self.life, sent: now };
            self.broadcast_probe(request, Some(list.clone().into()), cx);
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
        let may = params.preempt && (params.by_majority() || params.rotate_after.is_some());
        let Some(lease) = self.lease.as_ref().filter(|lease| may && now < lease.until) else {
            return false;
        };
        let (until, asks) = (lease.until, params.preempt_asks);
        if let Some(after) = params.rotate_after {
            if asks || self.better.is_none() {
                self.better = self.in_turn(after, now);
            }
        } else if asks || self.better.is_none_or(|better| !better.is_next) {
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

    /// The process whose turn it is, if this one has led for so long.
    fn in_turn(&self, after: Duration, now: Instant) -> Option<Better> {
        let since = self.reign.filter(|since| now.since(*since) >= after)?;
        let node = self.next_in_turn(now)?;
        Some(Better { node, since, is_next: true })
    }

    /// As a leader: the next of its supporters in the order of ids, and around.
    pub(super) fn next_in_turn(&self, now: Instant) -> Option<NodeId> {
        let fit = |id: &NodeId| {
            let votes = self.list.as_ref().is_none_or(|list| list.has(*id));
            *id != self.me && votes && !self.line.is_witness(*id) && self.is_supported_by(*id)
        };
        self.alive.at(now).filter(fit).min_by_key(|id| (*id < self.me, *id))
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

    /// How long a nominee comes first. In local mode that is until it leads: it asks when it hears
    /// of it, for the second time after EP, and counts the answers after a round; each timer may
    /// ring late by σ.
    pub(super) fn nomination(&self, params: &Params) -> Duration {
        match params.by_majority() {
            true => self.times.period,
            false => self.times.period + params.stagger() * 2,
        }
    }

    /// In local mode, where whoever is first in line asks: until when it leaves that to the process
    /// that a leader named as the next one. It need not have heard that one yet, since supporters
    /// are silent among themselves. If it asked at the same time, both would ask in vain; and it
    /// would have its place in line again, perhaps before that one. A leader of other processes
    /// leads on.
    pub(super) fn waits_for_nominee(&self, now: Instant) -> Option<Instant> {
        self.line.other_nominee(self.me, now).filter(|_| !self.leads(now))
    }

    /// The process for which it let its lease end, if that is over now. With `preempt-asks` it let
    /// none end: the lease lapsed although it asked for longer, and nobody told it to step back.
    pub(super) fn take_next(&mut self, now: Instant, params: &Params) -> Option<NodeId> {
        let over = !self.leads(now);
        let next = self.better.take_if(|better| better.is_next && over)?;
        (!params.preempt_asks).then_some(next.node)
    }
}
