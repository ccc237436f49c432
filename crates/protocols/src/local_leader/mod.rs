//! Leadership by leases: one leader in every partition, or one leader of a majority.
//!
//! **Source.** Christof Fetzer and Flaviu Cristian, "A Highly Available Local Leader Election
//! Service", IEEE Transactions on Software Engineering 25(5), 1999; the pseudo-code is their
//! figures 30 and 31. With corrections: each correction and each rule of the leases has a name in
//! [`Rule`], and a test that shows what goes wrong without it.
//!
//! **Assumptions.** Clocks drift by at most ρ. Messages may be lost, duplicated, reordered and
//! late; processes may pause, crash and come back. Of these, safety in majority mode depends on the
//! clocks alone; all other time constants decide how soon there is a leader, not how many there
//! are. All members have the same lockTime and ρ, which are part of the [list](List) of voters and
//! change with it (`times.rs`). Without durable tokens they cannot change while the group runs: a
//! request with another lockTime is refused, and all members must be stopped for the longer one.
//!
//! **Promise.** [Majority mode](Mode::Majority): *never two*. [Local mode](Mode::Local): *one per
//! partition*: a process supports at most one other at a time, so that the sets of supporters,
//! which are the logical partitions, never overlap; and a leader is supported by all processes it
//! is connected to.
//!
//! | message | sender | meaning |
//! |---|---|---|
//! | `election` | a candidate, and a leader every P | "support me", and who already does |
//! | `reply` | a supporter | yes, and nobody else for lockTime; or no, and for how long not |
//! | `collation` | a supporter | the replies of others, and its own (`collation.rs`) |
//! | `inquiry`, `record` | a process without a record, and who has one | "what have you granted?", and the answer (`newcomer.rs`) |
//! | `invite` | a leader | "can you vote?", to the process that is to be added (`change.rs`) |
//! | `release` | a candidate that failed, a leader that resigns, a process that leaves | "you are free" |
//! | `announcement` | a leader, and who received it | "this process leads", to observers if they are many (`announcement.rs`) |
//! | `standing` | a process with a priority, and a witness | "I am no ordinary process" |
//! | `stamp` | the [datagram layer](fail_aware) | nothing; it lets delays be bounded |
//!
//! **Why there are never two.** A request sent at R gives a lease until R + lockTime(1−2ρ) on the
//! candidate's clock. Each of its supporters received it at R or later, and is locked for lockTime
//! on its own clock. (1−2ρ)(1+ρ) ≤ 1−ρ, so in real time every lock outlives the lease. Two
//! majorities have a member in common, and a member is locked to one process at a time. A lock ends
//! early in two cases only. One is a release: its sender does not lead and will not lead by that
//! request, and its next request is made at a later instant. The other is a crash, after which a
//! process is [locked to nobody](Rule::Quarantine) for lockTime.
//!
//! # What it does that the paper does not
//!
//! * Several requests per lease (C6): each voter's latest grant counts, and the lease runs from the
//!   earliest of those it rests on. One lost reply deposes nobody.
//! * In majority mode: a process whose own lock lapses takes over, in order of priorities and ids,
//!   later by [2Δ+σ](Params::stagger) for each process before it (the silent leader and witnesses,
//!   which never ask, not counted). The first
//!   majority of votes elects it. A leader goes on leading when other processes appear. A refusal
//!   says for how long. A candidate that nobody answers may be unable to receive, so it lets all
//!   others have their turns before it asks again.
//! * A release frees from the request it names and those before it. It may say that the sender is
//!   leaving: then others come first, and the next candidate carries the news, since its request
//!   may overtake the release.
//! * In majority mode a leader may hand over to a process that it names: the release carries the
//!   nominee, which everybody ranks first for EP. Whoever resigned comes last for
//!   [`cooldown`](Params::cooldown), and asks only in its turn. None of this changes whether a vote
//!   is given.
//! * The voters are a [list](List) that changes while the group runs (`change.rs`); other members
//!   observe (`observer.rs`). Only voters receive requests if there are many observers.
//! * With `spare` only some of the voters answer a renewal (`answerers.rs`). With `tree` they
//!   answer through each other, as in the paper (`collation.rs`).
//! * A new leader asks again at once, so that its members know it; its requests name them all.
//!
//! The state machine is [`Hall`]; what runs is [`LocalLeader`], the same over
//! [fail-aware datagrams](fail_aware).

