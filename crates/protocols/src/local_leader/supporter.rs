//! The supporter: answers requests, and is released.

use super::answerers::Answerers;
use super::collation::Tree;
use super::hall::{Hall, Timer};
use super::list::{List, ListTold};
use super::lock::Lock;
use super::message::{Farewell, Ids, Message, Request};
use super::params::Params;
use super::rules::Rule;
use super::terms::Stored;
use bellwether_core::{Cx, Duration, Instant, NodeId};

/// What an `election` message asks for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) request: Request,
    /// The term; zero in a probe.
    pub(super) term: u64,
    /// The token of a leader, if it is not the term.
    pub(super) token: Option<u64>,
    pub(super) lock: Duration,
    pub(super) supporters: &'a Ids,
    /// The list that it asks by.
    pub(super) list: Option<&'a ListTold>,
    /// Who is to answer, if not everybody.
    pub(super) answerers: Option<Answerers>,
    /// The tree through which they answer, if they do not directly.
    pub(super) tree: Option<Tree>,
}

impl Hall {
    /// Handles a request for support.
    pub(super) fn on_election(&mut self, from: NodeId, asked: Asked<'_>, cx: &mut Cx<'_, Self>) {
        let fast = Self::is_fast(cx);
        if self.line.knows(&Farewell { node: from, request: asked.request }) {
            return; // Its farewell overtook it.
        }
        self.line.return_by(from, asked.request, cx.params());
        self.hear(from, fast, cx);
        let list = asked.list;
        self.learn(list, cx);
        self.join_by_probe(from, &asked, cx);
        let (voter, joins) = (self.is_voter(), self.may_vote_by(list, cx.params()));
        let behind = self.is_behind(list) && !matches!(list, Some(ListTold::Whole(_)));
        if (voter || joins) && fast || voter && !behind {
            return self.answer(from, asked, fast, cx);
        }
        // Who votes it cannot know; or it is to vote, and the next request is fast if it is heard;
        // or it knows that the list is committed, which may be what the candidate waits for.
        if behind || joins || self.knows_better(list) {
            self.refuse(from, &asked, Duration::ZERO, cx);
        }
        if !voter {
            self.follow(from, asked, cx);
        }
    }

    /// A witness that has no leader told its list, which may not be committed. Whoever is to vote
    /// by it, does not yet and has no leader either, takes it over, in order to ask.
    fn join_by_probe(&mut self, from: NodeId, asked: &Asked<'_>, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let told = asked.list.filter(|_| asked.term == 0 && self.line.is_witness(from));
        let led = self.followed(now).is_some() || self.bond(now, params).is_some();
        if !led && !self.is_voter() && self.may_vote_by(told, params) {
            told.into_iter().for_each(|list| self.adopt(list, cx));
        }
    }

