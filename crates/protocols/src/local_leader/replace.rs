//! Voters that are gone for good: a leader replaces them by observers, if it was told to.
//!
//! **Source.** Beyond the paper. What it does is a change like any other (`change.rs`).
//!
//! **Assumptions.** Whoever set [`replace_after`](super::Params::replace_after) holds a voter for
//! gone that its leader has not heard for so long.
//!
//! **Promise.** One voter is replaced at a time, never the leader itself, and the number of voters
//! stays. The best observer is invited first, in the order in which processes ask (`line.rs`), but
//! witnesses last: they can vote and not lead. If it does not answer, the next one is. A voter that
//! returns is an observer. What an observer said of itself counts (`standing.rs`), and until the
//! leader has heard it, it is an ordinary one.

use super::hall::Hall;
use alloc::vec::Vec;
use bellwether_core::{Cx, Instant, NodeId, Peers, Rebase};

/// What a leader knows of voters that it does not hear.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Absent {
    /// The voters, and since when they are not heard.
    voters: Vec<(NodeId, Instant)>,
    /// The last observer that was invited.
    invited: Option<NodeId>,
}

impl Absent {
    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        self.voters.iter_mut().for_each(|(_, since)| rebase.stamp(since));
    }
}

impl Hall {
    /// As a leader that asks: replaces a voter that it has not heard for too long. Otherwise
    /// forgets what it noted.
    pub(super) fn replace_absent(&mut self, leads: bool, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let Some(after) = params.replace_after else { return };
        let (true, Some(list)) = (leads, &self.list) else {
            self.absent = Absent::default();
            return;
        };
        let others = list.voters().iter().filter(|id| **id != self.me);
        let silent = others.copied().filter(|id| !self.alive.contains(*id));
        let since = |id: NodeId| {
            let known = self.absent.voters.iter().find(|(voter, _)| *voter == id);
            known.map_or(now, |(_, since)| *since)
        };
        let voters: Vec<_> = silent.map(|id| (id, since(id))).collect();
        let gone = voters.iter().find(|(_, since)| now.since(*since) >= after).map(|gone| gone.0);
        self.absent.voters = voters;
        let Some(gone) = gone else {
            self.absent.invited = None; // the next search begins with the best one
            return;
        };
        if self.planned.is_none()
            && let Some(next) = self.next_observer(cx.peers())
            && self.change(Some(next), Some(gone), cx).is_ok()
        {
            self.absent.invited = Some(next);
        }
    }

    /// The best observer after the one that was invited last; after the last one the first.
    fn next_observer(&self, peers: &dyn Peers) -> Option<NodeId> {
        let list = self.list.as_ref()?;
        let place = |id: NodeId| (self.line.is_witness(id), self.line.place(id));
        let last = self.absent.invited.map(place);
        let observers = peers.iter().filter(|id| !list.needs(*id));
        // Those that come after the last one are first.
        observers.min_by_key(|id| (Some(place(*id)) <= last, place(*id)))
    }
}
