//! Answering requests, and being released.

use super::hall::Hall;
use super::lock::Lock;
use super::message::{Farewell, Message, Request};
use super::rules::Rule;
use alloc::vec::Vec;
use bellwether_core::{Cx, Duration, NodeId};

impl Hall {
    /// Somebody asks for support.
    pub(super) fn on_election(
        &mut self,
        from: NodeId,
        request: Request,
        lock: Duration,
        supporters: Vec<NodeId>,
        cx: &mut Cx<'_, Self>,
    ) {
        let (now, params) = (cx.now(), cx.params());
        let fast = Self::is_fast(cx);
        self.line.return_of(from, request);
        self.hear(from, fast, cx);
        if !fast {
            return;
        }
        let hindrance = self.hindrance(from, now);
        // Locks of another length would not outlive the candidate's lease.
        let equal = lock == params.lock || !params.keep(Rule::EqualLocks);
        let first =
            self.first_alive() == Some(from) && self.line.place(from) <= self.line.place(self.me);
        let support = hindrance.is_none() && equal && (params.by_majority() || first);
        let leads = !supporters.is_empty();
        self.failed &= !leads;
        if support {
            self.lock_to(from, request, leads, cx);
            self.partition = supporters;
        }
        if params.by_majority() && self.round.is_none() && !self.leads(now) {
            if let Some(lock) = self.lock.filter(|_| support) {
                self.ask_in_turn(lock.free(), cx);
            } else if leads {
                // Somebody leads, though not with this process's support: no reason to compete.
                self.ask_in_turn(now + params.lock, cx);
            }
        }
        // A candidate that missed this would wait for a process that steps back, but is alive.
        if let Some(request) = self.line.stepped_back(self.me).filter(|_| !leads) {
            cx.send(from, Message::Release { request, leaving: true });
        }
        let remaining = hindrance.map_or(Duration::ZERO, |lock| lock.free().since(now));
        cx.send(from, Message::Reply { request, support, remaining });
    }

    fn lock_to(&mut self, to: NodeId, request: Request, leads: bool, cx: &Cx<'_, Self>) {
        // A request that was overtaken by a later one does not take the later one's place.
        let known = self.lock.filter(|lock| lock.to == Some(to)).map(|lock| lock.request);
        let request = known.map_or(request, |known| known.max(request));
        self.lock = Some(Lock::new(Some(to), request, cx.now(), leads, cx.params()));
    }

    /// A candidate gives up.
    pub(super) fn on_release(
        &mut self,
        from: NodeId,
        request: Request,
        leaving: bool,
        cx: &mut Cx<'_, Self>,
    ) {
        let farewell = Farewell { node: from, request };
        // Told again by one who stays, it is no reason to take it for gone.
        if leaving && !self.line.knows(&farewell) {
            self.let_step_back(farewell, cx);
        }
        self.end_lock(farewell, cx);
    }

    /// A candidate carries on that another has left.
    pub(super) fn on_farewell(&mut self, farewell: Farewell, cx: &mut Cx<'_, Self>) {
        if !cx.peers().contains(farewell.node) || self.line.knows(&farewell) {
            return;
        }
        self.let_step_back(farewell, cx);
        self.end_lock(farewell, cx);
    }

    fn let_step_back(&mut self, farewell: Farewell, cx: &Cx<'_, Self>) {
        self.alive.remove(farewell.node);
        self.line.step_back(farewell, cx.now() + cx.params().lock);
    }

    fn end_lock(&mut self, farewell: Farewell, cx: &mut Cx<'_, Self>) {
        if self.lock.is_some_and(|lock| lock.is_ended_by(&farewell, cx.params())) {
            self.lock = None;
            self.partition.clear();
        }
        let now = cx.now();
        let idle = self.round.is_none() && !self.leads(now);
        if cx.params().by_majority() && idle && self.hindrance(self.me, now).is_none() {
            self.ask_in_turn(now, cx);
        }
    }
}
