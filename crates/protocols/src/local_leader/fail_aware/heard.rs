//! The one message of each peer that a process remembers, to send its stamps back.
//!
//! **Which one.** Let n1 and n2 be two messages of the same peer in the same incarnation, with
//! stamps (A1, B1) and (A2, B2). For any later message m of ours with stamps C and D the bounds are
//!
//! ```text
//! ub1 = (D − A1)/(1−ρ) − (C − B1)/(1+ρ) − δmin
//! ub2 = (D − A2)/(1−ρ) − (C − B2)/(1+ρ) − δmin
//! ub1 − ub2 = (A2 − A1)/(1−ρ) − (B2 − B1)/(1+ρ)
//! ```
//!
//! and the difference contains neither C nor D. So the stamps alone decide at once which of the two
//! is better, before there is any bound, and this never changes: n2 is better if
//!
//! ```text
//! (A2 − A1)(1+ρ) ≥ (B2 − B1)(1−ρ)
//! ```
//!
//! This is a total order, and keeping the better of two repeatedly keeps the best of all. In words:
//! with offsets O = B − A it says O2 − O1 ≤ 2ρ/(1+ρ)·(B2 − B1). Offsets of one pair of clocks
//! differ by the delays, and by how far the clocks drifted apart in between. A fast message is kept
//! until a slower one is younger by enough: its bound loosens with its age, by about 2ρ of it if
//! the clocks run alike and by up to 4ρ if they run apart. If both are equally good, the younger
//! one is kept. Slow messages take part like all others.

use super::super::ordered::place_of;
use super::super::rules::{Rule, Rules};
use super::frame::{Echo, Echoes};
use alloc::vec::Vec;
use bellwether_core::{Instant, NodeId, Rebase};

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
    /// one of the same incarnation.
    fn serves_better(&self, other: &Self, drift_ppm: u32) -> bool {
        let (slow, fast) = (1_000_000 - i128::from(drift_ppm), 1_000_000 + i128::from(drift_ppm));
        elapsed(other.sent, self.sent) * fast >= elapsed(other.received, self.received) * slow
    }
}

/// The signed difference, because messages may overtake each other.
fn elapsed(from: Instant, to: Instant) -> i128 {
    i128::from(to.as_nanos()) - i128::from(from.as_nanos())
}

/// The incarnation of its sender that a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// A former one: the message is ignored.
    Former,
    /// The current one, or the first that is heard.
    Present,
    /// A new one: the process has restarted.
    New,
}

/// The remembered message of each peer, in order of id. One is looked up for every message that
/// comes or goes, and a new peer is rare.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Table(Vec<(NodeId, Heard)>);

impl Table {
    /// Where the message of this peer is, or would be.
    #[inline]
    fn place(&self, peer: NodeId) -> Result<usize, usize> {
        place_of(&self.0, peer, |(known, _)| *known)
    }

    /// Remembers a message if it is better than the remembered one. Returns which incarnation of
    /// its sender it is from.
    pub(super) fn note(&mut self, from: NodeId, new: Heard, drift_ppm: u32, rules: Rules) -> Life {
        let lives = rules.keep(Rule::Lives);
        let place = self.place(from);
        let old = place.ok().map(|place| &self.0[place].1);
        let life = match old {
            Some(old) if lives && new.life < old.life => return Life::Former,
            Some(old) if lives && new.life > old.life => Life::New,
            _ => Life::Present,
        };
        let keep = |old: &Heard| life == Life::Present && !new.serves_better(old, drift_ppm);
        if !old.is_some_and(keep) {
            assert!(
                !lives || old.is_none_or(|old| old.life <= new.life),
                "the known incarnation of a peer never falls"
            );
            match place {
                Ok(place) => self.0[place].1 = new,
                Err(place) => self.0.insert(place, (from, new)),
            }
        }
        life
    }

    /// Forgets all but these processes.
    pub(super) fn keep(&mut self, of: impl Fn(NodeId) -> bool) {
        self.0.retain(|(peer, _)| of(*peer));
    }

    /// The row for one peer.
    pub(super) fn row(&self, peer: NodeId) -> Option<Echo> {
        self.place(peer).ok().map(|place| echo(&self.0[place]))
    }

    /// The rows for all these peers; `None` if they are more than `most`.
    pub(super) fn rows(&self, most: usize, of: impl Fn(NodeId) -> bool) -> Option<Echoes> {
        let rows = || self.0.iter().filter(|(peer, _)| of(*peer));
        let too_many = self.0.len() > most && rows().nth(most).is_some();
        (!too_many).then(|| rows().map(echo).collect())
    }

    /// See [`Protocol::instants`](bellwether_core::Protocol::instants).
    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        for (peer, heard) in &mut self.0 {
            rebase.foreign(*peer, &mut heard.sent);
            rebase.stamp(&mut heard.received);
        }
    }
}

fn echo((node, heard): &(NodeId, Heard)) -> Echo {
    Echo { node: *node, life: heard.life, sent: heard.sent, received: heard.received }
}
