//! The candidate: asks for support, counts it, and leads for as long as it lasts.

use super::announcement::Announced;
use super::hall::{Hall, Lease, Round, Timer};
use super::list::{List, ListId, ListTold, quorum};
use super::lock::Lock;
use super::message::{Ids, Message, Request};
use super::params::Params;
use super::rules::Rule;
use super::terms::Stored;
use super::votes::Terms;
use bellwether_core::{Cx, Duration, Instant, NodeId};

impl Hall {
    /// Asks if it leads or is first in line; otherwise checks again later.
    pub(super) fn ask_if_its_turn(&mut self, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        self.alive.purge(now);
        if self.stored.is_none() {
            return self.inquire(cx);
        }
        if !self.may_ask(cx) {
            self.turn = Instant::NEVER;
            return;
        }
        if let Some(next) = self.take_next(now, cx.params()) {
            return self.step_back(Some(next), cx);
        }
        if self.yields(cx) {
            return;
        }
        if cx.params().by_majority() {
            match self.bond(now, cx.params()) {
                Some(lock) if !self.leads(now) => self.ask_in_turn(lock.free(), cx),
                _ => self.ask(cx),
            }
            return;
        }
        let mine = self.line.place(self.me);
        // It cannot be first before the last of those before it has expired.
        let expiry = self.alive.last_expiry(|id| self.line.place(id) < mine);
        match expiry.max(self.waits_for_nominee(now)) {
            Some(first) => cx.arm(Timer::Ask, first),
            None => self.ask(cx),
        }
    }

    /// In majority mode processes try one after the other: the first in line at `from`, each next
    /// one later by the duration of an attempt.
    pub(super) fn ask_in_turn(&mut self, from: Instant, cx: &mut Cx<'_, Self>) {
        if !self.may_ask(cx) {
            return;
        }
        self.turn = self.turn_from(from, cx);
        cx.arm(Timer::Ask, self.turn);
    }

    /// Like [`ask_in_turn`](Self::ask_in_turn) with the first in line trying now, unless its turn
    /// comes sooner anyway.
    pub(super) fn ask_sooner(&mut self, cx: &mut Cx<'_, Self>) {
        if self.may_ask(cx) {
            self.turn = self.turn_from(cx.now(), cx).min(self.turn);
            cx.arm(Timer::Ask, self.turn);
        }
    }

    /// The turn of this process.
    fn turn_from(&self, from: Instant, cx: &Cx<'_, Self>) -> Instant {
        from + cx.params().stagger() * self.turns_to_wait(cx)
    }

    /// How many turns come before that of this process. Others may have other knowledge of missing
    /// or retired processes and compute the same turn. So after a second failure in a row all
    /// processes count, and no two have the same turn.
    pub(super) fn turns_to_wait(&self, cx: &Cx<'_, Self>) -> u64 {
        let (mine, missing) = (self.line.place(self.me), self.missing());
        let resting = self.line.resting(cx.now());
        let absent = |peer: NodeId| Some(peer) == missing || Some(peer) == resting;
        // Where leadership goes round, so does the order in which others try after a leader.
        let last = missing.filter(|_| cx.params().rotate_after.is_some());
        let before = |peer: NodeId| match last {
            Some(last) => self.line.follows_sooner(peer, self.me, last),
            None => self.line.asks_before(peer, mine),
        };
        let in_line = |peer: &&NodeId| !absent(**peer) && before(**peer);
        let voters = self.list.as_ref().map_or(&[][..], |list| list.voters());
        let before_me = || self.list.as_ref().map_or(0, |list| list.before(self.me));
        let turns = match (self.failures, mine.is_last()) {
            (0 | 1, _) if last.is_none() && self.line.is_by_id() => {
                // The usual case: the order of the list, in which at most one process is absent.
                let absent = missing.filter(|peer| *peer < self.me && voters.contains(peer));
                before_me() - usize::from(absent.is_some())
            }
            (0 | 1, _) => voters.iter().filter(in_line).count(),
            (_, false) => before_me(),
            (_, true) => before_me() + voters.len(),
        };
        turns as u64
    }

