//! The common part of the searches for the greatest process on a ring: calling elections, believing
//! announcements, and handling failures.
//!
//! **Source.** Both papers search for the extremum of a ring and assume that nothing fails. This
//! module is our own completion of them. How the greatest process is found is a [`Search`]:
//! [`chang_roberts`](super::chang_roberts), [`hirschberg_sinclair`](super::hirschberg_sinclair).
//!
//! **Assumptions.** Every process knows the ring, which is the order of `cx.peers()`. The driver or
//! the [`Detect`](crate::detect) layer reports failures. A message to a live process arrives sooner
//! or later, perhaps twice.
//!
//! **Promise.** *Eventually one*: once faults stop, all live processes name the greatest live one.
//! This survives the crash of a process that holds a message if `retry` is finite, and wrong
//! reports if `call-after` is finite.
//!
//! # Where the papers are silent, and what we chose
//!
//! * **Rounds.** Each election has a number, the same for all participants. Messages of lower
//!   numbers are late and ignored; one of a higher number is an invitation. A recovered process has
//!   forgotten the number and sends zero: a process that takes part in no election treats this as
//!   the next round.
//! * **Taking part** means standing for election or forwarding a greater candidate. It begins with
//!   the first message of a round, and a participant calls no other election.
//! * **Announcements** go around once and the winner removes them. They are ordered by round, then
//!   by key; a process that knows better ignores them. A process that is greater than the announced
//!   one, or knows it to be dead, objects: it calls the next election.
//! * **Objecting again.** Where not all processes hear each other, one process may consider the
//!   winner dead that the others elect. It would object to every announcement, and elections would
//!   follow each other as fast as messages travel. So a process that has objected, and has had no
//!   report since, waits for `retry` before it calls the next election.
//! * **Dead processes.** Neighbours that are down are skipped. A message for a candidate that is
//!   down is not forwarded: so no message passes the place of its creator, and none goes around for
//!   ever. The election that the candidate called is held all the same.
//! * **A lost neighbour** may have held a message, so the last message is repeated to the next one.
//!   With finite `call-after` a neighbour that comes up is also told who leads. So of two adjacent
//!   processes the second knows at least what the first knows, all around the ring: once the ring
//!   is quiet, all know the same.
//! * **A lost candidate.** A process that forwarded a candidate which is then reported down calls
//!   the next election, as if the candidate had already led.
//! * **Retiring** means calling an election as a candidate that comes after all others. A leader
//!   that leaves does the same.

mod message;

pub use message::{Message, Note, Says};

use super::circle::Circle;
use super::{Key, Params, Timer};
use crate::alarm::Alarm;
use alloc::borrow::Cow;
use bellwether_core::{
    Boot, Command, Cx, Duration, Fact, Instant, Leadership, NodeId, Protocol, Reach, Rebase,
    Refused, Stage, Value,
};

/// How the greatest process is found; the state of a participant.
pub trait Search: Value {
    /// The name of the protocol.
    const NAME: &'static str;
    /// The notes that it sends.
    type Note: Note;

    /// Takes part as a candidate.
    fn stand(me: Key, ring: &mut Ring<'_, '_, Self>) -> Self;

    /// Handles a note of an election in which the process has this state, if any yet. True if the
    /// process has won.
    fn hear(
        part: &mut Option<Self>,
        me: Key,
        note: Self::Note,
        ring: &mut Ring<'_, '_, Self>,
    ) -> bool;

    /// The greatest candidate it knows.
    fn hope(&self) -> Key;

    /// Repeats to a new neighbour on this side what it may have missed.
    fn mend(&self, me: Key, way: Way, ring: &mut Ring<'_, '_, Self>);
}

/// One of the two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// To the next process in the order of the ring.
    Forth,
    /// To the previous one.
    Back,
}

impl Way {
    /// Both directions.
    pub const BOTH: [Self; 2] = [Self::Forth, Self::Back];

    /// The opposite direction.
    pub fn reversed(self) -> Self {
        match self {
            Self::Forth => Self::Back,
            Self::Back => Self::Forth,
        }
    }
}

/// The ring during one step of a process: it sends messages to the neighbours.
pub struct Ring<'r, 'a, S: Search> {
    me: NodeId,
    round: u64,
    circle: &'r Circle,
    cx: &'r mut Cx<'a, Finder<S>>,
}

impl<S: Search> Ring<'_, '_, S> {
    /// Sends a note to the live neighbour on this side; to nobody if there is none.
    #[inline]
    pub fn say(&mut self, way: Way, note: S::Note) {
        if let Some(to) = neighbour(self.circle, self.me, way, self.cx) {
            self.cx.send(to, Message { round: self.round, says: Says::Note(note) });
        }
    }
}

