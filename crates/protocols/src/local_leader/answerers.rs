//! Who answers a renewal: as many voters as its leader needs, and some to spare.
//!
//! **Source.** Beyond the paper, where everybody answers every request.
//!
//! **Assumptions.** None for safety. A voter that is not to answer grants the request and locks
//! itself like any other, as if its answer had been lost: a lease rests on the answers that came,
//! and a lock that nobody knows of makes no second leader.
//!
//! **Promise.** With [`spare`](Params::spare) a renewal that goes as usual is answered by the
//! voters that a majority needs beside its leader, and so many more. Each voter answers at least
//! every second one, so that its leader knows who is alive. Everybody answers
//!
//! * a candidate, a probe, and the first requests of a reign;
//! * a request after one that too few answered within its round;
//! * while a list is open, told in full, or about to change, and while the leader raises its term;
//! * while the leader does not hear every voter;
//! * if it grants this leader its first renewal. Refusals are always sent.
//!
//! The request names the answerers by their places in the order of the list, which all voters that
//! can grant it have. They move on from one renewal to the next.

use super::hall::Hall;
use super::list::{List, ListTold, quorum};
use super::message::Ids;
use super::params::Params;
use super::supporter::Asked;
use bellwether_core::{Instant, NodeId};

/// The voters that are to answer: so many of a list without the leader, from this place on and
/// around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Answerers {
    /// The place of the first.
    pub first: u16,
    /// How many; at least one.
    pub count: u16,
}

impl Answerers {
    /// Whether this voter is one of them, if that process leads. Whoever is not in the list is.
    fn have(self, voter: NodeId, leader: NodeId, list: &List) -> bool {
        let mut others = list.voters().iter().filter(|id| **id != leader);
        let Some(place) = others.clone().position(|id| *id == voter) else { return true };
        let size = others.by_ref().count();
        let from_first = place + size - usize::from(self.first) % size;
        from_first % size < usize::from(self.count)
    }
}

/// The first so many requests of a reign are answered by everybody.
const FIRST: u8 = 2;

/// As a leader with `spare`: how its renewals went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Renewals {
    /// How many were granted in time, one after the other, up to [`FIRST`].
    in_time: u8,
    /// The place of the first voter that answers next.
    next: u16,
    /// The supporters of the lease before this one.
    before: Ids,
}

impl Hall {
    /// The voters that are to answer the request that is being made, unless that is everybody.
    pub(super) fn answerers(
        &mut self,
        term: u64,
        told: Option<&ListTold>,
        now: Instant,
        params: &Params,
    ) -> Option<Answerers> {
        let spare = params.spare.filter(|_| params.by_majority())?;
        let lease = self.lease.as_ref().filter(|lease| now < lease.until)?;
        let list = self.list.as_ref().filter(|list| list.has(self.me))?;
        let known = matches!(told, Some(ListTold::Name(_, true))) && self.planned.is_none();
        let same = lease.token == term && lease.list == Some(list.id());
        let heard = list.voters().iter().all(|id| self.alive.contains(*id));
        let others = u16::try_from(list.voters().len() - 1).ok()?;
        let needed = quorum(list.voters().len(), params).saturating_sub(1);
        let count = u16::try_from(needed).ok()?.saturating_add(u16::try_from(spare).ok()?);
        let usual = known && same && heard && self.renewals.in_time >= FIRST;
        if !usual || count == 0 || count >= others {
            return None;
        }
        let first = self.renewals.next % others;
        self.renewals.next = (first + count) % others;
        Some(Answerers { first, count })
    }

    /// Notes a renewal that was granted in time; and whose votes its present lease rests on, if
    /// the one that follows it ends later.
    pub(super) fn note_renewal(&mut self, led: bool, until: Instant, params: &Params) {
        if params.spare.is_none() {
            return;
        }
        if !led {
            self.renewals = Renewals::default();
        } else if let Some(lease) = self.lease.as_ref().filter(|lease| lease.until < until) {
            let in_time = (self.renewals.in_time + 1).min(FIRST);
            self.renewals = Renewals { in_time, before: lease.supporters.clone(), ..self.renewals };
        }
    }

    /// Notes that too few granted a request within its round: everybody answers the next one.
    pub(super) fn note_delay(&mut self) {
        self.renewals.in_time = self.renewals.in_time.min(FIRST - 1);
    }

    /// As a leader: whether this voter granted a request that its lease rests on, or was not to
    /// answer that, and granted the one before.
    pub(super) fn is_supported_by(&self, id: NodeId) -> bool {
        let now = self.lease.as_ref().is_some_and(|lease| lease.supporters.contains(&id));
        now || self.renewals.before.contains(&id)
    }

    /// As a supporter that grants this request: whether it is not to answer. `renews` says whether
    /// it has granted this term to that leader before.
    pub(super) fn keeps_silent(&self, from: NodeId, asked: &Asked<'_>, renews: bool) -> bool {
        let (Some(answerers), Some(list)) = (asked.answerers, &self.list) else { return false };
        let same = asked.list.is_some_and(|told| told.id() == list.id());
        renews && same && !answerers.have(self.me, from, list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn answerers_move_around_the_list_and_nobody_is_left_out_twice() {
        for voters in 3..=9_u64 {
            let list = List::founding((1..=voters).map(NodeId)).unwrap();
            let (others, least) = (voters as u16 - 1, voters as u16 / 2);
            for (count, leader) in (least..others).flat_map(|n| (1..=voters).map(move |l| (n, l))) {
                let leader = NodeId(leader);
                let named = |first: u16| {
                    let answerers = Answerers { first, count };
                    let others = list.voters().iter().filter(|id| **id != leader);
                    others.copied().filter(|id| answerers.have(*id, leader, &list)).collect()
                };
                let mut before: Vec<NodeId> = named(0);
                for turn in 1..20 {
                    let now: Vec<NodeId> = named(turn * count % others);
                    assert_eq!(now.len(), usize::from(count));
                    let all = list.voters().iter().filter(|id| **id != leader);
                    let mut missing = all.filter(|id| !now.contains(id) && !before.contains(id));
                    assert_eq!(missing.next(), None, "{voters} {count} {turn}");
                    before = now;
                }
            }
        }
    }

    #[test]
    fn whatever_a_request_names_a_voter_can_read_it() {
        let list = List::founding([1, 2, 3].map(NodeId)).unwrap();
        let alone = List::founding([NodeId(1)]).unwrap();
        for first in [0, 1, 2, u16::MAX] {
            let none = Answerers { first, count: 0 };
            assert!(!none.have(NodeId(2), NodeId(1), &list));
            let all = Answerers { first, count: u16::MAX };
            assert!(all.have(NodeId(2), NodeId(1), &list) && all.have(NodeId(3), NodeId(1), &list));
            assert!(none.have(NodeId(9), NodeId(1), &list), "it is not in the list");
            assert!(none.have(NodeId(1), NodeId(1), &alone));
        }
    }
}
