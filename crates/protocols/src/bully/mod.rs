//! The bully election: a greater process takes over, and the greatest tells everyone.
//!
//! **Source.** Hector Garcia-Molina, "Elections in a distributed computing system", IEEE
//! Transactions on Computers C-31(1), 1982, as lectures teach it (Tanenbaum's figure 3-12). Asking
//! instead of bullying after a recovery: Sandipan Basu, "An efficient approach of election
//! algorithm in distributed systems", Indian Journal of Computer Science and Engineering 2(1),
//! 2011. Stamps: the idea of MEREA (International Journal of Next-Generation Networks 5(1), 2013)
//! that its section 7 would apply here.
//!
//! **Assumptions.** Every process knows all ids. A failed process is noticed: by time-outs, and by
//! reports of the driver or of the [`Detect`](crate::detect) layer. Messages to live processes
//! arrive.
//!
//! **Promise.** *Eventually one*: once faults stop, all live processes name the greatest live one.
//! With `recovery = ask` all name the same live one, which may be a lesser one that led before.
//! With finite `call-after` this holds after wrong reports too. Without it the promise holds as far
//! as the text goes: if time-outs are long enough and reports are true.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `election` | the caller, to all greater | "is anybody greater alive?" | they take over |
//! | `ok` | a greater process, to the caller | "I am, stand back" | it waits for the Coordinator message |
//! | `coordinator` | a process that got no OK, to all lesser | "I lead" | they follow |
//! | `resign` | a leader that retires or leaves; a retired process that is asked | "not me" | its followers |
//! | `query`, `leader` | a process that asks; a process that knows | "who leads?", "this one" | a recovered process (`recovery = ask`) |
//!
//! A process is greater if it is willing to lead and the other has retired, or else if its id is
//! greater. With N processes of which the greatest is dead, a call of the least costs N(N−1)/2
//! Election messages, including those to the dead one, (N−1)(N−2)/2 OK and N−2 Coordinator
//! messages.
//!
//! # Where the text is silent, and what we chose
//!
//! * **Rounds.** Each election has a number, the same for all participants. A process that is done
//!   with it answers its late messages with OK, and calls no other. A recovered process has
//!   forgotten the number and sends zero, which always counts as new. Its Coordinator message is
//!   believed because it is greater.
//! * **Which leader to believe.** A Coordinator message of a lesser process provokes an election,
//!   or a correction by the leader. One of a greater process is believed, unless a still greater
//!   one is followed and the round is not newer. Messages from a former incarnation, from before a
//!   change of willingness, or from a dead process are ignored (`known.rs`).
//! * **Whom to wait for.** Election messages go to dead processes too, as the text counts them, but
//!   no process waits for those it knows to be down.
//! * **Whom to ask.** The greatest process that may be up, then the next. A named process is
//!   followed only if it says itself that it leads; otherwise two could follow each other. Since a
//!   greater process may follow a lesser one, Coordinator messages go to all processes that are up
//!   if `recovery = ask`. A follower of a lesser process asks again every `call-after`, and a
//!   leader yields only to an election.
//! * **Calling.** A process without a leader, or whose leader is down or lesser than a process that
//!   is up, calls an election after `call-after`. A leader tells a lesser process that comes up
//!   that it leads. With infinite `call-after` neither happens.
//! * **Retiring.** A leader that resigns tells all and waits. Its followers call an election, in
//!   which retired processes come after all others. A recovered process does not know who has
//!   retired; if it leads, it tells them once it knows.
//!
//! # Stamps
//!
//! An election carries when and by whom it was called. Of two in the same round the older prevails
//! (at equal times, that of the lesser id), and its participants drop messages of the younger one
//! without an OK. A process that takes over an election would call a younger one, to processes that
//! the older one has already asked, because a lesser process called it: they would all drop the
//! call. So it is not sent. A participant answers OK and waits; the greatest one that is not known
//! to be down leads. One call among N live processes then costs N−1 Election, N−1 OK and N−1
//! Coordinator messages, 3(N−1) instead of N²−1. If all call at once, N(N−1)/2 Election messages
//! are in flight before any can be dropped. Of the N(N−1)/2 OKs only those to the oldest call
//! remain, N−1 if its messages arrive first. The cost: a process needs reports to know that it is
//! the greatest. An election that does not end is held again without a stamp, as in the text.

