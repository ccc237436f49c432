//! Election in an ad hoc network: a tree grows, reports the best process, and carries the result.
//!
//! **Source.** Vasudevan, Kurose and Towsley, "Design and analysis of a leader election algorithm
//! for mobile ad hoc networks", 12th International Conference on Network Protocols, 2004, as taught
//! in the lecture on distributed election (figure 6.22); with what the lecture leaves out.
//!
//! **Assumptions.** A process knows its neighbours (`cx.peers()`) and is told when one of them, or
//! the link to it, appears or disappears. No process knows the network. Messages may be lost,
//! duplicated and reordered if `retry` and `timeout` are finite. The loss of a leader that is not a
//! neighbour is noticed only if `leader-beat` and `leader-silence` are finite.
//!
//! **Promise.** *Eventually one*, per component: once the network stops changing, every process
//! names the best live process that it can reach. Before that two may lead at once.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `Election(wave)` | a process that calls or joins an election, to all neighbours but its parent | "take part" | processes in no higher election: the first sender becomes the parent |
//! | `Ack(wave, best)` | a process that has heard from all it asked, to its parent | "the best of my subtree" | the parent |
//! | `Ack(wave, none)` | a process that another one asked before, at once | "not through you" | the process that asked |
//! | `Leader(news)` | down the tree, and to neighbours that seem not to know | "this one leads" | processes that know nobody better |
//! | `Heartbeat(news)` | the leader, every `leader-beat`, forwarded by everyone | "and is there" | its followers |
//!
//! One election on a connected graph of V processes and E links takes 2E−V+1 Elections, as many
//! Acks, and V−1 Leaders. A heartbeat takes 2E−V+1. A process stores its claim, the highest wave,
//! the leader and the neighbours known to be gone; in an election also whom it asked: O(degree).
//!
//! # Where this departs from the text
//!
//! * The lecture has no Leader message: without it only the source knows the outcome.
//! * In the paper a process that loses its parent announces the best of its subtree. Here it calls
//!   a new election: in a graph with cycles the subtree is mostly still connected to the rest, and
//!   a higher wave gives all of it one answer instead of two that must meet again.
//! * A child that is lost *after* it reported cannot be removed from the report, so this also calls
//!   for a new election. A child that is lost before is simply not waited for.
//!
//! # Where the text is silent, and what we chose
//!
//! * A process that is told of a leader worse than itself calls an election. So does one that is
//!   told that it leads by a claim it no longer has. This includes processes that met the others
//!   after their part of the tree had reported.
//! * Neighbours that meet exchange leaders and adopt the better one, but only from a process that
//!   knows of an election at least as high as their own. Otherwise a message that was long in
//!   flight would bring back a leader that has been replaced. A process that is not believed is
//!   told what it missed; if it still holds to its leader it says so again, and is believed. Two
//!   neighbours without a leader call an election.
//! * Of two claims of one leader the one with the later heartbeat counts, or else that of the
//!   higher election. Neighbours that still disagree call one.
//! * A process in an election that hears of the end of a higher one calls a yet higher one: its own
//!   will never end, because a process that it asked will not take part.
//! * Resigning means calling an election with a claim that comes after all others.

mod election;
mod message;
mod news;
mod params;
mod row;
mod table;

#[cfg(test)]
mod tests;

pub use message::{Beat, Claim, Message, News, VALUE_MAX, Wave, weigh};
pub use params::{BadConfig, Params};
pub use table::Config;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use bellwether_core::{
    Boot, Command, Cx, Duration, Fact, Instant, Leadership, NodeId, Protocol, Reach, Rebase,
    Refused, Stage, timer_kinds,
};
use election::Part;
use news::KnownLeader;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AdHoc {
    me: Claim,
    life: u64,
    /// The highest election it has heard of.
    wave: Wave,
    /// Its state in that election, until it knows the outcome.
    part: Option<Part>,
    leader: Option<KnownLeader>,
    /// Heartbeats it has sent in this incarnation.
    beats: u64,
    /// Neighbours that are reported gone, though it has a link to them.
    down: BTreeSet<NodeId>,
    /// Elections in a row that did not end in time.
    failures: u32,
}

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// It has waited long enough: for a leader, for the leader's heartbeat, or for the end of an
    /// election.
    Wait,
    /// It repeats its last message: a heartbeat, or one that got no answer.
    Repeat,
}

timer_kinds!(Timer: Wait, Repeat);