    /// The term that a request asks for. A candidate keeps its term until it is refused or has led
    /// with it; a leader keeps its own unless it granted a higher one. `None` if it cannot grant
    /// itself any: then it has no record, or the numbers are used up. In local mode all are zero.
    fn next_term(&self, leads: bool, params: &Params) -> Option<u64> {
        if !params.by_majority() {
            return Some(0);
        }
        let (stored, me) = (self.stored?, (self.me, self.life));
        let mine = stored.granted == Some(me);
        let used = !leads && stored.highest <= self.led && params.keep(Rule::NewReignNewTerm);
        let term = if mine && !used {
            stored.highest
        } else if stored.highest == 0 {
            // A new group counts from the wall clock where its lives do, so that its terms are
            // higher than those of a group whose records are all lost.
            (self.life / 1_000_000).max(1)
        } else {
            stored.highest.saturating_add(1)
        };
        let term = term.max(self.least);
        stored.allows(term, me).then_some(term)
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
        if self.alone && !leads {
            return self.probe(request, cx);
        }
        let Some(term) = self.next_term(leads, params) else {
            return cx.arm(Timer::Ask, now + self.times.period);
        };
        self.line.return_of(self.me);
        let knew_itself = self.alive.contains(self.me);
        self.hear(self.me, true, cx);
        let goes_on = leads && params.keep(Rule::Retry);
        let tree = self.tree(now, params).filter(|_| goes_on);
        self.votes.ask(now, goes_on || !params.keep(Rule::VotesEndWithCampaign));
        self.round = Some(Round { sent: now, knew_itself, refusals: [].into(), free: now, term });
        self.support_itself(request, term, cx);
        let lease = self.lease.as_ref().filter(|_| leads);
        let supporters = lease.map_or_else(Default::default, |lease| lease.supporters.clone());
        // Voters know its term; observers are to know its token.
        let token = match params.by_majority() {
            true => lease.map(|lease| lease.token),
            false => lease.map(|_| self.partition_number),
        };
        let token =
            token.filter(|token| !params.by_majority() || *token != term && self.is_partial());
        let (lock, farewell, list) = (self.times.lock, self.line.news(now), self.list_told(now));
        let answerers = self.answerers(term, list.as_ref(), now, params);
        cx.broadcast(Message::Election {
            request,
            term,
            token,
            lock,
            supporters,
            farewell,
            list,
            answerers,
            tree,
        });
        if leads {
            self.announce_request(request, cx);
        }
        self.invite(cx);
        self.replace_absent(leads, cx);
        cx.arm(Timer::Count, now + self.times.round);
        if params.keep(Rule::OwnVoteDecides) && (leads || params.by_majority()) {
            self.decide(cx);
        }
    }

    /// Asks whether enough others are there that could vote, after a request that too few answered
    /// or as the first one with a new record. Nobody is locked and nobody grants a term. So
    /// processes cut off from the rest use up no terms; whoever returns to a group that has a
    /// leader does not compete with it; and a founder grants itself no term before a majority has
    /// records, from which the others can read it.
    fn probe(&mut self, request: Request, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        self.round =
            Some(Round { sent: now, knew_itself: true, refusals: [].into(), free: now, term: 0 });
        self.broadcast_probe(request, self.list_told(now), cx);
        cx.arm(Timer::Count, now + self.times.round);
    }

    /// Sends a probe by this list.
    pub(super) fn broadcast_probe(
        &self,
        request: Request,
        list: Option<ListTold>,
        cx: &mut Cx<'_, Self>,
    ) {
        let (lock, supporters) = (self.times.lock, Ids::new());
        let farewell = self.line.news(cx.now());
        cx.broadcast(Message::Election {
            request,
            term: 0,
            token: None,
            lock,
            supporters,
            farewell,
            list,
            answerers: None,
            tree: None,
        });
    }

    fn support_itself(&mut self, request: Request, term: u64, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let vote = (term, self.list.as_ref().map(List::id));
        if !params.keep(Rule::SelfSupport) {
            self.votes.put(self.me, now, vote, true);
            return;
        }
        if self.bond(now, params).is_none() {
            if params.by_majority() {
                // Before it asks: its own vote is stored like any other.
                let granted = Some((self.me, self.life));
                self.set_stored(Stored { highest: term, granted }, cx);
            }
            let length = (now, self.times.lock);
            let mut lock = Lock::new(Some(self.me), request, length, false, params);
            if let Some(held) = self.lock.filter(|_| params.keep(Rule::LocksNeverShrink)) {
                lock.until = lock.until.max(held.until); // it is to itself, or lapsed
            }
            self.lock(lock, now, params);
            self.partition.clear();
            self.votes.put(self.me, now, vote, true);
        }
    }

    /// Handles a grant of this term by this list.
    pub(super) fn on_vote(
        &mut self,
        from: NodeId,
        request: Request,
        vote: (u64, Option<ListId>),
        cx: &mut Cx<'_, Self>,
    ) {
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
        let again = self.votes.put(from, request.sent, vote, params.keep(Rule::DistinctVoters));
        // In local mode a candidate waits until all that hear it have had time to answer.
        let counts = params.by_majority() || self.leads(now);
        if counts && !self.take_plain_vote(from, (request.sent, vote, again), now, params) {
            self.decide(cx);
        }
    }

