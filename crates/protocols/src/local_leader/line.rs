//! The order of processes: the greatest priority first, and of equal ones the least id. But a
//! nominee comes before all others, and processes that stepped back come last until they ask again
//! or have cooled down.

use super::message::{Farewell, Request};
use super::params::Params;
use super::rules::Rule;
use alloc::vec::Vec;
use bellwether_core::{Candidacy, Duration, Instant, NodeId, Rebase};
use core::cmp::Reverse;

/// What is known of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Line {
    /// The processes that stepped back, in the order in which that was learnt.
    stepped_back: Vec<SteppedBack>,
    /// In local mode the last requests of processes that had stepped back and asked again: they
    /// repeat their farewells until they ask, and a repetition may arrive after that.
    asked_again: Vec<(NodeId, Request)>,
    /// The process that a leader named as the next one, and until when it comes first.
    nominee: Option<(NodeId, Instant)>,
    /// How willing those are to lead that are no ordinary processes, in order of id.
    candidacies: Vec<(NodeId, Candidacy)>,
}

/// A process's place: smaller is earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    is_not_nominee: bool,
    stepped_back: bool,
    priority: Reverse<u32>,
    id: NodeId,
}

impl Place {
    /// Whether the process stepped back, and is not named as the next one.
    pub(super) fn is_last(self) -> bool {
        self.is_not_nominee && self.stepped_back
    }