/// The wait doubles with every election that fails, at most this often, so that a time-out that is
/// too short only delays.
const DOUBLINGS_MAX: u32 = 3;

impl AdHoc {
    fn leads(&self) -> bool {
        self.leader.is_some_and(|known| known.leader.id == self.me.id)
    }

    /// The processes it can reach.
    fn neighbours(&self, cx: &Cx<'_, Self>) -> BTreeSet<NodeId> {
        cx.peers().iter().filter(|peer| !self.down.contains(peer)).collect()
    }

    /// Sets both timers for its current state.
    fn pace(&self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        let (wait, repeat) = match (&self.part, &self.leader) {
            (Some(part), _) => {
                // The others wait twice as long, so that the caller is the first to call again.
                let doublings = self.failures.min(DOUBLINGS_MAX) + u32::from(part.has_parent());
                (params.timeout * (1 << doublings), params.retry)
            }
            (None, Some(_)) if self.leads() => (Duration::MAX, params.leader_beat),
            (None, Some(_)) => (params.leader_silence, Duration::MAX),
            (None, None) => (params.call_after, Duration::MAX),
        };
        for (timer, length) in [(Timer::Wait, wait), (Timer::Repeat, repeat)] {
            match length {
                Duration::MAX => cx.disarm(timer),
                length => cx.arm(timer, cx.now() + length),
            }
        }
    }

    /// Changes its claim.
    fn stand(&mut self, active: bool, value: u64, cx: &mut Cx<'_, Self>) {
        let weight = weigh(active, value);
        if weight == self.me.weight {
            return;
        }
        let led = self.leads();
        self.me.weight = weight;
        if led {
            self.leader = None;
        }
        // In an election the former claim may have been reported already.
        if led || self.part.is_some() || self.leader.is_some_and(|known| known.leader < self.me) {
            self.begin(cx);
        }
    }

    fn is_active(&self) -> bool {
        self.me.weight > VALUE_MAX
    }
}

impl Protocol for AdHoc {
    const NAME: &'static str = "ad-hoc";
    const ON_DEMAND: bool = true;
    type Params = Params;
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let Boot { me, incarnation: life, rank, .. } = boot;
        let mut node = Self {
            me: Claim { weight: weigh(true, rank), id: me },
            life,
            wave: Wave { number: 0, starter: me, life },
            part: None,
            leader: None,
            beats: 0,
            down: BTreeSet::new(),
            failures: 0,
        };
        if life > 1 {
            node.begin(cx);
        } else if cx.params().call_after != Duration::MAX {
            node.pace(cx);
        }
        node
    }

    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Cx<'_, Self>) {
        // A message may outlive the link it came by; then it cannot be answered.
        if !cx.peers().contains(from) {
            return;
        }
        match *message {
            Message::Election(wave) => self.on_election(from, wave, cx),
            Message::Ack(wave, best) => self.on_ack(from, wave, best, cx),
            // Leaders are exchanged when the neighbour is back.
            Message::Leader(_) | Message::Heartbeat(_) if self.down.contains(&from) => {}
            Message::Leader(news) => self.on_news(from, news, Message::Leader, cx),
            Message::Heartbeat(news) => self.on_news(from, news, Message::Heartbeat, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Wait => {
                if self.part.is_some() {
                    self.failures = self.failures.saturating_add(1);
                } else {
                    self.leader = None;
                }
                self.begin(cx);
            }
            Timer::Repeat => self.repeat(cx),
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        match reach {
            Reach::Up => self.meet(peer, cx),
            Reach::Down => self.lose(peer, cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let value = self.me.weight & VALUE_MAX;
        match command {
            Command::Campaign if self.is_active() => {
                if self.part.is_none() {
                    self.begin(cx);
                }
            }
            Command::Campaign => {
                self.me.weight = weigh(true, value);
                self.begin(cx);
            }
            Command::Resign => self.stand(false, value, cx),
            Command::Rank(rank) => self.stand(self.is_active(), rank, cx),
            Command::Leave => {} // its neighbours notice
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let stage = if self.part.is_some() { Stage::Undecided } else { Stage::Decided };
        match &self.leader {
            Some(known) => Leadership::of(core::slice::from_ref(&known.leader.id), stage),
            None => Leadership::NONE,
        }
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Claim { weight: self.me.weight });
        self.down.iter().for_each(|peer| tell(Fact::Suspect { peer: *peer }));
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}
