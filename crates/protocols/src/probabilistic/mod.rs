//! Probabilistic election for large groups: a hash selects a few relays, these agree by unicasts,
//! and each of them tells everyone the outcome.
//!
//! **Source.** Indranil Gupta, Robbert van Renesse and Kenneth Birman, "A probabilistically correct
//! leader election protocol for large groups", technical report, Cornell University, April 2000:
//! the rounds of section 3.1, the strategy of 3.2, figure 3, and joining as in 2.1.
//!
//! **Assumptions.** Multicasts and unicasts may be lost, and processes may stop. Delays have
//! bounds, and a message beyond them counts as lost. The hash is fair. All processes have about the
//! same estimate of the group size. No process needs to see the whole group: a process knows those
//! it sees (`cx.peers()`) and those it has met. Every sender is taken for a member: the driver
//! keeps strangers out.
//!
//! **Promise.** *Probably one*: with a known probability all live processes name the same live
//! leader at the end. [`Odds`] computes the lower bound of section 4 for a round. It depends on the
//! group size only through processes that hear nothing at all, so N matters where losses are high
//! and K is small. A leader that crashes within the round is not noticed, so the probability is at
//! most about 1 − p_fail for any K.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `initiate` | any process, to all | "round r of election e begins" | everyone, if that is later than what it knows |
//! | `prefer` | a relay, to relays it knows | "I prefer this one" | accepts it if better, answers if worse |
//! | `final` | a relay, to all; a leader, every beat | "we chose this one" | follows it, if all that arrive name the same |
//! | `join` | a newcomer, to all | "what has happened?" | about K members, selected by the hash |
//! | `welcome` | these members, to the newcomer | "round r of election e, and this one leads" | the newcomer |
//! | `withdraw` | a process that resigns or leaves, to all; a relay, to one that does not know | "this one does not stand" | does not choose it |
//! | `gossip` | any process, to one it sees | traces of all processes it knows | counts the group (`size = gossip`) |
//!
//! A round: a process that hears of it hashes itself with the round's name (`hash.rs`). About K of
//! all pass and become relays (`filter.rs`); only they use their views. They tell each other whom
//! they prefer, and after a while each tells everyone (`relay.rs`). A process that was then told of
//! no leader or of several makes sure that another round is held, with more relays, or gives up
//! after the last (`detection.rs`).
//!
//! # Where this departs from the text
//!
//! * **Answers.** A preference is answered only if it is strictly worse. As printed ("else inform
//!   M_k"), two relays that agree would answer each other until the time-out.
//! * **Time-outs.** As printed, an initiator decides before the other relays' final messages can
//!   reach it, because it begins a multicast's delay before they do. We add that delay twice: to
//!   the Relay phase, for relays that begin late, and to the wait for final messages.
//! * **Silence.** A process that was told of no leader has no final message to hash; it hashes the
//!   round.
//! * **Late messages.** A relay answers also after its final message, and a final message counts
//!   also after the decision: it can end a silence, or show that there are two leaders.
//!
//! # Where the text is silent, and what we chose
//!
//! * **Several initiators.** An election has the number after the last known one, so elections that
//!   are called at the same moment are one. An election with a later number ends those before. A
//!   process that calls one that is over, because it has missed or forgotten the later ones, is
//!   told so like a newcomer, and calls another.
//! * **A process that missed the beginning** follows the final messages, and is no relay. With
//!   `woken-by = preference` it becomes one if another tells it a preference.
//! * **Delays before a re-initiation** are drawn in steps of two multicasts: half of all processes
//!   draw the last of log₂ N + 1 steps, half of the rest the one before, and so on. For any number
//!   of doubting processes about one is first, and no more steps are needed; uniform delays would
//!   have to be N long. This is the default, because the hash fails where few processes have
//!   something to correct: one member that missed every final message begins the next round with
//!   probability K/N. See the table below.
//! * **Keeping in touch.** Nothing in the paper tells a group that its leader is gone, or calls the
//!   first election. With `beat` and `silence` a leader repeats its final message and silence
//!   begins the next election (`touch.rs`). Without them, as printed, the application must call.
//! * **Candidates** are all processes in the view and the process itself, relays or not, dead or
//!   not: a death is known only if the driver reports it ([`Reach::Down`]) or silence shows it. If
//!   the dead process is the leader, the rule that begins the next round begins the next election.
//!   A missed process is not chosen until something is heard of it, and a relay that prefers it is
//!   told. The declared leader of the last election is in the view, as printed, as long as it is
//!   remembered.
//! * **Resigning.** A leader that resigns calls an election in which it does not stand, unless a
//!   round names nobody else: otherwise the last process of a group would hold five rounds without
//!   a candidate. A leader that leaves stands in none. A relay that missed this and prefers the
//!   process is told.
//! * **Standing.** A process that puts itself forward stands, whatever others say of it: they speak
//!   of an earlier incarnation, or have missed its messages. Otherwise a few processes that never
//!   heard of its return would reject for ever the one that the rest elect.
//! * **Restarts.** Nothing is stored. A restarted process asks like a newcomer.
//!
//! # Which re-initiation
//!
//! Strong success of 1000 simulated elections each, views of half the group, the same loss for
//! unicasts and multicasts, p_fail = .001, as printed by `bellwether sim probabilistic --nodes 1000
//! --strategy 7,14,28,56,112 --fail .001 --loss … --reinitiate …`.
//! `crates/sim/tests/simulation/probabilistic` holds four of the rows against 200 elections with
//! other seeds.
//!
//! | loss | `hash` | rounds | `delay` | rounds |
//! |---|---|---|---|---|
//! | 0 | 1.000 | 1.01 | 1.000 | 1.01 |
//! | .05 | .970 | 1.03 | 1.000 | 1.06 |
//! | .1 | .909 | 1.05 | .998 | 1.14 |
//! | .2 | .712 | 1.11 | .981 | 1.38 |
//! | .3 | .482 | 1.24 | .968 | 1.76 |
//! | .4 | .371 | 1.42 | .970 | 2.07 |
//!
//! With `delay` the remaining failures are members that missed the beginning and every final
//! message, and do not know that there was an election. The cost is a second round, and up to log₂
//! N + 1 steps of waiting before it.
//!
//! # What an observer sees
//!
//! Strong and weak success follow from whom processes follow at the end. Unicasts and multicasts
//! are the messages sent. An `initiate` with a round beyond the first is a re-initiation.
//! [`Fact::Round`] is the round. [`Fact::Relay`] marks relays until they decide, with their choice,
//! and [`Fact::Contact`] the edges of the relay graph, from which its components follow.
//! [`Fact::Unclear`] marks processes that saw that a round has no clear outcome, and
//! [`Stage::Aborted`] those that gave up.