    /// CheckIfLeader, if it succeeds: takes the lease that the votes give. True if the current
    /// request needs no more votes.
    pub(super) fn decide(&mut self, cx: &mut Cx<'_, Self>) -> bool {
        let (now, params) = (cx.now(), cx.params());
        let terms = self.terms_that_count(now, params);
        let Some(base) = self.base(terms, cx) else { return false };
        let until = self.end_of_lease(base, now, params);
        let led = self.leads(now);
        if until <= now {
            return false;
        }
        // At an equal end there may be more supporters.
        let keeps = led && self.lease.as_ref().is_some_and(|lease| until < lease.until);
        if !keeps {
            let lease = self.lease_on(base, until, terms, params);
            self.assert_token_grows(lease.token, led, params);
            self.note_renewal(led, until, params);
            self.note_partition(&lease.supporters, led, params);
            self.led = self.led.max(lease.token);
            self.lease = Some(lease);
        }
        self.assert_lease_is_covered(base, cx);
        self.failures = 0;
        self.votes.settle(base);
        self.brief = self.brief.filter(|(at, _)| base <= *at);
        let done = self.round.as_ref().is_some_and(|round| base >= round.sent);
        if done {
            self.round = None;
            self.note_collated(true, params);
            cx.disarm(Timer::Count);
        }
        if !led && params.keep(Rule::Retry) {
            (self.reign, self.better) = (params.rotate_after.map(|_| now), None);
            // A new leader tells its members at once.
            self.announced = Announced::NOTHING;
            self.ask(cx);
            self.commit(cx);
            return true;
        }
        // A lease by the list before that ends later was told: nothing is committed before then.
        let by_list = |lease: &Lease| lease.list == self.list.as_ref().map(List::id);
        if self.lease.as_ref().is_some_and(by_list) || !params.keep(Rule::ToldEndsAreKept) {
            self.commit(cx);
        }
        if done {
            let renewal = if params.keep(Rule::Retry) {
                base + params.renew
            } else {
                until - self.times.round - params.sigma
            };
            cx.arm(Timer::Ask, renewal.max(now));
        }
        done
    }

    /// The lease until then, on grants of this request or later ones.
    fn lease_on(&self, base: Instant, until: Instant, terms: Terms, params: &Params) -> Lease {
        let list = self.list.as_ref().map(List::id);
        if !params.by_majority() {
            return Lease { until, supporters: self.alive.ids().collect(), token: 0, list };
        }
        let votes = self.votes.since(base, terms);
        let token = votes.clone().map(|(_, term)| term).min().unwrap_or_default();
        Lease { until, supporters: votes.map(|(voter, _)| voter).collect(), token, list }
    }

    /// The terms whose votes a lease may rest on. A new leadership needs votes for one term, higher
    /// than any that this life has led with; a lease that still runs may rest on votes of several
    /// terms, none lower than its token.
    fn terms_that_count(&self, now: Instant, params: &Params) -> Terms {
        if !params.by_majority() {
            return Terms::ANY;
        }
        let list = self.list.as_ref().map(List::id);
        let list = list.filter(|_| params.keep(Rule::OneListPerLease));
        if let Some(lease) = self.lease.as_ref().filter(|lease| now < lease.until) {
            return Terms::from(lease.token).by(list);
        }
        let asked = self.votes.of(self.me).map_or(0, |(_, term)| term);
        let used = asked <= self.led && params.keep(Rule::NewReignNewTerm);
        let least = if used { self.led.saturating_add(1) } else { asked };
        if params.keep(Rule::OneTermPerReign) {
            Terms { least, most: asked, list }
        } else {
            Terms::from(1).by(list)
        }
    }

    fn assert_token_grows(&self, token: u64, led: bool, params: &Params) {
        if !params.rules.are_all() || !params.by_majority() {
            return;
        }
        assert!(token > 0, "a leader has a token");
        assert!(token >= self.led, "a token never falls");
        assert!(led || token > self.led, "a new leadership has a new token");
    }