mod asking;
mod election;
mod known;
mod message;
mod params;
mod row;
mod table;

#[cfg(test)]
mod tests;

pub use known::Availability;
pub use message::{Message, Says, Stamp};
pub use params::{BadConfig, Params, Recovery, TopAnswers};
pub use table::Config;

use crate::alarm::Alarm;
use alloc::borrow::Cow;
use bellwether_core::{
    Boot, Command, Cx, Duration, Fact, Instant, Leadership, NodeId, Protocol, Reach, Rebase,
    Refused, Stage, timer_kinds,
};
use known::{Key, Known};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bully {
    me: NodeId,
    availability: Availability,
    leader: Option<NodeId>,
    phase: Phase,
    /// The latest round it knows; zero if it knows none.
    round: u64,
    /// The oldest known call of that election, if elections are stamped.
    stamp: Option<Stamp>,
    known: Known,
    alarm: Alarm<Timer>,
}

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Nothing: it has a leader, or no election was called.
    Idle,
    /// It called the election with this number, and waits for an OK.
    Holding(u64),
    /// A greater process took over; it waits for the Coordinator message.
    Standing,
    /// It has asked this process who leads.
    Asking(NodeId),
    /// It has asked this process, which another one named, whether it leads.
    Confirming(NodeId),
}

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// No answer came.
    Reply,
    /// The process that took over did not finish.
    Wait,
    /// Something has been wrong for too long.
    CallAfter,
}

timer_kinds!(Timer: Reply, Wait, CallAfter);

impl Bully {
    fn key(&self) -> Key {
        Key::new(self.me, self.availability)
    }

    fn leads(&self) -> bool {
        self.leader == Some(self.me)
    }

    /// Whether it takes part in an election.
    fn takes_part(&self) -> bool {
        matches!(self.phase, Phase::Holding(_) | Phase::Standing)
    }

    /// The key of any process, this one included.
    fn key_of(&self, id: NodeId) -> Key {
        if id == self.me { self.key() } else { self.known.key(id) }
    }

    fn say(&self, to: NodeId, says: Says, cx: &mut Cx<'_, Self>) {
        cx.send(to, Message { availability: self.availability, says });
    }

    fn say_to_all(&self, says: Says, cx: &mut Cx<'_, Self>) {
        cx.peers().iter().for_each(|peer| self.say(peer, says, cx));
    }

    /// Changes the phase, until this timer fires.
    fn turn(&mut self, phase: Phase, timer: Timer, after: Duration, cx: &mut Cx<'_, Self>) {
        self.phase = phase;
        self.alarm.set(timer, after, cx);
    }

    /// Whether something is wrong: no leader, a leader that is down, or a greater process that is
    /// up.
    fn doubts(&self, cx: &Cx<'_, Self>) -> bool {
        let Some(leader) = self.leader else { return true };
        let key = self.key_of(leader);
        let better = |id: NodeId| self.known.key(id) > key && !self.known.is_down(id);
        self.known.is_down(leader) || self.key() > key || cx.peers().iter().any(better)
    }

    /// Becomes idle, and waits for `call-after` if something is wrong.
    fn rest(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::Idle;
        let call_after = cx.params().config().call_after;
        if call_after != Duration::MAX && self.doubts(cx) {
            self.turn(Phase::Idle, Timer::CallAfter, call_after, cx);
        } else {
            self.alarm.clear(cx);
        }
    }

    /// Checks again after a change of availability or of reachability.
    fn look_round(&mut self, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Idle && self.alarm.is_off() {
            self.rest(cx);
        }
    }