    /// Answers a request for support, if it was fast.
    fn answer(&mut self, from: NodeId, asked: Asked<'_>, fast: bool, cx: &mut Cx<'_, Self>) {
        let Asked { request, term, lock, .. } = asked;
        let (now, params) = (cx.now(), cx.params());
        let probe_in_vain = term == 0 && self.stored.is_none();
        if !fast || probe_in_vain {
            return; // A probe asks who could vote.
        }
        let hinders = |lock: &Lock| lock.hinders(from, request.life, now, params);
        let hindrance = self.lock.filter(|lock| hinders(lock) && params.keep(Rule::OneLock));
        // Locks of another length would not outlive the candidate's lease.
        let equal = self.may_lock_for(lock, asked.list, params);
        let allowed = if params.by_majority() {
            self.may_grant(term, from, request, params)
        } else {
            self.first_alive() == Some(from) && self.line.place(from) <= self.line.place(self.me)
        };
        let by_list = self.takes(asked.list, params);
        self.note_stranger(from, !by_list && self.stored.is_some());
        let support = hindrance.is_none() && equal && allowed && by_list;
        let known = |id: &NodeId| *id == self.me || cx.peers().contains(*id);
        let supporters = match cx.peers().contain_all(self.me, asked.supporters) {
            true => asked.supporters.clone(),
            false => asked.supporters.iter().copied().filter(known).collect(),
        };
        let leads = !supporters.is_empty();
        if leads {
            self.failures = 0;
        }
        let granted = Some(Stored { highest: term, granted: Some((from, request.life)) });
        let follows = self.held(from, now).is_some_and(|lock| lock.leads);
        let renews = leads && follows && self.stored == granted;
        if support && params.by_majority() {
            asked.list.into_iter().for_each(|list| self.adopt(list, cx));
            self.grant(term, (from, request.life), cx);
        }
        if support && params.keep(Rule::VoteLocks) {
            let as_asked = params.keep(Rule::LockAsAsked) && params.keep(Rule::EqualLocks);
            let length = if as_asked { lock } else { params.lock };
            self.lock_to(from, (request, length), supporters, cx);
            self.join_partition(asked.token, params);
        }
        if params.rules.are_all() {
            assert!(!support || self.held(from, now).is_some(), "a process that votes is locked");
            assert!(!support || equal, "a vote is for a lock that the list allows");
        }
        let waits = self.round.is_none() && !self.leads(now) && self.stored.is_some();
        if params.by_majority() && waits {
            if let Some(lock) = self.lock.filter(|_| support) {
                self.ask_in_turn(lock.free(), cx);
            } else if leads {
                // Another process leads, even without this one's support: no reason to compete.
                self.ask_in_turn(now + self.times.lock, cx);
            }
        }
        // A candidate that missed this would wait for a process that steps back, but is alive.
        if let Some(request) = self.line.stepped_back(self.me).filter(|_| !leads) {
            cx.send(from, Message::Release { request, leaving: true, nominee: None });
        }
        let remaining = hindrance.map_or(Duration::ZERO, |lock| lock.free().since(now));
        if !support {
            return self.refuse(from, &asked, remaining, cx);
        }
        if self.keeps_silent(from, &asked, renews) {
            return;
        }
        let list = self.list.as_ref().map(|list| ListTold::Name(list.id(), list.committed));
        self.collate(from, &asked, list, cx);
    }

    /// Refuses a request, and says why: for how long it is locked, what it granted, and its list.
    fn refuse(&self, from: NodeId, asked: &Asked<'_>, remaining: Duration, cx: &mut Cx<'_, Self>) {
        let asked_by = asked.list.map(ListTold::id);
        let list = self.list.as_ref().map(|list| match Some(list.id()) == asked_by {
            true => ListTold::Name(list.id(), list.committed),
            false => list.clone().into(),
        });
        let (request, support) = (asked.request, false);
        let highest = self.stored.map_or(0, |stored| stored.highest);
        cx.send(from, Message::Reply { request, support, remaining, highest, list });
    }

    /// Whether its record lets it grant this term. A probe asks for none.
    fn may_grant(&self, term: u64, from: NodeId, request: Request, params: &Params) -> bool {
        let once = params.keep(Rule::TermGrantedOnce);
        let allows = |stored: Stored| !once || stored.allows(term, (from, request.life));
        term > 0 && self.stored.is_some_and(allows)
    }

    /// Grants a term: from now on a lower one is refused, and this one to anybody else.
    fn grant(&mut self, term: u64, candidate: (NodeId, u64), cx: &mut Cx<'_, Self>) {
        let before = self.stored.map_or(0, |stored| stored.highest);
        self.set_stored(Stored { highest: term.max(before), granted: Some(candidate) }, cx);
    }

    /// Whether it may lock itself for so long by this list. Without durable tokens locks of another
    /// length than its own would not outlive the candidate's lease.
    fn may_lock_for(&self, lock: Duration, told: Option<&ListTold>, params: &Params) -> bool {
        let list = match told {
            Some(ListTold::Whole(list)) => Some(&**list),
            _ => self.list.as_ref(),
        };
        let fits = |list: &List| list.may_ask_for(lock, params.founding_lengths());
        list.map_or(lock == params.lock, fits) || !params.keep(Rule::EqualLocks)
    }

