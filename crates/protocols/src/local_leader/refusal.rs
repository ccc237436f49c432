//! As a candidate: what it makes of refusals.

use super::hall::{Hall, Timer};
use super::list::{List, ListTold};
use super::message::Request;
use super::params::Params;
use super::rules::Rule;
use bellwether_core::{Cx, Duration, NodeId};

/// What a refusal says.
pub(super) struct Refusal<'a> {
    pub(super) request: Request,
    /// For how long the sender is locked to another.
    pub(super) remaining: Duration,
    /// The highest term it has granted or learnt of.
    pub(super) highest: u64,
    /// Its list.
    pub(super) list: Option<&'a ListTold>,
}

impl Hall {
    /// Handles a refusal of a process that is locked to another, or has granted this term, or has
    /// another list.
    pub(super) fn on_refusal(&mut self, from: NodeId, refusal: Refusal<'_>, cx: &mut Cx<'_, Self>) {
        let Refusal { request, remaining, highest, list } = refusal;
        let (now, params) = (cx.now(), cx.params());
        if !params.keep(Rule::RefusalIsNoVote) {
            return self.on_vote(from, request, (highest, list.map(ListTold::id)), cx);
        }
        let fast = Self::is_fast(cx);
        self.hear(from, fast, cx);
        // If it was told already, it refuses for another reason.
        let told = matches!(self.list_told(now), Some(ListTold::Whole(_)));
        let lacks = !told && self.lacks_list(list, params);
        if lacks {
            // At the instant of its request it does not ask again at once: EP and all turns later.
            let turns = 2 * self.list.as_ref().map_or(0, |list| list.voters().len() as u64);
            let late = self.times.period + params.stagger() * turns;
            self.list_news = now + if now > request.sent { self.times.lock } else { late };
        }
        self.learn(list, cx);
        self.note_fork(list);
        if let Some(list) = list.filter(|list| self.is_behind(Some(list))) {
            self.adopt(list, cx); // by its own it would be refused again
        }
        let leads = self.leads(now);
        let mine = request.life == self.life;
        let founding = params.founding_lengths();
        let longest = self.list.as_ref().map(|list| list.longest_lock(founding));
        let longest = longest.unwrap_or(self.times.lock);
        let Some(round) = self.round.as_mut().filter(|round| mine && round.sent == request.sent)
        else {
            if fast && mine && leads && remaining == Duration::ZERO {
                self.regain(highest, list, params);
            }
            return;
        };
        if !fast || !params.by_majority() {
            return;
        }
        if remaining > Duration::ZERO {
            let mut wait = remaining.min(longest);
            if params.rotate_after.is_some() {
                // It asks again at that moment, and others take their turns if that is in vain.
                wait = self.times.outlasting(wait + params.clock_error * 2);
            }
            round.free = round.free.max(now + wait);
        }
        let (term, probe) = (round.term, round.term == 0);
        if highest >= term {
            self.least = self.least.max(highest.saturating_add(1));
        }
        if highest >= term || lacks {
            round.free = round.free.max(now); // it may ask again at once, and not in vain
        }
        if !round.refusals.contains(&from) {
            round.refusals.push(from);
        }
        let (free, refusals) = (round.free.max(now), &round.refusals);
        let Some(list) = &self.list else { return };
        let answered = |id: &NodeId| *id == self.me || refusals.contains(id);
        let willing = |id: &NodeId| !refusals.contains(id);
        if probe && list.is_decided_by(list.needed().filter(answered), params) {
            (self.round, self.alone) = (None, false);
            cx.disarm(Timer::Count);
            return self.ask_in_turn(free, cx);
        }
        if !probe && !leads && !list.is_decided_by(list.needed().filter(willing), params) {
            self.fail(cx);
        }
    }

    /// As a leader: a voter of the same list that is free refused a request that enough others had
    /// granted before it answered. It has granted this term to another and needs a higher one. Its
    /// answers may always be the last, so it would follow nobody for ever.
    fn regain(&mut self, highest: u64, list: Option<&ListTold>, params: &Params) {
        let same = list.map(ListTold::id) == self.list.as_ref().map(List::id);
        let refuses = self.stored.is_some_and(|stored| highest >= stored.highest);
        if params.by_majority() && same && refuses {
            self.least = self.least.max(highest.saturating_add(1));
        }
    }

    /// Whether a process with this list would take this one's if it were told of it in full.
    fn lacks_list(&self, theirs: Option<&ListTold>, params: &Params) -> bool {
        match (theirs, &self.list) {
            (Some(ListTold::Whole(theirs)), Some(mine)) => {
                theirs.yields_to(mine.id(), mine.committed, params)
            }
            _ => false,
        }
    }
}
