//! The order of processes: the least id first, but processes that stepped back come last until they
//! ask again.

use super::message::{Farewell, Request};
use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};

/// The processes that stepped back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Line(Vec<SteppedBack>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SteppedBack {
    farewell: Farewell,
    /// Requests carry the news until then; locks that it would end have lapsed after that.
    news_until: Instant,
}

impl Line {
    /// A process stepped back or left.
    pub(super) fn step_back(&mut self, farewell: Farewell, news_until: Instant) {
        self.0.retain(|known| known.farewell.node != farewell.node);
        self.0.push(SteppedBack { farewell, news_until });
    }

    /// A process that had stepped back asks again and regains its place.
    pub(super) fn return_of(&mut self, node: NodeId) {
        self.0.retain(|stepped| stepped.farewell.node != node);
    }

    /// Whether this is known already: the process gave up this request or a later one.
    pub(super) fn knows(&self, farewell: &Farewell) -> bool {
        self.0.iter().any(|known| {
            known.farewell.node == farewell.node && known.farewell.request >= farewell.request
        })
    }

    /// The last request that this process gave up, if it stepped back.
    pub(super) fn stepped_back(&self, node: NodeId) -> Option<Request> {
        let stepped = self.0.iter().find(|stepped| stepped.farewell.node == node)?;
        Some(stepped.farewell.request)
    }

    /// The farewell to carry in requests.
    pub(super) fn news(&self, now: Instant) -> Option<Farewell> {
        let fresh = |stepped: &&SteppedBack| now < stepped.news_until;
        self.0.iter().rev().find(fresh).map(|stepped| stepped.farewell)
    }

    /// A process's place: smaller is earlier.
    pub(super) fn place(&self, id: NodeId) -> (bool, NodeId) {
        (self.stepped_back(id).is_some(), id)
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        for SteppedBack { farewell, news_until } in &mut self.0 {
            rebase.foreign(farewell.node, &mut farewell.request.sent);
            rebase.deadline(news_until);
        }
    }
}
