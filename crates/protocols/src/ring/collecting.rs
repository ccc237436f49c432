//! The collecting ring: a message goes around, every process adds itself, and the sender picks the
//! greatest.
//!
//! **Source.** Andrew Tanenbaum and Maarten van Steen, "Distributed systems", section 6.5.1, figure
//! 6.21, which lectures call LCR though Le Lann, Chang and Roberts wrote something else. With
//! `merea` it is also the protocol of [that text](super::merea).
//!
//! **Assumptions.** All processes see the same ring. A failed process is noticed, by reports of the
//! driver or of the [`Detect`](crate::detect) layer. Messages to live processes arrive.
//!
//! **Promise.** *Eventually one*: once faults stop, all live processes name the greatest live one.
//! This needs a finite `retry`, because a message is lost if the process that holds it crashes, and
//! a finite `call-after` where reports may be wrong.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `election` | an initiator, then everyone in turn | "who is there?", with the processes so far | everyone adds itself; the initiator picks the greatest |
//! | `coordinator` | the same | "this one leads", with the live processes | everyone follows; the initiator removes it |
//!
//! Each goes around once: 2n messages for n live processes, and 2kn for k initiators, which work
//! independently.
//!
//! # Where the text is silent, and what we chose
//!
//! * **Which election.** A message names its initiator, the initiator's incarnation and a number,
//!   by which the initiator recognises it. Messages of a former election or incarnation are
//!   removed. If such a message is a Coordinator message of a later round than the initiator knows,
//!   then processes before it believe something that processes after it were not told. In that case
//!   the initiator holds an election with a still later round.
//! * **Which leader.** A Coordinator message has a round, one more than the greatest round of the
//!   live processes, which the Election message collected. A later round wins over an earlier one,
//!   and in the same round the greater leader wins. A process that holds an election believes only
//!   later rounds.
//! * **Objections.** If a Coordinator message names a process that is down, or one that is less
//!   than the reader, or says that the reader is willing to lead when it has retired, then the ring
//!   has changed since that election. The reader removes the message and holds an election with a
//!   later round.
//! * **Dead initiators.** The next live process after a dead initiator removes its messages, if
//!   they bring nothing new, and holds the election in its place if it is not over. Any process
//!   removes a message that has gone around without meeting its initiator: where some processes
//!   hear the initiator and others do not, the ring may skip it, and also skip the process that
//!   would act in its place.
//! * **Lost messages.** An initiator whose message has not come back in time holds the election
//!   again. It does the same if the process that it sent the message to goes down, possibly unaware
//!   of it. A process without a leader that forwarded such a message waits twice as long, and then
//!   calls an election itself.
//! * **The list of live processes** is read and forwarded, not stored: reports say which processes
//!   are down, and they are newer than the list. The list shows whether a process that has come up
//!   was asked.
//! * **Calling.** A process holds an election after `call-after` if it has no leader and hears of
//!   no election. It does the same if a process greater than its leader came up and it has not been
//!   told that this one was asked. A process whose next process changes, because one came up or
//!   went down, tells the new one who leads. So every process knows at least what its predecessor
//!   knows, all around the ring. With infinite `call-after` neither happens.
//! * **Retiring.** A leader that resigns holds an election, in which it comes after all that have
//!   not. A leader that leaves sends nothing; its absence will be noticed.

use super::circle::Circle;
use super::key::Key;
use super::merea::Fate;
use super::message::{Call, Message};
use super::params::{Params, Variant};
use super::timer::Timer;
use crate::alarm::Alarm;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Command, Cx, Duration, Fact, Instant, Leadership, NodeId, Protocol, Reach, Rebase,
    Refused, Stage,
};

#[cfg(test)]
mod tests;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collecting {
    me: NodeId,
    life: u64,
    /// Whether it is willing to lead.
    active: bool,
    leader: Option<Key>,
    /// The latest round of a Coordinator message that it knows.
    round: u64,
    pub(super) phase: Phase,
    /// How many elections it has called in this incarnation.
    called: u64,
    /// The last election of another process that it forwarded.
    heard: Option<Call>,
    /// Whether it has not been told a leader since.
    open: bool,
    /// The greatest process that came up and may not have been asked.
    unasked: Option<NodeId>,
    pub(super) circle: Circle,
    alarm: Alarm<Timer>,
}

