//! The list of voters that a process holds: how it learns of another one, and tells its own.

use super::hall::Hall;
use super::list::{List, ListTold};
use super::params::Params;
use super::rules::Rule;
use super::times::Lengths;
use bellwether_core::{Cx, Fact, Instant, NodeId, Rebase};

impl Hall {
    /// Whether its vote may be needed. If not, it is an observer: it follows and says nothing.
    pub(super) fn is_voter(&self) -> bool {
        self.list.as_ref().map_or(self.founder, |list| list.needs(self.me))
    }

    /// Whether it may support a request by this list: its own; or one that it takes over with that
    /// vote, if it is told of it in full.
    pub(super) fn takes(&self, told: Option<&ListTold>, params: &Params) -> bool {
        let (Some(mine), Some(told)) = (&self.list, told) else { return self.list.is_none() };
        let careful = params.keep(Rule::OlderListsRefused) && params.keep(Rule::ForksRefused);
        let whole = params.keeps_tokens() && matches!(told, ListTold::Whole(_));
        let yields = || mine.yields_to(told.id(), told.is_committed(), params);
        mine.id() == told.id() || ((whole || !careful) && yields())
    }

    /// Whether it is a voter of the list that it is asked by, and may take over that one.
    pub(super) fn may_vote_by(&self, told: Option<&ListTold>, params: &Params) -> bool {
        let needed = |told: &ListTold| match told {
            ListTold::Whole(list) => list.needs(self.me),
            ListTold::Name(..) => false,
        };
        self.stored.is_some() && told.is_some_and(needed) && self.takes(told, params)
    }

    /// Whether there is a newer list that it has not seen.
    pub(super) fn is_behind(&self, told: Option<&ListTold>) -> bool {
        let version = |told: &ListTold| told.id().version;
        self.list.as_ref().map(|mine| mine.id().version) < told.map(version) && self.list.is_some()
    }

    /// Whether it may ask for support: it has a record, its list names it, and it is no witness.
    pub(super) fn may_ask(&self, cx: &Cx<'_, Self>) -> bool {
        let votes =
            self.stored.is_some() && self.list.as_ref().is_none_or(|list| list.has(self.me));
        votes && (!self.is_witness(cx) || self.leads(cx.now()))
    }

    /// Whether it knows that a list is committed of which it is told without that.
    pub(super) fn knows_better(&self, told: Option<&ListTold>) -> bool {
        let (Some(mine), Some(told)) = (&self.list, told) else { return false };
        mine.id() == told.id() && mine.committed && !told.is_committed()
    }

    /// Its list as a request carries it: in full to those that may lack it.
    pub(super) fn list_told(&self, now: Instant) -> Option<ListTold> {
        let list = self.list.as_ref()?;
        let known = list.committed && now >= self.list_news;
        Some(if known { ListTold::Name(list.id(), true) } else { list.clone().into() })
    }

    /// Takes over a list that it is told of, if that is newer than its own and committed. One that
    /// may never be committed it takes over only to vote, or to ask: of two such lists, made by two
    /// leaders, the fewer processes have one, the sooner the other one is committed.
    pub(super) fn learn(&mut self, told: Option<&ListTold>, cx: &mut Cx<'_, Self>) {
        let (Some(told), Some(mine)) = (told, &self.list) else { return };
        if told.id() != mine.id() && told.is_committed() {
            self.adopt(told, cx);
        } else if told.id() == mine.id() && told.is_committed() && !mine.committed {
            self.commit(cx);
        }
    }

    /// Takes over a list, if it is told of it in full and may.
    pub(super) fn adopt(&mut self, told: &ListTold, cx: &mut Cx<'_, Self>) {
        if let (ListTold::Whole(list), Some(mine)) = (told, &self.list)
            && cx.params().keeps_tokens()
            && mine.yields_to(list.id(), list.committed, cx.params())
        {
            self.hold(List::clone(list), cx);
        }
    }

    /// Notes whether a process refuses it for another list of the same version, and neither is
    /// known to be committed. Then it is in vain to ask again at once.
    pub(super) fn note_fork(&mut self, told: Option<&ListTold>) {
        if let (Some(told), Some(mine)) = (told, &self.list) {
            let (theirs, own) = (told.id(), mine.id());
            let open = !mine.committed && !told.is_committed();
            self.forked |= open && theirs.version == own.version && theirs != own;
        }
    }

