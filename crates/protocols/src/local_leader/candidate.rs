//! The candidate: asks for support, counts it, and leads for as long as it lasts.

use super::hall::{Hall, Lease, Round, Timer};
use super::lock::Lock;
use super::message::{Message, Request};
use super::params::Params;
use super::rules::Rule;
use bellwether_core::{Cx, Duration, Instant, NodeId};

impl Hall {
    /// Asks if it leads or is first in line; otherwise checks again later.
    pub(super) fn ask_if_its_turn(&mut self, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        self.alive.purge(now);
        if cx.params().by_majority() {
            match self.bond(now, cx.params()) {
                Some(lock) if !self.leads(now) => self.ask_in_turn(lock.free(), cx),
                _ => self.ask(cx),
            }
            return;
        }
        let mine = self.line.place(self.me);
        // It cannot be first before the last of those before it has expired.
        match self.alive.last_expiry(|id| self.line.place(id) < mine) {
            Some(expiry) => cx.arm(Timer::Ask, expiry),
            None => self.ask(cx),
        }
    }

    /// In majority mode processes try one after the other: the first in line at `from`, each next
    /// one later by the duration of an attempt.
    pub(super) fn ask_in_turn(&mut self, from: Instant, cx: &mut Cx<'_, Self>) {
        self.turn = self.turn_from(from, cx);
        cx.arm(Timer::Ask, self.turn);
    }

    /// Like [`ask_in_turn`](Self::ask_in_turn) with the first in line trying now, unless its turn
    /// comes sooner anyway.
    pub(super) fn ask_sooner(&mut self, cx: &mut Cx<'_, Self>) {
        self.turn = self.turn_from(cx.now(), cx).min(self.turn);
        cx.arm(Timer::Ask, self.turn);
    }

    /// The turn of this process. Others may have other knowledge of missing or retired processes
    /// and compute the same turn. So after a second failure in a row all processes count, and no
    /// two have the same turn.
    fn turn_from(&self, from: Instant, cx: &Cx<'_, Self>) -> Instant {
        let (mine, missing) = (self.line.place(self.me), self.missing());
        let in_line = |peer: &NodeId| Some(*peer) != missing && self.line.place(*peer) < mine;
        let by_id = |peer: &NodeId| *peer < self.me;
        let peers = cx.peers();
        let turn = match (self.failures, mine.0) {
            (0 | 1, _) => peers.iter().filter(in_line).count(),
            (_, false) => peers.iter().filter(by_id).count(),
            (_, true) => peers.iter().filter(by_id).count() + peers.len() + 1,
        };
        from + cx.params().stagger() * turn as u64
    }

    /// Sends a request and counts its own vote first.
    pub(super) fn ask(&mut self, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        if self.gave_up_at(now, params) {
            return cx.arm(Timer::Ask, now + Duration::from_nanos(1));
        }
        let leads = self.leads(now);
        let request = Request { life: self.life, sent: now };
        assert!(
            !params.rules.are_all() || self.given_up.is_none_or(|given_up| given_up < now),
            "a request is later than every request that was given up"
        );
        self.turn = Instant::NEVER;
        self.line.return_of(self.me);
        let knew_itself = self.alive.contains(self.me);
        self.hear(self.me, true, cx);
        let goes_on = leads && params.keep(Rule::Retry);
        self.votes.ask(now, goes_on || !params.keep(Rule::VotesEndWithCampaign));
        self.round = Some(Round { sent: now, knew_itself, refusals: [].into(), free: now });
        self.support_itself(request, cx);
        let lease = self.lease.as_ref().filter(|_| leads);
        let supporters = lease.map_or_else(Default::default, |lease| lease.supporters.clone());
        let farewell = self.line.news(now);
        cx.broadcast(Message::Election { request, lock: params.lock, supporters, farewell });
        cx.arm(Timer::Count, now + params.round);
        if params.keep(Rule::OwnVoteDecides) && (leads || params.by_majority()) {
            self.decide(cx);
        }
    }

    fn support_itself(&mut self, request: Request, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        if !params.keep(Rule::SelfSupport) {
            return self.votes.put(self.me, now, true);
        }
        if self.bond(now, params).is_none() {
            self.lock(Lock::new(Some(self.me), request, now, false, params), now, params);
            self.partition.clear();
            self.votes.put(self.me, now, true);
        }
    }

