//! The list of voters: whose support counts, and how it changes while the group runs.
//!
//! **Source.** Beyond the paper. The rules are those of the model in `proofs/`.
//!
//! **Assumptions.** All members that have a record began with the same founding list. A record is
//! durable once stored.
//!
//! **Promise.** Lists that are committed form a line: each was made from the one before it. A list
//! is committed by majorities of its own voters and of those of the list before it. Whoever stores
//! a list supports nobody by an older one.
//!
//! A list differs from the one before it by one voter: one more, one less, or one instead of
//! another; or by lockTime and ρ, which belong to a list as well ([`Lengths`]). So the list before
//! is known by these, and a message with a list is hardly longer than its voters. The founding
//! lockTime and ρ are those of the parameters, which all members have in common: a list that has
//! them does not name them.

use super::ordered::place_of;
use super::params::Params;
use super::rules::Rule;
use super::times::Lengths;
use alloc::boxed::Box;
use alloc::vec::Vec;
use bellwether_core::{Duration, Fnv1a, Malformed, NodeId, Peers, Reader, WireWrite};
use core::cmp::Ordering;

/// The name of a list: its version, and a hash of its voters and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId {
    /// The number of changes since the founding.
    pub version: u64,
    /// A hash of the voters and lengths.
    pub digest: u64,
}

/// A list of voters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List {
    id: ListId,
    /// In order of id, each once, and at least one.
    voters: Vec<NodeId>,
    /// The voter that the list before it lacks.
    added: Option<NodeId>,
    /// The voter that only the list before it has.
    removed: Option<NodeId>,
    /// lockTime and ρ, if they are not those of the founding list.
    lengths: Option<Lengths>,
    /// Those of the list before it.
    lengths_before: Option<Lengths>,
    /// Whether it is known to be committed. The founding list always is.
    pub(super) committed: bool,
}

impl List {
    /// The list that a group begins with; `None` without voters.
    pub fn founding(voters: impl IntoIterator<Item = NodeId>) -> Option<Self> {
        let mut voters: Vec<NodeId> = voters.into_iter().collect();
        voters.sort_unstable();
        voters.dedup();
        Self::of(0, voters, (None, None), (None, None), true)
    }

    /// The founding list that a process knows of: by default all members vote.
    pub(super) fn known(me: NodeId, peers: &dyn Peers) -> Option<Self> {
        match peers.founders() {
            Some(founders) => Self::founding(founders.iter().copied()),
            None => Self::founding(peers.iter().chain([me])),
        }
    }

    /// The list with these parts, if they fit together.
    fn of(
        version: u64,
        voters: Vec<NodeId>,
        (added, removed): (Option<NodeId>, Option<NodeId>),
        (lengths, lengths_before): (Option<Lengths>, Option<Lengths>),
        committed: bool,
    ) -> Option<Self> {
        let in_order = voters.windows(2).all(|pair| pair[0] < pair[1]);
        let is_voter = |id: NodeId| voters.binary_search(&id).is_ok();
        let parent = voters.len() + usize::from(removed.is_some()) > usize::from(added.is_some());
        let changes = added.is_some() || removed.is_some() || lengths != lengths_before;
        let fits = in_order
            && !voters.is_empty()
            && parent
            && added.is_none_or(is_voter)
            && !removed.is_some_and(is_voter)
            && (version > 0) == changes
            && (committed || version > 0)
            && lengths.into_iter().chain(lengths_before).all(Lengths::make_sense);
        let id = ListId { version, digest: digest(&voters, lengths) };
        fits.then_some(Self { id, voters, added, removed, lengths, lengths_before, committed })
    }

    /// The list after this one, with this voter more and that one less. `None` if nothing would
    /// change, nobody would be left, or the numbers are used up.
    pub(super) fn next(&self, add: Option<NodeId>, remove: Option<NodeId>) -> Option<Self> {
        let mut voters = self.voters.clone();
        if let Some(id) = remove {
            voters.remove(voters.binary_search(&id).ok()?);
        }
        if let Some(id) = add {
            voters.insert(voters.binary_search(&id).err()?, id);
        }
        let (version, lengths) = (self.id.version.checked_add(1)?, (self.lengths, self.lengths));
        Self::of(version, voters, (add, remove), lengths, false)
    }

    /// The list after this one, with these lengths; `None` are those of the founding list. `None`
    /// if nothing would change, or the numbers are used up.
    pub(super) fn lasting(&self, lengths: Option<Lengths>) -> Option<Self> {
        let (version, voters) = (self.id.version.checked_add(1)?, self.voters.clone());
        Self::of(version, voters, (None, None), (lengths, self.lengths), false)
    }

    /// Its lockTime and ρ.
    pub(super) fn lengths(&self, founding: Lengths) -> Lengths {
        self.lengths.unwrap_or(founding)
    }

    /// Whether lockTime and ρ are those of the founding list; while it is not known to be
    /// committed, those of the list before it, too.
    pub(super) fn lasts_as_founded(&self) -> bool {
        self.lengths.is_none() && (self.committed || self.lengths_before.is_none())
    }