    /// Stores that its list is committed: by the lease that it has taken, if that is its own doing.
    /// This comes last in a step, so that all votes counted in it are of both majorities.
    pub(super) fn commit(&mut self, cx: &mut Cx<'_, Self>) {
        if let Some(list) = self.list.as_mut().filter(|list| !list.committed) {
            list.committed = true;
            self.forked = false;
            self.set_times(cx);
            self.list_news = cx.now() + self.times.lock;
            self.announced.renew();
            self.store(cx);
        }
    }

    /// The times of its list. Its requests up to now keep the lease that they were made for.
    pub(super) fn set_times(&mut self, cx: &Cx<'_, Self>) {
        let before = self.times;
        self.times = cx.params().times(self.list.as_ref());
        if self.brief.is_none() && before.lease != self.times.lease {
            self.brief = Some((cx.now(), before.lease));
        }
    }

    /// From now on this is its list.
    pub(super) fn hold(&mut self, list: List, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        self.list = Some(list);
        self.set_times(cx);
        self.brief = None; // votes by another list do not count
        self.list_news = now + self.times.lock;
        (self.planned, self.forked) = (None, false);
        self.store(cx);
        if !self.leads(now) {
            if let Some(round) = &mut self.round {
                round.free = round.free.max(now); // it may ask again at once, by this list
            }
            let alone = self.alone; // that few answered by the old list means nothing
            self.fail(cx);
            self.alone = alone;
            if self.round.is_none() && self.turn == Instant::NEVER {
                let free = self.lock.map_or(now, |lock| lock.free());
                self.ask_in_turn(free.max(now), cx);
            }
        }
    }

    /// Notes whether a process asks by another list, so that it is refused.
    pub(super) fn note_stranger(&mut self, from: NodeId, refused: bool) {
        let known = self.strangers.iter().position(|(node, _)| *node == from);
        match known {
            Some(place) if refused => {
                let requests = &mut self.strangers[place].1;
                *requests = requests.saturating_add(1);
            }
            Some(place) => drop(self.strangers.swap_remove(place)),
            None if refused => self.strangers.push((from, 1)),
            None => {}
        }
    }

    /// Whether there may be observers: only some members vote at first, or the list has changed.
    pub(super) fn is_partial(&self) -> bool {
        self.some_vote || self.list.as_ref().is_some_and(|list| list.id().version > 0)
    }

    /// Reports its list, unless all members vote and always did.
    pub(super) fn list_facts(&self, tell: &mut dyn FnMut(Fact)) {
        for (peer, requests) in &self.strangers {
            tell(Fact::OtherList { peer: *peer, requests: *requests });
        }
        let Some(list) = self.list.as_ref().filter(|_| self.is_partial()) else { return };
        tell(Fact::List { version: list.id().version, committed: list.committed });
        if !list.lasts_as_founded() {
            let Lengths { lock, drift_ppm } = list.lengths(self.founding);
            let longest = if list.committed { lock } else { list.longest_lock(self.founding) };
            tell(Fact::Lengths { lock, drift_ppm, longest });
        }
        list.voters().iter().for_each(|peer| tell(Fact::Voter { peer: *peer }));
        if !list.committed {
            let (added, removed) = list.changes();
            added.into_iter().for_each(|peer| tell(Fact::Added { peer }));
            removed.into_iter().for_each(|peer| tell(Fact::Removed { peer }));
        }
    }

    pub(super) fn list_instants(&mut self, rebase: &Rebase<'_>) {
        rebase.deadline(&mut self.list_news);
        if let Some(planned) = &mut self.planned {
            rebase.deadline(&mut planned.until);
        }
        self.absent.instants(rebase);
        self.announced.instants(rebase);
        if let Some(followed) = &mut self.followed {
            rebase.foreign(followed.leader, &mut followed.request.sent);
            rebase.deadline(&mut followed.until);
            rebase.deadline(&mut followed.lease_end);
        }
    }
}
