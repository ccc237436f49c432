//! Membership: each process knows its logical partition, and every change of it has a number.
//!
//! **Source.** Fetzer and Cristian, sections VI and X: the supporters of a leader are its logical
//! partition, and its next request tells them who they are. The number is ours.
//!
//! **Assumptions.** Local mode. In majority mode the list of voters has a number, and who of them
//! can be reached is no promise.
//!
//! **Promise.** Partitions of two leaders never overlap, and a leader's partition is at least all
//! processes that it has been connected with for κ (BI). The partition of a process changes
//! together with its number, which never falls while the process runs. Of one leader's life a
//! number names one set of processes, whichever of them tells it. Two sides of a cut each count on
//! from the number that they had together, so a number alone does not say which side: its leader
//! does.
//!
//! A leader counts from the greatest number that it or any of its supporters has known. So a
//! supporter tells that number with its vote, in the place of a term, which local mode has none of;
//! and a leader's request tells the number in the place of a token.

use super::hall::Hall;
use super::message::Ids;
use super::params::Params;
use super::votes::Terms;
use bellwether_core::{Fact, Instant, Leadership, NodeId, Protocol as _};

impl Hall {
    /// As a local leader that takes a lease with these supporters: whether its partition is another
    /// one than before, which then has the next number.
    pub(super) fn note_partition(&mut self, supporters: &Ids, led: bool, params: &Params) {
        let same = self.lease.as_ref().is_some_and(|lease| lease.supporters == *supporters);
        if params.by_majority() || (led && same) {
            return;
        }
        let known = self.votes.since(Instant::ZERO, Terms::ANY).map(|(_, number)| number).max();
        self.partition_number = self.partition_number.max(known.unwrap_or(0)).saturating_add(1);
    }

    /// As a supporter in local mode: notes the number of the partition that a leader told it of, if
    /// it belongs to that.
    pub(super) fn join_partition(&mut self, told: Option<u64>, params: &Params) {
        if !params.by_majority() && self.partition.contains(&self.me) {
            self.partition_number = told.unwrap_or(0).max(self.partition_number);
        }
    }

    /// The number of the partition that it belongs to now, if it knows one.
    pub(super) fn partition_at(&self, now: Instant) -> Option<u64> {
        let follows = self.partition.contains(&self.me) && self.leadership(now) != Leadership::NONE;
        let belongs = self.leads(now) || follows;
        Some(self.partition_number).filter(|number| belongs && *number > 0)
    }

    /// The supporters of the leader that it knows, and the number of the partition that they are.
    pub(super) fn tell_partition(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        if let Some(version) = self.partition_at(now) {
            tell(Fact::Partition { version });
        }
        let each = |ids: &[NodeId], fact: fn(NodeId) -> Fact, tell: &mut dyn FnMut(Fact)| {
            ids.iter().for_each(|peer| tell(fact(*peer)));
        };
        if let Some(lease) = self.lease.as_ref().filter(|lease| now < lease.until) {
            each(&lease.supporters, |peer| Fact::Supporter { peer }, tell);
        } else if self.leadership(now) != Leadership::NONE {
            each(&self.partition, |peer| Fact::Member { peer }, tell);
        }
    }
}