    /// What a request by it asks for: its own lengths; while it is not known to be committed, the
    /// shorter lockTime and the greater ρ of both lists.
    pub(super) fn asked(&self, founding: Lengths) -> Lengths {
        let (own, before) = (self.lengths(founding), self.lengths_before.unwrap_or(founding));
        if self.committed {
            return own;
        }
        let drift_ppm = own.drift_ppm.max(before.drift_ppm);
        Lengths { lock: own.lock.min(before.lock), drift_ppm }
    }

    /// Whether a request by it may ask for a lock of this length.
    pub(super) fn may_ask_for(&self, lock: Duration, founding: Lengths) -> bool {
        let [own, before] = self.locks(founding);
        lock == own || lock == own.min(before)
    }

    /// lockTime of it and of the list before it.
    fn locks(&self, founding: Lengths) -> [Duration; 2] {
        [self.lengths, self.lengths_before].map(|lengths| lengths.unwrap_or(founding).lock)
    }

    /// The longest lock by it or by the list before it.
    pub(super) fn longest_lock(&self, founding: Lengths) -> Duration {
        let [own, before] = self.locks(founding);
        own.max(before)
    }

    /// For how long a vote by it, or by the list before it while it is not known to be committed,
    /// may bind.
    pub(super) fn binds_for(&self, params: &Params) -> Duration {
        let founding = params.founding_lengths();
        let alone = self.committed || !params.keep(Rule::QuarantineByBothLists);
        if alone { self.lengths(founding).lock } else { self.longest_lock(founding) }
    }

    /// Its name.
    pub fn id(&self) -> ListId {
        self.id
    }

    /// Its voters, in order of id.
    pub fn voters(&self) -> &[NodeId] {
        &self.voters
    }

    /// The voters that this list and only the list before it have.
    pub(super) fn changes(&self) -> (Option<NodeId>, Option<NodeId>) {
        (self.added, self.removed)
    }

    /// Whether this process is one of its voters.
    pub(super) fn has(&self, id: NodeId) -> bool {
        place_of(&self.voters, id, |voter| *voter).is_ok()
    }

    /// How many of its voters come before this process.
    pub(super) fn before(&self, id: NodeId) -> usize {
        place_of(&self.voters, id, |voter| *voter).unwrap_or_else(|place| place)
    }

    /// Whether the vote of this process may be needed. While the list is not known to be committed
    /// that is so for the voters of the list before it, too.
    pub(super) fn needs(&self, id: NodeId) -> bool {
        self.has(id) || (!self.committed && self.removed == Some(id))
    }

    /// All whose votes may be needed.
    pub(super) fn needed(&self) -> impl Iterator<Item = NodeId> + Clone + '_ {
        self.voters.iter().copied().chain(self.removed.filter(|_| !self.committed))
    }

    /// Tells of one process after the other whether it is a voter. Those that come in order of id,
    /// as they usually do, are found in one pass through the list.
    fn finder(&self) -> impl FnMut(NodeId) -> bool + '_ {
        let mut next = 0; // all voters before this place have smaller ids than the last process
        move |id| {
            if next > 0 && self.voters[next - 1] >= id {
                next = 0;
            }
            while self.voters.get(next).is_some_and(|voter| *voter < id) {
                next += 1;
            }
            self.voters.get(next) == Some(&id)
        }
    }

    /// How many of these are its voters.
    fn count(&self, ids: impl Iterator<Item = NodeId>) -> usize {
        let mut has = self.finder();
        ids.filter(|id| has(*id)).count()
    }

    /// How many of these are voters of the list before it.
    fn count_before(&self, ids: impl Iterator<Item = NodeId>) -> usize {
        let mut has = self.finder();
        let had = |id: &NodeId| (has(*id) && self.added != Some(*id)) || self.removed == Some(*id);
        ids.filter(had).count()
    }

    /// How many voters the list before it has.
    fn size_before(&self) -> usize {
        self.voters.len() + usize::from(self.removed.is_some()) - usize::from(self.added.is_some())
    }

    /// Whether these processes decide by it: a majority of its voters; and while it is not known to
    /// be committed, a majority of those of the list before it too.
    pub(super) fn is_decided_by(
        &self,
        votes: impl Iterator<Item = NodeId> + Clone,
        params: &Params,
    ) -> bool {
        if self.count(votes.clone()) < quorum(self.voters.len(), params) {
            return false;
        }
        let alone = self.committed || !params.keep(Rule::BothMajorities);
        alone || self.count_before(votes) >= quorum(self.size_before(), params)
    }

    /// Whether enough of its voters told their terms to a process that has none: every majority it
    /// was in has another member among these. While the list is not known to be committed, likewise
    /// for the list before it.
    pub(super) fn is_read_from(
        &self,
        others: impl Iterator<Item = NodeId> + Clone,
        params: &Params,
    ) -> bool {
        let enough = |size: usize, told: usize| {
            let all = params.keep(Rule::ReadsEnough);
            told >= if all { size + 1 - params.quorum(size) } else { 1 }
        };
        let alone = self.committed || !params.keep(Rule::ReadsParentList);
        enough(self.voters.len(), self.count(others.clone()))
            && (alone || enough(self.size_before(), self.count_before(others)))
    }

    /// Whether a process with this list takes the other one: a newer one, or one of the same
    /// version that is committed where its own may not be.
    pub(super) fn yields_to(&self, other: ListId, committed: bool, params: &Params) -> bool {
        match other.version.cmp(&self.id.version) {
            Ordering::Less => !params.keep(Rule::OlderListsRefused),
            Ordering::Equal if other == self.id => false,
            Ordering::Equal => (committed && !self.committed) || !params.keep(Rule::ForksRefused),
            Ordering::Greater => true,
        }
    }

    /// Appends its bytes.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.id.version);
        out.put_list(&self.voters, |out, id| out.put_node(*id));
        for id in [self.added, self.removed] {
            out.put_flag(id.is_some());
            id.into_iter().for_each(|id| out.put_node(id));
        }
        // The lengths of the founding list are not written: all members have these.
        let lengths = [self.lengths, self.lengths_before];
        let [own, before] = lengths.map(|lengths| u8::from(lengths.is_some()));
        out.put_u8(u8::from(self.committed) | own << 1 | before << 2);
        for Lengths { lock, drift_ppm } in lengths.into_iter().flatten() {
            out.put_u64(lock.as_nanos());
            out.put_u32(drift_ppm);
        }
    }

    /// Reads one.
    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let version = input.u64()?;
        let voters = input.list(8, Reader::node)?;
        let mut changed = [None, None];
        for id in &mut changed {
            *id = if input.flag()? { Some(input.node()?) } else { None };
        }
        let [added, removed] = changed;
        let flags = input.u8()?;
        if flags > 7 {
            return Err(Malformed);
        }
        let mut lengths = |bit: u8| -> Result<Option<Lengths>, Malformed> {
            if flags & bit == 0 {
                return Ok(None);
            }
            let lock = Duration::from_nanos(input.u64()?);
            Ok(Some(Lengths { lock, drift_ppm: input.u32()? }))
        };
        let lengths = (lengths(2)?, lengths(4)?);
        let committed = flags & 1 == 1;
        Self::of(version, voters, (added, removed), lengths, committed).ok_or(Malformed)
    }
}

