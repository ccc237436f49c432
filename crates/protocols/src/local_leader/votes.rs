//! A candidate's supporters, with the requests they granted.
//!
//! The paper keeps one reply set per request. Here each voter keeps the latest request it granted:
//! its lock runs from there. So a lease may run from the earliest request that it rests on, and a
//! lost reply costs nothing once a later one arrives (C6).

use super::hall::Hall;
use super::list::{List, ListId, quorum};
use super::ordered::place_of;
use super::params::Params;
use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};

/// The votes that count: those for these terms, by this list if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) list: Option<ListId>,
}

impl Terms {
    pub(super) const ANY: Self = Self::from(0);

    /// This term and all higher ones.
    pub(super) const fn from(least: u64) -> Self {
        Self { least, most: u64::MAX, list: None }
    }

    /// The same by this list only.
    pub(super) fn by(self, list: Option<ListId>) -> Self {
        Self { list, ..self }
    }

    #[inline]
    fn contain(self, vote: &Vote) -> bool {
        let by_list = self.list.is_none() || self.list == vote.list;
        self.least <= vote.term && vote.term <= self.most && by_list
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
    /// The list of that request.
    list: Option<ListId>,
}

/// The grants of one campaign: from its first request until it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Votes {
    /// The first and the last request that count. `None` without a campaign, so that late replies
    /// to a released request never count.
    requests: Option<(Instant, Instant)>,
    /// Each voter's latest grant, in order of id.
    voters: Vec<Vote>,
    /// How many of these are for each request, in the order of the requests. A leader looks for a
    /// majority after every answer, and most of the time there is none yet.
    grants: Vec<(Instant, usize)>,
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
                self.clear();
                self.requests = Some((sent, sent));
            }
        }
    }

    /// Ends the campaign.
    pub(super) fn clear(&mut self) {
        self.voters.clear();
        self.grants.clear();
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

    /// Notes that a voter granted this request, which was for this term and by this list. True if
    /// it has granted another one before, for the same term and by the same list.
    pub(super) fn put(
        &mut self,
        voter: NodeId,
        sent: Instant,
        (term, list): (u64, Option<ListId>),
        distinct: bool,
    ) -> bool {
        let vote = Vote { voter, sent, term, list };
        match self.place(voter) {
            Ok(place) if distinct => {
                // Of two lists that were asked by at one instant, the newer one was the later.
                let known = &mut self.voters[place];
                let again = (term, list) == (known.term, known.list);
                if (sent, list) >= (known.sent, known.list) {
                    let before = core::mem::replace(known, vote).sent;
                    self.discount(before);
                    self.add(sent);
                }
                again
            }
            Ok(place) | Err(place) => {
                self.voters.insert(place, vote);
                self.add(sent);
                false
            }
        }
    }

    /// One more voter has granted this request last.
    fn add(&mut self, sent: Instant) {
        match self.grants.iter_mut().rev().find(|(request, _)| *request <= sent) {
            Some((request, count)) if *request == sent => *count += 1,
            _ => {
                let place = self.grants.partition_point(|(request, _)| *request < sent);
                self.grants.insert(place, (sent, 1));
            }
        }
    }

    /// One voter less has granted this request last.
    fn discount(&mut self, sent: Instant) {
        if let Some(place) = self.grants.iter().position(|(request, _)| *request == sent) {
            self.grants[place].1 -= 1;
            if self.grants[place].1 == 0 {
                self.grants.remove(place);
            }
        }
    }

    /// The latest request that this voter granted, and its term.
    pub(super) fn of(&self, voter: NodeId) -> Option<(Instant, u64)> {
        let place = self.place(voter).ok()?;
        Some((self.voters[place].sent, self.voters[place].term))
    }

    /// Where the vote of this voter is, or would be.
    fn place(&self, voter: NodeId) -> Result<usize, usize> {
        place_of(&self.voters, voter, |vote| vote.voter)
    }

    /// How many voted.
    pub(super) fn len(&self) -> usize {
        self.voters.len()
    }

    /// When the latest request was sent that this voter granted, if that vote counts.
    pub(super) fn counting(&self, voter: NodeId, terms: Terms) -> Option<Instant> {
        let place = self.place(voter).ok()?;
        Some(&self.voters[place]).filter(|vote| terms.contain(vote)).map(|vote| vote.sent)
    }

    /// The latest request such that the votes for it or a later one decide by this list.
    pub(super) fn of_list(&self, list: &List, terms: Terms, params: &Params) -> Option<Instant> {
        let least = quorum(list.voters().len(), params);
        let mut granted = 0;
        let decides = |(sent, count): &&(Instant, usize)| {
            granted += count;
            let voters = self.since(*sent, terms).map(|(voter, _)| voter);
            granted >= least && list.is_decided_by(voters, params)
        };
        self.grants.iter().rev().find(decides).map(|(sent, _)| *sent)
    }

    /// The earliest request that is the latest of some voter.
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.grants.first().map(|(sent, _)| *sent)
    }

    /// How many granted a later one.
    pub(super) fn later(&self) -> usize {
        self.voters.len() - self.grants.first().map_or(0, |(_, count)| *count)
    }

    /// The latest request that any voter granted.
    pub(super) fn newest(&self) -> Option<Instant> {
        self.grants.last().map(|(sent, _)| *sent)
    }

    /// The voters that granted this request or a later one, of these terms; each with the term.
    pub(super) fn since(
        &self,
        sent: Instant,
        terms: Terms,
    ) -> impl Iterator<Item = (NodeId, u64)> + Clone + '_ {
        let counts = move |vote: &&Vote| vote.sent >= sent && terms.contain(vote);
        self.voters.iter().filter(counts).map(|vote| (vote.voter, vote.term))
    }

    /// A lease rests on this request: forgets earlier ones.
    pub(super) fn settle(&mut self, base: Instant) {
        if let Some((first, _)) = &mut self.requests {
            *first = (*first).max(base);
        }
        if self.grants.first().is_some_and(|(sent, _)| *sent < base) {
            self.voters.retain(|vote| vote.sent >= base);
            self.grants.retain(|(sent, _)| *sent >= base);
        }
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        if let Some((first, last)) = &mut self.requests {
            rebase.stamp(first);
            rebase.stamp(last);
        }
        self.voters.iter_mut().for_each(|vote| rebase.stamp(&mut vote.sent));
        self.grants.clear();
        for place in 0..self.voters.len() {
            self.add(self.voters[place].sent);
        }
    }
}

