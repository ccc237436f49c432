//! One election: a tree grows, and the best claim comes back along it.

use super::{AdHoc, Beat, Claim, Message, News, Wave};
use alloc::collections::BTreeSet;
use bellwether_core::{Cx, NodeId};
use core::cmp::Ordering;

/// The state of a process in an election whose outcome it does not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// The process to report to; none for the one that called the election.
    parent: Option<NodeId>,
    /// Processes that were asked and have not answered.
    waiting: BTreeSet<NodeId>,
    /// Processes that reported a subtree.
    children: BTreeSet<NodeId>,
    /// The best claim so far.
    best: Claim,
}

impl Part {
    pub(super) fn has_parent(&self) -> bool {
        self.parent.is_some()
    }

    /// The processes to tell the outcome: the children, and the parent, which still waits for a
    /// report unless it told the outcome itself. A process that reports later is told then.
    pub(super) fn into_informed(mut self) -> BTreeSet<NodeId> {
        self.children.extend(self.parent);
        self.children
    }
}

impl AdHoc {
    /// Calls an election that is higher than any it has heard of.
    pub(super) fn begin(&mut self, cx: &mut Cx<'_, Self>) {
        let number = self.wave.number.saturating_add(1);
        self.join(Wave { number, starter: self.me.id, life: self.life }, None, cx);
    }

    /// Calls an election that is higher than this one too.
    pub(super) fn begin_above(&mut self, wave: Wave, cx: &mut Cx<'_, Self>) {
        self.wave = self.wave.max(wave);
        self.begin(cx);
    }

    fn join(&mut self, wave: Wave, parent: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        assert!(wave.number >= self.wave.number, "the number of an election never falls");
        let mut waiting = self.neighbours(cx);
        if let Some(parent) = parent {
            waiting.remove(&parent);
        }
        for &peer in &waiting {
            cx.send(peer, Message::Election(wave));
        }
        self.wave = wave;
        self.part = Some(Part { parent, waiting, children: BTreeSet::new(), best: self.me });
        self.pace(cx);
        self.report(cx);
    }

    /// Reports to the parent once all have answered, or tells everybody if there is no parent.
    fn report(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(part) = self.part.as_ref().filter(|part| part.waiting.is_empty()) else { return };
        let best = part.best;
        assert!(best >= self.me, "a report is never below the own claim");
        match part.parent {
            Some(parent) => cx.send(parent, Message::Ack(self.wave, Some(best))),
            None => {
                let news = News { wave: self.wave, leader: best, beat: Beat::default() };
                self.settle(None, news, Message::Leader, cx);
            }
        }
    }

    pub(super) fn on_election(&mut self, from: NodeId, wave: Wave, cx: &mut Cx<'_, Self>) {
        match wave.cmp(&self.wave) {
            // A process that is reported gone is no parent: this may be its last message.
            Ordering::Greater if self.down.contains(&from) => self.begin_above(wave, cx),
            Ordering::Greater => self.join(wave, Some(from), cx),
            Ordering::Equal => match &self.part {
                Some(part) if part.parent == Some(from) => self.report(cx), // it did not hear
                _ => cx.send(from, Message::Ack(wave, None)),
            },
            // In a higher election this process has asked the sender to join it, or will do so.
            Ordering::Less if self.part.is_none() => self.tell(from, cx),
            Ordering::Less => {}
        }
    }

    pub(super) fn on_ack(
        &mut self,
        from: NodeId,
        wave: Wave,
        best: Option<Claim>,
        cx: &mut Cx<'_, Self>,
    ) {
        if best.is_some() && wave > self.wave {
            return self.begin_above(wave, cx); // a former life asked it, and it waits
        }
        let Some(part) = &mut self.part else {
            if best.is_some() {
                self.tell(from, cx); // it waits for the outcome
            }
            return;
        };
        if wave != self.wave || self.down.contains(&from) {
            return;
        }
        if let Some(best) = best {
            // A process that reports is a child, even if it said otherwise in a former incarnation.
            part.children.insert(from);
            part.best = part.best.max(best);
        }
        if part.waiting.remove(&from) {
            self.report(cx);
        }
    }

    /// An answer did not come in time, or the next heartbeat is due.
    pub(super) fn repeat(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(part) = &self.part else { return self.heartbeat(cx) };
        for &peer in &part.waiting {
            cx.send(peer, Message::Election(self.wave));
        }
        cx.arm(super::Timer::Repeat, cx.now() + cx.params().retry);
        self.report(cx);
    }

    /// A neighbour has appeared.
    pub(super) fn meet(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        self.down.remove(&peer);
        if !cx.peers().contains(peer) {
            return; // and gone again
        }
        match &mut self.part {
            Some(part) => {
                if part.parent != Some(peer) && part.waiting.insert(peer) {
                    part.children.remove(&peer);
                    cx.send(peer, Message::Election(self.wave));
                }
            }
            None if self.leader.is_some() => self.tell(peer, cx),
            None => self.begin(cx),
        }
    }

    /// A neighbour, or the link to it, is gone.
    pub(super) fn lose(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        if cx.peers().contains(peer) {
            self.down.insert(peer);
        } else {
            self.down.remove(&peer);
        }
        let leaderless = self.leader.is_some_and(|reign| reign.leader.id == peer);
        if leaderless {
            self.leader = None;
        }
        let Some(part) = &mut self.part else {
            if leaderless {
                self.begin(cx);
            }
            return;
        };
        if part.parent == Some(peer) || part.children.contains(&peer) {
            self.begin(cx);
        } else if part.waiting.remove(&peer) {
            self.report(cx);
        }
    }
}