#[inline]
fn neighbour<P: Protocol>(circle: &Circle, me: NodeId, way: Way, cx: &Cx<'_, P>) -> Option<NodeId> {
    match way {
        Way::Forth => circle.next(me, cx.peers()),
        Way::Back => circle.previous(me, cx.peers()),
    }
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finder<S: Search> {
    me: NodeId,
    retired: bool,
    /// The leader it follows, with the key by which that one won.
    leader: Option<Key>,
    /// The latest round it knows; zero if it knows none.
    round: u64,
    /// Its state in that election, until it is decided.
    part: Option<S>,
    circle: Circle,
    /// Whether it objected to an announcement, and has had no report since.
    objected: bool,
    alarm: Alarm<Timer>,
}

impl<S: Search> Finder<S> {
    #[inline]
    fn key(&self) -> Key {
        Key::new(!self.retired, self.me)
    }

    fn leads(&self) -> bool {
        self.leader.is_some_and(|leader| leader.id == self.me)
    }

    fn neighbour(&self, way: Way, cx: &Cx<'_, Self>) -> Option<NodeId> {
        neighbour(&self.circle, self.me, way, cx)
    }

    fn wait_for_end(&mut self, cx: &mut Cx<'_, Self>) {
        let config = cx.params().config();
        if config.retry == Duration::MAX {
            return self.alarm.clear(cx);
        }
        let wait = cx.params().wait(cx.peers().len().saturating_add(1));
        self.alarm.set(Timer::Retry, wait, cx);
    }

    fn be_patient(&mut self, cx: &mut Cx<'_, Self>) {
        self.alarm.set(Timer::CallAfter, cx.params().config().call_after, cx);
    }
}

/// Calling and winning an election.
impl<S: Search> Finder<S> {
    /// Calls the next election; a process that has forgotten the number calls one without a number.
    fn hold(&mut self, cx: &mut Cx<'_, Self>) {
        let forgot = self.round == 0 && self.part.is_some();
        self.call(self.round.saturating_add(u64::from(!forgot)), cx);
    }

    fn call(&mut self, round: u64, cx: &mut Cx<'_, Self>) {
        assert!(round >= self.round, "a round never falls");
        (self.round, self.leader) = (round, None);
        let me = self.key();
        let mut ring = Ring { me: self.me, round, circle: &self.circle, cx };
        self.part = Some(S::stand(me, &mut ring));
        self.wait_for_end(cx);
        self.lead_if_alone(cx);
    }

    fn lead_if_alone(&mut self, cx: &mut Cx<'_, Self>) {
        if self.neighbour(Way::Forth, cx).is_none() {
            self.follow(self.key(), cx);
        }
    }

    /// Accepts the outcome and forwards it.
    fn follow(&mut self, leader: Key, cx: &mut Cx<'_, Self>) {
        assert!(
            leader.id != self.me || leader == self.key(),
            "a leader leads by its current claim"
        );
        self.leader = Some(leader);
        self.part = None;
        self.alarm.clear(cx);
        self.tell_next(cx);
    }

    /// Tells the next process who leads.
    fn tell_next(&self, cx: &mut Cx<'_, Self>) {
        if let (Some(leader), Some(next)) = (self.leader, self.neighbour(Way::Forth, cx)) {
            cx.send(next, Message { round: self.round, says: Says::Announcement(leader) });
        }
    }
}

/// Receiving.
impl<S: Search> Finder<S> {
    /// Handles a note of the election that it takes part in. Whether the note matters depends on
    /// the candidate, not on the process that forwarded it.
    #[inline]
    fn take_part(&mut self, note: S::Note, cx: &mut Cx<'_, Self>) {
        if !self.believes_in(note.key(), cx) {
            return;
        }
        let me = self.key();
        let mut ring = Ring { me: self.me, round: self.round, circle: &self.circle, cx };
        if S::hear(&mut self.part, me, note, &mut ring) {
            self.follow(me, cx);
        }
    }

    /// Handles a note of another election, or of one that is already decided here.
    fn hear_note(&mut self, round: u64, note: S::Note, cx: &mut Cx<'_, Self>) {
        let key = note.key();
        if !self.believes_in(key, cx) {
            self.hear_of_the_dead(round, key, cx);
        } else if self.joins(round, key) {
            self.wait_for_end(cx);
            self.take_part(note, cx);
        }
    }

    /// Whether a candidate may win: it is alive and still willing.
    #[inline]
    fn believes_in(&self, key: Key, cx: &Cx<'_, Self>) -> bool {
        if key.id == self.me {
            return key == self.key();
        }
        !self.circle.is_down(key.id) && cx.peers().contains(key.id)
    }

    /// Handles a note about a dead candidate, which has called an election all the same.
    fn hear_of_the_dead(&mut self, round: u64, key: Key, cx: &mut Cx<'_, Self>) {
        if round > self.round && self.circle.is_down(key.id) && cx.peers().contains(key.id) {
            self.call(round, cx);
        }
    }

    /// Joins the election of a note about this candidate, unless it is late.
    fn joins(&mut self, round: u64, key: Key) -> bool {
        let idle = self.part.is_none();
        let round = if round == 0 && idle { self.round.saturating_add(1) } else { round };
        let news = if round == self.round {
            self.leader.is_none_or(|leader| key > leader)
        } else {
            round > self.round
        };
        if !news {
            return false;
        }
        // A process that called without knowing the number learns it from its own message.
        if self.round > 0 || key != self.key() {
            self.part = None;
        }
        assert!(round >= self.round, "a round never falls");
        (self.round, self.leader) = (round, None);
        true
    }

    fn hear_announcement(&mut self, round: u64, leader: Key, cx: &mut Cx<'_, Self>) {
        let known = leader.id == self.me || cx.peers().contains(leader.id);
        if !known || (round, Some(leader)) <= (self.round, self.leader) {
            return; // it has gone around, or is late
        }
        self.round = round;
        let fit = leader.id != self.me && !self.circle.is_down(leader.id) && leader > self.key();
        if fit { self.follow(leader, cx) } else { self.object(cx) }
    }

    /// Calls another election because of the announced winner; a second time only after `retry`.
    fn object(&mut self, cx: &mut Cx<'_, Self>) {
        let again = core::mem::replace(&mut self.objected, true);
        if again && cx.params().config().retry != Duration::MAX {
            (self.leader, self.part) = (None, None);
            self.wait_for_end(cx);
        } else {
            self.hold(cx);
        }
    }
}

/// Reports of the driver.
impl<S: Search> Finder<S> {
    /// A process is down; `before` are the neighbours before that.
    fn peer_lost(&mut self, peer: NodeId, before: [Option<NodeId>; 2], cx: &mut Cx<'_, Self>) {
        let gone = |key: Key| key.id == peer;
        if self.leader.is_some_and(gone) || self.part.as_ref().is_some_and(|p| gone(p.hope())) {
            return self.hold(cx);
        }
        let me = self.key();
        for (way, before) in Way::BOTH.into_iter().zip(before) {
            if before != Some(peer) {
                continue;
            }
            match &self.part {
                Some(part) => {
                    let (round, circle) = (self.round, &self.circle);
                    part.mend(me, way, &mut Ring { me: self.me, round, circle, cx });
                }
                None if way == Way::Forth => self.tell_next(cx),
                None => {}
            }
        }
        if self.part.is_some() {
            self.lead_if_alone(cx);
        }
    }

    /// A process is up again.
    fn welcome(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        let (Some(leader), true) = (self.leader, cx.params().config().call_after != Duration::MAX)
        else {
            return;
        };
        if self.neighbour(Way::Forth, cx) == Some(peer) {
            self.tell_next(cx);
        }
        if peer > leader.id && self.alarm.is_off() {
            self.be_patient(cx);
        }
    }
}

/// Commands.
impl<S: Search> Finder<S> {
    fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if !self.leads() || self.retired {
            return Err(Refused::NotLeading);
        }
        self.retired = true;
        self.hold(cx);
        Ok(())
    }

    fn campaign(&mut self, cx: &mut Cx<'_, Self>) {
        let returns = core::mem::replace(&mut self.retired, false);
        if returns || self.part.is_none() {
            self.hold(cx);
        }
    }

    fn leave(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() {
            self.retired = true;
            self.hold(cx);
        }
        self.alarm.clear(cx);
    }
}

