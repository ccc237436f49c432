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
//! are. All members have the same lockTime, and had so in their former incarnations. A request with
//! another one is refused, but to change it all members must be stopped for the longer of the two.
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
//! | `release` | a candidate that failed, a leader that resigns, a process that leaves | "you are free" |
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
//! * In majority mode: a process whose own lock lapses takes over, in order of ids, later by
//!   [2Δ+σ](Params::stagger) for each process before it (the silent leader not counted). The first
//!   majority of votes elects it. A leader goes on leading when other processes appear. A refusal
//!   says for how long. A candidate that nobody answers may be unable to receive, so it lets all
//!   others have their turns before it asks again.
//! * A release frees from the request it names and those before it. It may say that the sender is
//!   leaving: then others come first, and the next candidate carries the news, since its request
//!   may overtake the release.
//! * A new leader asks again at once, so that its members know it; its requests name them all.
//!
//! The state machine is [`Hall`]; what runs is [`LocalLeader`], the same over
//! [fail-aware datagrams](fail_aware).

mod alive;
mod candidate;
mod commands;
pub mod fail_aware;
mod hall;
mod line;
mod lock;
pub mod message;
mod newcomer;
mod params;
mod preset;
mod row;
mod rules;
mod supporter;
mod table;
mod terms;
#[cfg(test)]
mod tests;
mod votes;

use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::{Instant, Message as _, NodeId};
use message::Message;

pub use hall::{Hall, Timer};
pub use params::{BadConfig, Config, Constraint, Mode, Params, Tokens};
pub use preset::Preset;
pub use row::NODES_MAX;
pub use rules::{Rule, Rules};

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

    /// How many bytes the longest message in a group of so many processes has: a leader's request,
    /// supported by all, with news of a farewell.
    pub fn longest_request(&self, group: usize) -> usize {
        let id = NodeId(0);
        let request = message::Request { life: 0, sent: Instant::ZERO };
        let row =
            fail_aware::Echo { node: id, life: 0, sent: request.sent, received: request.sent };
        let others = group.saturating_sub(1);
        // Above this many rows every member gets a message of its own, with one row.
        let rows = if others <= ROWS_MAX { others } else { 1 };
        let body = Message::Election {
            request,
            term: 0,
            lock: self.lock,
            supporters: vec![id; group],
            farewell: Some(message::Farewell { node: id, request }),
        };
        let echoes = vec![row; rows];
        let frame = fail_aware::Frame { life: 0, sent: request.sent, echoes, body: Some(body) };
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        bytes.len()
    }
}