/// The state of the election that a process called last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It is over.
    Idle,
    /// Its Election message is on its way.
    Collecting {
        /// The election.
        mine: Call,
        /// The caller of an older election that came by, if the older one prevails.
        under: Option<NodeId>,
    },
    /// Its Coordinator message is on its way.
    Announcing(Call),
}

/// Queries.
impl Collecting {
    fn key(&self) -> Key {
        Key::new(self.active, self.me)
    }

    fn leads(&self) -> bool {
        self.leader.is_some_and(|leader| leader.id == self.me)
    }

    /// Whether a message came from, or names, a process on this ring.
    fn is_one_of_us(&self, id: NodeId, cx: &Cx<'_, Self>) -> bool {
        id == self.me || cx.peers().contains(id)
    }

    /// Whether this process takes over what `id` left undone.
    fn inherits(&self, id: NodeId, cx: &Cx<'_, Self>) -> bool {
        self.circle.is_down(id) && self.circle.follows(self.me, id, cx.peers())
    }

    /// How long to wait for the end of an election.
    fn wait(cx: &Cx<'_, Self>) -> Duration {
        cx.params().wait(cx.peers().group_size_hint().saturating_add(1))
    }
}

/// Waiting.
impl Collecting {
    /// Becomes idle, and waits for `call-after` if something is wrong.
    fn rest(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::Idle;
        if self.leader.is_some() && self.unasked.is_none() {
            self.alarm.clear(cx);
        } else if !self.alarm.is(Timer::CallAfter) {
            self.alarm.set(Timer::CallAfter, cx.params().config().call_after, cx);
        }
    }

    /// An election is on its way that may bring a leader.
    fn hope(&mut self, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Idle && self.leader.is_none() {
            self.alarm.set(Timer::CallAfter, Self::wait(cx) * 2, cx);
        }
    }
}

/// Holding an election.
impl Collecting {
    /// Calls a new election, or again one that did not end.
    fn hold(&mut self, cx: &mut Cx<'_, Self>) {
        self.leader = None;
        self.open = false;
        self.called = self.called.saturating_add(1);
        let at = match self.phase {
            Phase::Idle => (cx.params().config().variant == Variant::Merea).then(|| cx.now()),
            // An election that is held again keeps its age, or two could destroy each other for
            // ever.
            Phase::Collecting { mine: call, .. } | Phase::Announcing(call) => call.at,
        };
        let call = Call { at, by: self.me, life: self.life, number: self.called };
        self.phase = Phase::Collecting { mine: call, under: None };
        match self.circle.next(self.me, cx.peers()) {
            Some(next) => {
                let keys = vec![self.key()];
                cx.send(next, Message::Election { call, round: self.round, keys });
                self.alarm.set(Timer::Retry, Self::wait(cx), cx);
            }
            None => self.decide(call, self.round, vec![self.key()], cx),
        }
    }

    /// Its message is back: it picks the greatest and tells the others.
    fn decide(&mut self, call: Call, round: u64, keys: Vec<Key>, cx: &mut Cx<'_, Self>) {
        let up = |key: &&Key| !self.circle.is_down(key.id) && key.id != self.me;
        let best = keys.iter().filter(up).max().copied();
        // The message may contain an outdated key of this process itself.
        let leader = best.map_or(self.key(), |best| best.max(self.key()));
        assert!(leader >= self.key(), "no process elects one that is less than itself");
        self.round = self.round.max(round).saturating_add(1);
        self.leader = Some(leader);
        self.unasked = None;
        let Some(next) = self.circle.next(self.me, cx.peers()) else { return self.rest(cx) };
        self.phase = Phase::Announcing(call);
        let told = cx.params().config().variant == Variant::Ring;
        let living = if told { keys } else { Vec::new() };
        let round = self.round;
        cx.send(next, Message::Coordinator { call, round, leader, living, hops: 0 });
    }

    /// Forwards a message.
    fn pass(&self, message: Message, cx: &mut Cx<'_, Self>) {
        if let Some(next) = self.circle.next(self.me, cx.peers()) {
            cx.send(next, message);
        }
    }
}