    /// Asserts what must hold for a lease just taken on grants of this request or later ones.
    fn assert_lease_is_covered(&self, base: Instant, cx: &Cx<'_, Self>) {
        let params = cx.params();
        let Some(lease) = self.lease.as_ref().filter(|_| params.rules.are_all()) else { return };
        let covers = |lock: &Lock| lock.to == Some(self.me) && lock.until >= lease.until;
        assert!(self.lock.as_ref().is_some_and(covers), "a lease never outlives its holder's lock");
        assert!(self.votes.count(base), "a lease rests on requests of the current campaign");
        assert!(base <= cx.now(), "a lease rests on requests already made");
        if lease.list != self.list.as_ref().map(List::id) {
            return; // one by the list before ends later, and rests on the voters of that
        }
        let supporters = lease.supporters.iter().copied();
        assert!(
            self.list.as_ref().is_none_or(|list| list.is_decided_by(supporters, params)),
            "a lease in majority mode rests on more than half of the voters"
        );
    }

    /// The end of a lease that rests on grants of this request or later ones.
    pub(super) fn end_of_lease(&self, base: Instant, now: Instant, params: &Params) -> Instant {
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
        let lease = match self.brief {
            Some((at, lease)) if base <= at && params.keep(Rule::LeaseAsAsked) => lease,
            _ => self.times.lease,
        };
        from + lease * times + through
    }

    /// The request that a lease runs from: all needed supporters granted it or a later one.
    fn base(&self, terms: Terms, cx: &Cx<'_, Self>) -> Option<Instant> {
        let params = cx.params();
        if let Some(list) = &self.list {
            let mine = self.votes.counting(self.me, terms)?;
            return Some(self.votes.of_list(list, terms, params)?.min(mine));
        }
        let knew_itself = self.round.as_ref().is_none_or(|round| round.knew_itself);
        let first = self.first_alive() == Some(self.me);
        let quorum = quorum(cx.peers().len() + 1, params);
        if !(knew_itself && first && self.alive.len() >= quorum) {
            return None;
        }
        let mut base = Instant::NEVER;
        for id in self.alive.ids() {
            base = base.min(self.votes.of(id)?.0);
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
        self.note_delay();
        self.note_collated(false, params);
        // C6: the lease still runs, on the locks of those that would be released.
        if let Some(round) = self.round.take()
            && !params.keep(Rule::NoReleaseWhileLeading)
        {
            let request = Request { life: self.life, sent: round.sent };
            cx.broadcast(Message::Release { request, leaving: false, nominee: None });
        }
        self.ask_if_its_turn(cx);
    }

    /// CheckIfLeader, if it does not succeed: gives the request up.
    pub(super) fn fail(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(round) = self.round.take() else { return };
        let (now, params) = (cx.now(), cx.params());
        cx.disarm(Timer::Count);
        self.failures = (self.failures + 1).min(2);
        if params.keep(Rule::StepDown) {
            self.lease = None;
            self.announce_end(cx);
        }
        assert!(
            !params.rules.are_all() || self.lease.is_none(),
            "no supporter is released while a lease runs on its lock"
        );
        let answered = !round.refusals.is_empty() || self.votes.len() > 1;
        // In a probe its own vote is missing.
        let there = |id: &NodeId| {
            *id == self.me || round.refusals.contains(id) || self.votes.of(*id).is_some()
        };
        let enough = |list: &List| list.is_decided_by(list.needed().filter(there), params);
        self.alone = !self.list.as_ref().is_none_or(enough);
        if !self.votes.is_empty() {
            let request = Request { life: self.life, sent: round.sent };
            cx.broadcast(Message::Release { request, leaving: false, nominee: None });
            self.unlock_itself();
        }
        if params.keep(Rule::VotesEndWithCampaign) {
            self.votes.clear();
        }
        self.given_up = Some(round.sent);
        let again = (round.sent + self.times.period - params.sigma).max(now);
        let was_early = params.rotate_after.is_some() && self.failures == 1;
        if !params.by_majority() {
            cx.arm(Timer::Ask, again);
        } else if was_early && round.sent < round.free && round.free <= now && !self.forked {
            // Where leadership goes round the next one asks when its own lock has lapsed, and by
            // slower clocks others are not free yet. It is still its turn.
            self.turn = now;
            cx.arm(Timer::Ask, now);
        } else if round.free > round.sent && !self.forked {
            // The processes that refused said when they will be free, which may be now.
            self.ask_in_turn(round.free.max(now), cx);
        } else if answered {
            self.ask_in_turn(again, cx);
        } else {
            // It may be unable to receive, and then keeps the others locked to it in vain: so they
            // have their turns first.
            let others = self.list.as_ref().map_or(0, |list| list.voters().len() - 1);
            self.ask_in_turn(again + params.stagger() * others as u64, cx);
        }
    }

    /// Ends its lock to itself together with its request.
    pub(super) fn unlock_itself(&mut self) {
        self.lock = self.lock.filter(|lock| lock.to != Some(self.me));
    }
}
