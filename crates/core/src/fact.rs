//! Facts: what a protocol reports about its inner state.

use crate::id::{NodeId, Term};
use crate::time::Instant;
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