mod alive;
mod announcement;
mod answerers;
mod candidate;
mod change;
mod collation;
mod commands;
pub mod fail_aware;
mod hall;
mod line;
mod list;
mod lock;
mod membership;
pub mod message;
mod newcomer;
mod observer;
mod ordered;
mod params;
mod preset;
mod refusal;
mod replace;
mod row;
mod rules;
mod standing;
mod supporter;
mod table;
mod terms;
#[cfg(test)]
mod tests;
mod times;
mod told;
mod voters;
mod votes;

use alloc::vec::Vec;
use bellwether_core::{Instant, Message as _, NodeId, Peers};
use message::Message;

pub use announcement::Announcement;
pub use answerers::Answerers;
pub use collation::{Collation, Tree};
pub use hall::{Hall, Timer};
pub use list::{List, ListId, ListTold};
pub use params::{
    BadConfig, CLOCK_ERROR, Change, Constraint, DRIFT_PPM, Mode, Params, Proposal, Tokens,
};
pub use preset::Preset;
pub use row::NODES_MAX;
pub use rules::{Rule, Rules};
pub use table::Config;
pub use times::Lengths;

impl fail_aware::Inner for Hall {
    /// An observer follows, and says nothing.
    fn speaks(&self) -> bool {
        self.is_voter()
    }

    /// Only the messages of voters need a bound on their delay.
    fn minds(&self, peer: NodeId) -> bool {
        let invited = self.planned.as_ref().is_some_and(|planned| planned.add == peer);
        invited || self.list.as_ref().is_none_or(|list| list.needs(peer))
    }

    /// In a large group: those whose votes may be needed.
    fn audience(&self, peers: &dyn Peers) -> Option<Vec<NodeId>> {
        let large = self.is_large(peers);
        let needed = || match &self.list {
            Some(list) => list.needed().collect(),
            None => peers.founders().unwrap_or_default().to_vec(),
        };
        large.then(needed)
    }

    /// That of its list.
    fn drift_ppm(&self) -> Option<u32> {
        Some(self.times.drift_ppm)
    }

    /// An announcement says who leads, and not when it said so.
    fn is_timed(message: &Message) -> bool {
        !matches!(message, Message::Announcement(_))
    }
}

/// The service over its datagrams: what is simulated, checked and run.
pub type LocalLeader = fail_aware::FailAware<Hall>;

/// A row is 32 bytes; with this many a request still fits a datagram that crosses every link
/// unfragmented.
const ROWS_MAX: usize = 24;

impl Params {
    /// The parameters of the datagram layer with these inside.
    pub fn layered(&self) -> fail_aware::Params<Self> {
        fail_aware::Params {
            drift_ppm: self.drift_ppm,
            clock_error: self.clock_error,
            fastest: self.fastest,
            refresh: self.refresh,
            rows_max: ROWS_MAX,
            fast: self.delta,
            rules: self.rules,
            inner: self.clone(),
        }
    }

    /// How many bytes the longest message in a group of so many voters has: a leader's request,
    /// supported by all, with news of a farewell.
    pub fn longest_request(&self, voters: usize) -> usize {
        let id = NodeId(0);
        let request = message::Request { life: 0, sent: Instant::ZERO };
        let row =
            fail_aware::Echo { node: id, life: 0, sent: request.sent, received: request.sent };
        let others = voters.saturating_sub(1);
        // Above this many rows every member gets a message of its own, with one row.
        let rows = if others <= ROWS_MAX { others } else { 1 };
        let body = Message::Election {
            request,
            term: 0,
            lock: self.lock,
            supporters: core::iter::repeat_n(id, voters).collect(),
            farewell: Some(message::Farewell { node: id, request }),
            token: Some(0),
            list: List::founding((0..voters as u64).map(NodeId)).map(ListTold::from),
            // They are named only where the list is not told in full.
            answerers: None,
            tree: (self.tree > 0).then_some(Tree { arity: 1, first: 0 }),
        };
        let echoes = core::iter::repeat_n(row, rows).collect();
        let frame = fail_aware::Frame { life: 0, sent: request.sent, echoes, body: Some(body) };
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        bytes.len()
    }
}
