//! Calling elections, taking them over, and believing Coordinator messages.

use super::known::Key;
use super::message::{Says, Stamp};
use super::params::{Recovery, TopAnswers};
use super::{Bully, Phase, Timer};
use bellwether_core::{Cx, Duration, NodeId};

/// Calling an election.
impl Bully {
    /// Calls a new election.
    pub(super) fn hold(&mut self, cx: &mut Cx<'_, Self>) {
        let stamped = cx.params().config().stamps;
        self.round = self.round.saturating_add(1);
        self.stamp = stamped.then(|| Stamp { at: cx.now(), by: self.me });
        self.call(self.round, cx);
    }

    /// Calls an election again after one that did not end; others need not have heard of it.
    pub(super) fn hold_again(&mut self, cx: &mut Cx<'_, Self>) {
        self.round = self.round.saturating_add(1);
        self.stamp = None;
        self.call(self.round, cx);
    }

    /// Calls an election after a crash, in which the round number was lost.
    pub(super) fn recover(&mut self, cx: &mut Cx<'_, Self>) {
        self.call(0, cx);
    }

    /// Sends Election messages to all greater processes.
    fn call(&mut self, round: u64, cx: &mut Cx<'_, Self>) {
        self.leader = None;
        let says = Says::Election { round, stamp: self.stamp };
        for peer in cx.peers().iter() {
            if self.known.key(peer) > self.key() {
                self.say(peer, says, cx);
            }
        }
        let reply = cx.params().config().reply;
        self.turn(Phase::Holding(round), Timer::Reply, reply, cx);
        self.decide_if_greatest(cx);
    }

    /// Takes the lead if no greater process is up.
    pub(super) fn decide_if_greatest(&mut self, cx: &mut Cx<'_, Self>) {
        if self.is_greatest(false, cx) {
            self.declare(cx);
        }
    }

    /// Whether no process is greater, or all greater ones are known to be down.
    fn is_greatest(&self, of_all: bool, cx: &Cx<'_, Self>) -> bool {
        let counts = |peer: NodeId| of_all || !self.known.is_down(peer);
        !cx.peers().iter().any(|peer| self.known.key(peer) > self.key() && counts(peer))
    }

    /// Becomes leader and tells the others.
    pub(super) fn declare(&mut self, cx: &mut Cx<'_, Self>) {
        assert!(!self.known.is_down(self.me), "a leader does not consider itself down");
        self.leader = Some(self.me);
        // Processes that may follow a lesser leader must hear of a new one, even a lesser one.
        let ask = cx.params().config().recovery == Recovery::Ask;
        for peer in cx.peers().iter() {
            if self.known.key(peer) < self.key() || ask && !self.known.is_down(peer) {
                self.say(peer, Says::Coordinator { round: self.round }, cx);
            }
        }
        self.rest(cx);
    }
}

/// Receiving.
impl Bully {
    pub(super) fn hear_election(
        &mut self,
        from: NodeId,
        round: u64,
        stamp: Option<Stamp>,
        cx: &mut Cx<'_, Self>,
    ) {
        if self.known.key(from) > self.key() {
            // The sender does not know that this process has retired.
            return self.say(from, Says::Resign, cx);
        }
        let news = round > self.round || round == 0 && self.phase == Phase::Idle;
        if !news && is_younger(stamp, self.stamp) {
            return;
        }
        if news {
            self.round = round.max(self.round.saturating_add(u64::from(round == 0)));
        }
        if news || stamp.is_some() {
            self.stamp = stamp;
        }
        let done = self.phase == Phase::Idle && self.leader.is_some() && !news;
        if done {
            return self.answer_late(from, round, cx);
        }
        let quiet = cx.params().config().top_answers == TopAnswers::Coordinator;
        if !(quiet && self.is_greatest(true, cx)) {
            self.say(from, Says::Ok { round: self.round, of: round }, cx);
        }
        self.take_over(stamp.is_some(), cx);
    }

    /// Answers a message of an election that is over for this process.
    fn answer_late(&self, from: NodeId, round: u64, cx: &mut Cx<'_, Self>) {
        let quiet = cx.params().config().top_answers == TopAnswers::Coordinator;
        if self.leads() && round < self.round {
            self.say(from, Says::Coordinator { round: self.round }, cx);
        } else if !(quiet && self.is_greatest(true, cx)) {
            self.say(from, Says::Ok { round: self.round, of: round }, cx);
        }
    }