    /// Handles a grant.
    pub(super) fn on_vote(&mut self, from: NodeId, request: Request, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let fast = Self::is_fast(cx);
        self.hear(from, fast, cx);
        let mine = request.life == self.life || !params.keep(Rule::Lives);
        let pending = self.round.as_ref().is_some_and(|round| round.sent == request.sent);
        let counts =
            if params.keep(Rule::Retry) { self.votes.count(request.sent) } else { pending };
        if !(fast && mine && (counts || !params.keep(Rule::CampaignVotesOnly))) {
            return;
        }
        self.votes.put(from, request.sent, params.keep(Rule::DistinctVoters));
        // In local mode a candidate waits until all that hear it have had time to answer.
        if params.by_majority() || self.leads(now) {
            self.decide(cx);
        }
    }

    /// Handles a refusal of a process that is locked to another for this long.
    pub(super) fn on_refusal(
        &mut self,
        from: NodeId,
        request: Request,
        remaining: Duration,
        cx: &mut Cx<'_, Self>,
    ) {
        let (now, params) = (cx.now(), cx.params());
        if !params.keep(Rule::RefusalIsNoVote) {
            return self.on_vote(from, request, cx);
        }
        let fast = Self::is_fast(cx);
        self.hear(from, fast, cx);
        let leads = self.leads(now);
        let mine = request.life == self.life;
        let Some(round) = self.round.as_mut().filter(|round| mine && round.sent == request.sent)
        else {
            return;
        };
        if !fast || !params.by_majority() {
            return;
        }
        if remaining > Duration::ZERO {
            round.free = round.free.max(now + remaining.min(params.lock));
        }
        if !round.refusals.contains(&from) {
            round.refusals.push(from);
        }
        let group = cx.peers().len() + 1;
        if !leads && group - round.refusals.len().min(group) < quorum(group, params) {
            self.fail(cx);
        }
    }

    /// CheckIfLeader, if it succeeds: takes the lease that the votes give. True if the current
    /// request needs no more votes.
    fn decide(&mut self, cx: &mut Cx<'_, Self>) -> bool {
        let (now, params) = (cx.now(), cx.params());
        let Some(base) = self.base(cx) else { return false };
        let until = self.lease_end(base, now, params);
        let led = self.leads(now);
        if until <= now {
            return false;
        }
        // At an equal end there may be more supporters.
        if !led || self.lease.as_ref().is_none_or(|lease| lease.until <= until) {
            let supporters = if params.by_majority() {
                self.votes.since(base).collect()
            } else {
                self.alive.ids().collect()
            };
            self.lease = Some(Lease { until, supporters });
        }
        self.assert_lease_is_covered(base, cx);
        self.failures = 0;
        self.votes.settle(base);
        let done = self.round.as_ref().is_some_and(|round| base >= round.sent);
        if done {
            self.round = None;
            cx.disarm(Timer::Count);
        }
        if !led && params.keep(Rule::Retry) {
            // A new leader tells its members at once.
            self.ask(cx);
            return true;
        }
        if done {
            let renewal = if params.keep(Rule::Retry) {
                base + params.renew
            } else {
                until - params.round - params.sigma
            };
            cx.arm(Timer::Ask, renewal.max(now));
        }
        done
    }

    /// Asserts what must hold for a lease just taken on grants of this request or later ones.
    fn assert_lease_is_covered(&self, base: Instant, cx: &Cx<'_, Self>) {
        let params = cx.params();
        let Some(lease) = self.lease.as_ref().filter(|_| params.rules.are_all()) else { return };
        let covers = |lock: &Lock| lock.to == Some(self.me) && lock.until >= lease.until;
        assert!(self.lock.as_ref().is_some_and(covers), "a lease never outlives its holder's lock");
        assert!(self.votes.count(base), "a lease rests on requests of the current campaign");
        assert!(base <= cx.now(), "a lease rests on requests already made");
        let group = cx.peers().len() + 1;
        assert!(
            !params.by_majority() || lease.supporters.len() * 2 > group,
            "a lease in majority mode rests on more than half of the group"
        );
    }