/// Receiving.
impl Collecting {
    fn hear_election(&mut self, call: Call, round: u64, mut keys: Vec<Key>, cx: &mut Cx<'_, Self>) {
        if call.by == self.me {
            if matches!(self.phase, Phase::Collecting { mine, .. } if mine == call) {
                self.decide(call, round, keys, cx);
            }
            return;
        }
        if self.inherits(call.by, cx) {
            if self.phase == Phase::Idle && (self.heard != Some(call) || self.open) {
                self.heard = Some(call);
                self.hold(cx);
            }
            return;
        }
        // A copy, or it has gone around and its initiator was not there.
        if self.heard == Some(call) || keys.len() > cx.peers().group_size_hint() {
            return;
        }
        let config = cx.params().config();
        let merea = config.variant == Variant::Merea;
        match if merea { self.judge(&call, config) } else { Fate::Joined } {
            Fate::Destroyed => return,
            Fate::Joined => keys.push(self.key()),
            Fate::Passed => {}
        }
        (self.heard, self.open) = (Some(call), true);
        self.hope(cx);
        self.pass(Message::Election { call, round: round.max(self.round), keys }, cx);
    }

    fn hear_coordinator(
        &mut self,
        call: Call,
        round: u64,
        leader: Key,
        (living, hops): (Vec<Key>, u32),
        cx: &mut Cx<'_, Self>,
    ) {
        if call.by == self.me {
            if self.phase == Phase::Announcing(call) {
                self.rest(cx);
            } else if round > self.round {
                // A former life sent it, and the processes before this one believe it. The next
                // Coordinator message must be of a later round; an election that is under way will
                // send one.
                self.round = round;
                if !matches!(self.phase, Phase::Collecting { .. }) {
                    self.hold(cx);
                }
            }
            return;
        }
        let mut news = false;
        if self.believes(round, leader) {
            news = (round, Some(leader)) != (self.round, self.leader);
            assert!(round >= self.round, "a round never falls");
            self.round = round;
            if self.objects(leader, cx) {
                return self.hold(cx);
            }
            self.follow(leader, &living, cx);
        }
        // If this many processes forwarded it, it has been at every process. Its initiator removes
        // it before that, unless the ring skips the initiator: then nobody else would.
        let round_the_ring = hops as usize >= cx.peers().group_size_hint();
        if news || !(round_the_ring || self.inherits(call.by, cx)) {
            let hops = hops.saturating_add(1);
            self.pass(Message::Coordinator { call, round, leader, living, hops }, cx);
        }
    }

    /// Whether a Coordinator message is not older than what this process knows. A process that
    /// holds an election has a reason not to accept earlier outcomes.
    fn believes(&self, round: u64, leader: Key) -> bool {
        match self.phase {
            Phase::Collecting { .. } => round > self.round,
            _ => (round, Some(leader)) >= (self.round, self.leader),
        }
    }

    /// Whether this process objects to a Coordinator message.
    fn objects(&self, leader: Key, cx: &Cx<'_, Self>) -> bool {
        let mine = if leader.id == self.me { leader != self.key() } else { leader < self.key() };
        !cx.params().config().as_printed && (mine || self.circle.is_down(leader.id))
    }

    fn follow(&mut self, leader: Key, living: &[Key], cx: &mut Cx<'_, Self>) {
        assert!(
            leader.id != self.me || leader == self.key() || cx.params().config().as_printed,
            "a leader leads by its current claim"
        );
        self.leader = Some(leader);
        self.open = false;
        let asked = |id: &NodeId| *id <= leader.id || living.iter().any(|key| key.id == *id);
        self.unasked = self.unasked.filter(|id| !asked(id));
        // An election of the plain ring continues, whatever others have found.
        let goes_on = cx.params().config().variant == Variant::Ring;
        if !(goes_on && matches!(self.phase, Phase::Collecting { .. })) {
            self.rest(cx);
        }
    }
}