    fn lock_to(
        &mut self,
        to: NodeId,
        (request, length): (Request, Duration),
        supporters: Ids,
        cx: &Cx<'_, Self>,
    ) {
        let leads = !supporters.is_empty();
        let mut lock = Lock::new(Some(to), request, (cx.now(), length), leads, cx.params());
        let held = self.held(to, cx.now());
        if let Some(held) = held.filter(|_| cx.params().keep(Rule::LocksNeverShrink)) {
            lock.until = lock.until.max(held.until);
        }
        if let Some(held) = held.filter(|_| !cx.params().keep(Rule::RenewalBinds)) {
            lock.until = held.until;
        }
        match held {
            // A request that a later one overtook locks as long as any, and says nothing new. Of
            // the two that a new leader sends at once, the second says that it leads.
            Some(held) if (held.request, held.leads) > (request, leads) => {
                (lock.request, lock.leads) = (held.request, held.leads);
            }
            _ => self.partition = supporters,
        }
        assert!(
            !cx.params().rules.are_all() || held.is_none_or(|held| lock.until >= held.until),
            "a renewal never shortens a lock"
        );
        self.lock(lock, cx.now(), cx.params());
    }

    /// The lock to this process, if it is in force.
    fn held(&self, to: NodeId, now: Instant) -> Option<Lock> {
        self.lock.filter(|lock| lock.to == Some(to) && lock.until >= now)
    }

    /// Handles a release: a candidate gives up.
    pub(super) fn on_release(
        &mut self,
        from: NodeId,
        request: Request,
        leaving: bool,
        nominee: Option<NodeId>,
        cx: &mut Cx<'_, Self>,
    ) {
        let farewell = Farewell { node: from, request };
        // A repeated farewell of a process that stays is no news: a candidate would hear it and ask
        // again.
        if leaving && self.line.knows(&farewell) {
            return;
        }
        if leaving && self.let_step_back(farewell, cx) {
            let known = |nominee: &NodeId| *nominee == self.me || cx.peers().contains(*nominee);
            if let Some(nominee) = nominee.filter(known) {
                let until = cx.now() + self.nomination(cx.params());
                self.line.nominate(nominee, until, cx.params());
                if nominee == self.me && !cx.params().by_majority() && self.round.is_none() {
                    cx.arm(Timer::Ask, cx.now());
                }
            }
        }
        self.end_lock(farewell, cx);
    }

    /// Handles a farewell that a candidate carries.
    pub(super) fn on_farewell(&mut self, farewell: Farewell, cx: &mut Cx<'_, Self>) {
        if cx.peers().contains(farewell.node) {
            self.let_step_back(farewell, cx);
            self.end_lock(farewell, cx);
        }
    }

    /// Notes that a process stepped back, unless this is old news: it has come back since, or left
    /// again; or it stays, and only repeats it. True if it was news.
    fn let_step_back(&mut self, farewell: Farewell, cx: &Cx<'_, Self>) -> bool {
        let held = self.held(farewell.node, cx.now());
        let came_back = held.is_some_and(|lock| lock.request > farewell.request);
        let old = self.line.knows(&farewell) || self.line.asked_since(&farewell);
        let news = !came_back && !old;
        if news {
            self.alive.remove(farewell.node);
            self.line.step_back(farewell, cx.now(), self.times.lock, cx.params());
        }
        news
    }

    fn end_lock(&mut self, farewell: Farewell, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        if self.lock.is_some_and(|lock| lock.is_ended_by(&farewell, cx.params())) {
            self.lock = None;
            self.partition.clear();
        }
        if self.follows(&farewell) {
            self.unfollow(now);
        }
        let idle = self.round.is_none() && !self.leads(now) && self.stored.is_some();
        let idle = idle && !self.forked;
        if cx.params().by_majority() && idle && self.bond(now, cx.params()).is_none() {
            self.ask_sooner(cx);
        }
    }
}