impl<S: Search> Protocol for Finder<S> {
    const NAME: &'static str = S::NAME;
    const ON_DEMAND: bool = true;
    type Params = Params;
    type Message = Message<S::Note>;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut process = Self {
            me: boot.me,
            retired: false,
            leader: None,
            round: 0,
            part: None,
            circle: Circle::default(),
            objected: false,
            alarm: Alarm::OFF,
        };
        if boot.incarnation > 1 {
            process.call(0, cx);
        } else {
            process.be_patient(cx);
        }
        process
    }

    #[inline]
    fn on_message(&mut self, from: NodeId, message: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        let Message { round, says } = *message;
        match says {
            Says::Note(note) if round == self.round && self.part.is_some() => {
                self.take_part(note, cx);
            }
            _ if !cx.peers().contains(from) => {}
            Says::Note(note) => self.hear_note(round, note, cx),
            Says::Announcement(leader) => self.hear_announcement(round, leader, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        self.alarm.fired(timer);
        self.hold(cx); // for both timers: they are armed only while something is wrong
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        if peer == self.me {
            return;
        }
        let before = Way::BOTH.map(|way| self.neighbour(way, cx));
        self.objected = false;
        self.circle.report(peer, reach);
        match reach {
            Reach::Down => self.peer_lost(peer, before, cx),
            Reach::Up => self.welcome(peer, cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => self.campaign(cx),
            Command::Resign => self.resign(cx)?,
            Command::Leave => self.leave(cx),
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    #[inline]
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

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}