/// Reports and commands.
impl Collecting {
    /// A process is down.
    fn peer_lost(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        let next = self.circle.next(self.me, cx.peers());
        let was_next = next == Some(peer);
        self.circle.report(peer, Reach::Down);
        self.unasked = self.unasked.filter(|id| *id != peer);
        let led = self.leader.is_some_and(|leader| leader.id == peer);
        if led {
            self.leader = None;
        }
        let lost = match self.phase {
            Phase::Idle => led,
            Phase::Collecting { .. } => was_next,
            Phase::Announcing(_) => led || was_next,
        };
        if lost {
            return self.hold(cx);
        }
        if matches!(self.phase, Phase::Collecting { under, .. } if under == Some(peer)) {
            self.phase = Phase::Idle;
            self.hope(cx);
        }
        let left = self.heard.filter(|_| self.open && self.phase == Phase::Idle);
        if left.is_some_and(|call| self.inherits(call.by, cx)) {
            self.hold(cx);
        }
        self.remind(next, cx);
    }

    /// A process is up again.
    fn welcome(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        let next = self.circle.next(self.me, cx.peers());
        self.circle.report(peer, Reach::Up);
        self.remind(next, cx);
        if self.leader.is_some_and(|leader| Key::new(true, peer) > leader) {
            self.unasked = self.unasked.max(Some(peer));
            if self.phase == Phase::Idle {
                self.rest(cx);
            }
        }
    }

    /// Tells a new next process who leads, because it may have missed that.
    fn remind(&mut self, before: Option<NodeId>, cx: &mut Cx<'_, Self>) {
        let next = self.circle.next(self.me, cx.peers());
        let restless = cx.params().config().call_after != Duration::MAX;
        if let (Some(next), Some(leader), true) = (next, self.leader, restless && next != before) {
            self.called = self.called.saturating_add(1);
            let call = Call { at: None, by: self.me, life: self.life, number: self.called };
            let (round, living) = (self.round, Vec::new());
            cx.send(next, Message::Coordinator { call, round, leader, living, hops: 0 });
        }
    }

    fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if !self.leads() || !self.active {
            return Err(Refused::NotLeading);
        }
        self.active = false;
        self.hold(cx);
        Ok(())
    }

    fn campaign(&mut self, cx: &mut Cx<'_, Self>) {
        if !self.active || self.phase == Phase::Idle {
            self.active = true;
            self.hold(cx);
        }
    }
}

impl Protocol for Collecting {
    const NAME: &'static str = "ring";
    const ON_DEMAND: bool = true;
    type Params = Params;
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut node = Self {
            me: boot.me,
            life: boot.incarnation,
            active: true,
            leader: None,
            round: 0,
            phase: Phase::Idle,
            called: 0,
            heard: None,
            open: false,
            unasked: None,
            circle: Circle::default(),
            alarm: Alarm::OFF,
        };
        if boot.incarnation > 1 {
            node.hold(cx);
        } else {
            node.rest(cx);
        }
        node
    }

    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Cx<'_, Self>) {
        if !cx.peers().contains(from) {
            return;
        }
        match message.into_owned() {
            Message::Election { call, round, keys } => {
                if self.is_one_of_us(call.by, cx) {
                    self.hear_election(call, round, keys, cx);
                }
            }
            Message::Coordinator { call, round, leader, living, hops } => {
                if self.is_one_of_us(call.by, cx) && self.is_one_of_us(leader.id, cx) {
                    self.hear_coordinator(call, round, leader, (living, hops), cx);
                }
            }
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        self.alarm.fired(timer);
        // The process that may not have been asked may have gone down since.
        if timer == Timer::Retry || self.leader.is_none() || self.unasked.is_some() {
            self.hold(cx);
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        match reach {
            _ if peer == self.me => {}
            Reach::Down => self.peer_lost(peer, cx),
            Reach::Up => self.welcome(peer, cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => self.campaign(cx),
            Command::Resign => self.resign(cx)?,
            Command::Leave => {} // its neighbours notice
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        match &self.leader {
            Some(leader) => Leadership::of(core::slice::from_ref(&leader.id), Stage::Decided),
            None => Leadership::NONE,
        }
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Claim { weight: self.key().weight() });
        tell(Fact::Round { number: u32::try_from(self.round).unwrap_or(u32::MAX) });
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        if let Some(heard) = &mut self.heard {
            heard.rebase(rebase);
        }
        match &mut self.phase {
            Phase::Idle => {}
            Phase::Collecting { mine: call, .. } | Phase::Announcing(call) => call.rebase(rebase),
        }
    }
}