    /// The end of a lease that rests on grants of this request or later ones.
    fn lease_end(&self, base: Instant, now: Instant, params: &Params) -> Instant {
        let from = if !params.keep(Rule::LeaseFromSending) {
            now
        } else if !params.keep(Rule::LeaseFromGrantedRequest) {
            self.votes.last_request().unwrap_or(base)
        } else if !params.keep(Rule::LeaseFromOldestGrant) {
            self.votes.newest().unwrap_or(base)
        } else {
            base
        };
        let through = Duration::from_nanos(u64::from(!params.keep(Rule::StrictExpiry)));
        let times = if params.keep(Rule::LeaseEnds) { 1 } else { 1_000 };
        from + params.lease * times + through
    }

    /// The request that a lease runs from: all needed supporters granted it or a later one.
    fn base(&self, cx: &Cx<'_, Self>) -> Option<Instant> {
        let params = cx.params();
        let quorum = quorum(cx.peers().len() + 1, params);
        if params.by_majority() {
            let mine = self.votes.of(self.me)?;
            return self.votes.of_quorum(quorum).map(|base| base.min(mine));
        }
        let knew_itself = self.round.as_ref().is_none_or(|round| round.knew_itself);
        let first = self.first_alive() == Some(self.me);
        if !(knew_itself && first && self.alive.len() >= quorum) {
            return None;
        }
        let mut base = Instant::NEVER;
        for id in self.alive.ids() {
            base = base.min(self.votes.of(id)?);
        }
        Some(base)
    }

    /// Counts the replies to the current request when its time is over.
    pub(super) fn count(&mut self, cx: &mut Cx<'_, Self>) {
        self.alive.purge(cx.now());
        if self.round.is_none() || self.decide(cx) {
            return;
        }
        let params = cx.params();
        if !(self.leads(cx.now()) && params.keep(Rule::Retry)) {
            return self.fail(cx);
        }
        // C6: the lease still runs, on the locks of those that would be released.
        if let Some(round) = self.round.take()
            && !params.keep(Rule::NoReleaseWhileLeading)
        {
            let request = Request { life: self.life, sent: round.sent };
            cx.broadcast(Message::Release { request, leaving: false });
        }
        self.ask_if_its_turn(cx);
    }

    /// CheckIfLeader, if it does not succeed: gives the request up.
    fn fail(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(round) = self.round.take() else { return };
        let (now, params) = (cx.now(), cx.params());
        cx.disarm(Timer::Count);
        self.failures = (self.failures + 1).min(2);
        if params.keep(Rule::StepDown) {
            self.lease = None;
        }
        assert!(
            !params.rules.are_all() || self.lease.is_none(),
            "no supporter is released while a lease runs on its lock"
        );
        let answered = !round.refusals.is_empty() || self.votes.of_quorum(2).is_some();
        if !self.votes.is_empty() {
            let request = Request { life: self.life, sent: round.sent };
            cx.broadcast(Message::Release { request, leaving: false });
            self.unlock_itself();
        }
        if params.keep(Rule::VotesEndWithCampaign) {
            self.votes.clear();
        }
        self.given_up = Some(round.sent);
        let again = (round.sent + params.period - params.sigma).max(now);
        if !params.by_majority() {
            cx.arm(Timer::Ask, again);
        } else if round.free > round.sent {
            // The processes that refused said when they will be free, which may be now.
            self.ask_in_turn(round.free.max(now), cx);
        } else if answered {
            self.ask_in_turn(again, cx);
        } else {
            // It may be unable to receive, and then keeps the others locked to it in vain: so they
            // have their turns first.
            self.ask_in_turn(again + params.stagger() * cx.peers().len() as u64, cx);
        }
    }

    /// Ends its lock to itself together with its request.
    pub(super) fn unlock_itself(&mut self) {
        self.lock = self.lock.filter(|lock| lock.to != Some(self.me));
    }
}

/// How many supporters a leader needs, including itself.
fn quorum(group: usize, params: &Params) -> usize {
    params.quorum(group) - usize::from(!params.keep(Rule::MoreThanHalf))
}
