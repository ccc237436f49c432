//! The one message that a process remembers of each peer, to send its stamps back.
//!
//! **Which one.** Let n1 and n2 be two messages of the same peer in the same life, with stamps
//! (A1, B1) and (A2, B2). For any later message m of ours with stamps C and D the bounds are
//!
//! ```text
//! ub1 = (D − A1)/(1−ρ) − (C − B1)/(1+ρ) − δmin
//! ub2 = (D − A2)/(1−ρ) − (C − B2)/(1+ρ) − δmin
//! ub1 − ub2 = (A2 − A1)/(1−ρ) − (B2 − B1)/(1+ρ)
//! ```
//!
//! and neither C nor D is left in the difference. So which of the two serves better is known at
//! once, by the stamps alone, before there is any bound, and it stays so for ever: n2 does if
//!
//! ```text
//! (A2 − A1)(1+ρ) ≥ (B2 − B1)(1−ρ)
//! ```
//!
//! That is a total order, and to keep the better of two again and again is to keep the best of all.
//! In words: with offsets O = B − A it says O2 − O1 ≤ 2ρ/(1+ρ)·(B2 − B1). Offsets of one pair of
//! clocks differ by the delays, and by what the clocks drifted apart in between. A fast message is
//! kept until a slower one is younger by enough: its bound loosens with its age, by about 2ρ of it
//! if the clocks run alike and by up to 4ρ if they run apart. At equal worth the younger one is
//! kept. Slow messages take part like all others.

use super::super::rules::{Rule, Rules};
use super::frame::Echo;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Peers, Rebase};

/// The stamps of one message of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Heard {
    /// The peer's incarnation when it sent the message.
    pub(super) life: u64,
    /// A, on the peer's clock.
    pub(super) sent: Instant,
    /// B, on ours.
    pub(super) received: Instant,
}

impl Heard {
    /// Whether all later bounds through this message are at most those through `other`, an earlier
    /// one of the same life.
    fn serves_better(&self, other: &Self, drift_ppm: u32) -> bool {
        let (slow, fast) = (1_000_000 - i128::from(drift_ppm), 1_000_000 + i128::from(drift_ppm));
        elapsed(other.sent, self.sent) * fast >= elapsed(other.received, self.received) * slow
    }
}

/// Signed: messages overtake each other.
fn elapsed(from: Instant, to: Instant) -> i128 {
    i128::from(to.as_nanos()) - i128::from(from.as_nanos())
}

/// Which life of its sender a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// One that is over: the message is from the dead.
    Former,
    /// The one it was in when last heard, or the first that is heard of it.
    Present,
    /// Another than when it was last heard: it has begun again.
    New,
}

/// What was heard of each peer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Table(BTreeMap<NodeId, Heard>);

impl Table {
    /// Remembers a message, if it serves better than the one remembered. Which life of its sender
    /// it is from.
    pub(super) fn note(&mut self, from: NodeId, new: Heard, drift_ppm: u32, rules: Rules) -> Life {
        let lives = rules.keep(Rule::Lives);
        let old = self.0.get(&from);
        let life = match old {
            Some(old) if lives && new.life < old.life => return Life::Former,
            Some(old) if lives && new.life > old.life => Life::New,
            _ => Life::Present,
        };
        let keep = |old: &Heard| life == Life::Present && !new.serves_better(old, drift_ppm);
        if !old.is_some_and(keep) {
            assert!(
                !lives || old.is_none_or(|old| old.life <= new.life),
                "the life that is known of a peer never falls"
            );
            self.0.insert(from, new);
        }
        life
    }

    /// Forgets those who are no longer members.
    pub(super) fn keep_only(&mut self, peers: &dyn Peers) {
        self.0.retain(|peer, _| peers.contains(*peer));
    }

    /// How many peers are known.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The row for one peer.
    pub(super) fn row(&self, peer: NodeId) -> Option<Echo> {
        self.0.get(&peer).map(|heard| echo(peer, heard))
    }

    /// The rows for all of them.
    pub(super) fn rows(&self) -> Vec<Echo> {
        self.0.iter().map(|(peer, heard)| echo(*peer, heard)).collect()
    }

    /// See [`Protocol::instants`](bellwether_core::Protocol::instants).
    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        for (peer, heard) in &mut self.0 {
            rebase.foreign(*peer, &mut heard.sent);
            rebase.stamp(&mut heard.received);
        }
    }
}

fn echo(node: NodeId, heard: &Heard) -> Echo {
    Echo { node, life: heard.life, sent: heard.sent, received: heard.received }
}