mod commands;
mod detection;
mod error;
mod filter;
mod hash;
mod join;
mod known;
mod message;
mod odds;
mod params;
mod relay;
mod row;
mod size;
mod sketch;
mod strategy;
mod table;
mod touch;

#[cfg(test)]
mod tests;

pub use error::BadConfig;
pub use hash::{Filter, Name};
pub use message::{Candidate, Message, RoundId};
pub use odds::{Conditions, Odds};
pub use params::{BadSize, Choice, Join, Params, ROUNDS_MAX, Reinitiate, Size, TimeOuts, WokenBy};
pub use sketch::{REGISTERS, Sketch};
pub use strategy::{BadStrategy, Relays, Strategy};
pub use table::Config;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use bellwether_core::{
    Boot, Command, Cx, Duration, Fact, Instant, Leadership, Message as _, NodeId, Protocol, Reach,
    Rebase, Refused, Stage, Term, timer_kinds,
};
use known::Known;
use relay::Relay;
use size::Gossip;

/// One process. State that only a few need is behind a pointer: a process that is no relay, has met
/// nobody and misses nobody takes only ten words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probabilistic {
    me: NodeId,
    rank: u64,
    /// The latest round it knows of.
    round: RoundId,
    phase: Phase,
    /// Whether it called this election and nobody has been elected yet.
    calls: bool,
    /// The leaders that the final messages of this round name.
    named: Named,
    relay: Option<Box<Relay>>,
    known: Option<Box<Known>>,
    gossip: Option<Box<Gossip>>,
}

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Nothing: the latest round is over for it, or there was none. It keeps in touch, if
    /// configured.
    Idle,
    /// It has asked what has happened, this many times, and waits for an answer.
    Asking(u32),
    /// It is a relay, and searches for the best choice with the others.
    Relaying,
    /// It waits for final messages; it may have sent its own.
    Waiting,
    /// It saw that the round has no clear outcome, or that its leader is gone. It waits for another
    /// process to begin again, or does so itself if its timer is armed.
    Doubting(Doubt),
    /// It saw that the last round has no clear outcome, and gave up.
    Aborted,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Doubt {
    /// The round named nobody, or several.
    Outcome,
    /// The leader is gone.
    Leader,
}

/// The leaders that the final messages of a round name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Named {
    Nobody,
    One(NodeId),
    /// This one first, and then another.
    Several(NodeId),
}

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The phase is over. All phases share one timer, because a million processes have it.
    Phase,
    /// It is time to exchange traces.
    Gossip,
}

timer_kinds!(Timer: Phase, Gossip);

impl Probabilistic {
    /// The leader it follows.
    fn leader(&self) -> Option<NodeId> {
        match (self.phase, self.named) {
            (Phase::Idle, Named::One(leader)) => Some(leader),
            _ => None,
        }
    }