    /// Something has been wrong for too long: it asks who leads, or calls an election.
    fn call_if_in_doubt(&mut self, cx: &mut Cx<'_, Self>) {
        let content = self.leader.is_some_and(|leader| !self.known.is_down(leader));
        if !self.doubts(cx) {
            return;
        }
        if content && cx.params().config().recovery == Recovery::Ask {
            self.ask(None, cx); // the greatest may follow a lesser leader
        } else {
            self.hold(cx);
        }
    }
}

/// Commands.
impl Bully {
    fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if !self.leads() || self.availability.is_retired() {
            return Err(Refused::NotLeading);
        }
        self.availability.retire();
        self.leader = None;
        self.say_to_all(Says::Resign, cx);
        let wait = cx.params().config().wait;
        self.turn(Phase::Standing, Timer::Wait, wait, cx);
        self.decide_if_greatest(cx);
        Ok(())
    }

    fn campaign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let returns = self.availability.is_retired();
        if returns {
            self.availability.return_to_duty()?;
        }
        if returns || !self.takes_part() {
            self.hold(cx);
        }
        Ok(())
    }

    fn leave(&mut self, cx: &mut Cx<'_, Self>) {
        if self.leads() {
            self.availability.retire();
            self.say_to_all(Says::Resign, cx);
        }
        self.leader = None;
        self.phase = Phase::Idle;
        self.alarm.clear(cx);
    }
}

impl Protocol for Bully {
    const NAME: &'static str = "bully";
    const ON_DEMAND: bool = true;
    type Params = Params;
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut node = Self {
            me: boot.me,
            availability: Availability::new(boot.incarnation),
            leader: None,
            phase: Phase::Idle,
            round: 0,
            stamp: None,
            known: Known::default(),
            alarm: Alarm::OFF,
        };
        match cx.params().config().recovery {
            _ if boot.incarnation <= 1 => node.rest(cx),
            Recovery::Bully => node.recover(cx),
            Recovery::Ask => node.ask(None, cx),
        }
        node
    }

    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Cx<'_, Self>) {
        let before = self.known.key(from);
        if !cx.peers().contains(from) || !self.known.hear(from, message.availability) {
            return;
        }
        self.tell_if_lesser_now(from, before, cx);
        match message.says {
            Says::Election { round, stamp } => self.hear_election(from, round, stamp, cx),
            Says::Ok { round, of } => self.hear_ok(from, round, of, cx),
            Says::Coordinator { round } => self.hear_coordinator(from, round, cx),
            Says::Resign => self.hear_resign(from, cx),
            Says::Query => self.say(from, Says::Leader(self.leader), cx),
            Says::Leader(leader) => self.hear_answer(from, leader, cx),
        }
        if self.known.key(from) != before {
            self.look_round(cx);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        self.alarm.fired(timer);
        match (timer, self.phase) {
            (Timer::Reply, Phase::Holding(_)) => self.declare(cx),
            (Timer::Reply, Phase::Asking(asked)) => self.ask(Some(asked), cx),
            (Timer::Reply, Phase::Confirming(_)) => self.hold(cx),
            (Timer::Wait, Phase::Standing) => self.hold_again(cx),
            (Timer::CallAfter, Phase::Idle) => self.call_if_in_doubt(cx),
            _ => {} // timers of former phases are disarmed
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        if peer == self.me {
            return;
        }
        self.known.report(peer, reach == Reach::Down);
        match reach {
            Reach::Down => self.peer_lost(peer, cx),
            Reach::Up => self.welcome(peer, cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => self.campaign(cx)?,
            Command::Resign => self.resign(cx)?,
            Command::Leave => self.leave(cx),
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        match &self.leader {
            Some(leader) => Leadership::of(core::slice::from_ref(leader), Stage::Decided),
            None => Leadership::NONE,
        }
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Claim { weight: self.key().weight() });
        tell(Fact::Round { number: u32::try_from(self.round).unwrap_or(u32::MAX) });
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        if let Some(stamp) = &mut self.stamp {
            stamp.rebase(rebase);
        }
    }
}