    /// Takes part in an election of a lesser process.
    fn take_over(&mut self, stamped: bool, cx: &mut Cx<'_, Self>) {
        if !stamped {
            if !self.takes_part() {
                self.call(self.round, cx);
            }
        } else if self.is_greatest(false, cx) {
            self.declare(cx); // the same call asked all greater processes
        } else if self.phase != Phase::Standing {
            self.leader = None;
            self.stand(cx);
        }
    }

    /// Leaves the election to a greater process.
    fn stand(&mut self, cx: &mut Cx<'_, Self>) {
        let wait = cx.params().config().wait;
        self.turn(Phase::Standing, Timer::Wait, wait, cx);
    }

    pub(super) fn hear_ok(&mut self, from: NodeId, round: u64, of: u64, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Holding(of) && self.known.key(from) > self.key() {
            self.round = self.round.max(round);
            self.stand(cx);
        }
    }

    pub(super) fn hear_coordinator(&mut self, from: NodeId, round: u64, cx: &mut Cx<'_, Self>) {
        if self.known.key(from) < self.key() {
            return self.hear_lesser(from, cx);
        }
        let better = |leader: NodeId| self.known.key(from) >= self.key_of(leader);
        if round > self.round || self.leader.is_none_or(better) {
            self.round = self.round.max(round);
            self.follow(from, cx);
        }
    }

    /// Tells a peer that is now lesser, and was taken for greater before, that this process leads.
    pub(super) fn tell_if_lesser_now(&self, peer: NodeId, before: Key, cx: &mut Cx<'_, Self>) {
        if self.leads() && before > self.key() && self.known.key(peer) < self.key() {
            self.say(peer, Says::Coordinator { round: self.round }, cx);
        }
    }

    fn follow(&mut self, leader: NodeId, cx: &mut Cx<'_, Self>) {
        assert!(leader != self.me, "no message of another makes a process follow itself");
        self.leader = Some(leader);
        self.rest(cx);
    }

    /// Handles a Coordinator message of a lesser process.
    fn hear_lesser(&mut self, from: NodeId, cx: &mut Cx<'_, Self>) {
        let asks = matches!(self.phase, Phase::Asking(_) | Phase::Confirming(_));
        match self.leader {
            _ if self.takes_part() => {}
            Some(leader) if leader == self.me => {
                self.say(from, Says::Coordinator { round: self.round }, cx);
            }
            Some(leader) if leader == from => {}
            None if asks => self.follow_as_told(from, cx),
            _ => self.hold(cx),
        }
    }

    pub(super) fn hear_resign(&mut self, from: NodeId, cx: &mut Cx<'_, Self>) {
        if self.leader == Some(from) && self.known.is_retired(from) {
            self.hold(cx);
        } else {
            self.look_up(cx);
        }
    }

    /// Decides again when a greater process may no longer be one.
    fn look_up(&mut self, cx: &mut Cx<'_, Self>) {
        if self.takes_part() {
            self.decide_if_greatest(cx);
        }
    }
}

/// Reports of the driver.
impl Bully {
    /// A process is down.
    pub(super) fn peer_lost(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        match self.phase {
            _ if self.leader == Some(peer) => self.hold(cx),
            Phase::Asking(asked) if asked == peer => self.ask(Some(peer), cx),
            Phase::Confirming(asked) if asked == peer => self.hold(cx),
            _ => self.look_up(cx),
        }
    }

    /// A process is up again.
    pub(super) fn welcome(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        if self.availability.is_retired() {
            self.say(peer, Says::Resign, cx);
        }
        let config = cx.params().config();
        if config.call_after == Duration::MAX {
            return;
        }
        let lesser = self.known.key(peer) < self.key();
        if self.leads() && (lesser || config.recovery == Recovery::Ask) {
            self.say(peer, Says::Coordinator { round: self.round }, cx);
        }
        self.look_round(cx);
    }
}

/// Whether one call is younger than another; calls without a stamp are not compared.
fn is_younger(stamp: Option<Stamp>, than: Option<Stamp>) -> bool {
    stamp.zip(than).is_some_and(|(stamp, than)| stamp > than)
}
