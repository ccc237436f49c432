//! A candidate's supporters, with the requests they granted.
//!
//! The paper keeps one reply set per request. Here each voter keeps the latest request it granted:
//! its lock runs from there. So a lease may run from the earliest request that it rests on, and a
//! lost reply costs nothing once a later one arrives (C6).

use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};

/// The grants of one campaign: from its first request until it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Votes {
    /// The first and the last request that count. `None` without a campaign, so that late replies
    /// to a released request never count.
    requests: Option<(Instant, Instant)>,
    /// Each voter's latest grant, in order of id.
    voters: Vec<(NodeId, Instant)>,
}

impl Votes {
    /// Notes a request. Unless `on`, a campaign begins with it.
    pub(super) fn ask(&mut self, sent: Instant, on: bool) {
        match &mut self.requests {
            Some((_, last)) if on => {
                assert!(*last <= sent, "the requests of a campaign are made one after the other");
                *last = sent;
            }
            _ => {
                self.voters.clear();
                self.requests = Some((sent, sent));
            }
        }
    }

    /// Ends the campaign.
    pub(super) fn clear(&mut self) {
        self.voters.clear();
        self.requests = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.voters.is_empty()
    }

    /// Whether a reply to this request counts.
    pub(super) fn count(&self, sent: Instant) -> bool {
        self.requests.is_some_and(|(first, last)| (first..=last).contains(&sent))
    }

    /// The last request of the current campaign.
    pub(super) fn last_request(&self) -> Option<Instant> {
        self.requests.map(|(_, last)| last)
    }

    /// Notes that a voter granted this request.
    pub(super) fn put(&mut self, voter: NodeId, sent: Instant, distinct: bool) {
        match self.voters.binary_search_by_key(&voter, |(known, _)| *known) {
            Ok(place) if distinct => self.voters[place].1 = self.voters[place].1.max(sent),
            Ok(place) | Err(place) => self.voters.insert(place, (voter, sent)),
        }
    }

    /// The latest request that this voter granted.
    pub(super) fn of(&self, voter: NodeId) -> Option<Instant> {
        let place = self.voters.binary_search_by_key(&voter, |(known, _)| *known).ok()?;
        Some(self.voters[place].1)
    }

    /// The latest request such that this many granted it or a later one.
    pub(super) fn of_quorum(&self, quorum: usize) -> Option<Instant> {
        let at_least = |sent: Instant| self.voters.iter().filter(|(_, at)| *at >= sent).count();
        let requests = self.voters.iter().map(|(_, sent)| *sent);
        requests.filter(|sent| at_least(*sent) >= quorum).max()
    }

    /// The latest request that any voter granted.
    pub(super) fn newest(&self) -> Option<Instant> {
        self.voters.iter().map(|(_, sent)| *sent).max()
    }

    /// The voters that granted this request or a later one.
    pub(super) fn since(&self, sent: Instant) -> impl Iterator<Item = NodeId> + '_ {
        self.voters.iter().filter(move |(_, at)| *at >= sent).map(|(voter, _)| *voter)
    }

    /// A lease rests on this request: forgets earlier ones.
    pub(super) fn settle(&mut self, base: Instant) {
        if let Some((first, _)) = &mut self.requests {
            *first = (*first).max(base);
        }
        self.voters.retain(|(_, sent)| *sent >= base);
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        if let Some((first, last)) = &mut self.requests {
            rebase.stamp(first);
            rebase.stamp(last);
        }
        self.voters.iter_mut().for_each(|(_, sent)| rebase.stamp(sent));
    }
}
