//! The fair hash: which members pass the filter, computable by anyone for anyone.
//!
//! **Source.** Sections 3.1 and 3.3: `H(M A) · N < K`, where `H` maps a member and the name of a
//! message to `[0, 1)` and is the same for all. The hash is one step of SplitMix64 (Steele, Lea and
//! Flood, 2014) at the member's position in the stream that the message's name seeds: fair, cheap,
//! and not secret. A process that may choose its own id may choose to pass.
//!
//! **Promise.** It uses integers only, so that all machines select the same members.

use super::message::RoundId;
use bellwether_core::{NodeId, STRIDE, mix};

/// The hash of a member under a key.
#[inline]
pub(super) fn hash(key: u64, member: NodeId) -> u64 {
    mix(key.wrapping_add(STRIDE.wrapping_mul(member.0.wrapping_add(1))))
}

/// The message whose name is hashed with a member's: what the member passes the filter for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The initiating message of this round: to take part in its Relay phase.
    Initiate(RoundId),
    /// A final message of this round that names this leader: to begin the next round.
    Final(RoundId, NodeId),
    /// No final message of this round arrived: to begin the next round.
    Silence(RoundId),
    /// The leader of this round is gone: to begin another election.
    Loss(RoundId),
    /// This process asks what has happened, with the number of its attempt: to answer.
    Question(NodeId, u32),
    /// This election: the random order of candidates, if the choice is by lot.
    Lot(u32),
}

impl Name {
    /// The seed of the stream of hashes.
    pub(super) fn key(self, group: u64) -> u64 {
        let (kind, first, second) = match self {
            Self::Initiate(round) => (1, round.weight(), 0),
            Self::Final(round, leader) => (2, round.weight(), leader.0),
            Self::Silence(round) => (3, round.weight(), 0),
            Self::Loss(round) => (4, round.weight(), 0),
            Self::Question(asker, attempt) => (5, asker.0, u64::from(attempt)),
            Self::Lot(election) => (6, u64::from(election), 0),
        };
        [kind, first, second].iter().fold(mix(group), |key, word| mix(key ^ mix(word ^ STRIDE)))
    }
}

/// Selects members, each with probability K/N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    key: u64,
    /// The greatest hash that passes.
    last: u64,
}

impl Filter {
    /// Selects about `relays` of `nodes` members of this [group](bellwether_core::Peers::group);
    /// all of them if that is not less.
    pub fn new(group: u64, name: Name, relays: u64, nodes: u64) -> Self {
        // hash / 2^64 · N < K, solved for the hash.
        let fence = (u128::from(relays.max(1)) << 64).div_ceil(u128::from(nodes.max(1)));
        let last = u64::try_from(fence - 1).unwrap_or(u64::MAX);
        Self { key: name.key(group), last }
    }

    /// Whether this member passes.
    #[inline]
    pub fn passes(self, member: NodeId) -> bool {
        hash(self.key, member) <= self.last
    }
}