impl Hall {
    /// Handles a vote by which a leader does not decide anew; false if this is none. All but one of
    /// the answers to a renewal are such: with the first half too few have granted it, and nothing
    /// changes; with the second half the lease rests on it already, and has a supporter more. To
    /// count all votes at each would take time by the square of the group.
    pub(super) fn take_plain_vote(
        &mut self,
        from: NodeId,
        (sent, (term, list_id), again): (Instant, (u64, Option<ListId>), bool),
        now: Instant,
        params: &Params,
    ) -> bool {
        let Some(base) = self.votes.earliest() else { return false };
        let until = self.end_of_lease(base, now, params);
        let (Some(list), Some(lease)) = (&self.list, &mut self.lease) else { return false };
        let same = list.committed && lease.list == list_id && list_id == Some(list.id());
        let rests_on_it = now < lease.until && until == lease.until;
        if !same || !rests_on_it || term < lease.token || !params.rules.are_all() {
            return false;
        }
        let later = self.votes.later();
        if again && later > 0 && later < quorum(list.voters().len(), params) {
            return true;
        }
        if base != sent || later > 0 || self.round.is_some() {
            return false;
        }
        match lease.supporters.binary_search(&from) {
            Ok(_) => again,
            Err(place) => {
                lease.supporters.insert(place, from);
                true
            }
        }
    }
}