/// A list in a message: by its name to those who have it, in full to those who may lack it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListTold {
    /// Its name, and whether it is known to be committed.
    Name(ListId, bool),
    /// All of it. On the heap: it is told rarely, and every message would have room for it.
    Whole(Box<List>),
}

impl From<List> for ListTold {
    fn from(list: List) -> Self {
        Self::Whole(Box::new(list))
    }
}

impl ListTold {
    /// Its name.
    pub fn id(&self) -> ListId {
        match self {
            Self::Name(id, _) => *id,
            Self::Whole(list) => list.id,
        }
    }

    /// Whether its sender knows it to be committed.
    pub fn is_committed(&self) -> bool {
        match self {
            Self::Name(_, committed) => *committed,
            Self::Whole(list) => list.committed,
        }
    }

    pub(super) fn encode(told: Option<&Self>, out: &mut Vec<u8>) {
        match told {
            None => out.put_u8(0),
            Some(Self::Whole(list)) => {
                out.put_u8(1);
                list.encode(out);
            }
            // The founding list, which is committed, has no number on the wire.
            Some(Self::Name(ListId { version: 0, digest }, true)) => {
                out.put_u8(2);
                out.put_u64(*digest);
            }
            Some(Self::Name(ListId { version, digest }, committed)) => {
                out.put_u8(3 + u8::from(*committed));
                out.put_u64(*digest);
                out.put_u64(*version);
            }
        }
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Option<Self>, Malformed> {
        let name = |version, digest, committed| Self::Name(ListId { version, digest }, committed);
        Ok(Some(match input.u8()? {
            0 => return Ok(None),
            1 => List::decode(input)?.into(),
            2 => name(0, input.u64()?, true),
            kind @ 3..=4 => {
                let (digest, version) = (input.u64()?, input.u64()?);
                if version == 0 && kind == 4 {
                    return Err(Malformed); // it would be written in another way
                }
                name(version, digest, kind == 4)
            }
            _ => return Err(Malformed),
        }))
    }
}

/// How many of so many voters a leader needs, including itself.
pub(super) fn quorum(voters: usize, params: &Params) -> usize {
    params.quorum(voters) - usize::from(!params.keep(Rule::MoreThanHalf))
}

fn digest(voters: &[NodeId], lengths: Option<Lengths>) -> u64 {
    let mut sum = Fnv1a::default();
    voters.iter().for_each(|id| sum.add(&id.0.to_le_bytes()));
    if let Some(Lengths { lock, drift_ppm }) = lengths {
        sum.add(&lock.as_nanos().to_le_bytes());
        sum.add(&drift_ppm.to_le_bytes());
    }
    sum.value()
}