    fn leads(&self) -> bool {
        self.leader() == Some(self.me)
    }

    /// Changes the phase, for this long, or until a message arrives.
    fn turn(&mut self, phase: Phase, lasts: Option<Duration>, cx: &mut Cx<'_, Self>) {
        self.phase = phase;
        match lasts {
            Some(lasts) => cx.arm(Timer::Phase, cx.now() + lasts),
            None => cx.disarm(Timer::Phase),
        }
    }

    /// Whether this process does not stand in the current election.
    fn is_absent(&self, id: NodeId) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_absent(id, self.round.election))
    }

    /// Whether it has said that it will never stand again.
    fn has_left(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_gone_for_good(self.me))
    }

    fn known(&mut self) -> &mut Known {
        self.known.get_or_insert_default()
    }
}

impl Protocol for Probabilistic {
    const NAME: &'static str = "probabilistic";
    const ON_DEMAND: bool = true;
    type Params = Params;
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut node = Self {
            me: boot.me,
            rank: boot.rank,
            round: RoundId::default(),
            phase: Phase::Idle,
            calls: false,
            named: Named::Nobody,
            relay: None,
            known: None,
            gossip: None,
        };
        node.begin_to_count(cx);
        match cx.params().config().join {
            Join::Restarted if boot.incarnation > 1 => node.ask(1, cx),
            Join::Always => node.ask(1, cx),
            Join::Restarted | Join::Never if cx.params().is_in_touch() => {
                node.rest(Phase::Idle, cx);
            }
            Join::Restarted | Join::Never => {}
        }
        node
    }

    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Cx<'_, Self>) {
        if from == self.me {
            return; // no other process has this id
        }
        self.hear_of(from, message.weight());
        match *message {
            Message::Initiate(round) => self.hear_initiate(from, round, cx),
            Message::Prefer(round, choice) => self.hear_preference(from, round, choice, cx),
            Message::Final(round, leader) => self.hear_final(from, round, leader, cx),
            Message::Join(attempt) => self.hear_join(from, attempt, cx),
            Message::Welcome(round, leader) => self.hear_welcome(from, round, leader, cx),
            Message::Withdraw(who, until) => self.hear_withdrawal(from, who, until, cx),
            Message::Gossip(ref traces) => self.hear_traces(from, traces, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match (timer, self.phase) {
            (Timer::Gossip, _) => self.spread_traces(cx),
            (Timer::Phase, Phase::Relaying) => self.settle(cx),
            (Timer::Phase, Phase::Waiting) => self.decide(cx),
            (Timer::Phase, Phase::Doubting(doubt)) => self.begin_again(doubt, cx),
            (Timer::Phase, Phase::Asking(attempt)) => self.ask_again(attempt, cx),
            (Timer::Phase, Phase::Idle | Phase::Aborted) => self.end_rest(cx),
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        match reach {
            Reach::Up => self.forget_absence(peer),
            Reach::Down if peer != self.me => self.peer_lost(peer, cx),
            Reach::Down => {}
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => self.campaign(cx),
            Command::Resign => self.resign(cx),
            Command::Leave => self.leave(cx),
            Command::Rank(rank) => self.take_rank(rank, cx),
            _ => Err(Refused::Unsupported),
        }
    }

    /// A message of a round that is over concerns nobody.
    #[inline]
    fn min_weight(&self) -> u64 {
        self.round.weight()
    }

    /// All relays of a round send the same in the end, if nothing fails. A process that keeps in
    /// touch, or misses another, must know who sends it.
    #[inline]
    fn is_redundant(&self, message: &Message, params: &Params) -> bool {
        matches!((message, self.named), (Message::Final(round, leader), Named::One(named))
            if *round == self.round && *leader == named)
            && self.known.is_none()
            && !params.is_in_touch()
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let (leaders, stage) = match (self.phase, &self.named) {
            (Phase::Idle, Named::One(leader)) => (core::slice::from_ref(leader), Stage::Decided),
            (Phase::Aborted, _) => (&[][..], Stage::Aborted),
            _ => return Leadership::NONE,
        };
        let term = Term::new(u64::from(self.round.election));
        Leadership { term, ..Leadership::of(leaders, stage) }
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Round { number: self.round.number });
        if let Some(relay) = &self.relay {
            tell(Fact::Relay { choice: relay.choice().id });
            relay.contacts().iter().for_each(|peer| tell(Fact::Contact { peer: *peer }));
        }
        if matches!(self.phase, Phase::Doubting(Doubt::Outcome) | Phase::Aborted) {
            let leaders = if self.named == Named::Nobody { 0 } else { 2 };
            tell(Fact::Unclear { leaders });
        }
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}
