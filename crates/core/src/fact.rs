//! Facts: what a protocol reports about its inner state.

use crate::id::{NodeId, Term};
use crate::time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// A fact about the state of a process, for the checker, the trace and the question "why?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "fact")]
#[non_exhaustive]
pub enum Fact {
    /// It is locked: it supports only `to` before `until`.
    Locked {
        /// The process that it supports.
        to: NodeId,
        /// When the lock ends.
        until: Instant,
    },
    /// Another process supports it.
    Supporter {
        /// The supporter.
        peer: NodeId,
    },
    /// It considers this process alive.
    Alive {
        /// The process.
        peer: NodeId,
    },
    /// It considers this process dead or disconnected.
    Suspect {
        /// The process.
        peer: NodeId,
    },
    /// It is in this round.
    Round {
        /// The round's number.
        number: u32,
    },
    /// It is a relay: one of the few that choose on behalf of all.
    Relay {
        /// Its choice.
        choice: NodeId,
    },
    /// It exchanges choices with this process, which it considers a relay.
    Contact {
        /// The other.
        peer: NodeId,
    },
    /// Its round ended without a clear outcome.
    Unclear {
        /// How many candidates it knows of: none, or two for two or more.
        leaders: u32,
    },
    /// The highest term it has seen.
    Highest {
        /// That term.
        term: Term,
    },
    /// Its own rank, in the order by which the protocol elects.
    Claim {
        /// Larger is better; among equal ranks the larger id is better.
        weight: u64,
    },
    /// It belongs to a partition: the processes that support one leader, which the facts about
    /// supporters or members name. Told where leaders are local.
    Partition {
        /// The number of the partition. It grows whenever the partition of a process changes, and
        /// with one leader it means the same processes to all of them. In records 0 means that the
        /// process belongs to none any more, though it believes in the same leader as before.
        version: u64,
    },
    /// Another process supports the same leader, as that leader reported.
    Member {
        /// The member.
        peer: NodeId,
    },
    /// It supports no process before `until`.
    Bound {
        /// When it may support a process again.
        until: Instant,
    },
    /// It has no record of what it granted, so it cannot vote: it reads the records of others.
    NoRecord,
    /// The list of voters that it holds, where not all members vote or the list has changed.
    List {
        /// How often the list has changed since the founding.
        version: u64,
        /// Whether it knows the list to be committed.
        committed: bool,
    },
    /// How long locks by that list last, and by how many millionths clocks drift.
    Lengths {
        /// lockTime.
        lock: Duration,
        /// ρ.
        drift_ppm: u32,
        /// The longest lock by that list or, while it is not known to be committed, by the one
        /// before it.
        longest: Duration,
    },
    /// This process is a voter of that list.
    Voter {
        /// The voter.
        peer: NodeId,
    },
    /// This voter of that list is new in it. Told while the list is not known to be committed.
    Added {
        /// The voter.
        peer: NodeId,
    },
    /// This process was a voter of the list before. Told while the list is not known to be
    /// committed.
    Removed {
        /// The process.
        peer: NodeId,
    },
    /// This process asks by another list, and is refused.
    OtherList {
        /// The process.
        peer: NodeId,
        /// How many of its requests were refused for that.
        requests: u32,
    },
    /// Its record of what it granted.
    Record {
        /// The highest term that it granted or learnt of; zero at first.
        highest: u64,
        /// The process that it granted that term to, and its incarnation.
        granted: Option<(NodeId, u64)>,
    },
    /// The request that its lock is for.
    Granted {
        /// The incarnation of the process that it is locked to.
        life: u64,
        /// When that one asked, by its own clock.
        sent: Instant,
    },
    /// The number of its incarnation.
    Life {
        /// That number.
        number: u64,
    },
    /// Its last request for support.
    Request {
        /// When it asked, by its own clock.
        sent: Instant,
        /// The term that it asked for.
        term: u64,
    },
    /// It gave up its requests up to this one, and leads by none of them.
    GaveUp {
        /// When it made the last of those, by its own clock.
        sent: Instant,
    },
    /// Its belief about leadership was renewed. The driver reports this, not the protocol.
    Held {
        /// The first time at which it no longer holds.
        until: Instant,
    },
    /// Other processes know of a later incarnation of this process, and ignore the current one.
    Outlived {
        /// The number of that incarnation.
        life: u64,
    },
    /// The reading of its clock at the time of the record. The driver reports this, where they
    /// differ and a fact ends by that clock.
    Clock {
        /// The reading.
        reads: Instant,
    },
}

impl Fact {
    /// Whether it is about votes and requests: such a fact stands until another one of its kind is
    /// told.
    pub fn is_of_votes(&self) -> bool {
        matches!(
            self,
            Self::Life { .. }
                | Self::NoRecord
                | Self::Record { .. }
                | Self::Granted { .. }
                | Self::Request { .. }
                | Self::GaveUp { .. }
        )
    }
}
