//! A candidate's supporters, with the requests they granted.
//!
//! The paper keeps one reply set per request. Here each voter keeps the latest request it granted:
//! its lock runs from there. So a lease may run from the earliest request that it rests on, and a
//! lost reply costs nothing once a later one arrives (C6).

use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};

/// The terms whose votes count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Terms {
    pub(super) const ANY: Self = Self::from(0);

    /// This term and all higher ones.
    pub(super) const fn from(least: u64) -> Self {
        Self { least, most: u64::MAX }
    }

    #[inline]
    pub(super) fn contain(self, term: u64) -> bool {
        self.least <= term && term <= self.most
    }
}

/// A voter's latest grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Vote {
    voter: NodeId,
    /// When the request was sent that it granted.
    sent: Instant,
    /// The term of that request.
    term: u64,
}

/// The grants of one campaign: from its first request until it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Votes {
    /// The first and the last request that count. `None` without a campaign, so that late replies
    /// to a released request never count.
    requests: Option<(Instant, Instant)>,
    /// Each voter's latest grant, in order of id.
    voters: Vec<Vote>,
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

    /// Notes that a voter granted this request, which was for this term.
    pub(super) fn put(&mut self, voter: NodeId, sent: Instant, term: u64, distinct: bool) {
        let vote = Vote { voter, sent, term };
        match self.voters.binary_search_by_key(&voter, |vote| vote.voter) {
            Ok(place) if distinct => {
                if sent >= self.voters[place].sent {
                    self.voters[place] = vote;
                }
            }
            Ok(place) | Err(place) => self.voters.insert(place, vote),
        }
    }

    /// The latest request that this voter granted, and its term.
    pub(super) fn of(&self, voter: NodeId) -> Option<(Instant, u64)> {
        let place = self.voters.binary_search_by_key(&voter, |vote| vote.voter).ok()?;
        Some((self.voters[place].sent, self.voters[place].term))
    }

    /// How many voted.
    pub(super) fn len(&self) -> usize {
        self.voters.len()
    }

    /// The latest request such that this many granted it or a later one, of these terms.
    pub(super) fn of_quorum(&self, quorum: usize, terms: Terms) -> Option<Instant> {
        if self.voters.len() < quorum {
            return None; // the usual case while answers come in
        }
        let at_least = |sent: Instant| self.since(sent, terms).count();
        let requests = self.voters.iter().map(|vote| vote.sent);
        requests.filter(|sent| at_least(*sent) >= quorum).max()
    }

    /// The latest request that any voter granted.
    pub(super) fn newest(&self) -> Option<Instant> {
        self.voters.iter().map(|vote| vote.sent).max()
    }

    /// The voters that granted this request or a later one, of these terms; each with the term.
    pub(super) fn since(
        &self,
        sent: Instant,
        terms: Terms,
    ) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        let counts = move |vote: &&Vote| vote.sent >= sent && terms.contain(vote.term);
        self.voters.iter().filter(counts).map(|vote| (vote.voter, vote.term))
    }

    /// A lease rests on this request: forgets earlier ones.
    pub(super) fn settle(&mut self, base: Instant) {
        if let Some((first, _)) = &mut self.requests {
            *first = (*first).max(base);
        }
        self.voters.retain(|vote| vote.sent >= base);
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        if let Some((first, last)) = &mut self.requests {
            rebase.stamp(first);
            rebase.stamp(last);
        }
        self.voters.iter_mut().for_each(|vote| rebase.stamp(&mut vote.sent));
    }
}