    /// The place that the process has if it asks.
    pub(super) fn returned(self) -> Self {
        Self { stepped_back: false, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SteppedBack {
    farewell: Farewell,
    /// Requests carry the news until then; locks that it would end have lapsed after that.
    news_until: Instant,
    /// It comes last until then.
    cools_until: Instant,
}

impl Line {
    /// A process stepped back or left, which is known from now on. In local mode it comes last
    /// until it asks again: there the order decides whom a process supports, and a process that had
    /// cooled down would displace a leader. The news is kept for a lockTime at least.
    pub(super) fn step_back(
        &mut self,
        farewell: Farewell,
        now: Instant,
        lock: Duration,
        params: &Params,
    ) {
        self.stepped_back.retain(|known| known.farewell.node != farewell.node);
        let news_until = now + lock;
        let cools_until = match params.by_majority() {
            true => now + params.cooldown.max(lock),
            false => Instant::NEVER,
        };
        self.stepped_back.push(SteppedBack { farewell, news_until, cools_until });
    }

    /// A leader named this process as the next one: it comes first until then.
    pub(super) fn nominate(&mut self, nominee: NodeId, until: Instant, params: &Params) {
        if params.keep(Rule::NomineeFirst) {
            self.nominee = Some((nominee, until));
        }
    }

    /// Until when another process than this one comes first, because a leader named it.
    pub(super) fn other_nominee(&self, me: NodeId, now: Instant) -> Option<Instant> {
        let (nominee, until) = self.nominee?;
        (nominee != me && now < until).then_some(until)
    }

    /// Processes that have cooled down have their places again, and a nominee that did not ask.
    pub(super) fn forget_past(&mut self, now: Instant) {
        self.stepped_back.retain(|stepped| now < stepped.cools_until);
        self.nominee = self.nominee.filter(|(_, until)| now < *until);
    }

    /// A process that had stepped back asks again and regains its place.
    pub(super) fn return_of(&mut self, node: NodeId) {
        self.stepped_back.retain(|stepped| stepped.farewell.node != node);
    }

    /// The same, by this request.
    pub(super) fn return_by(&mut self, node: NodeId, request: Request, params: &Params) {
        let stepped_back = self.stepped_back(node).is_some();
        match self.asked_again.iter_mut().find(|(asked, _)| *asked == node) {
            Some((_, known)) if known.life == request.life => *known = request.max(*known),
            Some((_, known)) => *known = request,
            None if stepped_back && !params.by_majority() => {
                self.asked_again.push((node, request));
            }
            None => (),
        }
        self.return_of(node);
    }

    /// A process that has restarted regains its place, and its requests may begin anew.
    pub(super) fn restart_of(&mut self, node: NodeId) {
        self.return_of(node);
        self.asked_again.retain(|(asked, _)| *asked != node);
    }

    /// Whether the process has asked since it said this farewell.
    pub(super) fn asked_since(&self, farewell: &Farewell) -> bool {
        let Farewell { node, request } = *farewell;
        let since = |asked: Request| asked.life == request.life && asked > request;
        self.asked_again.iter().any(|(asked, by)| *asked == node && since(*by))
    }

    /// Whether this is known already: the process gave up this request or a later one.
    pub(super) fn knows(&self, farewell: &Farewell) -> bool {
        self.stepped_back.iter().any(|known| {
            known.farewell.node == farewell.node && known.farewell.request >= farewell.request
        })
    }

    /// The last request that this process gave up, if it stepped back.
    pub(super) fn stepped_back(&self, node: NodeId) -> Option<Request> {
        let stepped = self.stepped_back.iter().find(|stepped| stepped.farewell.node == node)?;
        Some(stepped.farewell.request)
    }

    /// Whether a process stepped back, has not asked since, and has not cooled down.
    pub(super) fn is_cooling(&self, node: NodeId, now: Instant) -> bool {
        let cools = |stepped: &SteppedBack| now < stepped.cools_until;
        self.stepped_back.iter().any(|stepped| stepped.farewell.node == node && cools(stepped))
    }

    /// The process that stepped back last, while it will certainly not ask: nobody waits for it.
    pub(super) fn resting(&self, now: Instant) -> Option<NodeId> {
        let last = self.stepped_back.last().filter(|stepped| now < stepped.news_until)?;
        Some(last.farewell.node)
    }

    /// The farewell to carry in requests.
    pub(super) fn news(&self, now: Instant) -> Option<Farewell> {
        let fresh = |stepped: &&SteppedBack| now < stepped.news_until;
        self.stepped_back.iter().rev().find(fresh).map(|stepped| stepped.farewell)
    }

    /// The place of this process.
    pub(super) fn place(&self, id: NodeId) -> Place {
        let is_not_nominee = self.nominee.is_none_or(|(nominee, _)| nominee != id);
        let stepped_back = self.stepped_back(id).is_some();
        Place { is_not_nominee, stepped_back, priority: Reverse(self.priority(id)), id }
    }

    /// Whether the places are those of the ids: nobody stepped back, was named, or is no ordinary
    /// process.
    pub(super) fn is_by_id(&self) -> bool {
        self.stepped_back.is_empty() && self.candidacies.is_empty() && self.nominee.is_none()
    }

    /// Whether this process asks before the one that has this place.
    pub(super) fn asks_before(&self, peer: NodeId, place: Place) -> bool {
        !self.is_witness(peer) && self.place(peer) < place
    }

    /// Whether one process comes before another one where leadership goes round, and that leader
    /// was the last: the nominee first, then by id from the last leader on and around.
    pub(super) fn follows_sooner(&self, peer: NodeId, other: NodeId, last: NodeId) -> bool {
        let turn = |id: NodeId| (self.place(id).is_not_nominee, id <= last, id);
        !self.is_witness(peer) && turn(peer) < turn(other)
    }

    /// A process said, or did not say, that it is no ordinary one.
    pub(super) fn know(&mut self, node: NodeId, mut candidacy: Candidacy, params: &Params) {
        if !params.keep(Rule::PriorityFirst) {
            candidacy.priority = 0;
        }
        self.candidacies.retain(|(known, _)| *known != node);
        if !candidacy.is_ordinary() {
            let place = self.candidacies.partition_point(|(known, _)| *known < node);
            self.candidacies.insert(place, (node, candidacy));
        }
    }

    /// How willing a process is to lead, as far as it is known.
    pub(super) fn candidacy(&self, node: NodeId) -> Candidacy {
        let known = self.candidacies.binary_search_by_key(&node, |(known, _)| *known);
        known.map(|place| self.candidacies[place].1).unwrap_or_default()
    }

    pub(super) fn priority(&self, node: NodeId) -> u32 {
        self.candidacy(node).priority
    }

    pub(super) fn is_witness(&self, node: NodeId) -> bool {
        self.candidacy(node).witness
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        self.stepped_back.retain_mut(|SteppedBack { farewell, news_until, cools_until }| {
            rebase.foreign(farewell.node, &mut farewell.request.sent);
            rebase.deadline(news_until);
            !rebase.deadline(cools_until)
        });
        for (node, request) in &mut self.asked_again {
            rebase.foreign(*node, &mut request.sent);
        }
        if let Some((nominee, mut until)) = self.nominee.take() {
            self.nominee = (!rebase.deadline(&mut until)).then_some((nominee, until));
        }
    }
}
