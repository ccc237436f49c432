//! Keeping in touch: a leader speaks every so often, and silence has consequences.
//!
//! **Source.** None. The paper says how an election is held and leaves it to others to call one: to
//! an application that misses its leader, or a failure detector. Where nobody does (a live group,
//! a judged one), `beat` and `silence` do. Both are off by default, and then nothing here happens.
//!
//! | who rests | hears or says | after |
//! |---|---|---|
//! | the leader | says `final` once more | `beat` |
//! | whoever follows one | begins the next election, by the rule that begins a round | `silence` without a word of its leader |
//! | whoever has no leader: none was ever elected, its election was given up or is left to others | begins the next round or election | `silence`, and a delay that is drawn |
//!
//! **Why `final`.** It is the word that ends a round, so all that is true of it helps here: whoever
//! missed the whole election learns of its outcome, two leaders of one round are noticed by all who
//! hear both, themselves included, and the outcome of a later round ends an earlier one.
//!
//! **Assumptions.** `silence` is longer than `beat` by more than a multicast takes; how much longer
//! tells how many words may be lost before a leader that lives is given up.
//!
//! **Promise.** Nobody who is in touch rests for ever without a leader that speaks. A leader that
//! was given up is not chosen again until something is heard of it.

use super::{Doubt, Message, Phase, Probabilistic};
use bellwether_core::{Cx, Duration, NodeId};

impl Probabilistic {
    /// Does nothing from now on but speak as a leader, listen to one, or wait for one.
    pub(super) fn rest(&mut self, phase: Phase, cx: &mut Cx<'_, Self>) {
        self.phase = phase;
        let lasts = self.patience(cx);
        self.turn(phase, lasts, cx);
    }

    /// Has asked in vain what has happened. That was silence enough, so that an election is called
    /// after a delay.
    pub(super) fn rest_unanswered(&mut self, cx: &mut Cx<'_, Self>) {
        self.rest(Phase::Idle, cx);
        if self.leader().is_none() && cx.params().is_in_touch() {
            let delay = self.drawn_delay(cx);
            self.turn(Phase::Idle, Some(delay), cx);
        }
    }

    /// How long it rests; for ever if nobody keeps in touch, or it has left.
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

    /// A leader speaks for itself.
    pub(super) fn hear_beat(&mut self, from: NodeId, cx: &mut Cx<'_, Self>) {
        if self.leader() == Some(from) && cx.params().is_in_touch() {
            self.rest(Phase::Idle, cx);
        }
    }

    /// It has rested long enough.
    pub(super) fn end_rest(&mut self, cx: &mut Cx<'_, Self>) {
        match self.leader() {
            Some(leader) if leader == self.me => {
                cx.broadcast(Message::Final(self.round, leader));
                self.rest(Phase::Idle, cx);
            }
            Some(leader) => self.miss(leader, cx),
            // Not as one who calls an election of its own: any that was held will do.
            None => self.begin_again(Doubt::Leader, cx),
        }
    }
}
