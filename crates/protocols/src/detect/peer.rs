//! The state of one peer: whether it is up, what it was sent, and what it sent.

use alloc::collections::{BTreeSet, VecDeque};
use bellwether_core::{Instant, Message, NodeId, Rebase};

/// One peer that was heard or addressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer<M> {
    /// Its latest incarnation that was heard.
    pub(super) life: Option<u64>,
    /// When it will be considered down unless it is heard before; `None` if it is down.
    pub(super) overdue: Option<Instant>,
    /// The number of the next message to it.
    next: u64,
    /// Messages that it has not acknowledged, in order of number.
    unacknowledged: VecDeque<Sent<M>>,
    received: Received,
}

/// A message that may have to be resent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent<M> {
    pub(super) number: u64,
    /// When it is resent or given up.
    pub(super) due: Instant,
    /// How often it was sent.
    pub(super) tries: u32,
    pub(super) message: M,
}

impl<M> Peer<M> {
    /// A peer of which only this is known: whether it is considered up, and until when.
    pub(super) fn new(overdue: Option<Instant>) -> Self {
        let (unacknowledged, received) = (VecDeque::new(), Received::default());
        Self { life: None, overdue, next: 0, unacknowledged, received }
    }

    /// Takes the number for the next message.
    pub(super) fn number(&mut self) -> u64 {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        number
    }

    /// No message below this number will be sent again.
    pub(super) fn settled(&self, number: u64) -> u64 {
        self.unacknowledged.front().map_or(number, |sent| sent.number.min(number))
    }

    /// Keeps a message until it is acknowledged.
    pub(super) fn keep(&mut self, number: u64, due: Instant, message: M) {
        let last = self.unacknowledged.back().map(|sent| sent.number);
        assert!(last < Some(number), "no two messages to one process have the same number");
        self.unacknowledged.push_back(Sent { number, due, tries: 1, message });
    }

    /// A message to this incarnation was acknowledged.
    pub(super) fn acknowledged(&mut self, number: u64) {
        self.unacknowledged.retain(|sent| sent.number != number);
    }

    /// Drops all unacknowledged messages.
    pub(super) fn give_up(&mut self) {
        self.unacknowledged.clear();
    }

    /// The unacknowledged messages.
    pub(super) fn unacknowledged(&mut self) -> &mut VecDeque<Sent<M>> {
        &mut self.unacknowledged
    }

    /// Whether an acknowledgement is overdue.
    pub(super) fn waits_since(&self, now: Instant) -> bool {
        self.first_due().is_some_and(|due| due <= now)
    }

    /// When the next resend is due.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.unacknowledged.iter().map(|sent| sent.due).min()
    }

    /// See [`Protocol::instants`](bellwether_core::Protocol::instants). A waiting message is
    /// addressed to the peer.
    pub(super) fn instants(&mut self, id: NodeId, rebase: &Rebase<'_>)
    where
        M: Message,
    {
        if let Some(overdue) = &mut self.overdue {
            rebase.deadline(overdue);
        }
        for sent in &mut self.unacknowledged {
            rebase.deadline(&mut sent.due);
            sent.message.instants(id, rebase);
        }
    }

    /// Starts a later incarnation of the peer: its numbers start again.
    pub(super) fn begin_life(&mut self, life: u64) {
        assert!(self.life < Some(life), "the known incarnation of a peer never falls");
        self.life = Some(life);
        self.received = Received::default();
    }

    /// A message with this number arrived. False if it had arrived before, or its sender no longer
    /// resends it.
    pub(super) fn receive(&mut self, number: u64, settled: u64) -> bool {
        self.received.take(number, settled)
    }
}

/// The numbers of a peer's messages that arrived: all below a number, and some beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Received {
    below: u64,
    beyond: BTreeSet<u64>,
}

/// The most messages beyond a gap; a peer that sends more gives the gap up.
const BEYOND_MAX: usize = 1_024;

impl Received {
    fn take(&mut self, number: u64, settled: u64) -> bool {
        if settled > self.below {
            self.below = settled;
            self.beyond = self.beyond.split_off(&settled);
        }
        if number < self.below || !self.beyond.insert(number) {
            return false;
        }
        while let Some(first) = self.beyond.first().copied()
            && (first == self.below || self.beyond.len() > BEYOND_MAX)
        {
            self.beyond.remove(&first);
            self.below = first.saturating_add(1);
        }
        assert!(self.beyond.len() <= BEYOND_MAX, "the memory for gaps is bounded");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_taken_once_in_whatever_order() {
        let mut received = Received::default();
        let taken = [0, 2, 2, 1, 0, 1, 3].map(|number| received.take(number, 0));
        assert_eq!(taken, [true, true, false, true, false, false, true]);
        assert_eq!(received, Received { below: 4, beyond: BTreeSet::new() });
    }

    #[test]
    fn what_the_sender_gave_up_is_not_taken_any_more() {
        let mut received = Received::default();
        assert!(received.take(7, 5) && received.take(9, 5));
        assert!(!received.take(4, 4), "given up");
        assert!(received.take(6, 5) && received.take(8, 8));
        assert_eq!(received, Received { below: 10, beyond: BTreeSet::new() });
    }

    #[test]
    fn a_peer_that_leaves_gaps_for_ever_does_not_fill_the_memory() {
        let mut received = Received::default();
        assert!((1..10_000).all(|number| received.take(2 * number, 0)));
        assert!(received.beyond.len() <= BEYOND_MAX && received.below > 2 * 8_000);
        assert!(received.take(u64::MAX, 0) && received.take(u64::MAX - 1, 0));
    }
}
