//! Keeping in touch: a leader sends regularly, and silence starts an election.
//!
//! **Source.** None. The paper says how an election is held, and leaves it to an application that
//! misses its leader, or to a failure detector, to call one. Where neither exists (a live group, a
//! checked one), `beat` and `silence` do it. Both are off by default, and then nothing here
//! happens.
//!
//! | idle process | action | after |
//! |---|---|---|
//! | the leader | sends `final` again | `beat` |
//! | a follower | begins the next election, by the rule that begins a round | `silence` without a message of its leader |
//! | a process without a leader: none was ever elected, or its election was given up or is left to others | begins the next round or election | `silence` and a random delay |
//!
//! **Why `final`.** This message ends a round, so its effects help here too: a process that missed
//! the whole election learns of its outcome, all that hear two leaders of one round notice it,
//! including the leaders, and the outcome of a later round ends an earlier one.
//!
//! **Assumptions.** `silence` is longer than `beat` by more than a multicast takes; the difference
//! decides how many messages may be lost before a live leader is given up.
//!
//! **Promise.** No process that keeps in touch stays idle for ever without a leader that sends. A
//! leader that was given up is not chosen again until something is heard of it.

use super::{Doubt, Message, Phase, Probabilistic};
use bellwether_core::{Cx, Duration, NodeId};

impl Probabilistic {
    /// Becomes idle: it only sends as a leader, listens to one, or waits for one.
    pub(super) fn rest(&mut self, phase: Phase, cx: &mut Cx<'_, Self>) {
        self.phase = phase;
        let lasts = self.patience(cx);
        self.turn(phase, lasts, cx);
    }

    /// Becomes idle after it asked in vain what has happened. That was silence enough, so an
    /// election is called after a delay.
    pub(super) fn rest_unanswered(&mut self, cx: &mut Cx<'_, Self>) {
        self.rest(Phase::Idle, cx);
        if self.leader().is_none() && cx.params().is_in_touch() {
            let delay = self.drawn_delay(cx);
            self.turn(Phase::Idle, Some(delay), cx);
        }
    }

    /// How long it stays idle; for ever if nobody keeps in touch, or it has left.
    fn patience(&self, cx: &mut Cx<'_, Self>) -> Option<Duration> {
        if !cx.params().is_in_touch() || self.has_left() {
            return None;
        }
        let config = cx.params().config();
        Some(match self.leader() {
            Some(leader) if leader == self.me => config.beat,
            Some(_) => config.silence,
            None => config.silence + self.drawn_delay(cx),
        })
    }

    /// Handles a `final` message that a leader sends for itself.
    pub(super) fn hear_beat(&mut self, from: NodeId, cx: &mut Cx<'_, Self>) {
        if self.leader() == Some(from) && cx.params().is_in_touch() {
            self.rest(Phase::Idle, cx);
        }
    }

    /// Ends the idle time.
    pub(super) fn end_rest(&mut self, cx: &mut Cx<'_, Self>) {
        match self.leader() {
            Some(leader) if leader == self.me => {
                cx.broadcast(Message::Final(self.round, leader));
                self.rest(Phase::Idle, cx);
            }
            Some(leader) => self.peer_lost(leader, cx),
            // It does not call an election of its own: any that was held will do.
            None => self.begin_again(Doubt::Leader, cx),
        }
    }
}
